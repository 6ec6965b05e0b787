#include "rules/blocks/rows.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::rules::blocks {

const Row& row(const tp::Form& form) {
  static const std::vector<Row> by_form = [] {
    std::vector<Row> all;
    for (const auto& family : {elementwise_rows(), shape_rows(), matrix_rows(), reduction_rows(), memory_rows(),
                               view_rows(), print_rows(), block_rows(), control_rows()})
      all.insert(all.end(), family.begin(), family.end());
    std::vector<Row> found;
    for (const tp::Form& f : tp::operations()) {
      const auto at = std::find_if(all.begin(), all.end(), [&](const Row& r) { return r.name == f.name; });
      found.push_back(at == all.end() ? Row{f.name} : *at);
      CHECK(!f.refused.empty() || at != all.end());
    }
    return found;
  }();
  return by_form[static_cast<std::size_t>(&form - tp::operations().data())];
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
