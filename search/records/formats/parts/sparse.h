// Collects a space whose configurations do not all have the same knobs.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/records/formats/parts/json_text.h"
#include "search/records/records.h"

namespace deplo::search::records {

/// A knob's name and its value as JSON.
using Setting = std::pair<std::string, std::string>;

class SparseRecords {
 public:
  /// `place`: the prefix of error messages.
  explicit SparseRecords(std::string place) : place_(std::move(place)) {}
  /// Adds a configuration. A new knob is placed after the knob before it in the configuration. Throws Error if a knob
  /// occurs twice, or if there are more than 1,000.
  void add(std::vector<Setting>, Record, std::vector<double> launches = {});
  std::string kernel, device, problem_size;
  bool empty() const { return rows_.empty(); }
  bool has_knobs() const { return !names_.empty(); }
  /// Returns the records. A configuration that lacks a knob has "-" as its value. `drops_constants`: knobs with one
  /// value are left out, unless no knob has two. Throws Error as RecordsBuilder does.
  Records finish(bool drops_constants = false) const;

 private:
  struct Row {
    std::vector<std::pair<std::size_t, std::string>> settings;  // the knob's number and its value
    Record record;
    std::vector<double> launches;
  };
  void add_knob(const std::string& name, const Row&);
  std::vector<bool> varying() const;
  std::string place_;
  std::vector<std::size_t> order_;     // the knobs' numbers, in order
  std::vector<std::string> names_;     // names of the knobs, by number
  std::vector<std::size_t> last_row_;  // by number: 1 + the last row that has the knob; 0: none yet
  std::map<std::string, std::size_t> numbers_;
  std::vector<Row> rows_;
};

/// A record with this time, or a failure with the message if the time is not above 0. The record's cost is the time,
/// unless the caller sets another.
Record timed(double microseconds, Status failure, std::string message);

/// A knob for each member of an object, and for each element of a member that is a list (`block_sizes[0]`). Members and
/// elements that are null are left out.
std::vector<Setting> settings_of(const Json& object);
/// The settings in a text such as "BM=64,BN=128" (`separator` ',', `equals` '='): a part without `equals` belongs to
/// the value before it. nullopt: the text does not begin with a name.
std::optional<std::vector<Setting>> settings_in(std::string_view text, char separator, char equals);

}  // namespace deplo::search::records
