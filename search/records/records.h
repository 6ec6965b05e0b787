// Recorded measurements of one kernel on one device, which a TableSpace replays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/outcome.h"
#include "core/trail.h"
#include "search/records/objective.h"

namespace deplo::search {

inline constexpr std::size_t max_parameters = 1000;  // per space; far more than any kernel has
/// Throws Error, prefixed by `place`, for more than max_parameters. Readers whose work is quadratic in the number of
/// parameters call it before they begin.
void check_parameters(std::size_t count, const std::string& place);

/// A tuned parameter of the kernel or of the compiler.
struct Knob {
  std::string name;
  std::vector<Value> values;  // the declared values, then others in the order of their first record; at most 65,536
  /// The same values as JSON, which also has booleans and fractions: search/records/spelling.h. RecordsBuilder fills
  /// it.
  std::vector<std::string> json = {};
};

/// The result of one configuration, and the cost of its evaluation.
struct Record {
  /// The message of a failure is taken from the file. `microseconds` is the value that searchers are told. If the
  /// objective is not a duration, it is a number above 0 that is smaller for better values: see
  /// RecordsBuilder::finish().
  Outcome outcome;
  double build_seconds = 0;  // compiling, which does not need the device
  double run_seconds = 0;    // all the rest: launches, verification, overheads of the framework and the strategy
  std::uint32_t first_launch = 0, launches = 0;

  double cost() const { return build_seconds + run_seconds; }
};

/// A further quantity that was measured for each record. Less is better.
struct FurtherObjective {
  std::string name, unit;      // unit: "" if there is none
  std::vector<double> values;  // one per record; NaN: not known
};

/// The records in the order of the file. 241,600 records of 14 parameters and 4 launches take 32 MB.
struct Records {
  std::string name;  // name of the file, shown in tables
  std::string kernel, device;
  Objective objective;
  std::string problem_size;  // JSON, as Kernel Tuner writes it: [1024, 1] or 1024; "": not known
  std::vector<Knob> knobs;
  std::vector<std::uint16_t> options;  // records × knobs: an index into Knob::values
  std::vector<Record> records;
  std::vector<double> launches;                // µs; the launches of all records, concatenated
  std::vector<double> measured;                // the objective of each record if it is not a duration; else empty
  std::vector<FurtherObjective> further = {};  // only for writing: what deplo measured besides the objective
  std::vector<std::string> objectives = {};    // the objectives of the search, if it had several
  std::size_t repeated = 0;  // records that were left out because a later one has the same configuration
  /// The record of the default configuration, with which tuning begins; nullopt: not known.
  std::optional<std::uint32_t> untuned = {};

  std::span<const std::uint16_t> options_of(std::size_t record) const {
    return std::span(options).subspan(record * knobs.size(), knobs.size());
  }
  std::span<const double> launches_of(const Record& record) const {
    return std::span(launches).subspan(record.first_launch, record.launches);
  }
  const Value& value(std::size_t record, std::size_t knob) const {
    return knobs[knob].values[options[record * knobs.size() + knob]];
  }
  const std::string& json(std::size_t record, std::size_t knob) const {
    return knobs[knob].json[options[record * knobs.size() + knob]];
  }
  /// The objective of a valid record; in µs if it is a duration.
  double objective_of(std::size_t record) const {
    return objective.duration ? records[record].outcome.microseconds : measured[record];
  }
  /// objective_of(), negated if higher is better, so that less is better.
  double loss(std::size_t record) const {
    return objective.higher_is_better ? -objective_of(record) : objective_of(record);
  }
};

/// Collects records of at most 1 GiB. New values are numbered in the order in which they appear. Throws Error, prefixed
/// by `place`.
class RecordsBuilder {
 public:
  explicit RecordsBuilder(std::string place) : place_(std::move(place)) {}
  /// Must be called before the first record. `values`: declared values, which get the first option numbers. Names must
  /// be distinct and not empty.
  void add_knob(const std::string& name, const std::vector<Value>& values = {});
  /// Like add_knob(), with values as JSON.
  void add_json_knob(const std::string& name, const std::vector<std::string>& values);
  std::size_t knobs() const { return records_.knobs.size(); }
  const std::string& knob_name(std::size_t i) const { return records_.knobs[i].name; }
  /// Adds a record with one value per knob, and launches in µs. `microseconds` of a valid record must be the
  /// objective's value. The outcome's `seconds` become Record::cost().
  void add(std::span<const Value> values, Record record, std::span<const double> launches = {});
  /// Like add(), with values as JSON. Two values that differ as JSON but have the same Value (1 and true) stay
  /// distinct: the later one's Value becomes its JSON text.
  void add_json(std::span<const std::string> values, Record record, std::span<const double> launches = {});
  /// Adds a further quantity of the record that was added last; NaN: not known. Each record must have all these
  /// quantities.
  void add_further(const std::string& name, const std::string& unit, double value);
  std::vector<std::string>& objectives() { return records_.objectives; }
  std::string& kernel() { return records_.kernel; }
  std::string& device() { return records_.device; }
  Objective& objective() { return records_.objective; }
  const Objective& objective() const { return records_.objective; }
  std::string& problem_size() { return records_.problem_size; }
  /// Keeps the last record of each configuration. If the objective is not a duration, sets `microseconds` to the number
  /// that searchers are told: the value itself, or its reciprocal if higher is better. But if any value is not above 0,
  /// the best becomes 1, the worst 2, and the others are linear in between. If no record of such a space has a cost,
  /// each costs a second. If the objective is a duration, a valid record without a cost costs its duration: it ran at
  /// least once. Throws Error if there is no knob or no record.
  Records finish();

 private:
  std::uint16_t option(std::size_t knob, const Value& value);
  std::uint16_t option(std::size_t knob, const std::string& json);
  std::uint16_t add_option(std::size_t knob, Value value, std::string json);
  void add_record(Record record, std::span<const double> launches);
  void drop_repeated();
  void charge_times();
  void tell_searchers();
  std::string place_;
  Records records_;
  std::size_t bytes_ = 0;                                        // the approximate size of records_
  std::vector<std::map<Value, std::uint16_t>> seen_;             // per knob: value → option
  std::vector<std::map<std::string, std::uint16_t>> json_seen_;  // per knob: value as JSON → option
};

}  // namespace deplo::search
