// Which first options of the rules lose, by the trials of a store: what tuning always finds the same, the compiler
// could pick at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace deplo::engine {

/// A knob of the heuristic's schedule of one kernel on one device, of which other values were tried, too.
struct FirstOption {
  std::string knob;            // rule.knob
  std::string kernel, device;  // their names
  std::string extents;         // of the kernel's loops, outermost first: "M=32 N=512 K=3584"
  std::string first;           // the heuristic's value
  std::string best;  // the value in the fastest schedule; engine::absent: other choices left the knob undecided
  /// The fastest time with the heuristic's value, over the fastest time of all.
  double loss = 1;
  std::size_t trials = 0;  // with the heuristic's value, and with others
  std::size_t others = 0;
  /// Is the loss larger than what counts as a tie (measure::Protocol)?
  bool loses() const;
};

/// In the order of store_keys(), then of the heuristic's trail. Only kernels that have Loop IR, and only valid times of
/// full measurements. `kernel`: as in select_names(). Throws Error, also if there is no such file.
std::vector<FirstOption> first_options(const std::string& store, const std::string& kernel = "");

/// One knob over all kernels and devices.
struct FirstOptionSummary {
  std::string knob;
  std::int64_t kernels = 0,
               loses = 0;  // of how many kernels other values were tried, and in how many the first one loses
  double mean_loss = 1;    // the geometric mean over `kernels`
  std::string instead;     // where it loses: the most frequent change and its number, "4 -> 8 (9)"
  const FirstOption* worst = nullptr;  // the largest loss; into the argument
};
/// The largest product of loss and kernels first: what the heuristic would gain most by.
std::vector<FirstOptionSummary> summarise(const std::vector<FirstOption>&);

}  // namespace deplo::engine
