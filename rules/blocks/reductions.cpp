// Reductions and scans of a tile along a dimension.
#include "ir/tile_program/attribute.h"
#include "rules/blocks/control.h"
#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

/// A tile as rows along a dimension: element k of row r has the index (r / step * length + k) * step + r % step.
struct Rows {
  std::int64_t rows = 1, length = 1, step = 1;
  Rows(const Type& t, std::int64_t dim) : length(t.shape[static_cast<std::size_t>(dim)]) {
    rows = tp::element_count(t) / length;
    for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < t.shape.size(); ++d) step *= t.shape[d];
  }
  Expr at(const Expr& row, const Expr& k) const {
    return step == 1 ? row * length + k : step == rows ? k * rows + row : (row / step * length + k) * step + row % step;
  }
  bool in_place() const { return step == rows; }  // column-major: the index of element k of row r is k * rows + r
};

/// Repeatedly combines the two halves of the remaining elements, in the interpreter's order. Element e = k * rows + r
/// is distributed over threads like that of any tile. While a half has at least as many elements as there are threads,
/// a thread combines its own elements. After that, threads exchange elements.
class Reduction {
 public:
  Reduction(Lowering& l, const Operation& op) : l_(l), op_(op), rows_(l.type(op.operands[0]), op.number("dim")) {}

  void lower() {
    const std::int64_t count = rows_.rows * rows_.length;
    l_.order(op_);
    for (const ValueId id : op_.results) l_.declare(id);
    if (count == 1) {  // nothing to combine
      for (std::size_t n = 0; n < op_.operands.size(); ++n) l_.set(op_.results[n], only, l_.scalar(op_.operands[n]));
      return;
    }
    for (const ValueId id : op_.operands) work_.push_back(l_.allocate(l_.dtype(id), count, false));
    l_.each(tp::Extents{rows_.length, rows_.rows}, [&](const At& at) { load(at); });
    std::int64_t left = count;
    for (; left > rows_.rows && left / 2 >= l_.threads; left /= 2) combine_own(left / 2);
    if (left > rows_.rows)
      exchange(left);
    else
      finish(work_);
  }

 private:
  void load(const At& at) {
    At from = at;
    if (!rows_.in_place()) {
      from = {l_.simplified(rows_.at(at.i % rows_.rows, at.i / rows_.rows)), std::nullopt};
      if (rows_.rows == 1) from.slot = at.slot;
    }
    for (std::size_t n = 0; n < work_.size(); ++n) l_.write(work_[n], at, l_.element(op_.operands[n], from));
  }

  /// Combines the elements after `half` into those before it.
  void combine_own(std::int64_t half) {
    const std::int64_t apart = l_.slots(half);
    l_.each(half, [&](const At& at) { combine(work_, at, {at.i + half, *at.slot + apart}); });
  }

  void combine(const std::vector<Stored>& in, const At& low, const At& high) {
    std::vector<Name> arguments;
    for (const Stored& part : in) {
      arguments.push_back(l_.read(part, high));
      arguments.push_back(l_.read(part, low));
    }
    const std::vector<Name> yielded = add_body(l_, op_, arguments);
    for (std::size_t n = 0; n < in.size(); ++n) l_.write(in[n], low, yielded[n]);
  }

  /// Combines the remaining elements; there are at most as many as threads. Each thread writes its own elements for the
  /// others to read.
  void exchange(std::int64_t left) {
    std::vector<Stored> shared;
    Resources all, results;
    for (const Stored& w : work_) {
      shared.push_back(l_.allocate(w.dtype, left, true));
      all.insert(l_.resources.make());
    }
    l_.each(left, [&](const At& at) {
      for (std::size_t n = 0; n < work_.size(); ++n) l_.write(shared[n], at, l_.read(work_[n], at));
    });
    l_.waits.barrier();
    for (std::int64_t half = left / 2; half >= rows_.rows; half /= 2) {
      l_.each(half, [&](const At& at) { combine(shared, at, {at.i + half, std::nullopt}); });
      l_.waits.barrier();
    }
    for (const ValueId id : op_.results)
      if (l_.plan.crosses(id)) results.insert(id);
    l_.waits.order(all, results);  // results are written only after these barriers
    finish(shared);
  }

  void finish(const std::vector<Stored>& in) {
    const auto put = [&](const At& at) {
      for (std::size_t n = 0; n < in.size(); ++n) l_.set(op_.results[n], at, l_.read(in[n], at));
    };
    if (rows_.rows == 1)
      put(only);
    else
      l_.each(rows_.rows, put);
  }

  Lowering& l_;
  const Operation& op_;
  Rows rows_;
  std::vector<Stored> work_;
};

void reduce(Lowering& l, const Operation& op) { Reduction(l, op).lower(); }

/// Scans one row in order: the body combines sums[n] and the element into the result, which is also the next sum.
void scan_row(Lowering& l, const Operation& op, const Rows& rows, const Expr& row) {
  const auto& identities = std::get<std::vector<tp::Scalar>>(op.attribute("identities"));
  std::vector<Stored> sums;
  for (const tp::Scalar& identity : identities) {
    sums.push_back({l.fresh("v"), identity.element});
    l.add(ir::Local{sums.back().array, identity.element, 1});
    l.write(sums.back(), only, l.constant(identity.element, identity.bits));
  }
  l.loop(rows.length, false, [&](const Expr& n) {
    const Expr k = op.number("reverse") != 0 ? Expr(rows.length - 1) - n : n;
    At at{l.simplified(rows.at(row, k)), std::nullopt};
    if (l.threads == 1) at.slot = at.i;
    std::vector<Name> arguments;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      arguments.push_back(l.element(op.operands[i], at));
      arguments.push_back(l.read(sums[i], only));
    }
    const std::vector<Name> yielded = add_body(l, op, arguments);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      l.write(sums[i], only, yielded[i]);
      l.set(op.results[i], at, yielded[i]);
    }
  });
}

/// Each thread scans whole rows. Every thread scans a one-element tile, because every thread holds it.
void scan(Lowering& l, const Operation& op) {
  const Rows rows(l.type(op.operands[0]), op.number("dim"));
  l.order(op);
  for (const ValueId id : op.results) l.declare(id);
  if (l.is_scalar(op.results[0])) return scan_row(l, op, rows, 0);
  l.each(rows.rows, [&](const At& at) { scan_row(l, op, rows, at.i); });
}

}  // namespace

std::vector<Row> reduction_rows() {
  return {{.name = "reduce", .statement = reduce}, {.name = "scan", .statement = scan}};
}

}  // namespace deplo::rules::blocks
