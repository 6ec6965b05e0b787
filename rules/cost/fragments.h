// Where the threads of a warp read the fragments of a matrix instruction.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/hardware/mma.h"

namespace deplo::rules {

/// By ldmatrix, for which each thread names a row of a matrix; or each thread its elements, a load for each matrix.
enum class Fetch : std::uint8_t { rows, transposed, elements };

/// `index` is that of the operand's load with the rows, columns and turns of the loop in place that the thread names;
/// what is left are the other axes, `turn`, the loop's axis, which counts whole atoms, and of elements the lane.
struct Fragment {
  const ir::Load* load = nullptr;
  std::vector<ir::Expr> index;
  int matrices = 4;
  Fetch fetch = Fetch::rows;
  int packed = 1, together = 1;  // of elements: those of a matrix that a thread has, and that one load reads

  int loads() const { return fetch == Fetch::elements ? matrices * packed / together : 1; }  // of a thread
};

/// Of a factor that threads make: what the axes of its rows, or columns, and `turn` are at the thread's element `lane` of
/// a fragment, whose matrices are in the same order.
ir::Substitution element_of_a(const ir::mma::Product&, const std::string& turn);
ir::Substitution element_of_b(const ir::mma::Product&, const std::string& turn);

/// What the threads of a warp read of slabs, each load for one fragment: of both factors. No thread reads the slabs of
/// warpgroups, whose patterns are what the hardware reads at once.
std::vector<Fragment> fragments(const ir::mma::Product&, const std::string& turn);

// Of a factor in a slab.
/// Of operand a: rows 0 to 7 and 8 to 15 of the first matrices along k, then of the next.
Fragment fragment_of_a(const ir::mma::Product&, const std::string& turn);
/// Of operand b: all matrices along k of 8 columns; where `next` is a REG axis, also those of its next value, for which
/// it must have one.
Fragment fragment_of_b(const ir::mma::Product&, const std::string& turn, const std::string& next);

}  // namespace deplo::rules
