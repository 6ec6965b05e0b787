// What `deplo run --bench` finds in a store and leaves there.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "apps/run/bench.h"
#include "engine/compile/compiled.h"
#include "ir/program.h"
#include "measure/store/store.h"
#include "measure/worker/runner.h"

namespace deplo::apps {

/// One run's, on one device. Every method throws as measure::Store's do.
class BenchStore {
 public:
  /// Creates the file where there is none.
  BenchStore(const std::string& file, const measure::DeviceInfo&, const BenchOptions&);

  /// The kernel that the methods below are about, and the protocol that it is timed by.
  void enter(const std::string& name, const ir::Program& loop, std::string protocol);
  /// What ours took: a trial of a confirmation. `changes` as of TrialRecord.
  void add(const engine::Compiled&, std::int64_t changes, const measure::worker::Reply&);
  /// What a library took beside it.
  void add(const BenchBaseline&, const Result<measure::Timing>&);
  /// Baselines that were not timed beside ours now: of other programs, or of another day.
  std::vector<BenchBaseline> earlier(const std::vector<BenchBaseline>& now);

  rules::Ceilings known_ceilings() { return store_.ceilings(device_); }
  void add_ceilings(const rules::Ceilings& seen) { store_.add_ceilings(run_, seen); }

 private:
  measure::Store store_;
  std::string protocol_;
  std::int64_t device_ = 0, run_ = 0, kernel_ = 0, ordinal_ = 0;
};

}  // namespace deplo::apps
