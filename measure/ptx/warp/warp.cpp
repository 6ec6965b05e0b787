#include "measure/ptx/warp/warp.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "measure/ptx/machine.h"
#include "measure/ptx/warp/place.h"

namespace deplo::measure::ptx {
namespace {

Lanes first_lanes(std::int64_t count) { return count >= warp_lanes ? all_lanes : (Lanes{1} << count) - 1; }

}  // namespace

Warp::Warp(Block& block, std::int64_t index)
    : Registers(block.machine().program()),
      order(block.cluster().actors().warp(block.rank(), index), block.index(), block.cluster().number()),
      products(block.machine().program()),
      block_(block),
      index_(index),
      program_(block.machine().program()),
      local_(program_.local_bytes * warp_lanes),
      alive_(first_lanes(block.machine().threads() - index * warp_lanes)),
      groups_(alive_) {
  order.see(block.cluster().actors().start(block.rank()), 1);
  for (const SpecialPlace& special : program_.specials)
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
      lanes<std::uint32_t>(special.place)[lane] = static_cast<std::uint32_t>(special.value({block_, index_, lane}));
}

std::int64_t Warp::take_thread_instructions() { return std::exchange(thread_instructions_, 0); }

std::int64_t Warp::run(std::int64_t budget) {
  returns_early_ = machine().waits_time_out() || machine().draw_early_return();
  if (!returns_early_ && idle_since_ == machine().events()) return 0;
  groups_.wake();
  idle_since_.reset();
  std::int64_t executed = 0;
  while (executed < budget && !groups_.none()) {
    const std::size_t current = groups_.pick(machine().rng());
    if (current == groups_.count()) {
      idle_since_ = machine().events();
      break;
    }
    if (groups_.one()) {
      while (executed < budget && groups_.one() && step(0)) ++executed;
      if (!groups_.none() && groups_.one() && groups_[0].waiting) continue;
      if (executed < budget) ++executed;  // count the branch or the end that left the loop above
      continue;
    }
    // Run a few instructions of this group, then pick again by which group is furthest behind.
    for (int i = 0; i < 4 && executed < budget && current < groups_.count() && step(current); ++i) ++executed;
  }
  return executed;
}

bool Warp::are_together(LaneGroups::Group& group, const Instruction& i, Lanes active) {
  Lanes needed = alive_;
  // PTX ISA, "ldmatrix", "mma" and "wgmma.mma_async": the behaviour is undefined if a thread of the warp has exited.
  if (i.together == Together::full_warp && alive_ != all_lanes)
    throw Finding(
        fmt::format("expected all 32 lanes of the warp, but lanes {:#x} have ended or do not exist", ~alive_));
  if (i.together == Together::members) {
    needed = uniform<std::uint32_t>(i.e, active, "the membermask");
    if ((active & ~needed) != 0)
      throw Finding("a lane executes this instruction, but is not in its membermask",
                    std::countr_zero(active & ~needed));
    needed &= alive_;  // PTX ISA, "shfl.sync" and "vote.sync": all non-exited threads of the membermask
  }
  group.waiting = (needed & ~active) != 0;
  return !group.waiting;
}

void Warp::end(Lanes lanes) {
  alive_ &= ~lanes;
  block_.end_threads(std::popcount(lanes));
  if (alive_ == 0) block_.end_warp();
  if (alive_ == 0) {
    // Nothing waits for the remaining copies and products of this warp, so they may be done at any time: do them now.
    while (!copies.empty()) {
      copies.front().work();
      copies.pop_front();
    }
    products.run(*this, products.committed() + 1);
  }
  block_.cluster().turn_if_complete();
  machine().note_progress();
}

bool Warp::step(std::size_t current) {
  LaneGroups::Group& group = groups_[current];
  const Instruction& i = program_.code[group.at];
  const Lanes active = group.lanes & (predicate(i.guard) ^ i.guard_flip);
  at_ = group.at;
  if (active == 0) {
    ++group.at;
    groups_.merge(current);
    return groups_.one();
  }
  try {
    if ((i.together != Together::no || i.waits) && active != group.lanes) groups_.split(current, active);
    if (i.together != Together::no && !are_together(groups_[current], i, active)) return false;
    if (program_.has_wgmma) products.check_registers(i);
    const Flow flow = i.run(*this, i, active);
    if (flow == Flow::wait) {
      groups_[current].waiting = true;
      return false;
    }
    thread_instructions_ += std::popcount(active);
    if (flow == Flow::next) {
      ++groups_[current].at;
    } else if (flow == Flow::branch) {
      groups_.branch(current, i.target, active);
    } else {
      end(active);
      groups_.end(current, active);
      return false;
    }
  } catch (const Finding& finding) {
    throw placed(finding, *this, at_);
  }
  groups_.merge(current);
  return true;
}

std::string Warp::parted_lanes() const {
  if (groups_.count() < 2) return "";
  const LaneGroups::Group& first = groups_.all().front();
  for (const LaneGroups::Group& group : groups_.all())
    if (program_.code[group.at].together == Together::no) return "";
  const Statement& s = program_.statements[first.at];
  return fmt::format("{}: {}: executed by lanes {:#x} of warp {} only, and expected by all: {}",
                     place_of(machine().program(), first.at), s.opcode, first.lanes, index_, whereabouts());
}

std::string Warp::whereabouts() const {
  std::string text;
  for (const LaneGroups::Group& group : groups_.all()) {
    const Statement& s = program_.statements[group.at];
    text += fmt::format("{}warp {}", text.empty() ? "" : ", ", index_);
    if (group.lanes != all_lanes) text += fmt::format(" (lanes {:#x})", group.lanes);
    text += fmt::format(" at {} of PTX line {}", s.opcode, s.line);
    if (s.place.line > 0)
      text += fmt::format(" (CUDA line {})", s.place.inlined_at > 0 ? s.place.inlined_at : s.place.line);
  }
  return text;
}

}  // namespace deplo::measure::ptx
