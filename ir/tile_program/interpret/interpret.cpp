#include "ir/tile_program/interpret/interpret.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text/text.h"
#include "ir/tile_program/interpret/machine.h"

namespace deplo::ir::tile_program {
namespace {

std::string kind_of(const Argument& argument, std::span<const Array> arrays) {
  if (const auto* array = std::get_if<ArrayArgument>(&argument))
    return fmt::format("an array of {}", tile_name(arrays[array->array].element));
  const auto* whole = std::get_if<std::int64_t>(&argument);
  return whole != nullptr ? std::to_string(*whole) : fmt::format("{}", std::get<double>(argument));
}

bool fits(const Type& type, const Argument& argument, std::span<const Array> arrays) {
  const auto* array = std::get_if<ArrayArgument>(&argument);
  if (type.pointer || array != nullptr)
    return type.pointer && array != nullptr && arrays[array->array].element == type.element;
  if (!is_integral(type.element)) return true;
  const auto* whole = std::get_if<std::int64_t>(&argument);
  if (whole == nullptr) return false;
  const int bits = width(type.element);
  return bits == 64 || (*whole >= -(std::int64_t{1} << (bits - 1)) && *whole < (std::int64_t{1} << bits));
}

void check_arguments(const Program& program, const Entry& entry, const Launch& launch, std::span<const Array> arrays) {
  const std::string where = fmt::format("{}: entry {}", program.where, entry.name);
  if (launch.arguments.size() != entry.parameters.size()) {
    const std::string types = join(entry.parameters, ", ", [&](ValueId id) { return print(*entry.values[id].type); });
    throw Error(fmt::format("{}: expected {} ({}), found {}", where,
                            counted(static_cast<std::int64_t>(entry.parameters.size()), "argument"), types,
                            launch.arguments.size()));
  }
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Value& parameter = entry.values[entry.parameters[i]];
    if (!fits(*parameter.type, launch.arguments[i], arrays))
      throw Error(fmt::format("{}: argument {}{}: expected {}, found {}", where, i + 1,
                              parameter.name.empty() ? "" : " (%" + parameter.name + ")",
                              parameter.type->pointer
                                  ? fmt::format("an array of {}", tile_name(parameter.type->element))
                                  : fmt::format("a number of {}", tile_name(parameter.type->element)),
                              kind_of(launch.arguments[i], arrays)));
  }
}

void check_grid(const Program& program, const Launch& launch) {
  constexpr std::int64_t blocks = 1 << 24;
  for (const std::int64_t extent : launch.grid)
    if (extent < 1 || extent > max_blocks)
      throw Error(fmt::format("{}: expected a grid of 1 to {} blocks in each dimension, found {} x {} x {}",
                              program.where, max_blocks, launch.grid[0], launch.grid[1], launch.grid[2]));
  if (launch.grid[0] > blocks / launch.grid[1] / launch.grid[2])
    throw Error(fmt::format("{}: expected at most {} blocks, found {} x {} x {}", program.where, blocks, launch.grid[0],
                            launch.grid[1], launch.grid[2]));
}

}  // namespace

Array initial_array(const Global& global) {
  Array array = make_array("@" + global.name, global.type->element, element_count(*global.type));
  const auto size = static_cast<std::size_t>(bytes(array.element));
  for (std::size_t i = 0; i < array.bytes.size() / size; ++i) {
    const std::uint64_t bits = (*global.value)[global.value->size() == 1 ? 0 : i];
    for (std::size_t b = 0; b < size; ++b) array.bytes[i * size + b] = static_cast<std::uint8_t>(bits >> (8 * b));
  }
  return array;
}

void check_launch(const Program& program, const Launch& launch, std::span<const Array> arrays) {
  check_arguments(program, find_entry(program, launch.entry), launch, arrays);
  check_grid(program, launch);
}

LaunchResult run(const Program& program, const Launch& launch, std::vector<Array>& arrays) {
  check_launch(program, launch, arrays);
  return exec::Machine(program, find_entry(program, launch.entry), launch, arrays).run();
}

}  // namespace deplo::ir::tile_program
