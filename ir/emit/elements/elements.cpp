#include "ir/emit/elements/elements.h"

#include "core/error.h"
#include "ir/emit/elements/rows.h"

namespace deplo::ir::elements {
namespace {

const Row& row(const tile_program::Form& form) {
  static const tile_program::RowsByForm<Row> rows({float_rows(), integer_rows(), conversion_rows()});
  const Row* const found = rows.find(form);
  CHECK(found != nullptr && found->expression != nullptr);
  return *found;
}

}  // namespace

std::string expression(const Compute& compute, const std::vector<std::string>& args, const std::vector<DType>& types,
                       Dialect dialect, const Named& named) {
  Call call{compute, args, types, words(dialect), named};
  return row(*compute.op).expression(call);
}

std::string unsupported(const Compute& compute, Dialect dialect) {
  const Row& of = row(*compute.op);
  return of.unsupported == nullptr ? "" : of.unsupported(compute, words(dialect));
}

}  // namespace deplo::ir::elements
