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

// Matrices of 32 bits are not transposed: there each thread fetches its elements itself.
Fetch fetch_of(const ir::mma::Product& product, bool along_k) {
  if (along_k) return Fetch::rows;
  return product.atom->operands == ir::mma::Operands::float16 ? Fetch::transposed : Fetch::elements;
}

// What a thread names of a fragment: a row of a matrix, or in each lane its element of one.
struct Place {
  Expr row, matrix;  // along the operand's rows, for a transposed matrix its first; and which one
  Expr k;            // within a matrix
};
Place place_of(const ir::mma::Product& product, Fetch fetch) {
  const auto [row, matrix] = named_by(product);
  if (fetch == Fetch::elements) return {var(product.row_thread), var(ir::lane_variable), var(product.column_thread)};
  return fetch == Fetch::rows ? Place{row, matrix, 0} : Place{0, matrix, row};
}

}  // namespace

// Threads behind the last matrix's name rows of the others again.
Fragment fragment_of_a(const ir::mma::Product& product, const std::string& turn) {
  const ir::mma::Atom& atom = *product.atom;
  const Fetch fetch = fetch_of(product, product.a_by_rows);
  const auto [row, matrix, within] = place_of(product, fetch);
  const Expr k = var(turn) * atom.k + matrix / 2 % (atom.k / atom.depth()) * atom.depth() + within;
  const ir::Substitution named = {{product.rows, matrix % 2}, {product.row_thread, row}, {turn, k}};
  return {product.a, at(*product.a, named), static_cast<int>(atom.a_matrices()), fetch};
}

Fragment fragment_of_b(const ir::mma::Product& product, const std::string& turn, const std::string& next) {
  const ir::mma::Atom& atom = *product.atom;
  const Fetch fetch = fetch_of(product, product.b_by_columns);
  const auto [row, matrix, within] = place_of(product, fetch);
  const std::int64_t deep = atom.b_matrices();
  const Expr k = var(turn) * atom.k + matrix % deep * atom.depth() + within;
  ir::Substitution named = {{product.column_thread, row / 2}, {product.columns, row % 2}, {turn, k}};
  if (!next.empty()) named.emplace_back(next, var(next) + matrix / deep % 2);
  return {product.b, at(*product.b, named), static_cast<int>(next.empty() ? deep : 2 * deep), fetch};
}

}  // namespace deplo::rules
