// Reductions and scans of a tile along a dimension.
#include <fmt/format.h>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/rows.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::tile_program::blocks {
namespace {

/// A tile as rows along a dimension: element k of row r is at (r / step * length + k) * step + r % step.
struct Rows {
  std::int64_t rows = 1, length = 1, step = 1;
  Rows(const Type& t, std::int64_t dim) : length(t.shape[static_cast<std::size_t>(dim)]) {
    rows = element_count(t) / length;
    for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < t.shape.size(); ++d) step *= t.shape[d];
  }
  std::string at(const std::string& row, const std::string& k) const {
    return step == 1      ? fmt::format("{} * {} + {}", row, length, k)
           : step == rows ? fmt::format("{} * {} + {}", k, rows, row)
                          : fmt::format("({0} / {1} * {2} + {3}) * {1} + {0} % {1}", row, step, length, k);
  }
  bool in_place() const { return step == rows; }  // column-major: element k rows + r is that of k and r
};

/// Halves of what is left are combined, in the interpreter's order. DType e = k rows + r is dealt out as any tile's, so
/// while the halves are at least as long as there are threads, a thread combines its own; then threads exchange.
class Reduction {
 public:
  Reduction(Emitter& e, const Operation& op) : e_(e), op_(op), rows_(e.type(op.operands[0]), op.number("dim")) {}

  void emit() {
    const std::int64_t count = rows_.rows * rows_.length;
    e_.order(op_);
    for (const ValueId id : op_.results) e_.declare(id);
    for (const ValueId id : op_.operands)
      work_.push_back(e_.is_scalar(id) ? Stored{} : e_.allocate(e_.type(id).element, false, count, false));
    if (count == 1) {  // nothing to combine
      for (std::size_t n = 0; n < work_.size(); ++n) e_.set(op_.results[n], only, e_.scalar(op_.operands[n]));
      return;
    }
    e_.each(count, [&](const At& at) { load(at); });
    std::int64_t left = count;
    for (; left > rows_.rows && left / 2 >= e_.threads; left /= 2) combine_own(left / 2);
    if (left > rows_.rows)
      exchange(left);
    else
      finish([&](std::size_t n, const At& at) { return e_.read(work_[n], at); });
  }

 private:
  void load(const At& at) {
    At from = at;
    if (!rows_.in_place())
      from = {e_.named("u32",
                       rows_.at(fmt::format("({} % {})", at.i, rows_.rows), fmt::format("{} / {}", at.i, rows_.rows))),
              rows_.rows == 1 ? at.slot : ""};
    for (std::size_t n = 0; n < work_.size(); ++n) e_.write(work_[n], at, e_.element(op_.operands[n], from));
  }

  /// Elements behind `half` into those before it.
  void combine_own(std::int64_t half) {
    const std::int64_t apart = e_.slots(half);
    e_.each(half, [&](const At& at) {
      const At high = {fmt::format("{} + {}", at.i, half), fmt::format("{} + {}", at.slot, apart)};
      combine([&](std::size_t n) { return e_.read(work_[n], high); },
              [&](std::size_t n) { return e_.read(work_[n], at); },
              [&](std::size_t n, const std::string& value) { e_.write(work_[n], at, value); });
    });
  }

  template <class High, class Low, class Put>
  void combine(High high, Low low, Put put) {
    std::vector<std::string> arguments;
    for (std::size_t n = 0; n < work_.size(); ++n) {
      const std::string type = value_type(work_[n].element);
      arguments.push_back(e_.named(type, high(n)));
      arguments.push_back(e_.named(type, low(n)));
    }
    const std::vector<std::string> yielded = e_.body(op_, arguments);
    for (std::size_t n = 0; n < work_.size(); ++n) put(n, yielded[n]);
  }

  /// At most as many elements are left as there are threads: each writes its own for the others to read.
  void exchange(std::int64_t left) {
    std::vector<Stored> shared;
    Resources all, results;
    for (const Stored& w : work_) {
      shared.push_back(e_.allocate(w.element, false, left, true));
      all.insert(e_.new_resource());
    }
    e_.each(left, [&](const At& at) {
      for (std::size_t n = 0; n < work_.size(); ++n) e_.write(shared[n], at, e_.read(work_[n], at));
    });
    e_.barrier();
    for (std::int64_t half = left / 2; half >= rows_.rows; half /= 2) {
      e_.each(half, [&](const At& at) {
        const At high = {fmt::format("{} + {}", at.i, half), ""};
        combine([&](std::size_t n) { return e_.read(shared[n], high); },
                [&](std::size_t n) { return e_.read(shared[n], at); },
                [&](std::size_t n, const std::string& value) { e_.write(shared[n], at, value); });
      });
      e_.barrier();
    }
    for (const ValueId id : op_.results)
      if (e_.plan.crosses(id)) results.insert(id);
    e_.order(all, results);  // which are written only behind these barriers
    finish([&](std::size_t n, const At& at) { return e_.read(shared[n], at); });
  }

  template <class Get>
  void finish(Get get) {
    const auto put = [&](const At& at) {
      for (std::size_t n = 0; n < work_.size(); ++n) e_.set(op_.results[n], at, get(n, at));
    };
    if (rows_.rows == 1)
      put(only);
    else
      e_.each(rows_.rows, put);
  }

  Emitter& e_;
  const Operation& op_;
  Rows rows_;
  std::vector<Stored> work_;
};

void reduce(Emitter& e, const Operation& op) { Reduction(e, op).emit(); }

/// In order, a row by a thread.
void scan(Emitter& e, const Operation& op) {
  const Rows rows(e.type(op.operands[0]), op.number("dim"));
  const auto& identities = std::get<std::vector<Scalar>>(op.attribute("identities"));
  e.order(op);
  for (const ValueId id : op.results) e.declare(id);
  const std::string head = e.threads == 1
                               ? fmt::format("for (u32 row = 0; row < {}; ++row)", rows.rows)
                               : fmt::format("for (u32 row = thread; row < {}; row += {})", rows.rows, e.threads);
  e.within(head, [&] {
    std::vector<std::string> sums;
    for (const Scalar& identity : identities) {
      sums.push_back(e.fresh("e"));
      e.print("{} {} = {};", value_type(identity.element), sums.back(), literal(identity.bits, identity.element));
    }
    e.within(fmt::format("for (u32 n = 0; n < {}; ++n)", rows.length), [&] {
      const std::string k = op.number("reverse") != 0 ? fmt::format("({}u - n)", rows.length - 1) : "n";
      const std::string i = e.named("u32", rows.at("row", k));
      const At at = {i, e.threads == 1 ? i : ""};
      std::vector<std::string> arguments;
      for (std::size_t n = 0; n < sums.size(); ++n) {
        arguments.push_back(e.element(op.operands[n], at));
        arguments.push_back(e.named(value_type(identities[n].element), "+" + sums[n]));
      }
      const std::vector<std::string> yielded = e.body(op, arguments);
      for (std::size_t n = 0; n < sums.size(); ++n) {
        e.print("{} = {};", sums[n], yielded[n]);
        e.set(op.results[n], at, yielded[n]);
      }
    });
  });
}

}  // namespace

std::vector<Row> reduction_rows() {
  return {{.name = "reduce", .statement = reduce}, {.name = "scan", .statement = scan}};
}

}  // namespace deplo::ir::tile_program::blocks
