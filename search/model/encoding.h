// Candidates as points: what a distance, and so a Gaussian process, can be defined on, for any space.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trail.h"

namespace deplo::search::model {

/// Which of its values each knob has, in the order in which Encoding met them; absent: -1, and none at the end.
using Codes = std::vector<std::int16_t>;
struct CodesHash {
  std::size_t operator()(const Codes&) const;
};

/// Learns knobs and their values as it meets them: spaces cannot be listed. Not thread-safe.
///
/// Coordinates of a knob (a knob with one value has none):
///   number x among k   0.5 (log x - log min)/(log max - log min) + 0.5 rank/(k - 1);  k = 2 or min <= 0: rank/(k - 1)
///                      0.7 v2(x)/max v2, v2 the factors of two in x, unless all values are powers of two
///   text               one per value, 1/√2 where it is the value: two texts are 1 apart
///   if it may be absent  one more, 1 where it is there; the others are then 0.5
class Encoding {
 public:
  /// Adds a choice to the codes of a candidate; at most 32,767 values of a knob.
  void note(const std::string& knob, const Value&, Codes&);
  /// The candidate is complete: knobs that it lacks may be absent.
  void close(const Codes&);
  Codes codes(const Trail&);

  std::size_t knobs() const { return knobs_.size(); }
  /// The knob that each dimension of a point belongs to.
  const std::vector<std::size_t>& dimensions();
  /// One number per dimension. Points change when version() does.
  void point(const Codes&, float* out);
  /// Rises when a knob or a value is met that was not known.
  std::size_t version() const { return version_; }

 private:
  struct Knob {
    std::string name;
    std::vector<Value> values;
    std::map<Value, std::int16_t> code_of;
    bool optional = false;
    std::vector<std::vector<float>> coordinates;  // of each value; the last: absent
  };
  std::size_t find(const std::string& name);
  void refresh();

  std::vector<Knob> knobs_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::size_t next_ = 0;  // the knob behind the one met last: often the one that comes
  bool closed_ = false;   // some candidate is complete
  std::size_t version_ = 0, refreshed_ = SIZE_MAX;
  std::vector<std::size_t> dimensions_;
};

}  // namespace deplo::search::model
