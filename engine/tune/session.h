// The state that all kernels of a tuning run share.
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
  bool retry_failed = false;       // measure again what failed in an earlier run
  std::string warm_start = {};     // a store, or "" (engine/tune/warm_start.h)
  std::size_t analytic_prior = 0;  // number of its schedules, if there is no warm start; 0: do not use it
  std::optional<std::vector<search::model::Labelled>> learned_from =
      {};                            // all sets of warm_start, read when a kernel first needs them
  std::size_t tried_winners = 0;     // how many winners of other kernels each kernel tries
  std::vector<Winner> winners = {};  // of this run
  Restrictions restrictions = {};    // of every kernel, before its own
  std::int64_t device_id = 0, run_id = 0;
  std::int64_t ordinal = 0;               // of the next trial in the run
  BitsWish bits = {};                     // of the results of all schedules
  std::string host = {};                  // this machine's name
  std::string settings = {};              // of every kernel's search, as in SearchRecord
  rules::Ceilings known = {}, seen = {};  // of the device: from earlier runs; from this run, as stored so far
  std::function<bool()> cancelled = [] { return interrupted() != 0; };  // polled; if true, the run stops
};

}  // namespace deplo::engine
