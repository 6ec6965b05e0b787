// Reads recorded texts and files that have one space.
#pragma once
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "search/records/formats/read.h"

namespace deplo::search {

inline Records only(std::vector<Records> spaces, const std::string& place) {
  if (spaces.size() != 1) throw Error(fmt::format("{}: expected one recorded space, found {}", place, spaces.size()));
  return std::move(spaces.front());
}
inline Records parse_records(std::string_view text, const std::string& place, const Reading& reading = {}) {
  return only(parse_spaces(text, place, reading), place);
}
inline Records read_records(const std::filesystem::path& file) { return only(read_spaces(file), file.string()); }

}  // namespace deplo::search
