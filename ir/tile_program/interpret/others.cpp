// Block ids, pointers, tokens, assumptions, and printing.
#include <fmt/format.h>

#include <algorithm>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"
#include "ir/tile_program/interpret/scalars.h"
#include "ir/tile_program/print_format.h"

namespace deplo::ir::tile_program::exec {
namespace {

void get_tile_block_id(Evaluation& now) {
  for (std::size_t i = 0; i < 3; ++i) now.set(of_bits({static_cast<std::uint64_t>(now.block_id().at(i))}), i);
}
void get_num_tile_blocks(Evaluation& now) {
  for (std::size_t i = 0; i < 3; ++i) now.set(of_bits({static_cast<std::uint64_t>(now.machine.launch.grid.at(i))}), i);
}

void get_global(Evaluation& now) {
  const auto& name = std::get<std::string>(now.op.attributes[0]);
  const auto& all = now.machine.program.globals;
  const auto at = std::find_if(all.begin(), all.end(), [&](const Global& g) { return g.name == name; });
  now.set(of_bits({Memory::address(now.machine.globals.at(static_cast<std::size_t>(at - all.begin())))}));
}

void allocate(Evaluation& now) {
  const auto elements = now.op.number("num_elem");
  constexpr std::int64_t max_element_bytes = 24;  // including the element's access history
  now.machine.hold(now, max_element_bytes * elements);
  const std::size_t array =
      now.machine.memory.add(make_array("the memory of an alloca", now.result_type().element, elements));
  now.set(of_bits({Memory::address(array)}));
}

void offset(Evaluation& now) {
  const auto size = static_cast<std::uint64_t>(bytes(now.operand_type(0).element));
  const int w = width(now.operand_type(1).element);
  const TileValue &pointers = now.operand(0), &offsets = now.operand(1);
  now.set(each_bits(lanes(now), [&](std::size_t i) {
    return pointers.bit(i) + static_cast<std::uint64_t>(as_signed(offsets.bit(i), w)) * size;
  }));
}

/// Sets a token that is ordered after all operands.
void token(Evaluation& now) {
  TileValue value;
  value.past = now.past();
  now.set(std::move(value));
}

// --- Assumptions -----------------------------------------------------------------------------------------------------

std::string divisible(const Evaluation& now, const Predicate& p) {
  const Type& type = now.operand_type(0);
  const TileValue& value = now.operand(0);
  if (value.view != nullptr)
    return value.view->base % p.divisor == 0
               ? ""
               : fmt::format("expected a base divisible by {}, found {:#x}", p.divisor, value.view->base);
  const std::int64_t group_size = p.every.value_or(1);
  const auto along = static_cast<std::size_t>(p.along.value_or(0));
  std::int64_t step = 1;  // distance in elements between neighbours along that dimension
  for (std::size_t d = along + 1; d < type.shape.size(); ++d) step *= type.shape[d];
  const std::uint64_t increment = type.pointer ? static_cast<std::uint64_t>(bytes(type.element)) : 1;
  for (std::int64_t i = 0; i < element_count(type); ++i) {
    const std::int64_t within = type.shape.empty() ? 0 : i / step % type.shape[along] % group_size;
    const std::uint64_t found = value.bit(static_cast<std::size_t>(i));
    const int w = type.pointer ? 64 : width(type.element);
    if (within == 0 && wrap(found, w) % p.divisor != 0)
      return fmt::format("expected a number divisible by {}, found {}", p.divisor,
                         type.pointer ? static_cast<std::int64_t>(found) : as_signed(found, w));
    if (within != 0 && found != wrap(value.bit(static_cast<std::size_t>(i - step)) + increment, w))
      return fmt::format("expected consecutive numbers within groups of {}, found others at {}", group_size,
                         element_index(type.shape, static_cast<std::size_t>(i)));
  }
  return "";
}

std::string within_bounds(const Evaluation& now, const Predicate& p) {
  const int w = width(now.operand_type(0).element);
  for (std::size_t i = 0; i < now.operand(0).size(); ++i) {
    const std::int64_t x = as_signed(now.operand(0).bit(i), w);
    if ((p.low && x < *p.low) || (p.high && x > *p.high))
      return fmt::format("expected a number of {} to {}, found {}", p.low ? std::to_string(*p.low) : "any",
                         p.high ? std::to_string(*p.high) : "any", x);
  }
  return "";
}

std::string same_in_groups(const Evaluation& now, const Predicate& p) {
  const Extents& shape = now.operand_type(0).shape;
  const TileValue& value = now.operand(0);
  for (std::int64_t i = 0; i < element_count(now.operand_type(0)); ++i) {
    std::int64_t rest = i, step = 1, first = 0;
    for (std::size_t d = shape.size(); d > 0; --d) {
      const std::int64_t at = rest % shape[d - 1];
      first += (at - at % p.groups[d - 1]) * step;
      rest /= shape[d - 1];
      step *= shape[d - 1];
    }
    if (value.bit(static_cast<std::size_t>(i)) != value.bit(static_cast<std::size_t>(first)))
      return fmt::format("expected equal numbers in groups of {}, found others at {}", print(p.groups),
                         element_index(shape, static_cast<std::size_t>(i)));
  }
  return "";
}

void assume(Evaluation& now) {
  const auto& p = std::get<Predicate>(now.op.attributes[0]);
  const std::string why = p.kind == Predicate::Kind::div_by    ? divisible(now, p)
                          : p.kind == Predicate::Kind::bounded ? within_bounds(now, p)
                                                               : same_in_groups(now, p);
  if (!why.empty()) now.fail(why);
  set_operand(now);
}

void check_assertion(Evaluation& now) {
  const TileValue& condition = now.operand(0);
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition.bit(i) == 0)
      now.fail(
          fmt::format("expected a true condition, found a false one{}: {}",
                      now.operand_type(0).shape.empty() ? "" : " at " + element_index(now.operand_type(0).shape, i),
                      std::get<std::string>(now.op.attributes[0])));
}

// --- Printing --------------------------------------------------------------------------------------------------------

std::string formatted(const std::string& format, const TileValue& value, std::size_t i, const Type& type) {
  return value.reals != nullptr ? tile_program::formatted(format, value.real(i), 0, type.element)
                                : tile_program::formatted(format, 0, value.bit(i), type.element, type.pointer);
}

/// Formats a tile as nested lists.
std::string formatted_tile(const std::string& format, const TileValue& value, const Type& type) {
  return nested_list(type.shape, [&](std::size_t i) { return formatted(format, value, i, type); });
}

void print_values(Evaluation& now) {
  std::string& out = now.machine.printed;
  const std::size_t before = out.size();
  for (const FormatPiece& piece : split_format(std::get<std::string>(now.op.attribute("str")))) {
    const auto at = static_cast<std::size_t>(piece.value);
    out += piece.value < 0 ? piece.text : formatted_tile(piece.text, now.operand(at), now.operand_type(at));
  }
  now.machine.hold(now, static_cast<std::int64_t>(out.size() - before));
  if (!now.op.results.empty()) token(now);
}

}  // namespace

std::vector<Evaluator> other_evaluators() {
  return {{"alloca", allocate},
          {"assert", check_assertion},
          {"assume", assume},
          {"gdc_launch_dependents_tko", token},
          {"gdc_wait_tko", token},
          {"get_global", get_global},
          {"get_num_tile_blocks", get_num_tile_blocks},
          {"get_tile_block_id", get_tile_block_id},
          {"join_tokens", token},
          {"make_token", token},
          {"memory_fence_alias_tko", token},
          {"offset", offset},
          {"print_tko", print_values, false, true}};
}

std::string element_index(const Extents& shape, std::size_t element) {
  std::string text;
  auto rest = static_cast<std::int64_t>(element);
  for (std::size_t d = shape.size(); d > 0; --d) {
    text = fmt::format("{}{}{}", rest % shape[d - 1], text.empty() ? "" : ", ", text);
    rest /= shape[d - 1];
  }
  return "(" + text + ")";
}

const Evaluator* find_evaluator(const Form& form) {
  static const RowsByForm<Evaluator> rows({float_evaluators(), integer_evaluators(), conversion_evaluators(),
                                           shape_evaluators(), matrix_evaluators(), reduce_evaluators(),
                                           memory_evaluators(), view_evaluators(), other_evaluators()});
  return rows.find(form);
}

}  // namespace deplo::ir::tile_program::exec
