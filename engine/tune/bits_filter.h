// Excludes schedules from a search because of the bits of their results (docs/determinism.md).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/compile/compiled.h"
#include "ir/interpret/fingerprint.h"
#include "measure/check/inputs.h"

namespace deplo::engine {

/// A tuning run's requirements on the result bits of its schedules.
struct BitsWish {
  bool deterministic = false;  // every launch must give the same bits
  /// The bits must equal those of this schedule: "heuristic", "stored" (the fastest in the store), or a trail. "": any
  /// bits.
  std::string same_as = {};
  std::string same_rows_as = {};  // required fingerprint of a row; "": any
  bool is_any() const { return !deterministic && same_as.empty() && same_rows_as.empty(); }
};
/// Describes the requirements for the settings of a search. Returns "" if any bits are allowed.
std::string describe(const BitsWish&);
/// Throws Error if BitsWish::same_rows_as is neither empty nor a fingerprint.
void check_bits(const BitsWish&);

/// The filter of one kernel. Not thread-safe.
class BitsFilter {
 public:
  /// `loop` must have index ranges. `wanted` is the schedule whose bits are required, if there is one. Throws Error if
  /// the fingerprint of `wanted` is unknown.
  BitsFilter(BitsWish wish, ir::Program loop, std::uint64_t seed, measure::InputFiles files,
             const std::optional<Compiled>& wanted);
  /// Returns why the schedule is excluded, or "" if it is not.
  std::string refusal(const Compiled&);
  /// Returns the fingerprint that all remaining schedules have, or nullopt if none is required.
  const std::optional<ir::Fingerprint>& wanted() const { return wanted_; }

 private:
  ir::Fingerprint fingerprint_of(const ir::Program& kernel) const;
  std::string refusal_of(const ir::Program& kernel) const;

  BitsWish wish_;
  ir::Program loop_;
  std::uint64_t seed_;  // seed of the inputs
  measure::InputFiles files_;
  std::optional<ir::Fingerprint> wanted_;
  std::map<std::string, std::string> known_;  // digest of the source → the result of refusal()
};

}  // namespace deplo::engine
