// Where the shared memory of a kernel lies.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/target.h"
#include "ir/stmt.h"

namespace deplo::ir {

/// Buffers and barriers by falling alignment, each at a multiple of its own: hardly a gap.
struct SharedLayout {
  std::map<std::string, std::int64_t, std::less<>> offset;  // bytes; by the name of a Smem or a MbarrierInit
  std::int64_t bytes = 0;                                   // with the gaps
  bool dynamic = false;                                     // CUDA: more than a static declaration may take
};
SharedLayout shared_layout(const Body& kernel, const Target&);

/// Bytes that the memory is aligned to. A vector of 16 floats, the widest of a CPU, is 64 bytes wide.
std::int64_t alignment(const Smem&, const Target&);

}  // namespace deplo::ir
