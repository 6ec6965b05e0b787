#include "measure/ptx/block_mbarriers.h"

#include <fmt/format.h>

#include "measure/ptx/machine.h"
#include "measure/ptx/warp/place.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint64_t mbarrier_bytes = 8;

}  // namespace

void BlockMbarriers::make(std::uint64_t offset, std::uint32_t count, const Access& by) {
  constexpr std::uint32_t max_count = (1 << 20) - 1;  // PTX ISA, "mbarrier.init"
  if (count < 1 || count > max_count)
    throw Finding(fmt::format("expected a count from 1 to {} of an mbarrier, found {}", max_count, count));
  if (all_.contains(offset))
    throw Finding(fmt::format("initializes the mbarrier at {:#x} again, without mbarrier.inval in between", offset));
  all_.emplace(offset, Initialized{Mbarrier(count), by, ++initializations_});
}

// A barrier orders the initialization of an mbarrier with its use; so does fence.mbarrier_init followed by any barrier
// of the threads, even a relaxed one (PTX ISA, "membar/fence"). The asynchronous proxy needs a fence in any case.
Mbarrier& BlockMbarriers::find(std::uint64_t offset, const Access& access) {
  const auto found = all_.find(offset);
  if (found == all_.end())
    throw Finding(
        fmt::format("expected an mbarrier at {:#x} in shared memory of block {}, found none that was initialized",
                    offset, block_.index()));
  const Initialized& initialized = found->second;
  const Access& by = initialized.by;
  const Actor fence = block_.cluster().actors().initializations(block_.rank());
  const bool is_fenced = access.before->seen.seen(fence) >= initialized.number;
  if (!is_fenced && access.before->seen.seen(by.actor) < by.epoch)
    throw Finding(fmt::format("race: uses the mbarrier at {:#x}, and nothing orders this with its initialization at {}",
                              offset, place_of(block_.machine().program(), by.at)));
  if (!is_fenced && access.is_async && access.before->shared_proxy.seen(by.actor) < by.epoch)
    throw Finding(
        fmt::format("race: no fence makes the mbarrier at {:#x}, which was initialized at {}, visible to the copy",
                    offset, place_of(block_.machine().program(), by.at)));
  return found->second.barrier;
}

std::pair<Actor, Epoch> BlockMbarriers::next_copy(std::uint64_t mbarrier) {
  const auto [found, is_new] = copies_.try_emplace(mbarrier, 0, 0);
  if (is_new) found->second.first = block_.cluster().actors().add_tensor_copies();
  ++found->second.second;
  return found->second;
}

void BlockMbarriers::check_plain(std::uint64_t offset, std::uint64_t size) const {
  const auto next = all_.lower_bound(offset < mbarrier_bytes ? 0 : offset - mbarrier_bytes + 1);
  if (next != all_.end() && next->first < offset + size)
    throw Finding(
        fmt::format("accesses the mbarrier at {:#x}, which only mbarrier instructions may access", next->first));
}

void BlockMbarriers::check_end() const {
  for (const auto& [offset, mbarrier] : all_)
    if (mbarrier.barrier.bytes() != 0)
      throw Finding(fmt::format("block {} ends while the mbarrier at {:#x} still expects {} bytes in phase {}",
                                block_.index(), offset, mbarrier.barrier.bytes(), mbarrier.barrier.phase()));
}

}  // namespace deplo::measure::ptx
