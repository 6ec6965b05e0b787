#include "engine/source/tile_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/error.h"
#include "core/file.h"
#include "rules/raise/raise.h"

namespace deplo::engine {
namespace {

namespace tiles = ir::tile_program;

/// The numbers between commas.
std::optional<tiles::Extents> read_numbers(std::string_view text) {
  tiles::Extents numbers;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    numbers.push_back(value);
    text = word.size() == text.size() ? "" : text.substr(word.size() + 1);
  }
  return numbers;
}

std::array<std::int64_t, 3> read_grid(const std::string& text) {
  if (text.empty())
    throw Error("--grid: expected the blocks in X, Y and Z of a tile program, such as 64,2, found none");
  const auto numbers = read_numbers(text);
  if (!numbers || numbers->empty() || numbers->size() > 3)
    throw Error(fmt::format("--grid: expected one to three whole numbers, such as 64,2, found '{}'", text));
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::copy(numbers->begin(), numbers->end(), grid.begin());
  return grid;
}

/// What --arg says: an array with its shape, or a number.
struct Given {
  std::string name;
  std::optional<tiles::Element> element;
  tiles::Extents shape;
  std::string number;
};

Given read_argument(const std::string& text) {
  Given given;
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) given.name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? text : text.substr(equals + 1);
  const std::size_t bracket = value.find('[');
  if (bracket == std::string::npos) {
    given.number = value;
    return given;
  }
  given.element = tiles::parse_element(value.substr(0, bracket));
  const auto shape = value.ends_with(']')
                         ? read_numbers(std::string_view(value).substr(bracket + 1, value.size() - bracket - 2))
                         : std::nullopt;
  const bool sound = given.element && shape && !shape->empty() &&
                     std::ranges::all_of(*shape, [](std::int64_t e) { return e > 0 && e < (std::int64_t{1} << 31); });
  if (!sound || given.name.empty())
    throw Error(
        fmt::format("--arg: expected an array such as A=f16[100,64] or a number such as n=64, found '{}'", text));
  given.shape = *shape;
  return given;
}

tiles::Argument read_number(const Given& given) {
  const char *begin = given.number.data(), *end = begin + given.number.size();
  std::int64_t whole = 0;
  if (const auto result = std::from_chars(begin, end, whole); result.ec == std::errc() && result.ptr == end)
    return whole;
  double real = 0;
  if (const auto result = std::from_chars(begin, end, real); result.ec == std::errc() && result.ptr == end) return real;
  throw Error(fmt::format("--arg: expected an array such as A=f16[100,64] or a number such as n=64, found '{}{}{}'",
                          given.name, given.name.empty() ? "" : "=", given.number));
}

void add_array(const Given& given, bool expand, TileLaunch& launch) {
  if (std::ranges::any_of(launch.arrays, [&](const TileLaunch::Array& a) { return a.name == given.name; }))
    throw Error(fmt::format("--arg: expected a name of its own for each array, found '{}' twice", given.name));
  launch.arguments.emplace_back(tiles::ArrayArgument{launch.arrays.size()});
  launch.arrays.push_back({given.name, *given.element, given.shape});
  if (!expand) return;
  for (const std::int64_t e : given.shape) launch.arguments.emplace_back(e);
  std::vector<tiles::Argument> strides;
  std::int64_t stride = 1;
  for (auto e = given.shape.rbegin(); e != given.shape.rend(); stride *= *e++) strides.emplace_back(stride);
  launch.arguments.insert(launch.arguments.end(), strides.rbegin(), strides.rend());
}

/// An array of a kernel has the type that the program says; no other may be given.
void check_elements(const TileLaunch& launch) {
  const tiles::Entry& entry = find_entry(launch.program, launch.entry);
  for (std::size_t i = 0; i < std::min(entry.parameters.size(), launch.arguments.size()); ++i) {
    const tiles::Type& type = *entry.values[entry.parameters[i]].type;
    const auto* argument = std::get_if<tiles::ArrayArgument>(&launch.arguments[i]);
    if (argument == nullptr || !type.pointer) continue;
    const TileLaunch::Array& array = launch.arrays[argument->array];
    if (array.element != type.element)
      throw Error(fmt::format("--arg: expected an array of {} for argument {} of {}, found an array of {} ({})",
                              name(type.element), i + 1, entry.name, name(array.element), array.name));
  }
}

}  // namespace

TileLaunch read_launch(const TileSource& source) {
  TileLaunch launch{.program = tiles::read_program(read_file(source.file), source.file),
                    .entry = {},
                    .arrays = {},
                    .arguments = {},
                    .grid = {}};
  const tiles::Entry& entry = find_entry(launch.program, source.entry);
  launch.entry = entry.name;
  std::vector<Given> all;
  for (const std::string& text : source.arguments) all.push_back(read_argument(text));
  launch.grid = read_grid(source.grid);
  std::size_t with_extents = 0;
  for (const Given& given : all) with_extents += 1 + 2 * given.shape.size();
  const bool expand = entry.parameters.size() != all.size() && entry.parameters.size() == with_extents;
  for (const Given& given : all)
    if (given.element)
      add_array(given, expand, launch);
    else
      launch.arguments.push_back(read_number(given));
  return launch;
}

ir::Module raise(const TileLaunch& launch) {
  check_elements(launch);
  rules::TileLaunch raised{.entry = launch.entry, .arguments = {}, .grid = launch.grid};
  for (const tiles::Argument& argument : launch.arguments) {
    if (const auto* array = std::get_if<tiles::ArrayArgument>(&argument)) {
      const TileLaunch::Array& given = launch.arrays[array->array];
      ir::Shape strides(given.shape.size(), 1);
      for (std::size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * given.shape[d];
      raised.arguments.emplace_back(rules::TileArray{given.name, given.shape, strides});
    } else if (const auto* whole = std::get_if<std::int64_t>(&argument)) {
      raised.arguments.emplace_back(*whole);
    } else {
      raised.arguments.emplace_back(std::get<double>(argument));
    }
  }
  return rules::raise(launch.program, raised);
}

}  // namespace deplo::engine
