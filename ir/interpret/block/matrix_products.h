// Matrix products of warpgroups in flight (Wgmma). Private to the interpreter.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "ir/interpret/arithmetic/arithmetic.h"
#include "ir/interpret/block/shared_memory.h"

namespace deplo::ir::exec {

/// The elements of a matrix in shared memory, row by row, as numbers of cells of one buffer.
struct MatrixCells {
  int buffer = 0;
  std::vector<std::int64_t> cells;
};

/// A product of one warpgroup. It computes 64 rows of sums, each over `depth` elements of a row of both operands.
/// Operand a is in shared memory, or it is a value; each thread of the warpgroup then holds a fragment of `fragment`
/// elements.
struct MatrixProduct {
  int first_lane = 0;  // first lane of the warpgroup
  std::vector<Operand> sums;
  std::variant<MatrixCells, std::size_t> a;
  MatrixCells b;
  static constexpr std::int64_t rows = 64, depth = 16;
  static constexpr int fragment = 8;
};

/// The matrix products of one block.
struct ProductState {
  std::vector<std::vector<MatrixProduct>> groups;  // committed groups, oldest first
  std::vector<MatrixProduct> open;                 // products started since the last commit
  // Sums in flight; the key is the value and its element w.
  std::map<std::pair<std::size_t, int>, std::vector<double>> held;
  std::set<std::size_t> touched;  // sums and fragments written since the last fence
};

/// Executes products as late as possible: when a thread waits for them. A product reads its operands when it starts,
/// and again when it is executed. It is a race if an element is missing at the first reading or changes before the
/// second; this holds for operands in memory and in registers. Until a wait names a product's sums, all other
/// statements read them as NaN, because the compiler may move reads of sums that no wait names.
class MatrixProducts : public ProductState {
 public:
  MatrixProducts(const Arithmetic& arithmetic, Lanes& lanes, SharedMemory& shared)
      : arithmetic_(arithmetic), lanes_(lanes), shared_(shared) {}

  bool used = false;  // the program contains Wgmma

  void start_block() { static_cast<ProductState&>(*this) = {}; }
  void check_finished() const;
  /// Records that the threads write to the value. Throws Error if a product in flight reads it.
  void touch(std::size_t value) {
    if (used) touch_used(value);
  }
  void fence(const std::vector<Operand>& registers);
  void start(MatrixProduct);
  void commit();
  void wait(std::int64_t keep, const std::vector<Operand>& sums);

 private:
  void touch_used(std::size_t value);
  double read(const MatrixCells&, std::int64_t at, int lane) const;
  double read_a(const MatrixProduct&, std::int64_t row, std::int64_t k) const;
  template <class F>
  bool any_under_way(F&& is) const;
  void watch(const MatrixProduct&, int change);
  void hold(const MatrixProduct&);
  void finish(const MatrixProduct&);
  bool is_under_way(std::size_t value) const;

  const Arithmetic& arithmetic_;
  Lanes& lanes_;
  SharedMemory& shared_;
};

}  // namespace deplo::ir::exec
