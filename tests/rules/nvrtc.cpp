#include "rules/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <sstream>

namespace deplo::rules {
namespace {

void* open_library() {
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so.13",
                           "/usr/local/cuda/lib64/libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

// The number before the words, 0 where they do not stand: "Used 30 registers, 0 bytes spill stores, 4096 bytes smem".
std::int64_t number_before(const std::string& line, const std::string& words) {
  const std::size_t at = line.find(words);
  if (at == std::string::npos || at == 0) return 0;
  const std::size_t start = line.find_last_not_of("0123456789", at - 1);
  return std::stoll("0" + line.substr(start + 1, at - start - 1));
}

Compiled failed(std::string log) {
  Compiled result;
  result.log = std::move(log);
  return result;
}

Compiled statistics(const std::string& log) {
  Compiled result;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    // #177: a name that is not used, such as an axis of extent 1.
    if (line.find("warning #") != std::string::npos && line.find("warning #177-D") == std::string::npos)
      result.warnings += line + "\n";
    result.registers = std::max(result.registers, number_before(line, " registers"));
    result.spilled_bytes = std::max(result.spilled_bytes, number_before(line, " bytes spill stores"));
    result.shared_bytes = std::max(result.shared_bytes, number_before(line, " bytes smem"));
  }
  return result;
}

}  // namespace

Nvrtc::Nvrtc() {
  void* library = open_library();
  int (*get_version)(int*, int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  int minor = 0, n = 0;
  const bool whole = library != nullptr && find(library, "nvrtcVersion", get_version) &&
                     find(library, "nvrtcGetNumSupportedArchs", count) &&
                     find(library, "nvrtcGetSupportedArchs", architectures) &&
                     find(library, "nvrtcDestroyProgram", destroy_) && find(library, "nvrtcCompileProgram", compile_) &&
                     find(library, "nvrtcGetProgramLogSize", log_size_) && find(library, "nvrtcGetProgramLog", log_) &&
                     find(library, "nvrtcGetCUBINSize", cubin_size_);
  if (!whole || get_version(&major_, &minor) != 0 || count(&n) != 0) return;
  architectures_.resize(static_cast<std::size_t>(n));
  version_ = std::to_string(major_) + "." + std::to_string(minor);
  if (architectures(architectures_.data()) == 0) find(library, "nvrtcCreateProgram", create_);
}

bool Nvrtc::supports(std::string_view architecture) const {
  const int number = std::stoi(std::string(architecture.substr(3)));
  return std::find(architectures_.begin(), architectures_.end(), number) != architectures_.end();
}

Compiled Nvrtc::build(const std::string& source, const std::string& architecture) const {
  Program program = nullptr;
  if (create_(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return failed("no program");
  const std::string gpu = "--gpu-architecture=" + architecture;
  std::vector<const char*> options = {gpu.c_str(), "--std=c++17", "-default-device"};
  if (major_ >= 13) options.insert(options.end(), {"--minimal", "--no-cache"});  // older ones do not know them
  options.push_back("--ptxas-options=-v");
  const int status = compile_(program, static_cast<int>(options.size()), options.data());
  std::size_t log = 0, cubin = 0;
  log_size_(program, &log);
  std::string text(log, '\0');
  log_(program, text.data());
  if (status == 0) cubin_size_(program, &cubin);
  destroy_(&program);
  return cubin > 0 ? statistics(text) : failed("status " + std::to_string(status) + "\n" + text);
}

}  // namespace deplo::rules
