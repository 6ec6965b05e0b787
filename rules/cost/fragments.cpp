#include "rules/cost/fragments.h"

#include "ir/walk.h"

namespace deplo::rules {
namespace {

using ir::Expr;
using ir::var;

// Thread 8 j + i of a warp: the row i that it names, of matrix j.
struct Named {
  Expr row, matrix;
};
Named named_by(const ir::mma::Product& product) {
  const Expr g = var(product.row_thread), t = var(product.column_thread);
  return {g % 2 * ir::mma::column_threads + t, g / 2};
}

std::vector<Expr> at(const ir::Load& load, const ir::Substitution& substitution) {
  std::vector<Expr> index;
  for (const Expr& e : load.index) index.push_back(ir::substitute(e, substitution));
  return index;
}

constexpr std::int64_t half = 8;  // of k, and the side of a matrix

}  // namespace

Fragment fragment_of_a(const ir::mma::Product& product, const std::string& turn) {
  const auto [row, matrix] = named_by(product);
  const Expr k = var(turn) * product.atom->k + matrix / 2 * half, rows = matrix % 2;
  const ir::Substitution named =
      product.a_by_rows ? ir::Substitution{{product.rows, rows}, {product.row_thread, row}, {turn, k}}
                        : ir::Substitution{{product.rows, rows}, {product.row_thread, Expr(0)}, {turn, k + row}};
  return {product.a, at(*product.a, named), 4, !product.a_by_rows};
}

Fragment fragment_of_b(const ir::mma::Product& product, const std::string& turn, const std::string& next) {
  const auto [row, matrix] = named_by(product);
  const Expr k = var(turn) * product.atom->k + matrix % 2 * half;
  ir::Substitution named;
  if (product.b_by_columns)
    named = {{product.column_thread, row / 2}, {product.columns, row % 2}, {turn, k}};
  else
    named = {{product.column_thread, Expr(0)}, {product.columns, Expr(0)}, {turn, k + row}};
  if (!next.empty()) named.emplace_back(next, var(next) + matrix / 2);
  return {product.b, at(*product.b, named), next.empty() ? 2 : 4, !product.b_by_columns};
}

}  // namespace deplo::rules
