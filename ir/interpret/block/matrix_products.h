// Private to the interpreter: products of warpgroups that are under way.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "ir/interpret/block/shared_memory.h"

namespace deplo::ir::exec {

/// The elements of a matrix in shared memory, row by row: cells of one buffer.
struct MatrixCells {
  int buffer = 0;
  std::vector<std::int64_t> cells;
};

/// One of a warpgroup: 64 rows of sums, each over `depth` elements of a row of both operands. Operand a is in memory, or
/// a value of the warpgroup's threads, a fragment of so many elements each.
struct MatrixProduct {
  int first_lane = 0;  // of the warpgroup
  std::vector<Operand> sums;
  std::variant<MatrixCells, std::size_t> a;
  MatrixCells b;
  static constexpr std::int64_t rows = 64, depth = 16;
  static constexpr int fragment = 8;
};

/// Of one block.
struct ProductState {
  std::vector<std::vector<MatrixProduct>> groups;                   // committed, oldest first
  std::vector<MatrixProduct> open;                                  // since the last commit
  std::map<std::pair<std::size_t, int>, std::vector<double>> held;  // sums under way: value, lane of it
  std::set<std::size_t> touched;                                    // sums and fragments written with no fence behind
};

/// A product reads its operands when it starts and again as late as it may, when somebody waits: an element that is
/// not there at the first or changes before the second is a race, in memory as in registers. Its sums are NaN to
/// everybody else until a wait names them:
/// the compiler may read what no wait names at any time.
class MatrixProducts : public ProductState {
 public:
  MatrixProducts(Lanes& lanes, SharedMemory& shared) : lanes_(lanes), shared_(shared) {}

  bool used = false;  // by the program

  void start_block() { static_cast<ProductState&>(*this) = {}; }
  void check_finished() const;
  /// The threads write to it.
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

  Lanes& lanes_;
  SharedMemory& shared_;
};

}  // namespace deplo::ir::exec
