// The axes of loops, tiles and slabs.
#pragma once
#include <cstdint>
#include <string>

namespace deplo::ir {

/// free, reduce and scan are bindings of loops. The other bindings belong to a Tile's axes. The iterations of a scan
/// run in order: the accumulators that its body updates keep their values from one iteration to the next, and may be
/// read after the update. All values of a reg or vector axis belong to the same thread: a statement that depends on the
/// axis is replicated over it (reg) or becomes a vector value (vector). The blocks along a cluster axis run at the same
/// time and read each other's shared memory.
enum class Bind : std::uint8_t { free, reduce, scan, block, cluster, thread, reg, vector };

struct Axis {
  std::string name;
  std::int64_t extent = 1;
  Bind bind = Bind::free;
  bool operator==(const Axis&) const = default;
};

/// An axis of a Stage's slab. It walks one dimension of the source. If `dim` is in_origin, the Stage's origin contains
/// the axis instead: the rows that a convolution reads, for example, are spread over lines and images.
struct SlabAxis {
  static constexpr int in_origin = -1;

  std::string name;
  std::int64_t extent = 1;
  int dim = 0;  // or in_origin
  bool walks_dimension() const { return dim != in_origin; }
  bool operator==(const SlabAxis&) const = default;
};

}  // namespace deplo::ir
