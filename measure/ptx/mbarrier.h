// The state of an mbarrier (PTX ISA, "mbarrier").
#pragma once
#include <cstdint>

#include "measure/ptx/races/order.h"

namespace deplo::measure::ptx {

/// Counts the arrivals and bytes of the current phase. The state is not kept in the 8 bytes of shared memory, which are
/// opaque to kernels.
class Mbarrier {
 public:
  explicit Mbarrier(std::uint32_t count) : count_(count), pending_(count) {}
  /// Adds what an arrival or a copy of the current phase makes known to those that wait for the phase. Must be called
  /// before arrive() and complete().
  void release(const Knowledge& knowledge) { arriving_.join(knowledge); }
  const Knowledge& complete() const { return complete_; }  // from the last complete phase
  /// These throw Finding if the phase gets more arrivals or bytes than an mbarrier can count.
  void arrive(std::uint32_t count);
  void expect(std::int64_t bytes);
  void complete(std::int64_t bytes);

  std::uint64_t phase() const { return phase_; }  // number of the current phase; all earlier phases are complete
  std::uint32_t count() const { return count_; }
  std::int64_t pending() const { return pending_; }
  std::int64_t bytes() const { return bytes_; }  // bytes that were announced and have not arrived yet
  /// True if the phase before the current one has this parity, that is, if the phase of this parity is complete.
  bool has_completed(std::uint32_t parity) const { return (phase_ & 1) != parity; }

 private:
  void turn();

  std::uint32_t count_;
  std::int64_t pending_, bytes_ = 0;
  std::uint64_t phase_ = 0;
  Knowledge arriving_, complete_;
};

}  // namespace deplo::measure::ptx
