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

namespace deplo::search {

/// A parameter of the kernel (or of the compiler) that was tuned.
struct Knob {
  std::string name;
  std::vector<Value> values;  // as declared, then as first seen; at most 65,536
};

/// What came of one configuration. Costs are what finding it out took.
struct Record {
  Outcome outcome;           // failures keep what the file says of them as the message
  double build_seconds = 0;  // compiling: any processor can do it
  double run_seconds = 0;    // all the rest: launches, verification, overheads of the framework and the strategy
  std::uint32_t first_launch = 0, launches = 0;

  double cost() const { return build_seconds + run_seconds; }
};

/// One row per record in the order of the file. 241,600 records of 14 parameters and 4 launches take 32 MB.
struct Records {
  std::string name;  // of the file, for tables
  std::string kernel, device;
  std::vector<Knob> knobs;
  std::vector<std::uint16_t> options;  // records × knobs: which of its values each knob has
  std::vector<Record> records;
  std::vector<double> launches;  // µs; of all records, one after the other

  std::span<const std::uint16_t> options_of(std::size_t record) const {
    return std::span(options).subspan(record * knobs.size(), knobs.size());
  }
  std::span<const double> launches_of(const Record& record) const {
    return std::span(launches).subspan(record.first_launch, record.launches);
  }
  const Value& value(std::size_t record, std::size_t knob) const {
    return knobs[knob].values[options[record * knobs.size() + knob]];
  }
};

/// Collects records, of at most 1 GiB; values get their options as they come. Throws Error, prefixed by `place`.
class RecordsBuilder {
 public:
  explicit RecordsBuilder(std::string place) : place_(std::move(place)) {}
  /// Before the first record; also with the values declared beforehand. Names differ and are not empty.
  void add_knob(const std::string& name, const std::vector<Value>& values = {});
  std::size_t knobs() const { return records_.knobs.size(); }
  const std::string& knob_name(std::size_t i) const { return records_.knobs[i].name; }
  /// One value per knob; launches in µs. What finding it out took is the sum of the costs.
  void add(std::span<const Value> values, Record record, std::span<const double> launches = {});
  std::string& kernel() { return records_.kernel; }
  std::string& device() { return records_.device; }
  /// Throws where there is no knob or no record.
  Records finish();

 private:
  std::uint16_t option(std::size_t knob, const Value& value);
  std::string place_;
  Records records_;
  std::size_t bytes_ = 0;                             // of records_, about
  std::vector<std::map<Value, std::uint16_t>> seen_;  // per knob: value → option
};

}  // namespace deplo::search
