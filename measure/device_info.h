// A device as the store knows it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deplo::measure {

// What a CPU is beside the AVX-512 that opencl-cpu.yaml is about.
inline constexpr const char *avx512_bf16 = "avx512_bf16", *avx2 = "avx2";

/// Who measured: stored with every trial. No serial numbers.
struct DeviceInfo {
  std::string backend;  // "cuda", "opencl", "interpreter"
  std::string name;     // exact, as the driver says it
  std::string vendor, driver, platform;
  std::int64_t units = 0, clock_mhz = 0, shared_bytes = 0, max_threads = 0;
  bool cpu = false;
  std::string architecture = {};  // "sm_90"; of a CPU avx512_bf16 where it has that and OpenCL reaches it, avx2 where
                                  // it is an x86 without AVX-512; else ""
  std::int64_t l2_bytes = 0, memory_bytes = 0;  // the last cache before memory, and that; 0: not known
  bool operator==(const DeviceInfo&) const = default;
};

/// Whether the device may have instructions that multiply matrices or pairs, which no ceiling of fp32 bounds.
inline bool has_matrix_instructions(std::string_view backend, std::string_view architecture) {
  return backend == "cuda" || architecture == avx512_bf16;
}

}  // namespace deplo::measure
