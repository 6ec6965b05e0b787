// The results of a tuning run, complete or in progress.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "measure/store/pareto_front.h"

namespace deplo::engine {

/// Row::stop of a kernel for which no schedule can be measured. Row::fault says why.
inline constexpr const char* untunable = "cannot be tuned";

/// Row::stop of a kernel that is needed only by slow alternatives of its graph (engine/tune/kernel_sets.h).
inline constexpr const char* not_needed = "its graph is faster without it";

/// Row::stop of a kernel whose strategy, a user's program, failed. The measurements so far are kept. Row::fault says
/// why it failed.
inline constexpr const char* strategy_failed = "the strategy failed";

struct Row {
  std::string name;
  std::vector<std::string> same;                 // names of the kernels that are equal to it
  double heuristic_us = 0, best_us = 0;          // 0: no valid measurement
  double flops = 0, bytes = 0;                   // operations and bytes of one run of the kernel
  std::int64_t trials = 0;                       // number of new measurements
  std::int64_t known = 0;                        // number of results that came from the store
  std::map<std::string, std::int64_t> failures;  // status → number of new measurements that failed with it
  std::string fault;                             // message of the latest failure
  // The latest failure is a mistake in the user's own kernel. Otherwise it may be one of the machine or of deplo.
  bool is_own_fault = false;
  std::string trail;       // trail of the best schedule
  bool confirmed = false;  // the best time is from a full run with complete checks
  std::string stop;        // why the search ended
  // A search of this run or of an earlier one was completed: neither time, nor the user, nor a failing strategy ended
  // it.
  bool finished = false;
  bool alternative = false;   // as in KernelCase
  std::string proof = {};     // print(ir::ProofVerdict) of the best schedule; "": no proof was tried
  std::int64_t left_out = 0;  // number of schedules that were not measured because of their bits
  measure::Front front = {};  // for several objectives: the Pareto front of all stored trials
  std::int64_t count() const { return 1 + static_cast<std::int64_t>(same.size()); }
};

/// The kernels that tuning chose for a graph.
struct GraphRow {
  std::string name;
  std::size_t sets = 0;              // number of kernel sets with times
  std::string trail;                 // the decisions of fusion
  std::int64_t changes = 0;          // number of decisions that differ from the heuristic's
  std::vector<std::string> kernels;  // the names of their rows
  // sums of the best times: of the heuristic's kernels, and of `kernels`
  double heuristic_us = 0, best_us = 0;
};

/// The schedules that tuning kept for a family of shapes.
struct FamilyRow {
  struct Shape {
    std::string shape;         // "M=64 N=512"
    bool held_out = false;     // the shape did not count for the choice
    std::size_t schedule = 0;  // index of the schedule that the rule chooses
    double us = 0;             // time of that schedule; 0: no valid time
    double best_us = 0;        // time of the best known schedule for the shape; 0: none
    double heuristic_us = 0;   // time of the heuristic's schedule; 0: no valid time
    double loss() const { return us > 0 && best_us > 0 ? us / best_us - 1 : std::numeric_limits<double>::infinity(); }
  };
  std::string name;
  std::string goal;            // the loss that is bounded: "worst" or "mean"
  double max_loss = 0;         // the bound
  std::size_t candidates = 0;  // number of schedules to choose from
  std::size_t between = 0;     // number of shapes between the family's own on which the kept schedules were measured
  std::vector<std::string> schedules;  // trails; "": the heuristic's
  std::string rule;                    // for people: describe(DispatchRule), one line for each form
  std::vector<Shape> shapes;           // held-out shapes come last
  // why there is no rule, or which shapes have no valid times; "": neither
  std::string fault;

  /// Returns the losses of the family's own shapes, or of the held-out shapes.
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
  std::vector<GraphRow> graphs = {};  // only the graphs with several sets of kernels
  std::vector<FamilyRow> families = {};
};

}  // namespace deplo::engine
