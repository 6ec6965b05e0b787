// A kernel with its best schedule on the OpenCL device, ready to be timed beside something else.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/target.h"
#include "engine/source/experiment.h"
#include "measure/device.h"

namespace deplo::bench {

/// `--schedule="trail"`, `--trials=N`, `--search=NAME` (mcts, random …); the rest stays in argv, argc shrinks.
struct SearchFlags {
  std::string schedule;  // empty: searched
  std::string strategy = "mcts";
  std::int64_t trials = 100;
};
SearchFlags take_search_flags(int& argc, char** argv);

class Tuned {
 public:
  /// Searches with seed 0 (or follows the schedule given) and builds. Inputs are random, in [-1, 1).
  Tuned(const engine::KernelCase&, const SearchFlags&);
  const std::string& trail() const { return trail_; }
  /// Values of input `buffer`.
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
/// Seconds of the second of two calls, by the host's clock: each finds its own operands in the caches.
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
