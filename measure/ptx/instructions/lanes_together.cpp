// Instructions through which the lanes of a warp communicate.
#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "measure/ptx/finding.h"
#include "measure/ptx/instructions/lanes.h"
#include "measure/ptx/instructions/table.h"

namespace deplo::measure::ptx {
namespace {

// PTX ISA, "shfl.sync". Operand c: bits 0 to 4 limit the source lane, bits 8 to 12 are the mask of the segment.
enum class Shuffle { up, down, bfly, idx };
template <Shuffle mode>
Flow run_shuffle(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<std::uint32_t> a = w.lanes<std::uint32_t>(i.a);
  PerLane<std::uint32_t> r;
  Lanes inside = 0;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t b = w.lanes<std::uint32_t>(i.b)[lane] & 31, c = w.lanes<std::uint32_t>(i.c)[lane];
    const std::uint32_t segment = c >> 8 & 31, clamp = c & 31;
    const std::uint32_t max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
    std::int64_t from = lane;
    bool valid = true;
    if (mode == Shuffle::up) from = std::int64_t{lane} - b, valid = from >= std::int64_t{max_lane};
    if (mode == Shuffle::down) from = lane + b, valid = from <= std::int64_t{max_lane};
    if (mode == Shuffle::bfly) from = lane ^ b, valid = from <= std::int64_t{max_lane};
    if (mode == Shuffle::idx) from = min_lane | (b & ~segment), valid = from <= std::int64_t{max_lane};
    if (!valid) from = lane;
    if ((active >> lane & 1) != 0 && (active >> from & 1) == 0)
      throw Finding("shuffles from lane " + std::to_string(from) + ", which does not take part", lane);
    r[lane] = a[static_cast<std::size_t>(from)];
    inside |= Lanes{valid} << lane;
  }
  w.store(i.d, r, active);
  if (i.size != 0) w.store_predicate(static_cast<RegisterPlace>(i.number), inside, active);
  return Flow::next;
}
void shuffle(Binder& b) {
  b.expect_operands(5, 5);
  const Operand& d = b.operand(0);
  const bool both = d.kind == Operand::Kind::alternatives;
  b.to().d = b.write(both ? d.parts[0] : d, 32);
  if (both) b.to().number = b.write(d.parts[1], 1), b.to().size = 1;
  b.to().a = b.read(1, 32), b.to().b = b.read(2, 32), b.to().c = b.read(3, 32), b.to().e = b.read(4, 32);
  b.to().together = Together::members;
  b.to().run = b.has("up")     ? run_shuffle<Shuffle::up>
               : b.has("down") ? run_shuffle<Shuffle::down>
               : b.has("bfly") ? run_shuffle<Shuffle::bfly>
                               : run_shuffle<Shuffle::idx>;
}

// ---- vote
enum class Vote { all, any, uniform, ballot };
template <Vote vote>
Flow run_vote(Warp& w, const Instruction& i, Lanes active) {
  const Lanes truth = (w.predicate(i.a) ^ static_cast<Lanes>(i.number)) & active;
  if constexpr (vote == Vote::ballot) {
    w.store_in_all(i.d, truth, active);
  } else {
    const bool result = vote == Vote::all   ? truth == active
                        : vote == Vote::any ? truth != 0
                                            : truth == 0 || truth == active;
    w.store_predicate(i.d, result ? all_lanes : 0, active);
  }
  return Flow::next;
}
void vote(Binder& b) {
  b.expect_operands(3, 3);
  b.to().d = b.write(0, b.has("ballot") ? 32 : 1);
  Operand truth = b.operand(1);
  b.to().number = std::exchange(truth.negated, false) ? static_cast<std::int64_t>(all_lanes) : 0;
  b.to().a = b.read(truth, 1), b.to().e = b.read(2, 32);
  b.to().together = Together::members;
  b.to().run = b.has("all")   ? run_vote<Vote::all>
               : b.has("any") ? run_vote<Vote::any>
               : b.has("uni") ? run_vote<Vote::uniform>
                              : run_vote<Vote::ballot>;
}

// PTX ISA, "match.sync": the lanes that have the same value.
template <class T>
Flow run_match(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<T>& a = w.lanes<T>(i.a);
  const auto same = [&](std::size_t l) { return active & lanes_where([&](std::size_t k) { return a[k] == a[l]; }); };
  w.store(i.d, per_lane(same), active);
  return Flow::next;
}
void match(Binder& b) {
  b.expect_operands(3, 3);
  const int bits = type_bits(b.type());
  b.to().d = b.write(0, 32);
  b.to().a = b.read(1, bits), b.to().e = b.read(2, 32);
  b.to().together = Together::members;
  b.to().run = bits == 32 ? run_match<std::uint32_t> : run_match<std::uint64_t>;
}

Flow run_active_mask(Warp& w, const Instruction& i, Lanes active) {
  w.store_in_all(i.d, active, active);
  return Flow::next;
}
void active_mask(Binder& b) {
  b.expect_operands(1, 1);
  b.to().d = b.write(0, 32);
  b.to().run = run_active_mask;
}

// PTX ISA, "elect.sync": elects one lane of the mask, always the same one. The machine elects the lowest. The results
// are d|p.
Flow run_elect(Warp& w, const Instruction& i, Lanes active) {
  const auto elected = static_cast<std::uint32_t>(std::countr_zero(active));
  w.store_in_all(i.d, elected, active);
  w.store_predicate(i.b, Lanes{1} << elected, active);
  return Flow::next;
}
void elect(Binder& b) {
  b.expect_operands(2, 2);
  const Operand& d = b.operand(0);
  if (d.kind != Operand::Kind::alternatives) b.fail("d|p");
  b.to().d = b.write(d.parts[0], 32), b.to().b = b.write(d.parts[1], 1);
  b.to().e = b.read(1, 32);
  b.to().together = Together::members;
  b.to().run = run_elect;
}

// ---- redux
template <class T, class F>
Flow run_reduce(Warp& w, const Instruction& i, Lanes active) {
  const PerLane<T> a = w.lanes<T>(i.a);
  T sum = a[static_cast<std::size_t>(std::countr_zero(active))];
  for_each_lane(active & (active - 1), [&](std::size_t l) { sum = F{}(sum, a[l]); });  // without the first lane
  w.store_in_all(i.d, sum, active);
  return Flow::next;
}
using Sum = decltype([]<class T>(T a, T b) {
  return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
});
using Smaller = decltype([](auto a, auto b) { return std::min(a, b); });
using Larger = decltype([](auto a, auto b) { return std::max(a, b); });
template <class T>
Meaning reduction(const Binder& b) {
  if (b.has("add")) return run_reduce<T, Sum>;
  if (b.has("min")) return run_reduce<T, Smaller>;
  if (b.has("max")) return run_reduce<T, Larger>;
  if (b.has("and")) return run_reduce<T, std::bit_and<T>>;
  if (b.has("or")) return run_reduce<T, std::bit_or<T>>;
  return run_reduce<T, std::bit_xor<T>>;
}
void reduce(Binder& b) {
  b.expect_operands(3, 3);
  b.to().d = b.write(0, 32), b.to().a = b.read(1, 32), b.to().e = b.read(2, 32);
  b.to().together = Together::members;
  b.to().run = b.type() == "s32" ? reduction<std::int32_t>(b) : reduction<std::uint32_t>(b);
}

constexpr Row rows[] = {
    {"shfl.sync.up|down|bfly|idx.b32", shuffle}, {"vote.sync.all|any|uni.pred", vote},  {"vote.sync.ballot.b32", vote},
    {"match.any.sync.b32|b64", match},           {"activemask.b32", active_mask},       {"elect.sync", elect},
    {"redux.sync.add|min|max.u32|s32", reduce},  {"redux.sync.and|or|xor.b32", reduce},
};

}  // namespace

std::span<const Row> warp_rows() { return rows; }

}  // namespace deplo::measure::ptx
