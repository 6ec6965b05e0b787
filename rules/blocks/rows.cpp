#include "rules/blocks/rows.h"

#include "core/error.h"

namespace deplo::rules::blocks {

const Row& row(const tp::Form& form) {
  static const tp::RowsByForm<Row> rows({elementwise_rows(), shape_rows(), matrix_rows(), reduction_rows(),
                                         memory_rows(), view_rows(), print_rows(), block_rows(), control_rows()});
  static const Row none;
  const Row* const found = rows.find(form);
  CHECK(found != nullptr || !form.refused.empty());
  return found != nullptr ? *found : none;
}

Reads reads(const tp::Operation& op, std::size_t operand, const tp::Entry& entry) {
  const Row& how = row(*op.form);
  if (how.element != nullptr) return how.reads;
  const std::string_view name = op.form->name;
  const auto& shape = entry.values[op.operands[operand]].type->shape;
  if (name == "reduce") {  // rows along the first dimension, or a single row, are combined where they lie
    const auto dim = static_cast<std::size_t>(op.number("dim"));
    const bool one_row = tp::element_count(*entry.values[op.operands[operand]].type) == shape[dim];
    return dim == 0 || one_row ? Reads::own : Reads::moved;
  }
  if (name == "scan" || name == "print_tko") return Reads::moved;
  if (name.starts_with("mma")) return operand == 2 ? Reads::own : Reads::repeated;
  if (!name.ends_with("_view_tko")) return Reads::own;
  const auto [first, count] = op.range(op.form->find_operand("index"));
  return operand >= first && operand < first + count ? Reads::repeated : Reads::own;
}

}  // namespace deplo::rules::blocks
