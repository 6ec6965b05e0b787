// Selects names by a filter of the command line.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deplo {

/// "a, b and 2 more": the sorted names without duplicates, at most a dozen of them. "there is none" if there are no
/// names.
std::string list_names(std::vector<std::string> names);

/// The indices of the names that the filter selects: the names that are equal to it. If there are none, the names that
/// match it as a pattern (`*`, `?`, `[a-z]`) or, if it has none of these characters, that begin with it. An empty
/// filter selects all names. Throws Error `PLACE: expected WHAT (NAMES), found 'FILTER'` if it selects none.
std::vector<std::size_t> select_names(std::string_view place, std::string_view what, const std::string& filter,
                                      const std::vector<std::string>& names);

}  // namespace deplo
