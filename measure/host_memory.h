// Allocates host memory in large pages.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace deplo::measure {

struct FreeHostMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using HostMemory = std::unique_ptr<void, FreeHostMemory>;

/// Allocates at least `bytes`; from 2 MiB on, in large pages if the system has them (madvise). Returns nullptr if there
/// is not enough memory. A matmul walks columns whose elements are pages apart. With small pages, page-table lookups
/// dominate its time (65 instead of 92 GFLOP/s at 32 x 2048 x 2048, docs/performance.md), and the time depends on which
/// pages happened to be free.
HostMemory allocate_host_memory(std::size_t bytes);

/// Returns the bytes that this process can still allocate without swapping or being killed; infinity if the system does
/// not report them.
double free_host_memory();

}  // namespace deplo::measure
