// Builds the kernels of a graph, those that are not in the device's cache in several processes at once.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "measure/device.h"
#include "measure/worker/build_pool.h"

namespace deplo::engine {

/// Builds kernels in order. Builder processes would only delay kernels that the cache has, so they start after a build
/// that took long: then the cache lacks this kernel, and most likely the later ones too. Must be used from one thread.
class BuildAhead {
 public:
  /// `device` must outlive this object; `name` is the name that opened it.
  BuildAhead(measure::Device& device, std::string name, std::vector<measure::KernelCode> kernels);
  /// Builds the next kernel. The result is the same as that of Device::build. Throws like it.
  Result<std::unique_ptr<measure::Executable>> next();

 private:
  void wait_for_builder(const measure::KernelCode&);

  measure::Device& device_;
  const std::string name_;
  const std::vector<measure::KernelCode> kernels_;
  std::size_t next_ = 0;
  bool alone_ = false;                                    // no builder can start
  std::unique_ptr<measure::worker::BuildPool> builders_;  // null until a build takes long
};

}  // namespace deplo::engine
