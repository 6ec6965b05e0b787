#include "measure/cuda/compiler/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "core/mapped.h"
#include "measure/cuda/compiler/headers.h"
#include "measure/cuda/driver.h"

namespace deplo::measure::cuda {
namespace {

const LibraryName library_name{"NVRTC",
                               {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                               "it comes with the CUDA toolkit 12 or later, or by `pip install nvidia-cuda-nvrtc`",
                               "libnvrtc-builtins.so."};

constexpr int oldest_major = 12;

using Clock = std::chrono::steady_clock;

struct Deadline {
  Clock::time_point end;
  bool passed = false;
};

// NVRTC calls this from time to time; a result of 1 asks it to stop.
int give_up(void* deadline, void*) {
  auto& d = *static_cast<Deadline*>(deadline);
  d.passed = d.passed || Clock::now() > d.end;
  return d.passed ? 1 : 0;
}

}  // namespace

const Nvrtc& Nvrtc::get() {
  static const Nvrtc nvrtc{Library(library_name)};  // if the constructor throws, the next call tries again
  return nvrtc;
}

const Nvrtc& Nvrtc::for_driver(int version) {
  const Nvrtc& newest = get();
  const int major = version / 1000;
  if (newest.major_ <= major) return newest;
  static std::mutex mutex;
  static std::map<int, const Nvrtc> opened;
  const std::lock_guard lock(mutex);
  if (const auto found = opened.find(major); found != opened.end()) return found->second;
  LibraryName older{library_name.title, {}, "", library_name.parts};
  for (int m = major; m >= oldest_major; --m) older.files.push_back(fmt::format("libnvrtc.so.{}", m));
  try {
    return opened.emplace(major, Nvrtc(Library(older))).first->second;
  } catch (const Error&) {
    throw Error(
        fmt::format("NVRTC {0} makes machine code that the driver, of CUDA {1}.{2}, does not load: install NVRTC "
                    "{1}, for example by `pip install nvidia-cuda-nvrtc-cu{1}`, or a driver of CUDA {3}",
                    newest.version_, major, version % 1000 / 10, newest.major_),
        Exit::environment);
  }
}

const Nvrtc& Nvrtc::for_machine() {
  const std::optional<int> driver = installed_driver_version();
  return driver ? for_driver(*driver) : get();
}

bool Nvrtc::available() {
  try {
    get();
    return true;
  } catch (const Error&) {
    return false;
  }
}

Nvrtc::Nvrtc(const std::filesystem::path& file) : Nvrtc(Library(library_name, file)) {}

Nvrtc::Nvrtc(const Library& library) : library_(library) {
  int (*const get_version)(int*, int*) = library_.find("nvrtcVersion");
  int (*const count)(int*) = library_.find("nvrtcGetNumSupportedArchs");
  int (*const get_architectures)(int*) = library_.find("nvrtcGetSupportedArchs");
  int n = 0;
  bool works = get_version(&major_, &minor_) == 0 && count(&n) == 0 && n > 0;
  architectures_.resize(static_cast<std::size_t>(std::max(n, 0)));
  works = works && get_architectures(architectures_.data()) == 0;
  if (!works) throw Error("NVRTC: expected its version and architectures, found an error", Exit::environment);
  version_ = fmt::format("{}.{}", major_, minor_);
}

bool Nvrtc::supports(std::string_view architecture) const {
  if (!architecture.starts_with("sm_")) return false;
  int number = 0;
  const char* const end = architecture.data() + architecture.size();
  const auto [stop, error] = std::from_chars(architecture.data() + 3, end, number);
  // variants exist since compute capability 9.0
  const bool variant = end - stop == 1 && (*stop == 'a' || *stop == 'f');
  if (error != std::errc() || (stop != end && !(variant && number >= 90))) return false;
  return std::find(architectures_.begin(), architectures_.end(), number) != architectures_.end();
}

std::vector<std::string> Nvrtc::architectures() const {
  return mapped(architectures_, [](int number) { return fmt::format("sm_{}", number); });
}

std::vector<std::string> Nvrtc::code_options(std::string_view architecture) {
  return {fmt::format("--gpu-architecture={}", architecture), "--std=c++17", "-default-device", "--prec-div=false",
          "--prec-sqrt=false"};
}

std::vector<std::string> Nvrtc::options(std::string_view architecture) const {
  std::vector<std::string> options = code_options(architecture);
  if (major_ >= 13) options.emplace_back("--no-cache");  // NVRTC 12.8 does not know this option
  options.emplace_back("--ptxas-options=-v");
  return options;
}

std::string Nvrtc::text(Program program, GetSize size_of, Get get) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0 || size == 0) return "";
  std::string text(size, '\0');
  if (get(program, text.data()) != 0) return "";
  return text;
}

Nvrtc::Output Nvrtc::compile(const std::string& source, const std::vector<std::string>& options, double seconds,
                             const std::string& name) const {
  Program program = nullptr;
  const Headers headers = headers_of(source);
  std::vector<const char*> names, texts;
  for (const Header& header : headers.texts) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  if (create_(&program, source.c_str(), "kernel.cu", static_cast<int>(names.size()), texts.data(), names.data()) != 0)
    throw Error("NVRTC: cannot create a program: out of memory", Exit::environment);
  Deadline deadline;
  if (std::isfinite(seconds) && flow_ != nullptr) {
    deadline.end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    flow_(program, give_up, &deadline);
  }
  if (!name.empty()) add_name_(program, name.c_str());
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());
  // after the user's options, so that the user's folders come first
  for (const std::string& option : headers.options) words.push_back(option.c_str());
  const int status = compile_(program, static_cast<int>(words.size()), words.data());
  Output output;
  output.log = text(program, log_size_, log_);
  while (!output.log.empty() && output.log.back() == '\0') output.log.pop_back();
  if (status == 0) {
    output.cubin = text(program, cubin_size_, cubin_);
    output.ptx = text(program, ptx_size_, ptx_);
    if (!output.ptx.empty()) output.ptx.pop_back();  // the terminating null character
    const char* lowered = nullptr;
    if (!name.empty() && lowered_name_(program, name.c_str(), &lowered) == 0) output.lowered = lowered;
  }
  output.timed_out = status != 0 && deadline.passed;
  destroy_(&program);
  return output;
}

}  // namespace deplo::measure::cuda
