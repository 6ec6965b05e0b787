// What a store holds of each kernel, as a report shows it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/page.h"
#include "measure/device.h"
#include "measure/records.h"
#include "search/records.h"

namespace deplo::apps {

/// One row of the store.
struct ReportTrial {
  std::string trail, status, message;
  double us = 0;  // when ok
  double seconds =
      0;  // of tuning that were spent on the kernel until it was stored: idle times between runs do not count
  bool confirmed = false, stopped = false;
  bool ok() const { return status == "ok"; }
};

/// How fast a trail is: the latest confirmation, else the latest time.
struct Speed {
  double us = 0;
  bool confirmed = false;
};

/// A kernel on a device.
struct TunedKernel {
  std::string key, name, text;
  measure::DeviceInfo device;
  std::vector<ReportTrial> trials;  // in the order of the store
  std::string best_trail;           // "": none is valid
  Speed best, untuned;              // 0 µs: none
  search::Records records;          // of its trails, of the protocol that most of them have; may have no records
  std::vector<measure::BaselineRecord> baselines;  // fastest first
  /// The best trail as these rules read it.
  struct Decision {
    std::string rule, knob, value, untuned;  // "-": the untuned schedule has no such knob
    std::size_t options = 0;
  };
  std::vector<Decision> decisions;
  std::string schedule;    // Tile IR; "": see `unreadable`
  bool imported = false;   // recorded by another program: when is not known
  std::string unreadable;  // why it is not known
};

struct TunedRun {
  std::string started, searcher, revision, host, device;
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
};

struct TunedStore {
  std::string file;
  std::vector<TunedRun> runs;
  std::vector<TunedKernel> kernels;  // in the order of the store
};

/// As of one moment; tuners may write meanwhile. Only kernels of that name ("": all). Throws Error.
TunedStore read_tuned(const std::string& file, const std::string& kernel);

/// Fills decisions, untuned, and schedule or why it is not known.
void explain_schedule(TunedKernel&);
/// What a rule decides, in some words; "" for one that is not known.
std::string_view rule_words(std::string_view rule);

/// One store, or two beside each other.
Page tuning_page(const std::vector<TunedStore>&);
/// Of the same kernel in each store; null where it is not there.
std::vector<Figure> kernel_figures(const std::vector<const TunedKernel*>&, const std::vector<std::string>& stores);

}  // namespace deplo::apps
