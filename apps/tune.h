// `deplo tune`: the one place that ties a kernel's space, a searcher and a measurer together.
#pragma once
#include <string>

#include "apps/board.h"
#include "apps/experiment.h"
#include "core/progress.h"

namespace deplo::apps {

struct TuneOptions {
  std::string store = "deplo.db";
  std::string overrides;        // the flags that changed the experiment, as text: stored with the run
  bool retry_failed = false;    // schedules that an earlier run found to fail are measured again
  std::string warm_start = {};  // a store of other devices and shapes that models begin from; "": they start cold
  bool in_process = false;      // candidates run in this process: for a debugger
};

/// Tunes every kernel of the experiment; each trial is in the store before the next is measured. Stops early once
/// interrupted() (apps/interrupt.h). The results so far stand on the board at any time.
void tune(const Experiment&, const TuneOptions&, Progress&, Board&);

}  // namespace deplo::apps
