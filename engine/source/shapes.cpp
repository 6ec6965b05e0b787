#include "engine/source/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/text/number.h"
#include "core/text/split.h"
#include "engine/loop/kernel.h"
#include "engine/source/experiment.h"

namespace deplo::engine {
namespace {

constexpr const char* size_forms = "sizes such as 8, 1..64:8 or 1..4096:pow2";

std::optional<std::int64_t> read_size(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && *value >= 1 && *value <= max_extent ? value : std::nullopt;
}

/// Reads the sizes of one name. All functions throw Error.
class SizeReader {
 public:
  SizeReader(std::string_view name, std::string_view place) : name_(name), place_(place) {}

  /// Reads a text such as "1..4096:pow2,100". The sizes are sorted and distinct.
  std::vector<std::int64_t> read(std::string_view text) const {
    std::set<std::int64_t> sizes;
    for (const std::string_view part : split_at(text, ',')) {
      const auto range = part.find("..");
      if (range == std::string_view::npos)
        sizes.insert(size(part, part));
      else
        add_range(part, range, sizes);
      if (sizes.size() > max_shapes)
        throw Error(
            fmt::format("{}: expected at most {} sizes of {}, found more in '{}'", place_, max_shapes, name_, part));
    }
    return {sizes.begin(), sizes.end()};
  }

 private:
  std::int64_t size(std::string_view text, std::string_view whole) const {
    if (const auto found = read_size(text)) return *found;
    throw Error(
        fmt::format("{}: expected {} from 1 to {} for {}, found '{}'", place_, size_forms, max_extent, name_, whole));
  }

  void add_range(std::string_view part, std::size_t dots, std::set<std::int64_t>& sizes) const {
    const std::size_t colon = std::min(part.find(':', dots), part.size());
    const std::int64_t first = size(part.substr(0, dots), part);
    const std::int64_t last = size(part.substr(dots + 2, colon - dots - 2), part);
    if (last < first)
      throw Error(fmt::format("{}: expected a range of {} that does not end before its beginning, found '{}'", place_,
                              name_, part));
    const std::string_view step = colon < part.size() ? part.substr(colon + 1) : "1";
    const bool powers = step == "pow2";
    const std::int64_t by = powers ? 0 : size(step, part);
    const auto next = [&](std::int64_t at) {
      return powers ? static_cast<std::int64_t>(2 * std::bit_floor(static_cast<std::uint64_t>(at))) : at + by;
    };
    for (std::int64_t at = first; at <= last && sizes.size() <= max_shapes; at = next(at)) sizes.insert(at);
  }

  std::string_view name_, place_;
};

using Axis = std::pair<std::string, std::vector<std::int64_t>>;

std::vector<ir::Symbols> product(const std::vector<Axis>& axes, std::string_view place) {
  std::vector<ir::Symbols> shapes{{}};
  for (const auto& [name, sizes] : axes) {
    if (shapes.size() * sizes.size() > max_shapes)
      throw Error(fmt::format("{}: expected at most {} shapes, found more", place, max_shapes));
    std::vector<ir::Symbols> longer;
    for (const ir::Symbols& shape : shapes)
      for (const std::int64_t size : sizes) longer.emplace_back(shape)[name] = size;
    shapes = std::move(longer);
  }
  return shapes;
}

std::vector<ir::Symbols> shapes_of_map(const Config& map) {
  std::vector<Axis> axes;
  for (const auto& [name, value] : map.entries()) {
    std::string text;
    if (value.is_list())
      for (const Config& item : value.items()) text += (text.empty() ? "" : ",") + item.text();
    else
      text = value.text();
    axes.emplace_back(name, SizeReader(name, value.place()).read(text));
  }
  return product(axes, map.place());
}

/// Adds the shapes that are missing. All shapes must have the same names.
void unite(std::vector<ir::Symbols>& shapes, std::vector<ir::Symbols> more, std::string_view place) {
  const auto names = [](const ir::Symbols& shape) {
    std::vector<std::string> all;
    for (const auto& [name, size] : shape) all.push_back(name);
    return all;
  };
  for (ir::Symbols& shape : more) {
    if (!shapes.empty() && names(shape) != names(shapes.front()))
      throw Error(fmt::format("{}: expected the same names in all shapes, found '{}' and '{}'", place,
                              print(shapes.front()), print(shape)));
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(std::move(shape));
  }
  if (shapes.size() > max_shapes)
    throw Error(fmt::format("{}: expected at most {} shapes, found more", place, max_shapes));
}

/// Draws a size between two neighbours of a sorted list, inclusive. A list of one size gives this size.
std::int64_t between(const std::vector<std::int64_t>& sizes, Rng& rng) {
  if (sizes.size() < 2) return sizes.front();
  const std::size_t at = rng.below(sizes.size() - 1);
  const double low = std::log(static_cast<double>(sizes[at])), high = std::log(static_cast<double>(sizes[at + 1]));
  const auto drawn = static_cast<std::int64_t>(std::llround(std::exp(rng.uniform(low, high))));
  return std::clamp(drawn, sizes[at], sizes[at + 1]);
}

/// Returns a multiple of a power of two between two sizes, near their middle. If `part` is not 1, the result is shifted
/// by 1 / part of the power.
std::int64_t round_size(std::int64_t low, std::int64_t high, std::int64_t part) {
  const auto unit = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(high - low) / 2));
  const std::int64_t middle = low + (high - low) / 2;
  const std::int64_t round = (middle + unit / 2) / unit * unit + (part == 1 ? 0 : unit / part);
  return round > low && round < high ? round : middle;
}

std::map<std::string, std::set<std::int64_t>> sizes_of(const std::vector<ir::Symbols>& shapes) {
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const ir::Symbols& shape : shapes)
    for (const auto& [name, size] : shape) sizes[name].insert(size);
  return sizes;
}

}  // namespace

std::string_view name(FamilyGoal::Over over) { return over == FamilyGoal::Over::worst ? "worst" : "mean"; }

std::string print(const FamilyGoal& goal) { return fmt::format("{} {}", name(goal.over), goal.max_loss); }

std::vector<ir::Symbols> parse_shapes(std::string_view text, std::string_view place) {
  std::vector<Axis> axes;
  for (const std::string_view word : split_at(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw Error(fmt::format("{}: expected NAME=SIZES, with {}, found '{}'", place, size_forms, word));
    const std::string name(word.substr(0, equals));
    if (std::ranges::find(axes, name, &Axis::first) != axes.end())
      throw Error(fmt::format("{}: expected each name once, found {} twice", place, name));
    axes.emplace_back(name, SizeReader(name, place).read(word.substr(equals + 1)));
  }
  if (axes.empty()) throw Error(fmt::format("{}: expected NAME=SIZES, with {}, found '{}'", place, size_forms, text));
  return product(axes, place);
}

std::vector<ir::Symbols> read_shapes(const Config& config) {
  std::vector<ir::Symbols> shapes;
  if (!config.is_list()) {
    unite(shapes, config.is_map() ? shapes_of_map(config) : parse_shapes(config.text(), config.place()),
          config.place());
    return shapes;
  }
  for (const Config& item : config.items())
    unite(shapes, item.is_map() ? shapes_of_map(item) : parse_shapes(item.text(), item.place()), item.place());
  if (shapes.empty()) config.expected("at least one shape");
  return shapes;
}

std::vector<ir::Symbols> draw_held_out(const std::vector<ir::Symbols>& shapes, std::size_t count, std::uint64_t seed) {
  const auto sizes = sizes_of(shapes);
  Rng rng(seed);
  std::set<ir::Symbols> drawn;
  for (std::size_t tries = 0; drawn.size() < count && tries < 100 * count; ++tries) {
    ir::Symbols shape;
    for (const auto& [name, all] : sizes) shape[name] = between({all.begin(), all.end()}, rng);
    if (std::ranges::find(shapes, shape) == shapes.end()) drawn.insert(std::move(shape));
  }
  return {drawn.begin(), drawn.end()};
}

std::vector<ir::Symbols> draw_between(const std::vector<ir::Symbols>& shapes, const std::vector<ir::Symbols>& others,
                                      std::uint64_t seed) {
  constexpr std::size_t max_between = 24;
  const auto sizes = sizes_of(shapes);
  Rng rng(seed);
  std::vector<ir::Symbols> drawn;
  const auto add = [&](const ir::Symbols& shape) {
    for (const auto* known : {&shapes, &others, &std::as_const(drawn)})
      if (std::ranges::count(*known, shape) > 0) return false;
    drawn.push_back(shape);
    return true;
  };
  for (const ir::Symbols& shape : shapes) {
    const auto between_next = [&](const auto& choose) {
      ir::Symbols chosen = shape;
      for (const auto& [name, size] : shape) {
        const auto next = sizes.at(name).upper_bound(size);
        if (next != sizes.at(name).end() && *next > size + 1) chosen[name] = choose(size, *next);
      }
      return chosen;
    };
    add(between_next([&](std::int64_t low, std::int64_t high) { return between({low + 1, high - 1}, rng); }));
    for (const std::int64_t part : {1, 2, 4})
      if (add(between_next([&](std::int64_t low, std::int64_t high) { return round_size(low, high, part); }))) break;
  }
  while (drawn.size() > max_between) drawn.erase(drawn.begin() + static_cast<std::ptrdiff_t>(rng.below(drawn.size())));
  return drawn;
}

}  // namespace deplo::engine
