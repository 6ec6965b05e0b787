// `deplo tune`: the one place that ties a kernel's space, a searcher and a measurer together.
#pragma once
#include <string>

#include "apps/experiment.h"
#include "apps/table.h"
#include "core/progress.h"

namespace deplo::apps {

struct TuneOptions {
  std::string store = "deplo.db";
  std::string overrides;  // the flags that changed the experiment, as text: stored with the run
};

/// Tunes every kernel of the experiment; each trial is in the store before the next is measured. Stops early, with all
/// of that said in the summary, once interrupted() (apps/interrupt.h).
Summary tune(const Experiment&, const TuneOptions&, Progress&);

}  // namespace deplo::apps
