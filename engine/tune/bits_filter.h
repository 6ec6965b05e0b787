// Leaves schedules out of a search because of the bits that they give (docs/determinism.md).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/compile/compiled.h"
#include "ir/interpret/fingerprint.h"
#include "measure/check/inputs.h"

namespace deplo::engine {

/// What a tuning run asks of the bits of its schedules.
struct BitsWish {
  bool deterministic = false;  // the same bits in each launch
  /// The same bits as that schedule: "heuristic", "stored" (the fastest in the store), or a trail; "": any bits.
  std::string same_as = {};
  std::string same_rows_as = {};  // the fingerprint of a row; "": any
  bool is_any() const { return !deterministic && same_as.empty() && same_rows_as.empty(); }
};
/// As part of the settings of a search; "" if any bits will do.
std::string describe(const BitsWish&);

/// The filter of one kernel. Not thread-safe.
class BitsFilter {
 public:
  /// `loop`: with index ranges. `wanted`: the schedule with the same bits, if one is wished for. Throws Error if the
  /// fingerprint of that schedule is not known, or if BitsWish::same_rows_as is not one.
  BitsFilter(BitsWish wish, ir::Program loop, std::uint64_t seed, measure::InputFiles files,
             const std::optional<Compiled>& wanted);
  /// Why the schedule is left out; "" if it is not.
  std::string refusal(const Compiled&);
  /// That of all schedules that are not left out; nullopt: not said.
  const std::optional<ir::Fingerprint>& wanted() const { return wanted_; }

 private:
  ir::Fingerprint fingerprint_of(const ir::Program& kernel) const;
  std::string refusal_of(const ir::Program& kernel) const;

  BitsWish wish_;
  ir::Program loop_;
  std::uint64_t seed_;  // of the inputs
  measure::InputFiles files_;
  std::optional<ir::Fingerprint> wanted_;
  std::map<std::string, std::string> known_;  // refusals by the digest of the source
};

}  // namespace deplo::engine
