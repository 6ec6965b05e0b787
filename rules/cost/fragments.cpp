#include "rules/cost/fragments.h"

#include "ir/walk.h"

namespace deplo::rules {
namespace {

using ir::Expr;
using ir::var;

// The row and the matrix that a thread names: thread 8 j + i of a warp names row i of matrix j.
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

// ldmatrix cannot transpose matrices of 32 bits, so each thread fetches their elements itself.
Fetch fetch_of(const ir::mma::Product& product, bool along_k) {
  if (along_k) return Fetch::rows;
  return product.atom->operands == ir::mma::Operands::float16 ? Fetch::transposed : Fetch::elements;
}

// What a thread names of a fragment: a row of a matrix or, in each lane, an element of one.
struct Place {
  Expr row, matrix;  // row: along the operand's rows, or a transposed matrix's first row; matrix: its number
  Expr k;            // position along k within a matrix
};
Place place_of(const ir::mma::Product& product, Fetch fetch) {
  const auto [row, matrix] = named_by(product);
  if (fetch == Fetch::elements) {
    const Expr lane = var(ir::lane_variable);
    const std::int64_t packed = product.atom->packed();
    return {var(product.row_thread), lane / packed, var(product.column_thread) * packed + lane % packed};
  }
  return fetch == Fetch::rows ? Place{row, matrix, 0} : Place{0, matrix, row};
}

ir::Substitution place_of_a(const ir::mma::Product& product, const std::string& turn, Fetch fetch) {
  const ir::mma::Atom& atom = *product.atom;
  const auto [row, matrix, within] = place_of(product, fetch);
  const Expr k = var(turn) * atom.k + matrix / 2 % (atom.k / atom.depth()) * atom.depth() + within;
  return {{product.rows, matrix % 2}, {product.row_thread, row}, {turn, k}};
}

ir::Substitution place_of_b(const ir::mma::Product& product, const std::string& turn, Fetch fetch) {
  const ir::mma::Atom& atom = *product.atom;
  const auto [row, matrix, within] = place_of(product, fetch);
  const Expr k = var(turn) * atom.k + matrix % atom.b_matrices() * atom.depth() + within;
  return {{product.column_thread, row / 2}, {product.columns, row % 2}, {turn, k}};
}

}  // namespace

ir::Substitution element_of_a(const ir::mma::Product& product, const std::string& turn) {
  return place_of_a(product, turn, Fetch::elements);
}

ir::Substitution element_of_b(const ir::mma::Product& product, const std::string& turn) {
  return place_of_b(product, turn, Fetch::elements);
}

// Threads beyond the last matrix name rows of the other matrices again.
Fragment fragment_of_a(const ir::mma::Product& product, const std::string& turn) {
  const ir::Load& load = *product.a.load();
  const Fetch fetch = fetch_of(product, product.a.along_k);
  return {&load, at(load, place_of_a(product, turn, fetch)), static_cast<int>(product.atom->a_matrices()), fetch, 1, 1};
}

Fragment fragment_of_b(const ir::mma::Product& product, const std::string& turn, const std::string& next) {
  const ir::Load& load = *product.b.load();
  const Fetch fetch = fetch_of(product, product.b.along_k);
  const std::int64_t deep = product.atom->b_matrices();
  ir::Substitution named = place_of_b(product, turn, fetch);
  if (!next.empty()) named.emplace_back(next, var(next) + place_of(product, fetch).matrix / deep % 2);
  return {&load, at(load, named), static_cast<int>(next.empty() ? deep : 2 * deep), fetch, 1, 1};
}

std::vector<Fragment> fragments(const ir::mma::Product& product, const std::string& turn) {
  std::vector<Fragment> result;
  const auto packed = static_cast<int>(product.atom->packed());
  const auto made = [&](const ir::mma::Factor& factor, const ir::Substitution& place, std::int64_t matrices) {
    for (const ir::Stmt* stmt : factor.made_by)
      if (const auto* load = stmt->as<ir::Load>()) {
        const bool neighbours = ir::coefficient(load->index.back(), turn) == 1;
        result.push_back(
            {load, at(*load, place), static_cast<int>(matrices), Fetch::elements, packed, neighbours ? packed : 1});
      }
  };
  const bool threads_read = !product.atom->of_warpgroup();
  if (!product.a.in_slab())
    made(product.a, element_of_a(product, turn), product.atom->a_matrices());
  else if (threads_read)
    result.push_back(fragment_of_a(product, turn));
  if (!product.b.in_slab())
    made(product.b, element_of_b(product, turn), product.atom->b_matrices());
  else if (threads_read)
    result.push_back(fragment_of_b(product, turn, ""));
  return result;
}

}  // namespace deplo::rules
