// NVRTC, the compiler of CUDA C++ as a library, opened at run time. Needs no GPU and no driver.
#pragma once
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

/// Immutable once opened; may be used from several threads at a time (NVRTC User Guide, "Thread Safety").
class Nvrtc {
 public:
  /// Of this process: opened at the first call, then the same. Throws Error(environment) in one line at each call where
  /// there is none.
  static const Nvrtc& get();
  static bool available();
  /// The newest whose machine code a driver of this version (Driver::version) loads: a driver of CUDA 12 loads none of
  /// NVRTC 13. Opened at the first call. Throws Error(environment) in one line: there is none, or none that is old enough.
  static const Nvrtc& for_driver(int version);
  /// That for the driver of this machine; get() where there is no driver.
  static const Nvrtc& for_machine();
  explicit Nvrtc(const std::filesystem::path& file);

  /// "13.0"
  const std::string& version() const { return version_; }
  /// Can it make code for "sm_90" or "sm_90a"?
  bool supports(std::string_view architecture) const;
  /// Every architecture it can make code for, ascending: "sm_75", …
  std::vector<std::string> architectures() const;
  /// What decides the machine code: options for exactly that of an architecture, in NVRTC's spelling.
  static std::vector<std::string> code_options(std::string_view architecture);
  /// With what this version of NVRTC takes besides; part of what a result is known by.
  std::vector<std::string> options(std::string_view architecture) const;

  struct Output {
    std::string cubin, ptx;  // "" unless it compiled
    std::string log;         // of NVRTC and of ptxas -v
    bool timed_out = false;
  };
  /// `seconds`: when the compiler is asked to give up, which it does within 0.6 s (docs/cuda.md); NVRTC before 12.8 is
  /// not asked. An exception of the machine only: no memory.
  Output compile(const std::string& source, const std::vector<std::string>& options,
                 double seconds = std::numeric_limits<double>::infinity()) const;

 private:
  explicit Nvrtc(const struct LibraryName&);
  void find_functions(const class Library&);
  using Program = struct OpaqueProgram*;
  using Get = int (*)(Program, char*);
  using GetSize = int (*)(Program, std::size_t*);
  static std::string text(Program, GetSize, Get);

  int (*create_)(Program*, const char* source, const char* name, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int count, const char* const* options) = nullptr;
  int (*flow_)(Program, int (*callback)(void*, void*), void*) = nullptr;
  GetSize log_size_ = nullptr, cubin_size_ = nullptr, ptx_size_ = nullptr;
  Get log_ = nullptr, cubin_ = nullptr, ptx_ = nullptr;
  int major_ = 0, minor_ = 0;
  std::string version_;
  std::vector<int> architectures_;
};

}  // namespace deplo::measure::cuda
