#include "ir/tile_program/program.h"

#include <fmt/format.h>

#include <numeric>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/select_names.h"
#include "ir/tile_program/bytecode/read_bytecode.h"
#include "ir/tile_program/text/text.h"
#include "ir/tile_program/verify/verify.h"

namespace deplo::ir::tile_program {

std::pair<std::size_t, std::size_t> Operation::range(int operand) const {
  const auto at = static_cast<std::size_t>(operand);
  return {std::accumulate(counts.begin(), counts.begin() + operand, std::size_t{0}), counts.at(at)};
}

bool Operation::has(std::string_view name) const { return range(form->find_operand(name)).second != 0; }
ValueId Operation::operand(std::string_view name) const { return operands.at(range(form->find_operand(name)).first); }

std::vector<ValueId> Operation::operand_list(std::string_view name) const {
  const auto [first, count] = range(form->find_operand(name));
  const auto begin = operands.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

const Attribute& Operation::attribute(std::string_view name) const {
  return attributes.at(static_cast<std::size_t>(form->find_attribute(name)));
}

void for_each_operation(const Region& region, const std::function<void(const Operation&)>& see) {
  for (const Operation& op : region.operations) {
    see(op);
    for (const Region& inner : op.regions) for_each_operation(inner, see);
  }
}

std::int64_t Operation::number(std::string_view name) const {
  const int at = form->find_attribute(name);
  const auto* given_number = std::get_if<std::int64_t>(&attributes.at(static_cast<std::size_t>(at)));
  if (given_number != nullptr) return *given_number;
  return form->attributes[static_cast<std::size_t>(at)].otherwise.value_or(0);
}

std::string place(const Program& program, const Location& at) {
  if (!program.is_bytecode) return fmt::format("{}:{}:{}", program.where, at.line, at.column);
  const std::string byte = fmt::format("{}: byte {}", program.where, at.byte);
  if (at.source == 0) return byte;
  return fmt::format("{} ({}:{}:{})", byte, program.sources.at(at.source - 1), at.line, at.column);
}

namespace {

/// Drops a padding without a mask. Nothing reads it, and in the text it would be in the place of the mask.
void drop_unused_paddings(Region& region) {
  for (Operation& op : region.operations) {
    if (op.form->name == "load_ptr_tko" && op.has("padding") && !op.has("mask")) {
      const int padding = op.form->find_operand("padding");
      op.operands.erase(op.operands.begin() + static_cast<std::ptrdiff_t>(op.range(padding).first));
      op.counts[static_cast<std::size_t>(padding)] = 0;
    }
    for (Region& inner : op.regions) drop_unused_paddings(inner);
  }
}

}  // namespace

Program read_program(std::string_view bytes, std::string_view where) {
  Program program = is_bytecode(bytes) ? read_bytecode(bytes, where) : parse_program(bytes, where);
  verify(program);
  for (Entry& entry : program.entries) drop_unused_paddings(entry.body);
  return program;
}

const Entry& find_entry(const Program& program, std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& entry : program.entries) {
    if (entry.name == name) return entry;
    names.push_back(entry.name);
  }
  if (name.empty() && names.size() == 1) return program.entries.front();
  if (names.empty()) throw Error(fmt::format("{}: expected an entry, found none", program.where));
  if (name.empty())
    throw Error(fmt::format("{}: expected the name of an entry ({}), found none", program.where, list_names(names)));
  throw Error(fmt::format("{}: expected an entry ({}), found '{}'{}", program.where, list_names(names), name,
                          did_you_mean(name, names)));
}

}  // namespace deplo::ir::tile_program
