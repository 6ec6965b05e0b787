// Recorded measurements of one kernel on one device: what a table space replays.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "core/trail.h"
#include "search/records/objective.h"

namespace deplo::search {

/// A parameter of the kernel (or of the compiler) that was tuned.
struct Knob {
  std::string name;
  std::vector<Value> values;  // as declared, then as first seen; at most 65,536
  /// The same as JSON, which also has booleans and fractions: search/records/spelling.h. RecordsBuilder fills it.
  std::vector<std::string> json = {};
};

/// What came of one configuration. Costs are what finding it out took.
struct Record {
  /// Failures keep what the file says of them as the message. `microseconds` is what searchers are told. If the
  /// objective is no duration, it is a number above 0 that is less the better the value is: see RecordsBuilder::finish().
  Outcome outcome;
  double build_seconds = 0;  // compiling: any processor can do it
  double run_seconds = 0;    // all the rest: launches, verification, overheads of the framework and the strategy
  std::uint32_t first_launch = 0, launches = 0;

  double cost() const { return build_seconds + run_seconds; }
};

/// One row per record in the order of the file. 241,600 records of 14 parameters and 4 launches take 32 MB.
struct Records {
  std::string name;  // of the file, for tables
  std::string kernel, device;
  Objective objective;
  std::string problem_size;  // JSON, as Kernel Tuner has it: [1024, 1] or 1024; "": not known
  std::vector<Knob> knobs;
  std::vector<std::uint16_t> options;  // records × knobs: which of its values each knob has
  std::vector<Record> records;
  std::vector<double> launches;  // µs; of all records, one after the other
  std::vector<double> measured;  // of each record, where the objective is no duration; else none
  std::size_t repeated = 0;      // records that were left out, because a later one has the same configuration

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
  /// The same, negated where higher is better: less is better.
  double loss(std::size_t record) const {
    return objective.higher_is_better ? -objective_of(record) : objective_of(record);
  }
};

/// Collects records, of at most 1 GiB; values get their options as they come. Throws Error, prefixed by `place`.
class RecordsBuilder {
 public:
  explicit RecordsBuilder(std::string place) : place_(std::move(place)) {}
  /// Before the first record; also with the values declared beforehand. Names differ and are not empty.
  void add_knob(const std::string& name, const std::vector<Value>& values = {});
  /// With values as JSON.
  void add_json_knob(const std::string& name, const std::vector<std::string>& values);
  std::size_t knobs() const { return records_.knobs.size(); }
  const std::string& knob_name(std::size_t i) const { return records_.knobs[i].name; }
  /// One value per knob; launches in µs. What finding it out took is the sum of the costs. `microseconds` of a valid
  /// record is the objective's value.
  void add(std::span<const Value> values, Record record, std::span<const double> launches = {});
  /// With values as JSON. Values that differ as JSON but have one Value (1 and true) are told apart: the later one's
  /// Value is the text of its JSON.
  void add_json(std::span<const std::string> values, Record record, std::span<const double> launches = {});
  std::string& kernel() { return records_.kernel; }
  std::string& device() { return records_.device; }
  Objective& objective() { return records_.objective; }
  const Objective& objective() const { return records_.objective; }
  std::string& problem_size() { return records_.problem_size; }
  /// Of records of one configuration the last stays. If the objective is no duration, `microseconds` becomes what
  /// searchers are told: the value itself, where higher is better its reciprocal. If a value is not above 0, it is
  /// 1 for the best and 2 for the worst one, and linear between them. If no record of such a space has a cost, each
  /// costs a second. Throws where there is no knob or no record.
  Records finish();

 private:
  std::uint16_t option(std::size_t knob, const Value& value);
  std::uint16_t option(std::size_t knob, const std::string& json);
  std::uint16_t add_option(std::size_t knob, Value value, std::string json);
  void add_record(Record record, std::span<const double> launches);
  void drop_repeated();
  void tell_searchers();
  std::string place_;
  Records records_;
  std::size_t bytes_ = 0;                                        // of records_, about
  std::vector<std::map<Value, std::uint16_t>> seen_;             // per knob: value → option
  std::vector<std::map<std::string, std::uint16_t>> json_seen_;  // the same of JSON
};

}  // namespace deplo::search
