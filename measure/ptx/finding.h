// What the machine finds wrong in a kernel.
#pragma once
#include <string>

#include "core/error.h"

namespace deplo::measure::ptx {

/// Thrown where an instruction does what the PTX manual forbids. Its message says what, without the place.
class Finding : public Error {
 public:
  /// `lane`: that of the thread; -1: of the whole warp.
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
