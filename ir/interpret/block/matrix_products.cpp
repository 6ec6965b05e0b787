#include "ir/interpret/block/matrix_products.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/error.h"
#include "ir/hardware/mma.h"

namespace deplo::ir::exec {
namespace {

// Which of the product's sums register `number` of a thread of the warpgroup is: four for each 8 columns, two columns of
// row g and of row 8 + g (PTX ISA, "Register Fragments", wgmma).
struct Place {
  std::int64_t row, column;
};
Place place(std::int64_t lane, std::int64_t number) {
  const std::int64_t in_warp = lane % mma::warp;
  return {lane / mma::warp * mma::warp_rows + number / 2 % 2 * mma::row_threads + in_warp / mma::column_threads,
          number / 4 * mma::warp_columns + in_warp % mma::column_threads * mma::column_registers + number % 2};
}

// f(operand, its lane, number of the register)
template <class F>
void for_each_register(const std::vector<Operand>& sums, F&& f) {
  std::int64_t number = 0;
  for (const Operand& sum : sums)
    for (int w = 0; w < sum.lanes; ++w) f(sum, w, number++);
}

}  // namespace

void MatrixProducts::check_finished() const {
  if (!open.empty() || !groups.empty())
    throw Error("block " + std::to_string(lanes_.block) + " ends before all its Wgmma are waited for");
}

void MatrixProducts::fence(const std::vector<Operand>& sums) {
  for (const Operand& sum : sums) touched.erase(sum.value);
}

double MatrixProducts::read(const MatrixCells& matrix, std::int64_t at, int lane) const {
  Shared& buffer = shared_.buffers[static_cast<std::size_t>(matrix.buffer)];
  Cell& cell = buffer.cells[static_cast<std::size_t>(matrix.cells[static_cast<std::size_t>(at)])];
  if (cell.stored)
    lanes_.fail(
        "race: a Wgmma reads an element of " + buffer.name + " that a thread stored with no proxy fence between", lane);
  return shared_.read(buffer, cell, lane);
}

void MatrixProducts::watch(const MatrixProduct& product, int change) {
  for (const MatrixCells* matrix : {&product.a, &product.b})
    for (const std::int64_t cell : matrix->cells)
      shared_.buffers[static_cast<std::size_t>(matrix->buffer)].cells[static_cast<std::size_t>(cell)].products +=
          change;
}

void MatrixProducts::hold(const MatrixProduct& product) {
  for_each_register(product.sums, [&](const Operand& sum, int w, std::int64_t) {
    double* lanes = lanes_.element(sum.value, w);
    const auto [at, fresh] = held.try_emplace({sum.value, w});
    if (!fresh) return;
    at->second.assign(lanes, lanes + lanes_.count);
    std::fill(lanes, lanes + lanes_.count, std::numeric_limits<double>::quiet_NaN());
  });
}

void MatrixProducts::start(MatrixProduct product) {
  for (const Operand& sum : product.sums)
    if (touched.count(sum.value) > 0)
      lanes_.fail("race: the sums of a product were written with no WgmmaFence between", product.first_lane);
  for (const MatrixCells* matrix : {&product.a, &product.b})
    for (std::size_t at = 0; at < matrix->cells.size(); ++at)
      read(*matrix, static_cast<std::int64_t>(at), product.first_lane);
  watch(product, 1);
  hold(product);
  open.push_back(std::move(product));
}

void MatrixProducts::commit() {
  groups.push_back(std::move(open));
  open.clear();
}

void MatrixProducts::finish(const MatrixProduct& product) {
  watch(product, -1);
  constexpr std::int64_t depth = MatrixProduct::depth;
  for_each_register(product.sums, [&](const Operand& sum, int w, std::int64_t number) {
    std::vector<double>& lanes = held.at({sum.value, w});
    for (int thread = 0; thread < mma::warpgroup; ++thread) {
      const auto [row, column] = place(thread, number);
      const int lane = product.first_lane + thread;
      for (std::int64_t k = 0; k < depth; ++k)
        lanes[static_cast<std::size_t>(lane)] += read(product.a, row * depth + k, product.first_lane) *
                                                 read(product.b, column * depth + k, product.first_lane);
    }
  });
}

bool MatrixProducts::is_under_way(std::size_t value) const {
  const auto of = [&](const MatrixProduct& product) {
    return std::ranges::any_of(product.sums, [&](const Operand& sum) { return sum.value == value; });
  };
  return std::ranges::any_of(open, of) ||
         std::ranges::any_of(groups, [&](const auto& group) { return std::ranges::any_of(group, of); });
}

void MatrixProducts::wait(std::int64_t keep, const std::vector<Operand>& sums) {
  while (std::ssize(groups) > keep) {
    for (const MatrixProduct& product : groups.front()) finish(product);
    groups.erase(groups.begin());
  }
  for_each_register(sums, [&](const Operand& sum, int w, std::int64_t) {
    if (is_under_way(sum.value)) lanes_.fail("the wait leaves products of its sums under way", 0);
    const auto values = held.find({sum.value, w});
    if (values == held.end()) return;
    std::ranges::copy(values->second, lanes_.element(sum.value, w));
    held.erase(values);
  });
}

}  // namespace deplo::ir::exec
