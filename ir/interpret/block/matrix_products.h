// Matrix products of warpgroups in flight. Private to the interpreter.
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

/// The elements of a matrix in shared memory, row by row: cells of one buffer.
struct MatrixCells {
  int buffer = 0;
  std::vector<std::int64_t> cells;
};

/// A product of one warpgroup: 64 rows of sums, each over `depth` elements of a row of both operands. Operand a is in
/// shared memory, or it is a value: each thread of the warpgroup then holds a fragment of `fragment` elements.
struct MatrixProduct {
  int first_lane = 0;  // of the warpgroup
  std::vector<Operand> sums;
  std::variant<MatrixCells, std::size_t> a;
  MatrixCells b;
  static constexpr std::int64_t rows = 64, depth = 16;
  static constexpr int fragment = 8;
};

/// The products of one block.
struct ProductState {
  std::vector<std::vector<MatrixProduct>> groups;                   // committed, oldest first
  std::vector<MatrixProduct> open;                                  // since the last commit
  std::map<std::pair<std::size_t, int>, std::vector<double>> held;  // sums in flight, by value and its element w
  std::set<std::size_t> touched;                                    // sums and fragments written since the last fence
};

/// Executes products as late as possible: when a thread waits for them. A product reads its operands when it starts,
/// and again when it is executed. An element that is missing at the first reading, or changes before the second, is a
/// race, in memory as in registers. Until a wait names its sums, everybody else reads them as NaN, because the compiler
/// may read sums that no wait names at any time.
class MatrixProducts : public ProductState {
 public:
  MatrixProducts(const Arithmetic& arithmetic, Lanes& lanes, SharedMemory& shared)
      : arithmetic_(arithmetic), lanes_(lanes), shared_(shared) {}

  bool used = false;  // the program has matrix products of warpgroups

  void start_block() { static_cast<ProductState&>(*this) = {}; }
  void check_finished() const;
  /// The threads write to the value. Throws Error if a product in flight reads it.
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
