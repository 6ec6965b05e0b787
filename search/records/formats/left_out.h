// What is left out of an input, and why.
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
  std::vector<std::string> reasons_;                       // in the order in which they came
  std::map<std::string, std::vector<std::string>> names_;  // by reason
};

}  // namespace deplo::search
