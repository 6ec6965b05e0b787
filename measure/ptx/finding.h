// A fault that the machine finds in a kernel.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "core/error.h"

namespace deplo::measure::ptx {

/// Thrown if an instruction does what the PTX manual forbids. The message says what is wrong, without the place.
class Finding : public Error {
 public:
  /// `lane`: the lane that is at fault; nullopt: the whole warp.
  explicit Finding(const std::string& what, std::optional<std::size_t> lane = std::nullopt)
      : Error(what), lane_(lane) {}
  std::optional<std::size_t> lane() const { return lane_; }
  bool has_place() const { return has_place_; }
  Finding placed(const std::string& text) const {
    Finding finding(text, lane_);
    finding.has_place_ = true;
    return finding;
  }
  /// What the kernel printed before: the last 64 KiB, because a loop without an end may print much.
  const std::string& printed() const { return printed_; }
  void set_printed(const std::string& text) {
    constexpr std::size_t max_bytes = 1 << 16;
    std::size_t from = text.size() <= max_bytes ? 0 : text.size() - max_bytes;
    if (const std::size_t line = text.find('\n', from); from > 0 && line != std::string::npos) from = line + 1;
    printed_ = (from > 0 ? "…\n" : "") + text.substr(from);
  }

 private:
  std::optional<std::size_t> lane_;
  bool has_place_ = false;
  std::string printed_;
};

}  // namespace deplo::measure::ptx
