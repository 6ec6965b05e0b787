// Compiles CUDA C++ to machine code of an exact architecture, and reports its resources. Needs only NVRTC, no GPU and
// no driver.
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
  double seconds =
      std::numeric_limits<double>::infinity();  // limit, after which it is a build_timeout (Nvrtc::compile)
  DiskCache* cache = &DiskCache::of_user();     // null: always build
  const Nvrtc* nvrtc = nullptr;                 // null: Nvrtc::get()
  std::string more = {};                        // further options, separated by blanks: of a user's own kernel
  bool lines = false;                           // of PTX: name the line of the source before each instruction (.loc)
};

struct Cubin {
  std::string code;      // an ELF file
  Resources resources;   // without the occupancy, which depends on the target: with_occupancy()
  std::string entry;     // the kernel's name in the code: of an instance of a template it is mangled
  std::string warnings;  // of the compiler; "": none
  bool cached = false;   // found on disk
};

/// `architecture`: "sm_90"; a kernel that needs architecture-specific features is built for "sm_90a" (docs/cuda.md).
/// Fails with build_error (the first lines of the log), resource (more than a block may have) or build_timeout. Throws
/// Error(environment) if there is no NVRTC. The entry may be an instance of a template and in a namespace, such as
/// "space::k<float, 4>". May be called from any thread and process; all of them share the cache, which has one entry
/// for the same source, options and NVRTC.
Result<Cubin> compile_cubin(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});
/// The PTX that the machine code is made from. Not cached.
Result<std::string> compile_ptx(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});

/// Adds the occupancy on a target, and its limiter. Fails with resource if not even one block fits a unit.
Result<Resources> with_occupancy(Resources, const ir::KernelSource&, const Target&);

}  // namespace deplo::measure::cuda
