// Computes where the threads of a warp read the fragments of a matrix instruction.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/hardware/mma.h"

namespace deplo::rules {

/// How a warp reads a fragment. rows, transposed: by ldmatrix, for which each thread names a row of a matrix. elements:
/// each thread loads its own elements, with a load for each matrix.
enum class Fetch : std::uint8_t { rows, transposed, elements };

/// A fragment that a warp reads from memory. `index` is the index of the operand's load after substituting the rows,
/// columns and turns that the thread names. Its remaining variables are the other axes, `turn` (the loop's axis, which
/// counts whole atoms) and, for Fetch::elements, the lane.
struct Fragment {
  const ir::Load* load = nullptr;
  std::vector<ir::Expr> index;
  int matrices = 4;
  Fetch fetch = Fetch::rows;
  int packed = 1, together = 1;  // for Fetch::elements: elements of a matrix per thread, and elements per load

  int loads() const { return fetch == Fetch::elements ? matrices * packed / together : 1; }  // loads per thread
};

/// For a factor that threads compute, return the values of `turn` and of the axes of its rows (a) or columns (b) at the
/// thread's element `lane` of a fragment. The matrices of the fragment have the same order as below.
ir::Substitution element_of_a(const ir::mma::Product&, const std::string& turn);
ir::Substitution element_of_b(const ir::mma::Product&, const std::string& turn);

/// Returns what the threads of a warp read for the fragments of both factors, one entry per load. Slabs of warpgroups
/// are left out, because the hardware reads them, not the threads.
std::vector<Fragment> fragments(const ir::mma::Product&, const std::string& turn);

// The following functions are for factors in slabs.
/// Returns the fragment of operand a: rows 0 to 7 and 8 to 15 of the first matrices along k, then of the next ones.
Fragment fragment_of_a(const ir::mma::Product&, const std::string& turn);
/// Returns the fragment of operand b: all matrices along k of 8 columns. If `next` is a REG axis and not "", the
/// fragment also contains the matrices at the axis's next value, which must exist.
Fragment fragment_of_b(const ir::mma::Product&, const std::string& turn, const std::string& next);

}  // namespace deplo::rules
