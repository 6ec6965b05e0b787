#include "core/text/select_names.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <span>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/text.h"

namespace deplo {
namespace {

constexpr std::size_t max_shown = 12;  // names in a message; a longer list does not help to find one

}  // namespace

std::string list_names(std::vector<std::string> names) {
  if (names.empty()) return "there is none";
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t shown = std::min(names.size(), max_shown);
  std::string text = join(std::span(names).first(shown), ", ");
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::vector<std::size_t> select_names(std::string_view place, std::string_view what, const std::string& filter,
                                      const std::vector<std::string>& names) {
  const auto numbers_of = [&](const std::function<bool(const std::string&)>& is_meant) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (is_meant(names[i])) numbers.push_back(i);
    return numbers;
  };
  if (filter.empty()) return numbers_of([](const std::string&) { return true; });
  std::vector<std::size_t> found = numbers_of([&](const std::string& name) { return name == filter; });
  if (!found.empty()) return found;
  if (filter.find_first_of("*?[") != std::string::npos)
    found = numbers_of([&](const std::string& name) { return fnmatch(filter.c_str(), name.c_str(), 0) == 0; });
  else
    found = numbers_of([&](const std::string& name) { return name.starts_with(filter); });
  if (found.empty()) {
    std::vector<std::string> guesses = names;  // and each name without the sizes after its first dot
    for (const std::string& name : names) guesses.push_back(name.substr(0, name.find('.')));
    throw Error(fmt::format("{}: expected {} ({}), found '{}'{}", place, what, list_names(names), filter,
                            did_you_mean(filter, guesses)));
  }
  return found;
}

}  // namespace deplo
