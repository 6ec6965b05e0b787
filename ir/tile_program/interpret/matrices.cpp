// Matrix products (specification, "mmaf", "mmai", "mmaf_scaled"). Sums are computed in double and rounded once to the
// accumulator's type.
#include "ir/tile_program/attribute.h"
#include "ir/tile_program/interpret/elementwise.h"
#include "ir/tile_program/interpret/evaluators.h"

namespace deplo::ir::tile_program::exec {
namespace {

/// The sizes of a product of B x M x K by B x K x N.
struct Sizes {
  std::size_t b = 1, m = 1, n = 1, k = 1;
  Sizes(const Type& lhs, const Type& acc) {
    const std::size_t rank = acc.shape.size();
    const auto at = [](const Type& t, std::size_t d) { return static_cast<std::size_t>(t.shape[d]); };
    if (rank == 3) b = at(acc, 0);
    m = at(acc, rank - 2);
    n = at(acc, rank - 1);
    k = at(lhs, rank - 1);
  }
};

/// Adds lhs * rhs to acc, row by row, so that rhs is read in order.
template <class Number>
void add_product(const Sizes& s, const std::vector<Number>& lhs, const std::vector<Number>& rhs,
                 std::vector<Number>& acc) {
  for (std::size_t row = 0; row < s.b * s.m; ++row) {
    Number* sum = acc.data() + row * s.n;
    const Number* b = rhs.data() + row / s.m * s.k * s.n;
    for (std::size_t k = 0; k < s.k; ++k) {
      const Number a = lhs[row * s.k + k];
      for (std::size_t j = 0; j < s.n; ++j) sum[j] += a * b[k * s.n + j];
    }
  }
}

Reals all_reals(const TileValue& v, std::size_t n) {
  Reals out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = v.real(i);
  return out;
}

void round_and_set(Evaluation& now, Reals acc) {
  const DType e = now.element();
  for (double& x : acc) x = round_to(x, e);
  now.set(of_reals(std::move(acc)));
}

void mmaf(Evaluation& now) {
  const Sizes s(now.operand_type(0), now.result_type());
  Reals acc = all_reals(now.operand(2), s.b * s.m * s.n);
  add_product(s, all_reals(now.operand(0), s.b * s.m * s.k), all_reals(now.operand(1), s.b * s.k * s.n), acc);
  round_and_set(now, std::move(acc));
}

void mmaf_scaled(Evaluation& now) {
  const Sizes s(now.operand_type(0), now.result_type());
  const auto groups = static_cast<std::size_t>(now.operand_type(3).shape.back());
  const std::size_t group_size = s.k / groups;
  Reals lhs = all_reals(now.operand(0), s.b * s.m * s.k), rhs = all_reals(now.operand(1), s.b * s.k * s.n);
  const TileValue &lhs_scale = now.operand(3), &rhs_scale = now.operand(4);
  for (std::size_t i = 0; i < lhs.size(); ++i) lhs[i] *= lhs_scale.real(i / s.k * groups + i % s.k / group_size);
  for (std::size_t i = 0; i < rhs.size(); ++i) {
    const std::size_t batch = i / (s.k * s.n), k = i / s.n % s.k;
    rhs[i] *= rhs_scale.real((batch * groups + k / group_size) * s.n + i % s.n);
  }
  Reals acc = all_reals(now.operand(2), s.b * s.m * s.n);
  add_product(s, lhs, rhs, acc);
  round_and_set(now, std::move(acc));
}

void mmai(Evaluation& now) {
  const Sizes s(now.operand_type(0), now.result_type());
  const auto numbers = [&](std::size_t operand, std::string_view sign, std::size_t n) {
    const TileValue& v = now.operand(operand);
    const bool is_signed = now.op.number(sign) != 0;
    Bits out(n);
    for (std::size_t i = 0; i < n; ++i)
      out[i] = is_signed ? static_cast<std::uint64_t>(as_signed(v.bit(i), 8)) : v.bit(i);
    return out;
  };
  Bits acc(s.b * s.m * s.n);
  for (std::size_t i = 0; i < acc.size(); ++i) acc[i] = now.operand(2).bit(i);
  add_product(s, numbers(0, "signedness_lhs", s.b * s.m * s.k), numbers(1, "signedness_rhs", s.b * s.k * s.n), acc);
  for (std::uint64_t& x : acc) x = wrap(x, 32);
  now.set(of_bits(std::move(acc)));
}

}  // namespace

std::vector<Evaluator> matrix_evaluators() { return {{"mmaf", mmaf}, {"mmaf_scaled", mmaf_scaled}, {"mmai", mmai}}; }

}  // namespace deplo::ir::tile_program::exec
