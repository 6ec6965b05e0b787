// Decides whether two schedules give the same bits (docs/determinism.md).
#pragma once
#include <cstdint>
#include <string>

#include "ir/interpret/interpret.h"

namespace deplo::ir {

/// A digest of the expressions that compute the outputs. Two schedules of one kernel with the same fingerprint give the
/// same bits for all inputs.
struct Fingerprint {
  std::uint64_t digest = 0;
  std::string unknown;  // not empty: the reason why there is no digest
  bool is_known() const { return unknown.empty(); }
  bool operator==(const Fingerprint&) const = default;
};
/// Returns 16 hexadecimal digits, or "unknown: …".
std::string print(const Fingerprint&);

/// Computes the fingerprint of `schedule`, the Kernel IR of a schedule of `loop`. `inputs`: as for interpret(); only
/// integers and booleans matter. For a large loop, only the first and the last element of each output are compared,
/// which takes seconds.
Fingerprint fingerprint(const Program& loop, const Program& schedule, const Memory& inputs);

/// Returns a digest of the expressions that compute one row of the outputs, that is, an element of their first
/// dimension. A row is computed from the rows of the inputs with the same number and from everything that all rows
/// share. The digest does not depend on the number of rows. If two kernels of different sizes have the same digest,
/// each of their rows has the same bits ("batch invariance"). The fingerprint is also unknown if rows are computed in
/// different ways.
Fingerprint row_fingerprint(const Program& loop, const Program& schedule, const Memory& inputs);

/// Returns why the result of the schedule may differ from one launch to the next: its blocks add floats to the same
/// elements in the order in which they arrive. Returns "" if the result cannot differ.
std::string order_dependence(const Program& schedule);

}  // namespace deplo::ir
