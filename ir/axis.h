// The axes of loops, tiles and slabs.
#pragma once
#include <cstdint>
#include <string>

namespace deplo::ir {

/// free and reduce bind loops; the others axes of a Tile. A lane bound to reg or vector is run by the same thread:
/// a statement that depends on such an axis is replicated over it (reg) or becomes a vector value (vector). The blocks
/// along cluster run at the same time and read each other's shared memory.
enum class Bind : std::uint8_t { free, reduce, block, cluster, thread, reg, vector };

struct Axis {
  std::string name;
  std::int64_t extent = 1;
  Bind bind = Bind::free;
  bool operator==(const Axis&) const = default;
};

/// Of a Stage: walks one dimension of the source.
struct SlabAxis {
  std::string name;
  std::int64_t extent = 1;
  int dim = 0;
  bool operator==(const SlabAxis&) const = default;
};

}  // namespace deplo::ir
