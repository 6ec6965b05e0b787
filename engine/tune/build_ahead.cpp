#include "engine/tune/build_ahead.h"

#include <span>
#include <utility>

#include "core/error.h"
#include "engine/tune/open_runner.h"
#include "measure/worker/step.h"

namespace deplo::engine {
namespace {

using measure::worker::monotonic_now;

// Seconds. PoCL took 0.23 s or more for each kernel of ConvNeXt-T. A kernel in the cache takes some milliseconds.
constexpr double longest_from_cache = 0.1;
constexpr std::size_t fewest_ahead = 2;  // a single kernel is built as soon by the device itself

}  // namespace

BuildAhead::BuildAhead(measure::Device& device, std::string name, std::vector<measure::KernelCode> kernels)
    : device_(device), name_(std::move(name)), kernels_(std::move(kernels)) {}

// If a builder fails, the device says why. If none can start, the device builds alone.
void BuildAhead::wait_for_builder(const measure::KernelCode& kernel) {
  try {
    builders_->take(kernel, {});
  } catch (const Error&) {
    builders_.reset();
    alone_ = true;
  }
}

Result<std::unique_ptr<measure::Executable>> BuildAhead::next() {
  CHECK(next_ < kernels_.size());
  const measure::KernelCode& kernel = kernels_[next_++];
  if (builders_) wait_for_builder(kernel);
  const double start = monotonic_now();
  auto built = device_.build(kernel);
  if (!builders_ && !alone_ && kernels_.size() - next_ >= fewest_ahead &&
      monotonic_now() - start > longest_from_cache) {
    builders_ = open_builders(device_.info(), name_);
    if (builders_) builders_->prepare(std::span(kernels_).subspan(next_));
  }
  return built;
}

}  // namespace deplo::engine
