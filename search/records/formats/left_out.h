// Collects the inputs that were left out, and the reasons.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace deplo::search {

class LeftOut {
 public:
  void add(const std::string& name, const std::string& reason);
  /// "left out a.json, b.json, c.json and 5 others: expected …": a line for each reason, in the order of the first
  /// names. At most 11 lines.
  std::vector<std::string> lines() const;

 private:
  std::vector<std::string> reasons_;                       // in order of first appearance
  std::map<std::string, std::vector<std::string>> names_;  // by reason
};

}  // namespace deplo::search
