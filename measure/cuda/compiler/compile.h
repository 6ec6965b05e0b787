// Compiles CUDA C++ to machine code for one architecture, and reports the kernel's resources. Needs only NVRTC, no GPU
// and no driver.
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

/// Returns the architecture for which a source is built: "sm_90a" for "sm_90" if the source may use features that only
/// this architecture has.
std::string architecture_of(const ir::KernelSource&, std::string_view architecture);

struct CompileOptions {
  double seconds =
      std::numeric_limits<double>::infinity();  // limit; after it the build fails with build_timeout (Nvrtc::compile)
  DiskCache* cache = &DiskCache::of_user();     // null: build without a cache
  const Nvrtc* nvrtc = nullptr;                 // null: Nvrtc::get()
  std::string more = {};                        // further options of a user's kernel, separated by blanks
  bool lines = false;                           // for PTX: say which source line each instruction comes from (.loc)
};

/// Returns the first errors in a log of NVRTC as one line, and how to get a header that is missing.
std::string first_errors(const std::string& log);

struct Cubin {
  std::string code;      // an ELF file
  Resources resources;   // without the occupancy, which depends on the target (see with_occupancy())
  std::string entry;     // the kernel's name in the code; mangled if it is an instance of a template or in a namespace
  std::string warnings;  // warnings of the compiler; "": none
  bool cached = false;   // found in the cache on disk
};

/// Compiles a kernel to machine code. `architecture`: "sm_90"; a kernel that needs architecture-specific features is
/// built for "sm_90a" (docs/cuda.md). The entry may be an instance of a template and in a namespace, such as
/// "space::k<float, 4>". Fails with build_error (the first lines of the log), resource (more than a block may have) or
/// build_timeout. Throws Error(environment) if there is no NVRTC. May be called from any thread and process; all of
/// them share the cache, which has one entry for the same source, options and NVRTC. Code that may depend on headers of
/// the user is not cached.
Result<Cubin> compile_cubin(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});
/// Compiles a kernel to the PTX that the machine code is made from. The PTX is not cached.
Result<std::string> compile_ptx(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});
/// The same with the kernel's name in the PTX, which may also have other kernels and other instances of a template.
struct Ptx {
  std::string text, entry;
};
Result<Ptx> compile_ptx_entry(const ir::KernelSource&, std::string_view architecture, const CompileOptions& = {});

/// Adds the occupancy on a target and what limits it. Fails with resource if not even one block fits a unit.
Result<Resources> with_occupancy(Resources, const ir::KernelSource&, const Target&);

}  // namespace deplo::measure::cuda
