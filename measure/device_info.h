// The description of a device that the store keeps.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo::measure {

// Architectures of CPUs that differ from the AVX-512 CPU that opencl-cpu.yaml describes.
inline constexpr const char *avx512_bf16 = "avx512_bf16", *avx2 = "avx2";

/// The device on which a trial was measured. Stored with every trial. Contains no serial numbers.
struct DeviceInfo {
  std::string backend;  // "cuda", "opencl", "interpreter", "ptx"
  std::string name;     // exactly as the driver reports it
  std::string vendor, driver, platform;
  std::int64_t units = 0, clock_mhz = 0, shared_bytes = 0, max_threads = 0;
  bool cpu = false;
  std::string architecture = {};  // "sm_90"; for a CPU: avx512_bf16 if it has that and OpenCL can use it, avx2 if it is
                                  // an x86 without AVX-512, else ""
  std::int64_t l2_bytes = 0, memory_bytes = 0;  // sizes of the last-level cache and of the memory; 0: not known
  bool operator==(const DeviceInfo&) const = default;
};

/// Returns true if the device may have instructions that multiply matrices or pairs. The measured fp32 ceiling does not
/// bound their rate.
inline bool has_matrix_instructions(std::string_view backend, std::string_view architecture) {
  return backend == "cuda" || architecture == avx512_bf16;
}

}  // namespace deplo::measure
