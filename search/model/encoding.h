// Encodes the candidates of any space as points, on which a distance, and so a Gaussian process, can be defined.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trail.h"

namespace deplo::search::model {

/// For each knob, in the order in which Encoding met them, the number of its value. -1: the candidate lacks the knob.
/// Missing knobs at the end are left out.
using Codes = std::vector<std::int32_t>;
struct CodesHash {
  std::size_t operator()(const Codes&) const;
};

/// Learns knobs and values as it meets them, because the knobs of a space cannot be listed. Not thread-safe.
///
/// Coordinates of a knob (a knob with one value has none):
///   number x among k   0.5 (log x - log min)/(log max - log min) + 0.5 rank/(k - 1);  k = 2 or min <= 0: rank/(k - 1)
///                      0.7 v2(x)/max v2, with v2 the number of factors of two in x; only if k > 2, some x is even, and
///                      not all values are powers of two
///   text               one coordinate per value: 1/√2 for the candidate's value, else 0. Two texts have distance 1.
///                      More than 256 texts have 256 coordinates of ±1/√512 with random signs, and distances near 1
///   optional knob      one more coordinate: 1 if the candidate has the knob; else 0, and the knob's other ones are 0.5
class Encoding {
 public:
  /// Adds a choice to the codes of a candidate.
  void note(const std::string& knob, const Value&, Codes&);
  /// Ends a candidate. Marks the knobs that it lacks as optional.
  void close(const Codes&);
  Codes codes(const Trail&);

  std::size_t knobs() const { return knobs_.size(); }
  /// The knob that each dimension of a point belongs to.
  const std::vector<std::size_t>& dimensions();
  /// Writes one number per dimension to `out`. A candidate's point changes if version() changes.
  void point(const Codes&, float* out);
  /// Increases with each new knob, new value or newly optional knob.
  std::size_t version() const { return version_; }

 private:
  struct Knob {
    std::string name;
    std::vector<Value> values;
    std::map<Value, std::int32_t> code_of;
    bool optional = false;
    std::vector<std::vector<float>> coordinates;  // for each value, then for a candidate without the knob
  };
  std::size_t find(const std::string& name);
  void refresh();

  std::vector<Knob> knobs_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::size_t next_ = 0;  // the knob after the last one met, which is often met next
  bool closed_ = false;   // close() was called: knobs that are met later are optional
  std::size_t version_ = 0, refreshed_ = SIZE_MAX;
  std::vector<std::size_t> dimensions_;
};

}  // namespace deplo::search::model
