// Whether two schedules give the same bits (docs/determinism.md).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ir/interpret/interpret.h"

namespace deplo::ir {

/// A digest of the expressions that compute the outputs. Two schedules of one kernel with the same fingerprint give the
/// same bits for all inputs.
struct Fingerprint {
  std::uint64_t digest = 0;
  std::string unknown;  // not "": why there is no digest
  bool is_known() const { return unknown.empty(); }
  bool operator==(const Fingerprint&) const = default;
};
/// 16 hexadecimal digits, or "unknown: …".
std::string print(const Fingerprint&);

/// `schedule`: Kernel IR of a schedule of `loop`. `inputs`: as for interpret(); only integers and truth values count.
/// Of a large loop only the first and the last element of each output are compared, which takes seconds.
Fingerprint fingerprint(const Program& loop, const Program& schedule, const Memory& inputs);

/// A digest of the expressions that compute a row of the outputs, an element of their first dimension, from the inputs'
/// rows of the same number and all else. It is the same for any number of rows, so two kernels of other sizes that have
/// it give a row the same bits ("batch invariance"). Unknown if the rows are computed in different ways, too.
Fingerprint row_fingerprint(const Program& loop, const Program& schedule, const Memory& inputs);

/// Why the result of the schedule may differ from one launch to the next: its blocks add floats to the same elements in
/// the order in which they come. "" if it does not.
std::string order_dependence(const Program& schedule);

}  // namespace deplo::ir
