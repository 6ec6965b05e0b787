#include "measure/ptx/mbarrier.h"

#include <fmt/format.h>

#include <utility>

#include "measure/ptx/finding.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::int64_t max_transaction = (1 << 20) - 1;  // bytes; PTX ISA, "Contents of the mbarrier object"

}  // namespace

void Mbarrier::arrive(std::uint32_t count) {
  if (pending_ < count)
    throw Finding(fmt::format("phase {} of the mbarrier gets {} arrivals, but expects only {} more of {}", phase_,
                              count, pending_, count_));
  pending_ -= count;
  turn();
}

void Mbarrier::expect(std::int64_t bytes) {
  bytes_ += bytes;
  if (bytes_ > max_transaction)
    throw Finding(fmt::format("phase {} of the mbarrier expects {} bytes, but can count at most {}", phase_, bytes_,
                              max_transaction));
}

void Mbarrier::complete(std::int64_t bytes) {
  bytes_ -= bytes;
  if (bytes_ < -max_transaction)
    throw Finding(fmt::format("phase {} of the mbarrier got {} bytes that were not announced", phase_, -bytes_));
  turn();
}

void Mbarrier::turn() {
  if (pending_ != 0 || bytes_ != 0) return;
  ++phase_;
  pending_ = count_;
  complete_ = std::exchange(arriving_, {});
}

}  // namespace deplo::measure::ptx
