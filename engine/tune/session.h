// A run of the tuner: what all of its kernels share.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/interrupt.h"
#include "core/target.h"
#include "engine/source/restrict.h"
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
  bool retry_failed = false;       // what an earlier run found to fail is measured again
  std::string warm_start = {};     // a store, or "": engine/tune/warm_start.h
  std::size_t analytic_prior = 0;  // schedules; 0: without it. Where there is no warm start
  std::optional<std::vector<search::model::Labelled>> learned_from =
      {};                            // all of warm_start, once a kernel asked for it
  std::size_t tried_winners = 0;     // by each kernel, of those of the others
  std::vector<Winner> winners = {};  // of this run
  Restrictions restrictions = {};    // of every kernel, before its own
  std::int64_t device_id = 0, run_id = 0;
  std::int64_t ordinal = 0;               // of the next trial in the run
  std::string host = {};                  // this machine's name
  std::string settings = {};              // of every kernel's search, as SearchRecord has them
  rules::Ceilings known = {}, seen = {};  // of the device: in earlier runs, and in this one as far as it is stored
  std::function<bool()> cancelled = [] { return interrupted() != 0; };  // polled: the rest is left undone
};

}  // namespace deplo::engine
