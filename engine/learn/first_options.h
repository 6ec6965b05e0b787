// Finds knobs for which the rules' first option is slow, by the trials of a store. If tuning always replaces a first
// option by the same value, the compiler could choose this value itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::engine {

/// A knob of the heuristic's schedule of one kernel on one device, for which other values were tried as well.
struct FirstOption {
  std::string knob;            // "RULE.KNOB"
  std::string kernel, device;  // names of the kernel and the device
  std::string extents;         // extents of the kernel's loops, outermost first: "M=32 N=512 K=3584"
  std::string first;           // the heuristic's value
  // its value in the fastest schedule, or engine::absent if other choices left the knob undecided
  std::string best;
  /// The fastest time with the heuristic's value, divided by the fastest time of all trials.
  double loss = 1;
  std::size_t trials = 0;  // number of trials with the heuristic's value, and with other values
  std::size_t others = 0;
  /// Returns true if the loss is larger than a tie (measure::Protocol).
  bool loses() const;
};

/// Returns the options in the order of store_keys(), then of the heuristic's trail. Only kernels with Loop IR and only
/// valid times of full measurements are used. `kernel`: as in select_names(). Throws Error, also if the file does not
/// exist.
std::vector<FirstOption> first_options(const std::string& store, const std::string& kernel = "");

/// Statistics of one knob over all kernels and devices.
struct FirstOptionSummary {
  std::string knob;
  // number of kernels for which other values were tried, and of those for which the first option loses
  std::int64_t kernels = 0, loses = 0;
  double mean_loss = 1;                // geometric mean over `kernels`
  std::string instead;                 // the most frequent change among the losses, and its count: "4 -> 8 (9)"
  const FirstOption* worst = nullptr;  // the largest loss; points into the argument of summarise()
};
/// Returns one summary per knob, sorted by descending product of loss and kernels: the knob from which the heuristic
/// would gain most comes first.
std::vector<FirstOptionSummary> summarise(const std::vector<FirstOption>&);

}  // namespace deplo::engine
