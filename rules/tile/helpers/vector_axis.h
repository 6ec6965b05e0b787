// The VECTOR axis of a tile: which axes can become it, and how it is added to the program.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// The axis, or the sweeps, from which the VECTOR axis would be split.
struct VectorSite {
  enum class Kind { register_axis, elements, sweeps } kind = Kind::register_axis;
  std::size_t axis = 0;            // of the tile: the REG axis, or the THREAD axis along which the sweeps are shared
  std::int64_t extent = 1;         // the width must divide it
  std::vector<std::string> loops;  // axes of the sweeps
  bool is_square = false;          // whether a thread has elements along two axes, because it transposes
};
std::optional<VectorSite> find_vector_site(const ir::Program&);

/// Returns the program with a VECTOR axis of `width` lanes as the tile's last axis.
ir::Program with_vectors(ir::Program, const VectorSite&, std::int64_t width);

/// Returns whether each access that depends on the lane is legal as a vector access (in general contiguous and
/// aligned), and no condition and no loop's start depends on the lane.
bool legal_vectors(const ir::Program&, const VectorSite&, std::int64_t width, const Target&);

}  // namespace deplo::rules
