#include "ir/emit/elements/elements.h"

#include <algorithm>

#include "core/error.h"
#include "ir/emit/elements/rows.h"

namespace deplo::ir::elements {
namespace {

const Row& row(const tile_program::Form& form) {
  static const std::vector<Row> by_form = [] {
    std::vector<Row> all;
    for (const auto& family : {float_rows(), integer_rows(), conversion_rows()})
      all.insert(all.end(), family.begin(), family.end());
    std::vector<Row> found;
    for (const tile_program::Form& f : tile_program::operations()) {
      const auto at = std::find_if(all.begin(), all.end(), [&](const Row& r) { return r.name == f.name; });
      found.push_back(at == all.end() ? Row{f.name} : *at);
    }
    return found;
  }();
  const Row& found = by_form[static_cast<std::size_t>(&form - tile_program::operations().data())];
  CHECK(found.expression != nullptr);
  return found;
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
