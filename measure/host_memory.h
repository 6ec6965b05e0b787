// Memory of the host in large pages.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace deplo::measure {

struct FreeHostMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using HostMemory = std::unique_ptr<void, FreeHostMemory>;

/// At least `bytes`, from 2 MiB on in large pages where the system has them (madvise). A matmul walks columns of rows
/// that lie pages apart; with small pages its time is that of the page table: 65 against 92 GFLOP/s at 32 x 2048 x 2048
/// (docs/performance.md), and differs with what pages happened to be free. nullptr when there is no memory.
HostMemory allocate_host_memory(std::size_t bytes);

/// Bytes that this process may still take without swapping or being killed; infinity where the system does not say.
double free_host_memory();

}  // namespace deplo::measure
