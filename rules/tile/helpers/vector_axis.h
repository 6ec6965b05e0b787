// The VECTOR axis of a tile: what can become it, and how it is added to the program.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// What would become the VECTOR axis.
struct VectorSite {
  enum class Kind { register_axis, elements, sweeps } kind = Kind::register_axis;
  std::size_t axis = 0;            // of the tile: the REG axis, or the THREAD axis that shares the sweeps
  std::int64_t extent = 1;         // the width must divide it
  std::vector<std::string> loops;  // the axes of the sweeps
  bool is_square = false;          // does a thread have elements along two axes, because it transposes?
};
std::optional<VectorSite> find_vector_site(const ir::Program&);

/// The program with a VECTOR axis of `width` lanes as the tile's last axis.
ir::Program with_vectors(ir::Program, const VectorSite&, std::int64_t width);

/// Is every access that depends on the lane contiguous and aligned, and does no condition and no loop's start depend on
/// it?
bool legal_vectors(const ir::Program&, const VectorSite&, std::int64_t width, const Target&);

}  // namespace deplo::rules
