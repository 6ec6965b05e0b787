// A driver, a cuBLAS and an NVML without a GPU: memory is the host's, kernels are functions of the tests, time and
// energy are counted.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace deplo::measure::cuda {

struct FakeLaunch {
  unsigned blocks = 0, blocks_y = 0, blocks_z = 0, threads = 0, shared_bytes = 0;  // blocks in x
  std::vector<std::vector<std::byte>> parameters;                                  // as they were when it was enqueued
  /// Parameter i as a pointer to elements.
  template <class T>
  T* pointer(std::size_t i) const {
    T* value = nullptr;
    std::copy_n(parameters.at(i).data(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
  }
  /// Parameter i as a number.
  template <class T>
  T number(std::size_t i) const {
    T value{};
    std::copy_n(parameters.at(i).data(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
  }
};

struct FakeKernel {
  std::vector<std::size_t> parameters;  // their sizes, which a driver reads from the cubin
  std::function<void(const FakeLaunch&)> run;
  double us = 10;
  std::map<int, int> attributes = {};  // set by cuFuncSetAttribute
};

/// What the library is told and tells; one for the process. Reset by assigning a new one.
struct FakeCuda {
  // Told.
  int init_code = 0, devices = 1, version = 13000;
  std::map<int, int> attributes = {{1, 1024}, {13, 1'980'000}, {16, 4}, {38, 50 << 20}, {75, 9}, {76, 0}, {97, 232448}};
  std::map<std::string, FakeKernel> kernels;
  std::map<std::string, std::vector<unsigned char>> variables = {};  // __constant__ ones of each module
  std::map<std::string, int> fail;  // by function: the code that its next call returns; sticky ones stay
  int fails_at_wait = 0;            // what the next wait finds of what ran: the code
  double fill_us = 2;
  double clock_mhz = 1500;
  double watts = 300, energy_step_us = 100e3;
  // Tells.
  std::vector<std::string> calls;    // "cuLaunchKernel k blocks=2 threads=128 shared=0", …
  std::vector<FakeLaunch> launches;  // that ran, in order
  std::map<void*, std::size_t> memory;
  int contexts = 0, streams = 0, events = 0, modules = 0, graphs = 0, execs = 0, cublas_handles = 0;
  double now_us = 0;
  int sticky = 0;
  bool is_clean() const {
    return memory.empty() && contexts + streams + events + modules + graphs + execs + cublas_handles == 0;
  }
};

}  // namespace deplo::measure::cuda

/// Of the library, found by dlsym.
extern "C" deplo::measure::cuda::FakeCuda* fake_cuda();
