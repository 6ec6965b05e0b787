// Reads and writes a store for `deplo bench`.
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

/// A store during one run on one device. Every method throws like those of measure::Store.
class BenchStore {
 public:
  /// Creates the file if it does not exist.
  BenchStore(const std::string& file, const measure::DeviceInfo&, const BenchOptions&);

  /// Selects the kernel with this text (engine::stored_text) for the methods below, and the protocol by which it is
  /// timed.
  void enter(const std::string& name, const std::string& text, std::string protocol);
  /// Adds the time of deplo's kernel, as a trial of a confirmation. `changes`: as in TrialRecord.
  void add(const engine::Compiled&, std::int64_t changes, const measure::worker::Reply&);
  /// Adds the time of a library.
  void add(const BenchBaseline&, const Result<measure::Timing>&);
  /// Returns the stored baselines that are not in `now`: those of other programs, or of another day.
  std::vector<BenchBaseline> earlier(const std::vector<BenchBaseline>& now);

  rules::Ceilings known_ceilings() { return store_.ceilings(device_); }
  void add_ceilings(const rules::Ceilings& seen) { store_.add_ceilings(run_, seen); }

 private:
  measure::Store store_;
  std::string protocol_;
  std::int64_t device_ = 0, run_ = 0, kernel_ = 0, ordinal_ = 0;
};

}  // namespace deplo::apps
