#include "search/records/formats/left_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/text.h"

namespace deplo::search {

void LeftOut::add(const std::string& name, const std::string& reason) {
  std::vector<std::string>& names = names_[reason];
  if (names.empty()) reasons_.push_back(reason);
  names.push_back(name);
}

std::vector<std::string> LeftOut::lines() const {
  constexpr std::size_t max_lines = 10, max_named = 3;
  std::vector<std::string> lines;
  std::ptrdiff_t more = 0;
  for (const std::string& reason : reasons_) {
    std::vector<std::string> named = names_.at(reason);
    if (lines.size() == max_lines) {
      more += std::ssize(named);
      continue;
    }
    const std::ptrdiff_t unnamed = std::ssize(named) - std::min(std::ssize(named), std::ptrdiff_t{max_named});
    named.resize(std::min(named.size(), max_named));
    lines.push_back(fmt::format("left out {}{}: {}", join(named, ", "),
                                unnamed > 0 ? " and " + counted(unnamed, "other") : "", reason));
  }
  if (more > 0) lines.push_back(fmt::format("left out {} more", more));
  return lines;
}

}  // namespace deplo::search
