// The state shared by all kernels of a tuning run.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/interrupt.h"
#include "core/target.h"
#include "engine/source/restrict.h"
#include "engine/tune/bits_filter.h"
#include "engine/tune/warm_start.h"
#include "measure/store/store.h"
#include "measure/worker/runner.h"
#include "search/model/labelled.h"

namespace deplo::engine {

struct Session {
  measure::worker::Runner& runner;
  measure::Store& store;
  Target target;
  measure::Protocol protocol;
  bool retry_failed = false;       // measure candidates again that failed in an earlier run
  std::string warm_start = {};     // a store, or "" (engine/tune/warm_start.h)
  std::size_t analytic_prior = 0;  // number of the prior's schedules if there is no warm start; 0: no prior
  // all sets of warm_start, read when a kernel first needs them
  std::optional<std::vector<search::model::Labelled>> learned_from = {};
  std::size_t tried_winners = 0;     // number of other kernels' winners that each kernel tries
  std::vector<Winner> winners = {};  // winners of this run
  Restrictions restrictions = {};    // apply to every kernel, before its own restrictions
  std::int64_t device_id = 0, run_id = 0;
  std::int64_t ordinal = 0;   // number of the next trial in the run
  BitsWish bits = {};         // requirements on the results of all schedules
  std::string host = {};      // this machine's name
  std::string settings = {};  // settings of every kernel's search, as in SearchRecord
  // ceilings of the device: from earlier runs; from this run, as stored so far
  rules::Ceilings known = {}, seen = {};
  std::function<bool()> cancelled = [] { return interrupted() != 0; };  // polled; the run stops if it returns true
};

}  // namespace deplo::engine
