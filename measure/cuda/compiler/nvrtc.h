// NVRTC, NVIDIA's library that compiles CUDA C++. It is opened at run time and needs no GPU and no driver.
#pragma once
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cuda/library.h"

namespace deplo::measure::cuda {

/// Immutable once opened. Several threads may use it at the same time (NVRTC User Guide, "Thread Safety").
class Nvrtc {
 public:
  /// Returns the newest NVRTC, which the first call opens. If there is none, each call throws a one-line
  /// Error(environment).
  static const Nvrtc& get();
  static bool available();
  /// Returns the newest NVRTC that generates machine code which a driver of this version (Driver::version) can load.
  /// For example, a driver of CUDA 12 does not load code of NVRTC 13. The first call opens the library. Throws a
  /// one-line Error(environment) if there is no NVRTC, or if every NVRTC is too new.
  static const Nvrtc& for_driver(int version);
  /// Returns for_driver() of this machine's driver, or get() if there is no driver.
  static const Nvrtc& for_machine();
  explicit Nvrtc(const std::filesystem::path& file);

  /// The version, such as "13.0".
  const std::string& version() const { return version_; }
  /// True if this NVRTC can compile for an architecture, such as "sm_90" or "sm_90a".
  bool supports(std::string_view architecture) const;
  /// Returns all architectures that this NVRTC can compile for, in ascending order: "sm_75", …
  std::vector<std::string> architectures() const;
  /// Returns the options that affect the machine code, for exactly this architecture.
  static std::vector<std::string> code_options(std::string_view architecture);
  /// Returns code_options() and further options that this version of NVRTC accepts. They are part of the cache keys.
  std::vector<std::string> options(std::string_view architecture) const;

  struct Output {
    std::string cubin, ptx;  // "" if compilation failed
    std::string log;         // the log of NVRTC and of ptxas -v
    std::string lowered;     // the mangled name of `name` in the machine code; "" if no name was given
    bool timed_out = false;
  };
  /// Compiles a source. `seconds`: the time after which the compiler is asked to stop, which it does within 0.6 s
  /// (docs/cuda.md); NVRTC before 12.8 cannot be asked. `name`: an instance of a template to instantiate, such as
  /// "k<float, 4>"; "": none. headers.h says where included headers are found. Throws Error only if memory runs out.
  Output compile(const std::string& source, const std::vector<std::string>& options,
                 double seconds = std::numeric_limits<double>::infinity(), const std::string& name = "") const;

 private:
  explicit Nvrtc(const Library&);
  using Program = struct OpaqueProgram*;
  using Get = int (*)(Program, char*);
  using GetSize = int (*)(Program, std::size_t*);
  static std::string text(Program, GetSize, Get);

  Library library_;
  int (*create_)(Program*, const char* source, const char* name, int, const char* const*,
                 const char* const*) = library_.find("nvrtcCreateProgram");
  int (*destroy_)(Program*) = library_.find("nvrtcDestroyProgram");
  int (*compile_)(Program, int count, const char* const* options) = library_.find("nvrtcCompileProgram");
  int (*add_name_)(Program, const char* expression) = library_.find("nvrtcAddNameExpression");
  int (*lowered_name_)(Program, const char* expression, const char** name) = library_.find("nvrtcGetLoweredName");
  int (*flow_)(Program, int (*callback)(void*, void*), void*) = library_.find_optional("nvrtcSetFlowCallback");
  GetSize log_size_ = library_.find("nvrtcGetProgramLogSize");
  GetSize cubin_size_ = library_.find("nvrtcGetCUBINSize");
  GetSize ptx_size_ = library_.find("nvrtcGetPTXSize");
  Get log_ = library_.find("nvrtcGetProgramLog");
  Get cubin_ = library_.find("nvrtcGetCUBIN");
  Get ptx_ = library_.find("nvrtcGetPTX");
  int major_ = 0, minor_ = 0;
  std::string version_;
  std::vector<int> architectures_;
};

}  // namespace deplo::measure::cuda
