#include "rules/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>

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

std::string Nvrtc::compile(const std::string& source, const std::string& architecture) const {
  Program program = nullptr;
  if (create_(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return "no program";
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
  return cubin > 0 ? "" : "status " + std::to_string(status) + "\n" + text;
}

}  // namespace deplo::rules
