// Matrix products. A thread has some rows and columns of the sums and keeps them while it walks k.

#include "rules/blocks/dealing.h"
#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"

namespace deplo::rules::blocks {
namespace {

/// The sizes of a product of B x M x K by B x K x N.
struct Sizes {
  std::int64_t rows = 1, m = 1, n = 1, k = 1;  // rows: of all B matrices together
  Sizes(const Type& lhs, const Type& acc)
      : rows(tp::element_count(acc) / acc.shape.back()),
        m(acc.shape[acc.shape.size() - 2]),
        n(acc.shape.back()),
        k(lhs.shape.back()) {}
};

/// A product by matrix instructions. A thread computes the elements of the factors that its part of an instruction
/// needs, and then adds its sums to those in shared memory.
class MatrixProduct {
 public:
  MatrixProduct(Lowering& l, const Operation& op)
      : l_(l), op_(op), warps_(warps_of(l.entry, op, l.threads, l.target).value()), n_(l.result_type(op).shape[1]) {}

  void lower() {
    const ValueId result = op_.results[0];
    if (warps_.atom->operands == ir::mma::Operands::tf32)
      l_.allow_tf32 = true;  // the program has already rounded to tf32
    l_.each(l_.type(result).shape, [&](const At& at) { l_.set(result, at, l_.element(op_.operands[2], at)); });
    l_.waits.barrier();
    l_.scoped([&] {
      declare_sums();
      l_.loop(l_.type(op_.operands[0]).shape[1] / warps_.atom->k, false, [&](const Expr& step) { multiply(step); });
      for (std::int64_t r = 0; r < warps_.rows; ++r)
        for (std::int64_t c = 0; c < warps_.columns; ++c)
          for (int lane = 0; lane < lanes; ++lane) add_sum(r, c, lane);
    });
    l_.order(op_);  // orders reads and writes since the barrier
  }

 private:
  static constexpr int lanes = 4;  // sums per thread in an atom (ir/hardware/mma.h)

  Expr warp() const { return l_.thread() / ir::gpu::warp; }
  /// The row of 8 and, in the next function, the column of 4 that a thread of a warp has in an instruction.
  Expr group() const { return l_.thread() % ir::gpu::warp / ir::mma::column_threads; }
  Expr in_group() const { return l_.thread() % ir::mma::column_threads; }
  Expr first_row(std::int64_t r) const { return (warp() / warps_.across * warps_.rows + r) * warps_.atom->m; }
  Expr first_column(std::int64_t c) const { return (warp() % warps_.across * warps_.columns + c) * warps_.atom->n; }

  std::vector<Name>& sums(std::int64_t r, std::int64_t c) {
    return sums_[static_cast<std::size_t>(r * warps_.columns + c)];
  }

  void declare_sums() {
    sums_.resize(static_cast<std::size_t>(warps_.rows * warps_.columns));
    for (std::vector<Name>& atom : sums_)
      for (int lane = 0; lane < lanes; ++lane) {
        atom.push_back(l_.fresh("acc"));
        l_.add(ir::Init{atom.back(), {DType::f32, 1}, ir::Op::add});
      }
  }

  void multiply(const Expr& step) {
    const Expr k = step * warps_.atom->k;
    std::vector<Name> left, right;
    for (std::int64_t r = 0; r < warps_.rows; ++r) left.push_back(left_fragment(first_row(r), k));
    for (std::int64_t c = 0; c < warps_.columns; ++c) right.push_back(right_fragment(first_column(c), k));
    for (std::int64_t r = 0; r < warps_.rows; ++r)
      for (std::int64_t c = 0; c < warps_.columns; ++c)
        l_.add(ir::Mma{sums(r, c), left[static_cast<std::size_t>(r)], right[static_cast<std::size_t>(c)], 0,
                       warps_.atom->name});
  }

  Name left_fragment(const Expr& row, const Expr& k) {
    std::vector<Name> values;
    for (std::int64_t matrix = 0; matrix < warps_.atom->a_matrices(); ++matrix)
      for (std::int64_t e = 0; e < warps_.atom->packed(); ++e)
        values.push_back(factor(0, row + matrix % 2 * 8 + group(), along_k(k, matrix / 2, e)));
    return packed(0, std::move(values));
  }

  Name right_fragment(const Expr& column, const Expr& k) {
    std::vector<Name> values;
    for (std::int64_t matrix = 0; matrix < warps_.atom->b_matrices(); ++matrix)
      for (std::int64_t e = 0; e < warps_.atom->packed(); ++e)
        values.push_back(factor(1, along_k(k, matrix, e), column + group()));
    return packed(1, std::move(values));
  }

  Expr along_k(const Expr& k, std::int64_t matrix, std::int64_t e) const {
    return k + matrix * warps_.atom->depth() + in_group() * warps_.atom->packed() + e;
  }

  /// An element of a factor as an f32.
  Name factor(std::size_t operand, const Expr& row, const Expr& column) {
    const ValueId id = op_.operands[operand];
    const Name element = l_.element(id, {l_.simplified(row * l_.type(id).shape[1] + column), std::nullopt});
    return l_.compute("ftof", DType::f32, {element});
  }

  Name packed(std::size_t operand, std::vector<Name> values) {
    const DType element = l_.dtype(op_.operands[operand]);
    const DType held = ir::is_float16(element) ? element : DType::f32;
    ir::Pack pack{l_.fresh("f"), {held, static_cast<int>(values.size())}, std::move(values)};
    const Name name = pack.dst;
    l_.add(std::move(pack));
    return name;
  }

  void add_sum(std::int64_t r, std::int64_t c, int lane) {
    const ValueId result = op_.results[0];
    const Expr row = first_row(r) + lane / 2 * 8 + group(),
               column = first_column(c) + in_group() * ir::mma::column_registers + lane % 2;
    const At at{l_.simplified(row * n_ + column), std::nullopt};
    const Name sum = sums(r, c)[static_cast<std::size_t>(lane)], before = l_.element(result, at);
    const bool narrow = l_.dtype(result) == DType::f16;
    const Name after =
        l_.compute("addf", DType::f32, {narrow ? l_.compute("ftof", DType::f32, {before}) : before, sum});
    l_.set(result, at, narrow ? l_.compute("ftof", DType::f16, {after}) : after);
  }

  Lowering& l_;
  const Operation& op_;
  Warps warps_;
  std::int64_t n_;
  std::vector<std::vector<Name>> sums_;  // the sums of each atom
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
    const bool narrow = sum_ != result_;  // sums of f16 results are f32, so that they are rounded only once
    if (l_.is_scalar(result)) return one_sum(result);
    if (const auto chosen = l_.schedule.products.find(result);
        chosen != l_.schedule.products.end() && chosen->second.matrix)
      return MatrixProduct(l_, op_).lower();
    const tp::Extents& shape = l_.type(result).shape;
    std::optional<Stored> sums;
    if (narrow) sums = l_.allocate(sum_, count, false);
    const Sums all{[&](const At& at) { return sums ? l_.read(*sums, at) : l_.element(result, at); },
                   [&](const At& at, const Name& value) {
                     if (sums)
                       l_.write(*sums, at, value);
                     else
                       l_.set(result, at, value);
                   }};
    l_.each(shape, [&](const At& at) { all.put(at, widened(l_.element(op_.operands[2], at))); });
    const Dealing dealt(l_.type(result), l_.threads);
    const auto walk_all = [&] { walk(dealt, all); };
    if (count < l_.threads)
      l_.guarded(ir::less(l_.thread(), count), walk_all);
    else
      l_.scoped(walk_all);  // a sum that was read here has another value afterwards
    if (sums) l_.each(shape, [&](const At& at) { l_.set(result, at, narrowed(l_.read(*sums, at))); });
  }

 private:
  struct Sums {
    std::function<Name(const At&)> now;
    std::function<void(const At&, const Name&)> put;
  };
  /// A sum of the product: its row, its column, its place in the result, and its place in the registers of a tile of
  /// sums.
  struct Sum {
    Expr row, column;
    At at, in_tile;
  };

  void one_sum(ValueId result) {
    const Stored sum{l_.fresh("v"), sum_};
    l_.add(ir::Local{sum.array, sum_, 1});
    l_.write(sum, only, widened(l_.scalar(op_.operands[2])));
    l_.loop(sizes_.k, false, [&](const Expr& k) { l_.write(sum, only, added(0, 0, k, l_.read(sum, only))); });
    l_.set(result, only, narrowed(l_.read(sum, only)));
  }

  Name widened(const Name& value) { return sum_ == result_ ? value : l_.compute("ftof", sum_, {value}); }
  Name narrowed(const Name& value) { return sum_ == result_ ? value : l_.compute("ftof", result_, {value}); }

  /// Computes the sums that belong to the thread.
  void walk(const Dealing& dealt, const Sums& all) {
    const ProductSchedule tile = tile_of(dealt);
    const bool unrolled = l_.unrolls(dealt.rows * dealt.columns);
    l_.loop(dealt.rows / tile.rows, unrolled, [&](const Expr& r) {
      l_.loop(dealt.columns / tile.columns, unrolled,
              [&](const Expr& c) { walk_tile(dealt, tile, r * tile.rows, c * tile.columns, all); });
    });
  }

  /// On a CPU, the sums of a tile are in an array of their own, so that compilers keep them in registers.
  void walk_tile(const Dealing& dealt, const ProductSchedule& tile, const Expr& r0, const Expr& c0, const Sums& all) {
    const bool unrolled = l_.unrolls(dealt.rows * dealt.columns);
    const auto each_sum = [&](const std::function<void(const Sum&)>& body) {
      each_row(tile.rows, unrolled, [&](const Expr& r) {
        l_.loop(tile.columns, unrolled,
                [&](const Expr& c) { body(sum_at(dealt, r0 + r, c0 + c, r * tile.columns + c)); });
      });
    };
    if (!l_.target.cpu) {
      l_.loop(sizes_.k, false, [&](const Expr& k) {
        each_sum([&](const Sum& sum) { all.put(sum.at, added(sum.row, sum.column, k, all.now(sum.at))); });
      });
      return;
    }
    const Stored part{l_.fresh("v"), sum_};
    l_.add(ir::Local{part.array, sum_, tile.rows * tile.columns});
    each_sum([&](const Sum& sum) { l_.write(part, sum.in_tile, all.now(sum.at)); });
    l_.loop(sizes_.k, false, [&](const Expr& k) {
      each_sum([&](const Sum& sum) {
        l_.write(part, sum.in_tile, added(sum.row, sum.column, k, l_.read(part, sum.in_tile)));
      });
    });
    each_sum([&](const Sum& sum) { all.put(sum.at, l_.read(part, sum.in_tile)); });
  }

  /// A loop over rows. On a CPU, it is unrolled if there are few rows.
  void each_row(std::int64_t rows, bool unrolled, const std::function<void(const Expr&)>& body) {
    if (!l_.target.cpu || rows > max_rows) return l_.loop(rows, unrolled, body);
    for (std::int64_t r = 0; r < rows; ++r) body(Expr(r));
  }

  Sum sum_at(const Dealing& dealt, const Expr& r, const Expr& c, const Expr& in_tile) const {
    const std::int64_t t = l_.threads, across = dealt.across;
    const Expr row = t == across ? r : r * (t / across) + l_.thread() / across;
    const Expr column = t == 1 ? c : across == t ? c * across + l_.thread() : l_.thread() % across;
    return {row,
            column,
            {l_.simplified(row * sizes_.n + column), l_.simplified(r * dealt.columns + c)},
            {l_.simplified(in_tile), l_.simplified(in_tile)}};
  }

  ProductSchedule tile_of(const Dealing& dealt) const {
    const auto chosen = l_.schedule.products.find(op_.results[0]);
    const ProductSchedule tile =
        chosen != l_.schedule.products.end() ? chosen->second : usual_schedule(dealt, l_.target);
    CHECK(dealt.rows % tile.rows == 0 && dealt.columns % tile.columns == 0);
    return tile;
  }

  /// Returns sum + lhs[row, k] * rhs[k, column].
  Name added(const Expr& row, const Expr& column, const Expr& k, const Name& sum) {
    const Expr batch = sizes_.rows == sizes_.m ? Expr(0) : row / sizes_.m;
    const Name a = factor(0, row * sizes_.k + k), b = factor(1, (batch * sizes_.k + k) * sizes_.n + column);
    if (op_.form->name == "mmai")
      return l_.compute(
          "addi", DType::i32,
          {sum, l_.compute("muli", DType::i32, {extended(a, 0, "signedness_lhs"), extended(b, 1, "signedness_rhs")})});
    if (op_.form->name != "mmaf_scaled") return l_.compute("fma", sum_, {as_sum(a, 0), as_sum(b, 1), sum});
    const std::int64_t groups = l_.type(op_.operands[3]).shape.back(), group_size = sizes_.k / groups;
    const Name sa = factor(3, row * groups + k / group_size),
               sb = factor(4, (batch * groups + k / group_size) * sizes_.n + column);
    const auto times = [&](const Name& x, const Name& y) { return l_.compute("mulf", sum_, {x, y}); };
    const Name scaled_a = times(as_sum(a, 0), as_sum(sa, 3)), scaled_b = times(as_sum(b, 1), as_sum(sb, 4));
    return l_.compute("addf", sum_, {sum, times(scaled_a, scaled_b)});
  }

  Name factor(std::size_t operand, const Expr& i) {
    return l_.element(op_.operands[operand], {l_.simplified(i), std::nullopt});
  }

  /// A factor converted to the type of the sums, which represents it exactly.
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
