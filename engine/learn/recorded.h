// Converts between recorded spaces and stores: measurements from elsewhere become rows of a store, and rows of a store
// become recorded spaces.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trail.h"
#include "engine/learn/unpacked_store.h"
#include "measure/device_info.h"
#include "measure/store/quantity.h"
#include "rules/cost/ceilings.h"
#include "search/records/records.h"

namespace deplo::engine {

/// Stands for the value of a knob that is not in a trail because other choices left it undecided.
inline constexpr std::string_view absent = "-";

/// Appends the records to the store as one run of the searcher "imported" (protocol "recorded"), and returns their
/// number. Creates the store if it does not exist. The kernel's text lists the knobs and their values, the problem size
/// and the objective. If the objective is not a duration, its value is stored in place of the time (negated if higher
/// is better), and its label becomes part of the protocol. Running costs are dropped, because the store has no column
/// for them. Throws Error.
std::size_t import_records(const search::Records&, const std::string& store);

/// Returns one recorded space for each of the store_keys() (engine/learn/store_keys.h), with the latest trial of each
/// trail. The knobs are the imported ones or, for a deplo kernel, those in its trails (TrailRecords). The running cost
/// is the sum of the samples. Records.name is the store's file name and the kernel's name. The store may be a .gz file.
/// Throws Error, also if the file does not exist.
std::vector<search::Records> read_store(const std::string& store);
/// A recorded space with the ids of its kernel and device in the store, and what is needed to lower a deplo kernel
/// again.
struct StoredSpace {
  std::int64_t kernel = 0, device = 0;
  std::int64_t latest = 0;  // id of the latest trial
  std::string first_trail;
  search::Records records;
  std::string kernel_key;
  std::string kernel_text;  // Loop IR; for an imported kernel, its knobs
  measure::DeviceInfo info;
  rules::Ceilings ceilings;
};
std::vector<StoredSpace> read_stored_spaces(const std::string& store);

/// Converts the trails of one kernel to records. The knobs are the imported ones or, for a deplo kernel, those in its
/// trails: each new knob is inserted after the knob that precedes it in its trail. Throws Error, prefixed by `place`,
/// if there are too many.
class TrailRecords {
 public:
  /// If the kernel is imported, `kernel_text` declares the knobs.
  TrailRecords(std::string place, std::string_view kernel_text);
  /// Adds the knobs of a trail. Must be called for all trails before the first add().
  void meet(const Trail&);
  bool has_knobs() const { return !knobs_.empty(); }
  const search::Objective& objective() const { return builder_.objective(); }
  void add(const Trail&, search::Record, std::span<const double> launches = {});
  /// Adds the further quantities of the trial that was added last, if a search had these objectives.
  void add_further(const measure::TrialRecord&, const measure::Objectives&);
  /// Returns the records. There must be at least one knob and one record.
  search::Records finish() { return builder_.finish(); }

 private:
  void declare(const std::string& line);
  void read_fact(const std::string& line);
  search::RecordsBuilder builder_;
  std::vector<search::Knob> knobs_;                       // names are encoded, as in trails
  std::map<std::string, std::vector<std::string>> json_;  // knob → its values as JSON
};

/// Returns true if the text is that of a kernel made by import_records().
bool is_imported(std::string_view kernel_text);

}  // namespace deplo::engine
