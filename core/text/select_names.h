// Names that a filter of the command line means.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace deplo {

/// "b, a and 2 more": each once, in order, a dozen at most. "there is none" for none.
std::string list_names(std::vector<std::string> names);

/// The numbers of the names that the filter means: of those that are equal to it; without one, of those that match it
/// as a pattern (`*`, `?`, `[a-z]`) or, where it has none of these characters, begin with it. An empty filter means
/// all. Throws Error `PLACE: expected WHAT (NAMES), found 'FILTER'` where it means none.
std::vector<std::size_t> select_names(std::string_view place, std::string_view what, const std::string& filter,
                                      const std::vector<std::string>& names);

}  // namespace deplo
