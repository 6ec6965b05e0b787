// The VECTOR axis of a tile: what may become it, and the program with it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules {

/// What would become the vector axis.
struct VectorSite {
  enum class Kind { register_axis, elements, sweeps } kind = Kind::register_axis;
  std::size_t axis = 0;            // of the tile: the REG axis, or the shared THREAD axis of the sweeps
  std::int64_t extent = 1;         // the width must divide it
  std::vector<std::string> loops;  // sweeps: their axes
};
std::optional<VectorSite> find_vector_site(const ir::Program&);

/// The program with a VECTOR axis of `width` lanes, the last of the tile's.
ir::Program with_vectors(ir::Program, const VectorSite&, std::int64_t width);

/// Is every access of the lanes contiguous and aligned, and does nothing else tell them apart?
bool legal_vectors(const ir::Program&, const VectorSite&, std::int64_t width, const Target&);

}  // namespace deplo::rules
