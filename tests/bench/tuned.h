// A kernel with its best schedule on the OpenCL device, ready to be timed against something else.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/target.h"
#include "engine/source/experiment.h"
#include "measure/device.h"

namespace deplo::bench {

/// Flags `--schedule="trail"`, `--trials=N`, `--search=NAME` (mcts, random …). take_search_flags() removes them from
/// argv and reduces argc.
struct SearchFlags {
  std::string schedule;  // if empty, a search finds one
  std::string strategy = "mcts";
  std::int64_t trials = 100;
};
SearchFlags take_search_flags(int& argc, char** argv);

class Tuned {
 public:
  /// Searches with seed 0, or follows the given schedule, and builds the kernel. Inputs are random, in [-1, 1).
  Tuned(const engine::KernelCase&, const SearchFlags&);
  const std::string& trail() const { return trail_; }
  /// Returns the values of input `buffer`.
  const std::vector<float>& input(std::size_t buffer) const { return inputs_.at(buffer); }
  void launch();

 private:
  std::unique_ptr<measure::Device> device_;
  std::string trail_;
  measure::KernelCode candidate_;
  std::unique_ptr<measure::Arrays> arrays_;
  std::unique_ptr<measure::Executable> executable_;
  std::vector<std::vector<float>> inputs_;
};

double median(std::vector<double> values);
/// Calls `call` twice, and returns the seconds of the second time by the host's clock: its operands are in the caches
/// then.
template <class F>
double time_warm(F&& call);
double host_seconds();

template <class F>
double time_warm(F&& call) {
  call();
  const double start = host_seconds();
  call();
  return host_seconds() - start;
}

}  // namespace deplo::bench
