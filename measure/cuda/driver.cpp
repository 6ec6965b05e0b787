#include "measure/cuda/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace deplo::measure::cuda {
namespace {

const LibraryName driver_library{
    "NVIDIA driver",
    {"libcuda.so.1", "libcuda.so"},
    "it comes with the driver of an NVIDIA GPU (525 or later); a container gets it from its NVIDIA runtime"};

// The values of CUresult that are treated differently.
constexpr int out_of_memory = 2, stub_library = 34, device_unavailable = 46, no_device = 100, invalid_device = 101,
              ecc_uncorrectable = 214, nvlink_uncorrectable = 220, contained = 226, launch_out_of_resources = 701,
              launch_timeout = 702, context_is_destroyed = 709, unknown_error = 999;
// Codes for a fault of the kernel, after which "the process must be terminated and relaunched".
constexpr int illegal[] = {700, 710, 714, 715, 716, 717, 718, 719, 721};
// Codes that mean that the device is lost.
constexpr int lost[] = {device_unavailable,
                        invalid_device,
                        ecc_uncorrectable,
                        nvlink_uncorrectable,
                        contained,
                        context_is_destroyed,
                        810,
                        911,
                        unknown_error};
constexpr int unloadable[] = {200, 209, 218, 221, 222, 223, 300, 302, 303, 500};

template <std::size_t n>
bool among(const int (&codes)[n], int code) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

}  // namespace

std::optional<int> installed_driver_version() {
  try {
    int (*const driver_version)(int*) = Library(driver_library).find("cuDriverGetVersion");
    int version = 0;
    return driver_version(&version) == 0 && version > 0 ? std::optional(version) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

const Driver& Driver::get() {
  static const Driver driver;  // if the constructor throws, the next call tries again
  return driver;
}

Driver::Driver(const std::filesystem::path& library) : library_(driver_library, library) {}

int Driver::start() const {
  const int code = init(0);
  if (code == stub_library)
    throw Error("no NVIDIA driver: found the CUDA toolkit's stub of libcuda, which only serves to link; " +
                    driver_library.advice,
                Exit::environment);
  if (code == no_device) throw Error("no CUDA device: the NVIDIA driver sees none; see nvidia-smi", Exit::environment);
  require(code, "start the driver");
  int version = 0;
  require(driver_version(&version), "ask for the driver's version");
  return version;
}

std::string Driver::error_name(int code) const {
  const char* name = nullptr;
  if (get_error_name(code, &name) != 0 || name == nullptr) return fmt::format("CUDA error {}", code);
  return fmt::format("{} ({})", name, code);
}

Failure Driver::failure(int code, Status usual, const std::string& what) const {
  Status status = usual;
  if (code == out_of_memory) status = Status::out_of_memory;
  if (code == launch_out_of_resources) status = Status::resource;
  if (code == launch_timeout) status = Status::hang;
  if (among(unloadable, code)) status = Status::load_error;
  if (among(illegal, code)) status = Status::illegal_access;
  if (among(lost, code)) status = Status::device_lost;
  return {status, fmt::format("{}: {}", what, error_name(code))};
}

void Driver::require(int code, const std::string& what) const {
  if (code != 0) throw Error(fmt::format("CUDA: cannot {}: {}", what, error_name(code)), Exit::environment);
}

}  // namespace deplo::measure::cuda
