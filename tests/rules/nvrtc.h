// NVRTC through dlopen, so that the tests build and start where no CUDA toolkit is.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::rules {

/// What NVRTC and ptxas said of one program.
struct Compiled {
  std::string log;                                                  // of a failure; "" when there is a cubin
  std::string warnings;                                             // lines, "" when there are none
  std::int64_t registers = 0, spilled_bytes = 0, shared_bytes = 0;  // of its kernel; shared: what is static
};

class Nvrtc {
 public:
  /// The newest library found; `available()` is false where there is none.
  Nvrtc();
  bool available() const { return create_ != nullptr; }
  const std::string& version() const { return version_; }
  /// Can it make code for "sm_90"?
  bool supports(std::string_view architecture) const;
  /// Compiles the program to a cubin for the architecture. May be called from several threads.
  Compiled build(const std::string& source, const std::string& architecture) const;
  /// The log, "" on success.
  std::string compile(const std::string& source, const std::string& architecture) const {
    return build(source, architecture).log;
  }

 private:
  using Program = struct Opaque*;
  int (*create_)(Program*, const char* source, const char* name, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int count, const char* const* options) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, std::size_t*) = nullptr;
  std::string version_;
  int major_ = 0;
  std::vector<int> architectures_;
};

}  // namespace deplo::rules
