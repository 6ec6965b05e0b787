#include "ir/interpret/block/matrix_products.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "core/error.h"
#include "ir/hardware/mma.h"

namespace deplo::ir::exec {
namespace {

// The sum that register `number` of a thread of the warpgroup holds. Each 8 columns have four registers: two columns of
// row g and two of row 8 + g (PTX ISA, "Register Fragments", wgmma).
struct Place {
  std::int64_t row, column;
};
Place place(std::int64_t lane, std::int64_t number) {
  const std::int64_t in_warp = lane % gpu::warp;
  return {lane / gpu::warp * mma::warp_rows + number / 2 % 2 * mma::row_threads + in_warp / mma::column_threads,
          number / 4 * mma::warp_columns + in_warp % mma::column_threads * mma::column_registers + number % 2};
}

// The thread that holds an element of operand a, and the element's number in the thread's fragment (same section of the
// PTX ISA). The matrices are those of m16n8k16: rows g and 8 + g of the first 8 elements along k, then of the next 8. A
// register holds two neighbours along k.
struct FragmentPlace {
  std::int64_t lane, number;
};
FragmentPlace fragment_place(std::int64_t row, std::int64_t k) {
  const std::int64_t in_warp = row % mma::warp_rows, matrix = in_warp / mma::row_threads + k / 8 * 2;
  return {row / mma::warp_rows * gpu::warp + in_warp % mma::row_threads * mma::column_threads + k % 8 / 2,
          matrix * 2 + k % 2};
}

// Calls f(operand, its lane, number of the register) for each register.
template <class F>
void for_each_register(const std::vector<Operand>& sums, F&& f) {
  std::int64_t number = 0;
  for (const Operand& sum : sums)
    for (int w = 0; w < sum.lanes; ++w) f(sum, w, number++);
}

}  // namespace

template <class F>
bool MatrixProducts::any_under_way(F&& is) const {
  return std::ranges::any_of(open, is) ||
         std::ranges::any_of(groups, [&](const auto& group) { return std::ranges::any_of(group, is); });
}

void MatrixProducts::check_finished() const {
  if (!open.empty() || !groups.empty())
    throw Error("block " + std::to_string(lanes_.block) + " ends before it has waited for all its Wgmma");
}

void MatrixProducts::touch_used(std::size_t value) {
  const auto reads = [&](const MatrixProduct& product) {
    const auto* fragment = std::get_if<std::size_t>(&product.a);
    return fragment != nullptr && *fragment == value;
  };
  if (any_under_way(reads)) lanes_.fail("race: registers are overwritten while a Wgmma reads them", 0);
  touched.insert(value);
}

void MatrixProducts::fence(const std::vector<Operand>& registers) {
  for (const Operand& operand : registers) touched.erase(operand.value);
}

double MatrixProducts::read(const MatrixCells& matrix, std::int64_t at, int lane) const {
  Shared& buffer = shared_.buffers[static_cast<std::size_t>(matrix.buffer)];
  Cell& cell = buffer.cells[static_cast<std::size_t>(matrix.cells[static_cast<std::size_t>(at)])];
  if (cell.stored)
    lanes_.fail(
        "race: a Wgmma reads an element of " + buffer.name + " that a thread stored with no proxy fence between", lane);
  return shared_.read_by_proxy(buffer, cell, lane);
}

double MatrixProducts::read_a(const MatrixProduct& product, std::int64_t row, std::int64_t k) const {
  if (const auto* matrix = std::get_if<MatrixCells>(&product.a))
    return read(*matrix, row * MatrixProduct::depth + k, product.first_lane);
  const auto [lane, number] = fragment_place(row, k);
  return lanes_.element(std::get<std::size_t>(product.a), static_cast<int>(number))[product.first_lane + lane];
}

void MatrixProducts::watch(const MatrixProduct& product, int change) {
  for (const MatrixCells* matrix : {std::get_if<MatrixCells>(&product.a), &product.b})
    for (const std::int64_t cell : matrix != nullptr ? matrix->cells : std::vector<std::int64_t>())
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
  if (const auto* fragment = std::get_if<std::size_t>(&product.a); fragment != nullptr && touched.count(*fragment) > 0)
    lanes_.fail("race: a fragment was written with no WgmmaFence between", product.first_lane);
  for (const MatrixCells* matrix : {std::get_if<MatrixCells>(&product.a), &product.b})
    for (std::size_t at = 0; matrix != nullptr && at < matrix->cells.size(); ++at)
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
  // Each row of both operands is read only once, when the first sum needs it.
  using Row = std::array<double, depth>;
  std::vector<std::optional<Row>> rows_a(MatrixProduct::rows), rows_b(product.b.cells.size() / depth);
  for_each_register(product.sums, [&](const Operand& sum, int w, std::int64_t number) {
    std::vector<double>& lanes = held.at({sum.value, w});
    for (int thread = 0; thread < mma::warpgroup; ++thread) {
      const auto [row, column] = place(thread, number);
      const int lane = product.first_lane + thread;
      std::optional<Row>& a = rows_a[static_cast<std::size_t>(row)];
      std::optional<Row>& b = rows_b[static_cast<std::size_t>(column)];
      const bool reads_a = !a, reads_b = !b;
      if (reads_a) a.emplace();
      if (reads_b) b.emplace();
      for (std::int64_t k = 0; k < depth && (reads_a || reads_b); ++k) {
        if (reads_a) (*a)[static_cast<std::size_t>(k)] = read_a(product, row, k);
        if (reads_b) (*b)[static_cast<std::size_t>(k)] = read(product.b, column * depth + k, product.first_lane);
      }
      double& sum_of_lane = lanes[static_cast<std::size_t>(lane)];
      sum_of_lane = arithmetic_.dot(sum_of_lane, *a, *b);
    }
  });
}

bool MatrixProducts::is_under_way(std::size_t value) const {
  return any_under_way([&](const MatrixProduct& product) {
    return std::ranges::any_of(product.sums, [&](const Operand& sum) { return sum.value == value; });
  });
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
