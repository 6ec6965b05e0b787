// A fault that the machine finds in a kernel.
#pragma once
#include <string>

#include "core/error.h"

namespace deplo::measure::ptx {

/// Thrown if an instruction does what the PTX manual forbids. The message says what is wrong, without the place.
class Finding : public Error {
 public:
  /// `lane`: the lane that is at fault; -1: the whole warp.
  explicit Finding(const std::string& what, int lane = -1) : Error(what), lane_(lane) {}
  int lane() const { return lane_; }
  bool has_place() const { return has_place_; }
  Finding placed(const std::string& text) const {
    Finding finding(text, lane_);
    finding.has_place_ = true;
    return finding;
  }

 private:
  int lane_;
  bool has_place_ = false;
};

}  // namespace deplo::measure::ptx
