#include "measure/cuda/nvml.h"

#include <fmt/format.h>

#include "measure/cuda/library.h"

namespace deplo::measure::cuda {
namespace {

const LibraryName nvml_library{
    "NVML",
    {"libnvidia-ml.so.1"},
    "it comes with the driver of an NVIDIA GPU; a container gets it from its NVIDIA runtime, as a part of 'utility'"};

// The functions of nvml.h that are used, declared by hand.
using NvmlDevice = struct OpaqueNvmlDevice*;
struct NvmlTable {
  Library library;
  int (*init)() = library.find("nvmlInit_v2");
  const char* (*error_text)(int) = library.find("nvmlErrorString");
  int (*device_at)(const char* pci_bus_id, NvmlDevice*) = library.find("nvmlDeviceGetHandleByPciBusId_v2");
  int (*total_energy)(NvmlDevice,
                      unsigned long long* millijoules) = library.find("nvmlDeviceGetTotalEnergyConsumption");
};

/// Reads the counter through NVML, which stays initialized until the process ends.
class Nvml final : public EnergyCounter {
 public:
  Nvml(const Library& library, const Driver& driver, int device) : table_{library} {
    char bus[32] = "";
    driver.require(driver.device_bus(bus, sizeof bus, device), "ask for a device's place on the bus");
    require(table_.init(), "start");
    require(table_.device_at(bus, &device_), fmt::format("find the GPU {}", bus));
    unsigned long long energy = 0;
    require(table_.total_energy(device_, &energy),
            fmt::format("read the energy of the GPU {}, which only GPUs from Volta on count", bus));
  }

  Result<double> millijoules() override {
    unsigned long long energy = 0;
    if (const int code = table_.total_energy(device_, &energy); code != 0)
      return Failure{Status::no_energy, fmt::format("NVML can no longer read the energy: {}", error(code))};
    return static_cast<double>(energy);
  }
  // Measured on an H200: the counter is updated every 70 to 125 ms.
  double step_us() const override { return 125e3; }

 private:
  std::string error(int code) const {
    const char* const text = table_.error_text(code);
    return fmt::format("{} ({})", text == nullptr ? "unknown error" : text, code);
  }
  void require(int code, const std::string& what) const {
    if (code != 0) throw Error(fmt::format("NVML: cannot {}: {}", what, error(code)), Exit::environment);
  }

  NvmlTable table_;
  NvmlDevice device_ = nullptr;
};

}  // namespace

std::unique_ptr<EnergyCounter> open_nvml(const Driver& driver, int device, const std::filesystem::path& library) {
  return std::make_unique<Nvml>(Library(nvml_library, library), driver, device);
}

}  // namespace deplo::measure::cuda
