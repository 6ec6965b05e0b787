// The results of a tuning run so far.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "measure/store/pareto_front.h"

namespace deplo::engine {

/// Row::stop of a kernel that cannot be measured with any schedule; Row::fault says why.
inline constexpr const char* untunable = "cannot be tuned";

/// Row::stop of a kernel that only slow alternatives of its graph need (engine/tune/kernel_sets.h).
inline constexpr const char* not_needed = "its graph is faster without it";

/// Row::stop of a kernel whose strategy, a program of the user's, failed. What was measured is kept; Row::fault says
/// why.
inline constexpr const char* strategy_failed = "the strategy failed";

struct Row {
  std::string name;
  std::vector<std::string> same;                 // the names of kernels equal to it
  double heuristic_us = 0, best_us = 0;          // 0: no valid measurement
  double flops = 0, bytes = 0;                   // of the kernel
  std::int64_t trials = 0;                       // new measurements
  std::int64_t known = 0;                        // answered from the store
  std::map<std::string, std::int64_t> failures;  // status → number of new measurements that failed so
  std::string fault;                             // message of the latest failure
  std::string trail;                             // of the best
  bool confirmed = false;                        // full grid, full check
  std::string stop;                              // why the search ended
  bool finished = false;      // a search of this run or an earlier one was cut short neither by time nor by the user
  bool alternative = false;   // as in KernelCase
  std::string proof = {};     // of the best: print(ir::ProofVerdict); "": it was not tried
  std::int64_t left_out = 0;  // schedules that were not measured because of their bits
  measure::Front front = {};  // of several objectives, of all that the store knows
  std::int64_t count() const { return 1 + static_cast<std::int64_t>(same.size()); }
};

/// The kernels that tuning chose for a graph.
struct GraphRow {
  std::string name;
  std::size_t sets = 0;                  // how many sets of kernels had times
  std::string trail;                     // the decisions of fusion
  std::int64_t changes = 0;              // the number of them that are not the heuristic's
  std::vector<std::string> kernels;      // by the names of their rows
  double heuristic_us = 0, best_us = 0;  // the sum of the best times of the heuristic's kernels, and of `kernels`
};

/// The schedules that tuning kept for a family of shapes.
struct FamilyRow {
  struct Shape {
    std::string shape;         // "M=64 N=512"
    bool held_out = false;     // it did not count for the choice
    std::size_t schedule = 0;  // that the rule gives it
    double us = 0;             // by that schedule; 0: no valid time
    double best_us = 0;        // by the best schedule that is known for the shape; 0: none
    double heuristic_us = 0;   // 0: no valid time
    double loss() const { return us > 0 && best_us > 0 ? us / best_us - 1 : std::numeric_limits<double>::infinity(); }
  };
  std::string name;
  std::string goal;                    // "worst": which loss is bounded …
  double max_loss = 0;                 // … by this
  std::size_t candidates = 0;          // schedules among which it chose
  std::size_t between = 0;             // shapes between its own on which the kept ones were measured
  std::vector<std::string> schedules;  // trails; "": the heuristic's
  std::string rule;                    // for people: describe(DispatchRule), a line for each form
  std::vector<Shape> shapes;           // those that are held out come last
  std::string fault;                   // why there is no rule; "": there is one

  /// The losses of the family's own shapes, or of those that are held out.
  std::vector<double> losses(bool held_out) const {
    std::vector<double> all;
    for (const Shape& shape : shapes)
      if (shape.held_out == held_out) all.push_back(shape.loss());
    return all;
  }
};

struct Summary {
  std::string experiment, name, device, target, strategy, store;
  std::uint64_t seed = 0;
  double seconds = 0;
  bool interrupted = false;
  std::vector<Row> rows;
  std::vector<GraphRow> graphs = {};  // those with several sets of kernels
  std::vector<FamilyRow> families = {};
};

}  // namespace deplo::engine
