// Products of matrices. A thread has some rows and columns of the sums and keeps them while it walks k.
#include <fmt/format.h>

#include <algorithm>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/integers.h"
#include "ir/emit/tile_program/rows.h"

namespace deplo::ir::tile_program::blocks {
namespace {

/// B x M x K by B x K x N.
struct Sizes {
  std::int64_t rows = 1, m = 1, n = 1, k = 1;  // rows of all B
  Sizes(const Type& lhs, const Type& acc)
      : rows(element_count(acc) / acc.shape.back()),
        m(acc.shape[acc.shape.size() - 2]),
        n(acc.shape.back()),
        k(lhs.shape.back()) {}
};

class Product {
 public:
  Product(Emitter& e, const Operation& op)
      : e_(e), op_(op), sizes_(e.type(op.operands[0]), e.result_type(op)), element_(e.result_type(op).element) {}

  void emit() {
    e_.order(op_);
    const std::int64_t count = element_count(e_.result_type(op_));
    // A sum of f16 is rounded once, so it is kept in f32 meanwhile.
    const bool scalar = e_.is_scalar(op_.results[0]), narrow = element_ == DType::f16;
    const ValueId result = op_.results[0];
    e_.declare(result);
    std::optional<Stored> sums;
    if (narrow && !scalar) sums = e_.allocate(DType::f32, false, count, false);
    const auto put = [&](const At& at, const std::string& value) {
      if (sums)
        e_.write(*sums, at, value);
      else
        e_.set(result, at, value);
    };
    const auto now = [&](const At& at) { return sums ? e_.read(*sums, at) : e_.element(result, at); };
    if (scalar) {
      const std::string sum = e_.fresh("e");
      e_.print("{} {} = {};", value_type(narrow ? DType::f32 : element_), sum, e_.scalar(op_.operands[2]));
      e_.within(fmt::format("for (u32 k = 0; k < {}; ++k)", sizes_.k),
                [&] { e_.print("{} = {};", sum, added("0u", "0u", sum)); });
      e_.set(result, only, rounded(sum, element_));
      return;
    }
    e_.each(count, [&](const At& at) { put(at, e_.element(op_.operands[2], at)); });
    walk(count, [&](const std::string& row, const std::string& column, const At& at) {
      put(at, added(row, column, now(at)));
    });
    if (sums) e_.each(count, [&](const At& at) { e_.set(result, at, rounded(e_.read(*sums, at), element_)); });
  }

 private:
  using Body = std::function<void(const std::string& row, const std::string& column, const At&)>;

  /// With C threads beside each other along a row, a thread has N / C columns, and every (T / C)th row.
  void walk(std::int64_t count, const Body& body) {
    const std::int64_t t = e_.threads, across = std::min(sizes_.n, t), columns = sizes_.n / across;
    const std::int64_t rows = std::max<std::int64_t>(1, count / t / columns);
    const auto row_loop = [&](const std::function<void()>& inner) {
      e_.unroll(rows * columns);
      e_.within(fmt::format("for (u32 r = 0; r < {}; ++r)", rows), [&] {
        e_.print("const u32 row = {};", t == across ? "r" : fmt::format("r * {} + thread / {}", t / across, across));
        inner();
      });
    };
    const auto k_loop = [&](const std::function<void()>& inner) {
      e_.within(fmt::format("for (u32 k = 0; k < {}; ++k)", sizes_.k), inner);
    };
    const auto column_loop = [&] {
      e_.unroll(rows * columns);
      e_.within(fmt::format("for (u32 c = 0; c < {}; ++c)", columns), [&] {
        e_.print("const u32 column = {};", t == 1        ? "c"
                                           : across == t ? fmt::format("c * {} + thread", across)
                                                         : fmt::format("thread % {}", across));
        e_.print("const u32 slot = r * {} + c, i = row * {} + column;", columns, sizes_.n);
        body("row", "column", {"i", "slot"});
      });
    };
    const auto all = [&] {
      // A CPU's thread goes along a row of the sums; a GPU's keeps all of its sums in registers.
      if (e_.target.cpu)
        row_loop([&] { k_loop(column_loop); });
      else
        k_loop([&] { row_loop(column_loop); });
    };
    if (count < t)
      e_.within(fmt::format("if (thread < {})", count), all);
    else
      all();
  }

  /// sum + lhs[row, k] rhs[k, column].
  std::string added(const std::string& row, const std::string& column, const std::string& sum) {
    const std::string a = factor(0, fmt::format("{} * {} + k", row, sizes_.k));
    const std::string batch = sizes_.rows == sizes_.m ? "" : fmt::format("{} / {} * {} + ", row, sizes_.m, sizes_.k);
    const std::string b = factor(1, fmt::format("({}k) * {} + {}", batch, sizes_.n, column));
    if (op_.form->name == "mmai")
      return fmt::format("{} + (u32)({} * {})", sum, extended_byte(a, "signedness_lhs"),
                         extended_byte(b, "signedness_rhs"));
    if (op_.form->name != "mmaf_scaled") {
      const bool is_double = element_ == DType::f64;
      return fmt::format("{}({}, {}, {})", e_.cuda() && !is_double ? "fmaf" : "fma", a, b, sum);
    }
    const std::int64_t groups = e_.type(op_.operands[3]).shape.back(), each = sizes_.k / groups;
    const std::string sa = factor(3, fmt::format("{} * {} + k / {}", row, groups, each));
    const std::string scaled_batch =
        sizes_.rows == sizes_.m ? "" : fmt::format("{} / {} * {} + ", row, sizes_.m, groups);
    const std::string sb = factor(4, fmt::format("({}k / {}) * {} + {}", scaled_batch, each, sizes_.n, column));
    return fmt::format("{} + {} * {} * ({} * {})", sum, a, sa, b, sb);
  }

  std::string factor(std::size_t operand, const std::string& i) {
    return e_.element(op_.operands[operand], {e_.named("u32", i), ""});
  }

  std::string extended_byte(const std::string& value, std::string_view sign) const {
    return op_.number(sign) != 0 ? "(i32)(i8)" + value : "(i32)" + value;
  }

  Emitter& e_;
  const Operation& op_;
  Sizes sizes_;
  DType element_;
};

void product(Emitter& e, const Operation& op) { Product(e, op).emit(); }

}  // namespace

std::vector<Row> matrix_rows() {
  return {{.name = "mmaf", .statement = product},
          {.name = "mmaf_scaled", .statement = product},
          {.name = "mmai", .statement = product}};
}

}  // namespace deplo::ir::tile_program::blocks
