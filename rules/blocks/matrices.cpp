// Products of matrices. A thread has some rows and columns of the sums and keeps them while it walks k.
#include <algorithm>

#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

/// B x M x K by B x K x N.
struct Sizes {
  std::int64_t rows = 1, m = 1, n = 1, k = 1;  // rows of all B
  Sizes(const Type& lhs, const Type& acc)
      : rows(tp::element_count(acc) / acc.shape.back()),
        m(acc.shape[acc.shape.size() - 2]),
        n(acc.shape.back()),
        k(lhs.shape.back()) {}
};

class Product {
 public:
  Product(Lowering& l, const Operation& op)
      : l_(l),
        op_(op),
        sizes_(l.type(op.operands[0]), l.result_type(op)),
        result_(l.dtype(op.results[0])),
        sum_(result_ == DType::f16 ? DType::f32 : result_) {}

  void lower() {
    l_.order(op_);
    const ValueId result = op_.results[0];
    const std::int64_t count = tp::element_count(l_.result_type(op_));
    l_.declare(result);
    const bool narrow = sum_ != result_;  // a sum of f16 is rounded once
    if (l_.is_scalar(result)) return one_sum(result);
    std::optional<Stored> sums;
    if (narrow) sums = l_.allocate(sum_, count, false);
    const auto put = [&](const At& at, const Name& value) {
      if (sums)
        l_.write(*sums, at, value);
      else
        l_.set(result, at, value);
    };
    const auto now = [&](const At& at) { return sums ? l_.read(*sums, at) : l_.element(result, at); };
    l_.each(count, [&](const At& at) { put(at, widened(l_.element(op_.operands[2], at))); });
    walk(count, [&](const Expr& row, const Expr& column, const Expr& k, const At& at) {
      put(at, added(row, column, k, now(at)));
    });
    if (sums) l_.each(count, [&](const At& at) { l_.set(result, at, narrowed(l_.read(*sums, at))); });
  }

 private:
  using Step = std::function<void(const Expr& row, const Expr& column, const Expr& k, const At&)>;

  void one_sum(ValueId result) {
    const Stored sum{l_.fresh("v"), sum_};
    l_.add(ir::Local{sum.array, sum_, 1});
    l_.write(sum, only, widened(l_.scalar(op_.operands[2])));
    l_.loop(sizes_.k, false, [&](const Expr& k) { l_.write(sum, only, added(0, 0, k, l_.read(sum, only))); });
    l_.set(result, only, narrowed(l_.read(sum, only)));
  }

  Name widened(const Name& value) { return sum_ == result_ ? value : l_.compute("ftof", sum_, {value}); }
  Name narrowed(const Name& value) { return sum_ == result_ ? value : l_.compute("ftof", result_, {value}); }

  /// With C threads beside each other along a row, a thread has N / C columns, and every (T / C)th row.
  void walk(std::int64_t count, const Step& step) {
    const std::int64_t t = l_.threads, across = std::min(sizes_.n, t), columns = sizes_.n / across;
    const std::int64_t rows = std::max<std::int64_t>(1, count / t / columns);
    const bool unrolled = l_.unrolls(rows * columns);
    using Inner = std::function<void(const Expr&)>;
    const auto row_loop = [&](const Inner& inner) { l_.loop(rows, unrolled, inner); };
    const auto k_loop = [&](const Inner& inner) { l_.loop(sizes_.k, false, inner); };
    const auto column_loop = [&](const Expr& r, const Expr& k) {
      l_.loop(columns, unrolled, [&](const Expr& c) {
        const Expr row = t == across ? r : r * (t / across) + l_.thread() / across;
        const Expr column = t == 1 ? c : across == t ? c * across + l_.thread() : l_.thread() % across;
        step(row, column, k, {l_.simplified(row * sizes_.n + column), l_.simplified(r * columns + c)});
      });
    };
    const auto all = [&] {
      // A CPU's thread goes along a row of the sums; a GPU's keeps all of its sums in registers.
      if (l_.target.cpu)
        row_loop([&](const Expr& r) { k_loop([&](const Expr& k) { column_loop(r, k); }); });
      else
        k_loop([&](const Expr& k) { row_loop([&](const Expr& r) { column_loop(r, k); }); });
    };
    if (count < t)
      l_.guarded(ir::less(l_.thread(), count), all);
    else
      all();
  }

  /// sum + lhs[row, k] rhs[k, column].
  Name added(const Expr& row, const Expr& column, const Expr& k, const Name& sum) {
    const Expr batch = sizes_.rows == sizes_.m ? Expr(0) : row / sizes_.m;
    const Name a = factor(0, row * sizes_.k + k), b = factor(1, (batch * sizes_.k + k) * sizes_.n + column);
    if (op_.form->name == "mmai")
      return l_.compute(
          "addi", DType::i32,
          {sum, l_.compute("muli", DType::i32, {extended(a, 0, "signedness_lhs"), extended(b, 1, "signedness_rhs")})});
    if (op_.form->name != "mmaf_scaled") return l_.compute("fma", sum_, {as_sum(a, 0), as_sum(b, 1), sum});
    const std::int64_t groups = l_.type(op_.operands[3]).shape.back(), each = sizes_.k / groups;
    const Name sa = factor(3, row * groups + k / each), sb = factor(4, (batch * groups + k / each) * sizes_.n + column);
    const auto times = [&](const Name& x, const Name& y) { return l_.compute("mulf", sum_, {x, y}); };
    const Name scaled_a = times(as_sum(a, 0), as_sum(sa, 3)), scaled_b = times(as_sum(b, 1), as_sum(sb, 4));
    return l_.compute("addf", sum_, {sum, times(scaled_a, scaled_b)});
  }

  Name factor(std::size_t operand, const Expr& i) {
    return l_.element(op_.operands[operand], {l_.simplified(i), std::nullopt});
  }

  /// A factor in the type of the sums, which holds it exactly.
  Name as_sum(const Name& value, std::size_t operand) {
    return l_.dtype(op_.operands[operand]) == sum_ ? value : l_.compute("ftof", sum_, {value});
  }

  Name extended(const Name& value, std::size_t operand, std::string_view sign) {
    return l_.converted(value, l_.dtype(op_.operands[operand]), DType::i32, op_.number(sign) != 0);
  }

  Lowering& l_;
  const Operation& op_;
  Sizes sizes_;
  DType result_, sum_;
};

void product(Lowering& l, const Operation& op) { Product(l, op).lower(); }

}  // namespace

std::vector<Row> matrix_rows() {
  return {{.name = "mmaf", .statement = product},
          {.name = "mmaf_scaled", .statement = product},
          {.name = "mmai", .statement = product}};
}

}  // namespace deplo::rules::blocks
