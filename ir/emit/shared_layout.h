// The layout of a kernel's shared memory.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/target.h"
#include "ir/stmt.h"

namespace deplo::ir {

/// Places buffers and barriers in order of decreasing alignment, each at a multiple of its own alignment, so that there
/// are few gaps.
struct SharedLayout {
  std::map<std::string, std::int64_t, std::less<>> offset;  // in bytes, by the name of a Smem or MbarrierInit
  std::int64_t bytes = 0;                                   // in total, including gaps
  bool dynamic = false;                                     // CUDA: the total exceeds what static declarations may use
};
SharedLayout shared_layout(const Body& kernel, const Target&);

/// Name of the array that contains all Locals in shared memory.
inline constexpr const char* shared_memory = "shared_memory";
/// Returns the size of that array in bytes, or 0 if the kernel has no such Local.
std::int64_t block_shared_bytes(const Body& kernel);

/// Returns the alignment of the memory in bytes. On CPUs it is at least 64, the size of the widest vector (16 floats).
std::int64_t alignment(const Smem&, const Target&);

}  // namespace deplo::ir
