// cp.async, mbarriers, tensor copies, and addresses in other blocks.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "measure/ptx/instructions/table.h"
#include "measure/ptx/machine.h"
#include "measure/ptx/warp/place.h"
#include "measure/ptx/warp/warp_memory.h"

namespace deplo::measure::ptx {
namespace {

/// Binds the second address of an instruction: its base register is in i.b, the rest in the Detail (m: the offset, n:
/// the bytes of the base register).
void second_address(Binder& b, const Operand& o) {
  Instruction first = b.to();
  b.address(o);
  Detail& detail = b.detail();
  detail.m = static_cast<int>(b.to().number), detail.n = b.to().size_of_address;
  b.to().b = b.to().a;
  b.to().a = first.a, b.to().number = first.number, b.to().size_of_address = first.size_of_address;
}
std::uint64_t second_address(Warp& w, const Instruction& i, std::size_t lane) {
  const std::uint64_t base = i.detail->n == 8 ? w.lanes<std::uint64_t>(i.b)[lane] : w.lanes<std::uint32_t>(i.b)[lane];
  return base + static_cast<std::uint64_t>(std::int64_t{i.detail->m});
}

// ---- cp.async
struct CopyOrder {
  std::uint64_t to, from;
  std::uint32_t size, size_read;
  std::size_t lane;
  std::uint32_t at;
  Epoch group;
  Knowledge before;
};
void copy_now(Warp& w, const CopyOrder& order) {
  std::array<std::byte, 16> bytes{};
  const Actor actor = w.block().cluster().actors().copies(w.order.actor());
  const Access access{actor, order.group,   order.at,         false,
                      false, &order.before, &w.order.lanes(), static_cast<std::uint8_t>(order.lane)};
  if (order.size_read > 0) {
    // The address must be aligned to the whole size, even if only a part is read (PTX ISA, "cp.async").
    if (order.from % order.size != 0)
      throw Finding(fmt::format("misaligned: {} bytes from {:#x}", order.size, order.from), order.lane);
    const std::byte* const from = w.machine().memory().find(order.from, order.size_read);
    if (from == nullptr)
      throw Finding("out of bounds: " + w.machine().memory().describe_with_size(order.from, order.size_read),
                    order.lane);
    std::memcpy(bytes.data(), from, order.size_read);
    check_global_read(w, order.from, order.size_read, access);
  }
  if (order.to % order.size != 0)
    throw Finding(fmt::format("misaligned: {} bytes to {:#x}", order.size, order.to), order.lane);
  const auto [block, offset] = shared_place(w, order.to, true, order.lane);
  std::byte* const to = block->shared().find(offset, order.size);
  const std::uint64_t position = offset - shared_start;
  if (to == nullptr)
    throw Finding(fmt::format("out of bounds: {} bytes at {}", order.size, block->shared().describe(offset)),
                  order.lane);
  if (const auto conflict = block->shadow().write(position, order.size, access))
    report(w, *conflict, "writes", order.size, position);
  block->shared().mark_written(offset, order.size);
  w.machine().note_progress();
  std::memcpy(to, bytes.data(), order.size);
}

Flow run_copy(Warp& w, const Instruction& i, Lanes active) {
  for_each_lane(active, [&](std::size_t lane) {
    const std::uint32_t read = i.c == 0 ? i.size : std::min<std::uint32_t>(w.lanes<std::uint32_t>(i.c)[lane], i.size);
    const CopyOrder order{w.address(i, lane),
                          second_address(w, i, lane),
                          i.size,
                          read,
                          lane,
                          w.at(),
                          static_cast<Epoch>(w.committed_copies[lane] + 1),
                          w.order.knowledge()};
    if (w.machine().draw_early_work())
      copy_now(w, order);
    else
      w.copies.push_back({lane, w.committed_copies[lane] + 1, w.at(), [&w, order] { copy_now(w, order); }});
  });
  w.order.begin_epoch();
  return Flow::next;
}
void copy(Binder& b) {
  b.expect_operands(3, 4);
  b.address(0);
  second_address(b, b.operand(1));
  const std::int64_t size = b.integer(2);
  if (size != 16 && (b.has("cg") || (size != 4 && size != 8))) b.fail("4, 8 or 16 bytes, with .cg 16");
  b.to().size = static_cast<std::uint8_t>(size);
  if (b.operands() == 4) b.to().c = b.read(3, 32);
  b.to().run = run_copy;
}

Flow run_commit(Warp& w, const Instruction&, Lanes active) {
  for_each_lane(active, [&](std::size_t lane) { ++w.committed_copies[lane]; });
  return Flow::next;
}
void commit(Binder& b) {
  b.expect_operands(0, 0);
  b.to().run = run_commit;
}

// i.number: number of groups that may stay open. -1: wait for all copies; copies that belong to no group yet are first
// committed as a group.
Flow run_copy_wait(Warp& w, const Instruction& i, Lanes active) {
  if (i.number < 0) run_commit(w, i, active);
  const std::int64_t open = std::max<std::int64_t>(i.number, 0);
  std::int64_t over = INT64_MAX;
  for_each_lane(active, [&](std::size_t lane) {
    const std::int64_t done = std::max<std::int64_t>(w.committed_copies[lane] - open, 0);
    w.order.wait_for_copies(lane, static_cast<Epoch>(done));
    over = std::min(over, done);
  });
  w.order.see(w.block().cluster().actors().copies(w.order.actor()), static_cast<Epoch>(over));
  for (std::size_t k = 0; k < w.copies.size();) {
    const Warp::AsyncCopy& copy = w.copies[k];
    const bool waits = (active >> copy.lane & 1) != 0 && copy.group <= w.committed_copies[copy.lane] - open;
    if (!waits) {
      ++k;
      continue;
    }
    const Warp::AsyncCopy now = copy;
    w.copies.erase(w.copies.begin() + static_cast<std::ptrdiff_t>(k));
    do_placed(now.work, w, now.at);
  }
  return Flow::next;
}
void copy_wait(Binder& b) {
  b.expect_operands(b.has("wait_all") ? 0 : 1, b.has("wait_all") ? 0 : 1);
  b.to().number = b.has("wait_all") ? -1 : b.integer(0);
  b.to().run = run_copy_wait;
}

// ---- mbarriers. On an mbarrier in another block's memory, only arrivals are allowed.
std::pair<Block*, std::uint64_t> barrier_place(const Warp& w, std::uint64_t address, bool own, std::size_t lane) {
  if ((address & window_mask) == shared_window) address &= ~window_mask;
  if (address % 8 != 0) throw Finding(fmt::format("misaligned: an mbarrier at {:#x}", address), lane);
  const auto [block, offset] = shared_place(w, address, own, lane);
  if (block->shared().find(offset, 8) == nullptr)
    throw Finding("out of bounds: an mbarrier at " + block->shared().describe(offset), lane);
  return {block, offset};
}

Flow run_barrier_init(Warp& w, const Instruction& i, Lanes active) {
  for_each_lane(active, [&](std::size_t lane) {
    const auto [block, offset] = barrier_place(w, w.address(i, lane), true, lane);
    block->mbarriers().make(offset, w.lanes<std::uint32_t>(i.b)[lane], w.access());
  });
  return Flow::next;
}
void barrier_init(Binder& b) {
  b.expect_operands(2, 2);
  b.address(0);
  b.to().b = b.read(1, 32);
  b.to().run = run_barrier_init;
}
Flow run_barrier_end(Warp& w, const Instruction& i, Lanes active) {
  for_each_lane(active, [&](std::size_t lane) {
    const auto [block, offset] = barrier_place(w, w.address(i, lane), true, lane);
    block->mbarriers().find(offset, w.access());  // throws if there is none
    block->mbarriers().remove(offset);
  });
  return Flow::next;
}
void barrier_end(Binder& b) {
  b.expect_operands(1, 1);
  b.address(0);
  b.to().run = run_barrier_end;
}

// The state that an arrival returns is the number of its phase. i.size is a set of flags: 1: expect bytes (operand c),
// 2: arrive (count in operand b), 4: relaxed.
Flow run_arrive(Warp& w, const Instruction& i, Lanes active) {
  for_each_lane(active, [&](std::size_t lane) {
    const auto [block, offset] = barrier_place(w, w.address(i, lane), i.space != Space::shared_cluster, lane);
    Mbarrier& barrier = block->mbarriers().find(offset, w.access());
    if (block != &w.block()) block->note_from_afar(w.access());
    const std::uint64_t phase = barrier.phase();
    if ((i.size & 1) != 0) barrier.expect(w.lanes<std::uint32_t>(i.c)[lane]);
    if ((i.size & 2) != 0) barrier.release((i.size & 4) != 0 ? w.order.fenced() : w.order.knowledge());
    if ((i.size & 2) != 0) barrier.arrive(i.b == 0 ? 1 : w.lanes<std::uint32_t>(i.b)[lane]);
    if (i.d != 0) w.lanes<std::uint64_t>(i.d)[lane] = phase;
  });
  w.order.begin_epoch();
  w.machine().note_progress();
  return Flow::next;
}
void arrive(Binder& b) {
  const bool expects = b.has("expect_tx"), arrives = b.has("arrive");
  const bool gives = arrives && !(b.operand(0).kind == Operand::Kind::address);
  const std::size_t first = gives ? 1 : 0;
  b.expect_operands(first + (expects ? 2 : 1), first + 2);
  b.to().space = b.has("shared::cluster") ? Space::shared_cluster : Space::shared;
  b.address(first);
  if (gives) b.to().d = b.write(0, 64);
  if (b.operands() == first + 2) (expects ? b.to().c : b.to().b) = b.read(first + 1, 32);
  b.to().size = static_cast<std::uint8_t>((expects ? 1 : 0) | (arrives ? 2 : 0) | (b.has("relaxed") ? 4 : 0));
  b.to().run = run_arrive;
}

void observe(Warp& w, const Instruction& i, const Mbarrier& barrier) {
  if ((i.size & 2) != 0)
    w.order.observe(barrier.complete());
  else
    w.order.acquire(barrier.complete());
}

// Throws Finding if the phase that the lane waits for has ended and the next phase has ended, too: neither a parity nor
// a state then shows that the wait is over (PTX ISA, "mbarrier.test_wait").
void check_awaited(const Mbarrier& barrier, std::uint64_t phase, std::size_t lane) {
  if (barrier.phase() >= phase + 2)
    throw Finding(
        fmt::format("waits for phase {} of the mbarrier, which is in phase {} already", phase, barrier.phase()), lane);
}

// Returns true if the lane's wait is over.
bool is_complete(Warp& w, const Instruction& i, std::size_t lane) {
  const std::uint64_t address = w.address(i, lane);
  const auto [block, offset] = barrier_place(w, address, true, lane);
  Mbarrier& barrier = block->mbarriers().find(offset, w.access());
  if (i.e == 0) {
    const std::uint64_t state = w.lanes<std::uint64_t>(i.b)[lane];
    check_awaited(barrier, state, lane);
    const bool is_over = barrier.phase() > state;
    if (is_over) observe(w, i, barrier);
    return is_over;
  }
  auto& awaited = w.awaited_phase[lane];
  if (awaited && awaited->first == address) check_awaited(barrier, awaited->second, lane);
  if (barrier.has_completed(w.lanes<std::uint32_t>(i.b)[lane] & 1)) {
    awaited.reset();
    observe(w, i, barrier);
    return true;
  }
  if (!awaited || awaited->first != address) awaited = {address, barrier.phase()};
  return false;
}

// PTX ISA, "mbarrier.try_wait": it may suspend the thread, and may return early. i.size is a set of flags: 1: the
// instruction waits (try_wait), 2: relaxed. i.e: 1 if the operand is a parity, 0 if it is a state.
Flow run_test(Warp& w, const Instruction& i, Lanes active) {
  Lanes complete = 0;
  for_each_lane(active, [&](std::size_t lane) { complete |= Lanes{is_complete(w, i, lane)} << lane; });
  const bool gives_up = (i.size & 1) == 0 || w.returns_early();
  if (complete != active && !gives_up) return Flow::wait;
  w.store_predicate(i.d, complete, active);
  return Flow::next;
}
void test(Binder& b) {
  b.expect_operands(3, 4);
  b.to().d = b.write(0, 1);
  b.address(1);
  const bool parity = b.has("parity");
  b.to().b = b.read(2, parity ? 32 : 64);
  b.to().e = parity ? 1 : 0;
  b.to().size = static_cast<std::uint8_t>((b.has("try_wait") ? 1 : 0) | (b.has("relaxed") ? 2 : 0));
  b.to().waits = true;
  b.to().run = run_test;
}

// ---- tensor copies
struct TensorOrder {
  const TensorMap* map;
  Coordinates at;
  std::uint64_t to, barrier;
  Lanes blocks;  // target blocks of a multicast; 0: the block of `to`
  std::uint32_t at_instruction;
  Knowledge before;
};
void copy_to_block(Warp& w, const TensorOrder& order, Block& block, std::uint64_t to, std::uint64_t barrier) {
  if (block.live_threads() == 0) throw Finding(fmt::format("copies to block {}, which has ended", block.index()));
  const auto [actor, epoch] = block.mbarriers().next_copy(barrier);
  const Access access{actor, epoch, order.at_instruction, true, false, &order.before};
  Mbarrier& counts = block.mbarriers().find(barrier, access);
  const std::uint64_t bytes = box_bytes(*order.map);
  const auto visit_row = [&](std::uint64_t from, std::uint64_t size) { check_global_read(w, from, size, access); };
  copy_box(*order.map, order.at, w.machine().memory(), block.shared(), to, visit_row);
  if (const auto conflict = block.shadow().write(to - shared_start, bytes, access))
    report(w, *conflict, "writes", bytes, to - shared_start);
  Knowledge written;
  written.seen.see(actor, epoch);
  counts.release(written);
  counts.complete(static_cast<std::int64_t>(bytes));
  w.machine().note_event();
}
void copy_tensor(Warp& w, const TensorOrder& order, std::size_t lane) {
  const auto [block, to] = shared_place(w, order.to, false, lane);
  const auto [barrier_block, barrier] = shared_place(w, order.barrier, false, lane);
  if (order.blocks == 0) {
    if (block != barrier_block) throw Finding("expected the mbarrier in the destination block of the copy");
    return copy_to_block(w, order, *block, to, barrier);
  }
  auto& blocks = w.block().cluster().blocks();
  if (order.blocks >> blocks.size() != 0)
    throw Finding(fmt::format("the mask {:#x} names blocks outside the cluster of {}", order.blocks, blocks.size()));
  for_each_lane(order.blocks, [&](std::size_t rank) { copy_to_block(w, order, *blocks[rank], to, barrier); });
}

// i.e: the address of the tensor map. In the Detail, a has the coordinates and b the mask of a multicast.
Flow run_tensor_copy(Warp& w, const Instruction& i, Lanes active) {
  for_each_lane(active, [&](std::size_t lane) {
    TensorOrder order{.map = &w.machine().map_of(w.lanes<std::uint64_t>(i.e)[lane]),
                      .at = {},
                      .to = w.address(i, lane),
                      .barrier = second_address(w, i, lane),
                      .blocks = 0,
                      .at_instruction = w.at(),
                      .before = w.order.knowledge()};
    if (order.map->rank != i.detail->a.size())
      throw Finding(
          fmt::format("expected {} coordinates of the tensor map, found {}", order.map->rank, i.detail->a.size()));
    for (std::size_t d = 0; d < i.detail->a.size(); ++d) order.at[d] = w.lanes<std::int32_t>(i.detail->a[d])[lane];
    if (!i.detail->b.empty()) {
      order.blocks = w.lanes<std::uint16_t>(i.detail->b[0])[lane];
      if (order.blocks == 0) throw Finding("expected a block in the mask of a multicast");
    }
    w.machine().defer(w, w.at(), [&w, order, lane] { copy_tensor(w, order, lane); });
  });
  w.order.begin_epoch();
  return Flow::next;
}
void tensor_copy(Binder& b) {
  const bool multicast = b.has("multicast::cluster"), hint = b.has("L2::cache_hint");
  const std::size_t count = 3 + (multicast ? 1U : 0U) + (hint ? 1U : 0U);
  b.expect_operands(count, count);
  b.address(0);
  second_address(b, b.operand(2));
  const Operand& source = b.operand(1);
  if (source.kind != Operand::Kind::address || source.parts.size() != 1) b.fail("[tensor map, {coordinates}]");
  if (source.bits != 0) b.fail("the address of a tensor map without an offset");
  b.to().e = b.read(Operand{.kind = Operand::Kind::name, .name = source.name}, 64);
  const std::size_t rank = static_cast<std::size_t>(b.word(4)[0] - '0');
  const auto& parts = source.parts[0].kind == Operand::Kind::list ? source.parts[0].parts : source.parts;
  if (parts.size() != rank) b.fail(fmt::format("{} coordinates, found {}", rank, parts.size()));
  for (const Operand& o : parts) b.detail().a.push_back(b.read(o, 32));
  if (multicast) b.detail().b.push_back(b.read(3, 16));
  if (hint) b.read(count - 1, 64);
  b.to().run = run_tensor_copy;
}

// ---- mapa: the same offset in the shared memory of another block of the cluster.
template <class T>
Flow run_map_address(Warp& w, const Instruction& i, Lanes active) {
  PerLane<T> r{};
  const std::size_t blocks = w.block().cluster().blocks().size();
  for_each_lane(active, [&](std::size_t lane) {
    const std::uint32_t rank = w.lanes<std::uint32_t>(i.b)[lane];
    if (rank >= blocks) throw Finding(fmt::format("expected a rank below {}, found {}", blocks, rank), lane);
    const T a = w.lanes<T>(i.a)[lane];
    r[lane] =
        static_cast<T>((a & static_cast<T>(window_mask | shared_offset_mask)) | static_cast<T>(rank + 1) << rank_shift);
  });
  w.store(i.d, r, active);
  return Flow::next;
}
void map_address(Binder& b) {
  const int bits = type_bits(b.type());
  b.registers(bits, {bits, 32});
  b.to().run = bits == 32 ? run_map_address<std::uint32_t> : run_map_address<std::uint64_t>;
}

constexpr Row rows[] = {
    {"cp.async.ca|cg.shared|shared::cta.global.{L2::64B|L2::128B|L2::256B}", copy},
    {"cp.async.commit_group", commit},
    {"cp.async.wait_group", copy_wait},
    {"cp.async.wait_all", copy_wait},
    {"mbarrier.init.{shared|shared::cta}.b64", barrier_init},
    {"mbarrier.inval.{shared|shared::cta}.b64", barrier_end},
    {"mbarrier.arrive.{expect_tx}.{release|relaxed}.{cta|cluster}.{shared|shared::cta|shared::cluster}.b64", arrive},
    {"mbarrier.expect_tx.{relaxed}.{cta|cluster}.{shared|shared::cta|shared::cluster}.b64", arrive},
    {"mbarrier.try_wait.{parity}.{acquire|relaxed}.{cta|cluster}.{shared|shared::cta}.b64", test},
    {"mbarrier.test_wait.{parity}.{acquire|relaxed}.{cta|cluster}.{shared|shared::cta}.b64", test},
    {"cp.async.bulk.tensor.1d|2d|3d|4d|5d.shared::cta|shared::cluster.global.{tile}.mbarrier::complete_tx::bytes"
     ".{multicast::cluster}.{L2::cache_hint}",
     tensor_copy},
    {"mapa.{shared::cluster}.u32|u64", map_address},
};

}  // namespace

std::span<const Row> async_rows() { return rows; }

}  // namespace deplo::measure::ptx
