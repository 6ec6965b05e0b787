// CUDA C++ → machine code of an exact architecture, and what it takes of the machine. NVRTC alone: no GPU, no driver.
#pragma once
#include <limits>
#include <string>
#include <string_view>

#include "core/outcome.h"
#include "core/target.h"
#include "ir/emit/emit.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/device.h"
#include "measure/disk_cache.h"

namespace deplo::measure::cuda {

struct CompileOptions {
  double seconds = std::numeric_limits<double>::infinity();  // then it is a build_timeout (Nvrtc::compile)
  DiskCache* cache = &DiskCache::of_user();                  // null: always build
  const Nvrtc* nvrtc = nullptr;                              // null: the process's own
};

struct Cubin {
  std::string code;      // an ELF file
  Resources resources;   // but for the occupancy, which is the target's: with_occupancy()
  std::string warnings;  // of the compiler; "" without
  bool cached = false;   // found on disk
};

/// `architecture`: "sm_90"; a kernel that asks for its special features is built for "sm_90a" (docs/cuda.md). Fails with
/// build_error (the first lines of the log), resource (more than a block may have) or build_timeout. Throws
/// Error(environment) where there is no NVRTC. Any thread and any process: the same source, options and NVRTC are built
/// once for all of them.
Result<Cubin> compile_cubin(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});
/// The assembly text that the machine code is made from; never cached.
Result<std::string> compile_ptx(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});

/// The same with occupancy and its limiter on a target. Fails with resource where not even one block fits a unit.
Result<Resources> with_occupancy(Resources, const ir::KernelSource&, const Target&);

}  // namespace deplo::measure::cuda
