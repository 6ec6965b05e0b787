// Recorded spaces and stores: what was measured elsewhere becomes rows of a store, and a store's rows a recorded space.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trail.h"
#include "measure/device_info.h"
#include "rules/cost/ceilings.h"
#include "search/records/records.h"

namespace deplo::engine {

/// The value of a knob that a trail does not have: other choices left it undecided.
inline constexpr std::string_view absent = "-";

/// Appends the records as one run of the searcher "imported" (protocol "recorded") to the store, which is created where
/// there is none. The kernel's text lists the knobs and their values, the problem size and the objective. The store has
/// the value of an objective that is no duration in place of the time, negated where higher is better, and its label in
/// the protocol. Costs of running are not kept: the store has no place for them. How many. Throws Error.
std::size_t import_records(const search::Records&, const std::string& store);

/// One for each of the store_keys() (engine/learn/store_keys.h), with the latest trial of each trail. Knobs are as imported,
/// else as trails have them, each new one behind the one before it. The cost of running is the sum of the samples.
/// `place` of Records.name: the store's file. Throws Error; also where there is no such file.
std::vector<search::Records> read_store(const std::string& store);
/// The same with their numbers in the store, and what it takes to lower a kernel of ours again.
struct StoredSpace {
  std::int64_t kernel = 0, device = 0;
  search::Records records;
  std::string kernel_text;  // Loop IR; of what was imported its knobs
  measure::DeviceInfo info;
  rules::Ceilings ceilings;
};
std::vector<StoredSpace> read_stored_spaces(const std::string& store);

/// The trails of one kernel as records: knobs are as imported, else as trails have them, each new one behind the one
/// before it. Throws Error, prefixed by `place`, where they are too many.
class TrailRecords {
 public:
  /// `kernel_text`: of what was imported it declares the knobs.
  TrailRecords(std::string place, std::string_view kernel_text);
  /// Takes the knobs of a trail. All trails, before the first add().
  void meet(const Trail&);
  bool has_knobs() const { return !knobs_.empty(); }
  const search::Objective& objective() const { return builder_.objective(); }
  void add(const Trail&, search::Record, std::span<const double> launches = {});
  /// At least one knob and one record.
  search::Records finish() { return builder_.finish(); }

 private:
  void declare(const std::string& line);
  void read_fact(const std::string& line);
  search::RecordsBuilder builder_;
  std::vector<search::Knob> knobs_;                       // names encoded, as in trails
  std::map<std::string, std::vector<std::string>> json_;  // by name: the values of a knob as JSON
};

/// Is it a regular file that begins as databases of SQLite do?
bool is_store(const std::string& file);

}  // namespace deplo::engine
