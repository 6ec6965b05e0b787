// A fake driver, cuBLAS and NVML, which need no GPU: memory is the host's, kernels are functions of the tests, time and
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
  std::vector<std::vector<std::byte>> parameters;  // their bytes when the launch was enqueued
  /// Returns parameter i as a pointer to elements.
  template <class T>
  T* pointer(std::size_t i) const {
    T* value = nullptr;
    std::copy_n(parameters.at(i).data(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
  }
  /// Returns parameter i as a number.
  template <class T>
  T number(std::size_t i) const {
    T value{};
    std::copy_n(parameters.at(i).data(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
  }
};

struct FakeKernel {
  std::vector<std::size_t> parameters;  // their sizes in bytes, which a driver reads from the cubin
  std::function<void(const FakeLaunch&)> run;
  double us = 10;
  std::map<int, int> attributes = {};  // set by cuFuncSetAttribute
};

/// What the test tells the library, and what the library tells the test. There is one instance per process. Assigning a
/// new FakeCuda resets it.
struct FakeCuda {
  // What the test tells the library.
  int init_code = 0, devices = 1, version = 13000;
  std::map<int, int> attributes = {{1, 1024}, {13, 1'980'000}, {16, 4}, {38, 50 << 20}, {75, 9}, {76, 0}, {97, 232448}};
  std::map<std::string, FakeKernel> kernels;
  // The __constant__ variables of every module, by name.
  std::map<std::string, std::vector<unsigned char>> variables = {};
  std::map<std::string, int> fail;  // code that the next call of a function returns, by its name; sticky codes stay
  int fails_at_wait = 0;            // error code of the kernels that ran, which the next wait returns
  double fill_us = 2;
  double clock_mhz = 1500;
  double watts = 300, energy_step_us = 100e3;
  // What the library tells the test.
  std::vector<std::string> calls;    // "cuLaunchKernel k blocks=2 threads=128 shared=0", …
  std::vector<FakeLaunch> launches;  // launches that ran, in order
  std::map<void*, std::size_t> memory;
  int contexts = 0, streams = 0, events = 0, modules = 0, graphs = 0, execs = 0, cublas_handles = 0;
  double now_us = 0;
  int sticky = 0;
  bool is_clean() const {
    return memory.empty() && contexts + streams + events + modules + graphs + execs + cublas_handles == 0;
  }
};

}  // namespace deplo::measure::cuda

/// Returns the state of the library. Tests find this function by dlsym.
extern "C" deplo::measure::cuda::FakeCuda* fake_cuda();
