#include "measure/ptx/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "measure/ptx/finding.h"
#include "measure/ptx/machine.h"
#include "measure/ptx/warp/place.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

Block::Block(Machine& machine, Cluster& cluster, std::int64_t index, std::uint32_t rank)
    : machine_(machine),
      cluster_(cluster),
      index_(index),
      rank_(rank),
      shared_(machine.shared_bytes()),
      mbarriers_(*this),
      shadow_(machine.shared_bytes(), machine.program().granule, static_cast<std::size_t>(machine.warps()),
              cluster.actors().warp(rank, 0), cluster.actors().copies(cluster.actors().warp(rank, 0)),
              cluster.actors().products(cluster.actors().warp(rank, 0))),
      live_threads_(machine.threads()),
      live_warps_(machine.warps()) {
  shared_.clear(machine.options().fill);
  const std::int64_t warps = machine.warps();
  for (std::int64_t i = 0; i < warps; ++i) warps_.push_back(std::make_unique<Warp>(*this, i));
  issues_.resize(warps_.size() / warpgroup_warps);
}

Block::~Block() = default;

std::uint64_t Block::arrive(std::uint32_t number, std::int64_t threads, std::int64_t expected,
                            const Knowledge& knowledge) {
  NamedBarrier& barrier = barriers_[number];
  if (barrier.arrived > 0 && awaited(barrier.expected) != awaited(expected))
    throw Finding(fmt::format("barrier {} is waiting for {} threads, but the arriving threads expect {}", number,
                              awaited(barrier.expected), awaited(expected)));
  machine_.note_event();
  const std::uint64_t before = barrier.turns;
  barrier.expected = expected;
  barrier.arrived += threads;
  barrier.arriving.join(knowledge);
  if (barrier.arrived > awaited(expected))
    throw Finding(
        fmt::format("barrier {} gets {} threads, but expects {}", number, barrier.arrived, awaited(expected)));
  turn_if_complete(barrier);
  return before;
}

void Block::vote(std::uint32_t number, const NamedBarrier::Votes& votes) {
  NamedBarrier& barrier = barriers_[number];
  NamedBarrier::Votes& sum = barrier.votes[barrier.turns];
  sum.yes += votes.yes;
  sum.no += votes.no;
}

std::int64_t Block::awaited(std::int64_t expected) const { return expected == 0 ? live_warps_ * warp_lanes : expected; }

void Block::turn_if_complete(NamedBarrier& barrier) const {
  if (barrier.arrived == 0 || barrier.arrived != awaited(barrier.expected)) return;
  barrier.arrived = 0;
  ++barrier.turns;
  barrier.complete = std::exchange(barrier.arriving, {});
}

// PTX ISA, "exit": the end of a thread releases a barrier that waits only for the threads that end.
void Block::end_warp() {
  --live_warps_;
  for (NamedBarrier& barrier : barriers_) turn_if_complete(barrier);
}

std::string Actors::describe(Actor actor) const {
  const std::string text = describe_in_block(actor);
  return all_ == warps_ || actor >= 3 * all_ ? text : fmt::format("{} of rank {}", text, actor % all_ / warps_);
}

std::string Actors::describe_in_block(Actor actor) const {
  if (actor >= 3 * all_) return "a tensor copy";
  const char* const what = actor < all_ ? "" : actor < 2 * all_ ? "a cp.async of " : "a wgmma of ";
  return fmt::format("{}warp {}", what, actor % warps_);
}

void Block::issue(Warp& warp, const Issue& issue) {
  const std::size_t warpgroup = static_cast<std::size_t>(warp.index()) / warpgroup_warps;
  if (warpgroup >= issues_.size())
    throw Finding(fmt::format("expected a warpgroup of four warps, found one of {}", warps_.size() % warpgroup_warps));
  std::vector<Issue>& known = issues_[warpgroup];
  const std::size_t number = warp.issued++;
  if (number == known.size()) {
    known.push_back(issue);
  } else if (known.at(number).at != issue.at) {
    throw Finding("the warps of a warpgroup execute different instructions as their next wgmma or setmaxnreg");
  } else if (known[number].matrices != issue.matrices) {
    throw Finding("the warps of a warpgroup have different matrix descriptors");
  }
}

void Block::check_end() const {
  for (std::size_t i = 0; i < issues_.size() * warpgroup_warps; ++i) {
    const std::vector<Issue>& known = issues_[i / warpgroup_warps];
    const std::size_t issued = warps_[i]->issued;
    if (issued < known.size())
      throw Finding(fmt::format("warp {} of block {} ends without {} at {}, which other warps of its warpgroup execute",
                                i, index_, machine_.program().statements[known[issued].at].opcode,
                                place_of(machine_.program(), known[issued].at)));
  }
  mbarriers_.check_end();
  // The block must exist until the access, also if it is an arrival at an mbarrier. A relaxed barrier of the cluster
  // does not order the access before the end of the block.
  for (const auto& [actor, access] : from_afar_) {
    const auto knows = [&](const auto& warp) {
      return warp->order.knowledge().seen.seen(access.actor) >= access.epoch;
    };
    if (std::ranges::none_of(warps_, knows))
      throw Finding(
          fmt::format("block {} may end before {} accesses its shared memory: nothing orders the end with {} "
                      "at {}",
                      index_, cluster_.actors().describe(actor), machine_.program().statements[access.at].opcode,
                      place_of(machine_.program(), access.at)));
  }
}

Cluster::Cluster(Machine& machine, std::int64_t number)
    : machine_(machine), number_(number), actors_(machine.program().cluster, machine.warps()) {
  const std::int64_t size = machine.program().cluster;
  for (std::int64_t rank = 0; rank < size; ++rank)
    blocks_.push_back(std::make_unique<Block>(machine, *this, number * size + rank, static_cast<std::uint32_t>(rank)));
}

std::int64_t Cluster::live_threads() const {
  std::int64_t count = 0;
  for (const auto& block : blocks_) count += block->live_threads();
  return count;
}

std::uint64_t Cluster::arrive(std::int64_t threads, const Knowledge& knowledge) {
  machine_.note_event();
  const std::uint64_t before = turns_;
  arrived_ += threads;
  arriving_.join(knowledge);
  turn_if_complete();
  return before;
}

// PTX ISA, "barrier.cluster": it waits for all non-exited threads of the cluster.
void Cluster::turn_if_complete() {
  if (arrived_ == 0 || arrived_ < live_threads()) return;
  arrived_ = 0;
  ++turns_;
  complete_ = std::exchange(arriving_, {});
}

}  // namespace deplo::measure::ptx
