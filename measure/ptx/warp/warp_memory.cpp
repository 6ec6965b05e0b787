#include "measure/ptx/warp/warp_memory.h"

#include <fmt/format.h>

#include <cstring>

#include "measure/ptx/machine.h"
#include "measure/ptx/warp/place.h"

namespace deplo::measure::ptx {
namespace {

[[noreturn]] void report(const Warp& w, const GlobalConflict& conflict, const char* does, std::uint64_t size,
                         std::uint64_t address) {
  const std::string other = fmt::format(
      "which block {}, {} {} at {}", conflict.block, w.block().cluster().actors().describe_in_block(conflict.actor),
      conflict.was_write ? "wrote" : "read", place_of(w.machine().program(), conflict.at));
  const char* why = ", and nothing orders the two";
  if (conflict.why == GlobalConflict::Why::narrow_scope)
    why = ", both atomically, but in a scope that does not include the other's block";
  else if (conflict.why == GlobalConflict::Why::needs_proxy_fence)
    why = " through the generic proxy, without fence.proxy.async";
  else if (conflict.why == GlobalConflict::Why::non_coherent)
    why = " in this launch: ld.global.nc is for memory that nothing writes";
  throw Finding(fmt::format("race: {} {}, {}{}", does, w.machine().memory().describe(address, size), other, why));
}

std::byte* shared_at(Warp& w, std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation& operation,
                     bool own) {
  const Use use = operation.use;
  const auto [block, offset] = shared_place(w, address, own, lane);
  std::byte* const found = block->shared().find(offset, size);
  if (found == nullptr)
    throw Finding(fmt::format("out of bounds: {} bytes at {}", size, block->shared().describe(offset)), lane);
  if (block != &w.block()) block->note_from_afar(w.access());
  if (operation.used > 0) size = operation.used;
  if (!block->mbarriers().none()) block->mbarriers().check_plain(offset, size);
  const std::uint64_t position = offset - shared_start;
  Access made = w.access();
  made.is_atomic = use == Use::update;
  if (!operation.order.strong) {
    made.lanes = &w.order.lanes();
    made.lane = static_cast<std::uint8_t>(lane);
  }
  const bool changes = operation.written == nullptr || !block->shared().is_written(offset, size) ||
                       std::memcmp(found, operation.written, size) != 0;
  const auto conflict = use == Use::read ? block->shadow().read(position, size, made)
                                         : block->shadow().write(position, size, made, changes);
  if (conflict) report(w, *conflict, use == Use::read ? "reads" : "writes", size, position);
  if (use == Use::write)
    block->shared().mark_written(offset, size);
  else if (!block->shared().is_written(offset, size))
    w.machine().note_uninitialized(
        Finding(fmt::format("reads uninitialized shared memory: {} bytes at byte {}", size, offset - shared_start),
                lane),
        w);
  return found;
}

std::byte* global_at(Warp& w, std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation& operation) {
  std::byte* const found = w.machine().memory().find(address, size);
  if (found == nullptr) throw Finding("out of bounds: " + w.machine().memory().describe_with_size(address, size), lane);
  const GlobalAccess made{w.access(), w.block().index(), operation.order};
  if (operation.use == Use::read) {
    const std::uint32_t used = operation.used > 0 ? operation.used : size;
    if (const auto conflict = w.machine().order().read(address, used, made))
      report(w, *conflict, "reads", used, address);
  } else {
    const bool changes = operation.written == nullptr || std::memcmp(found, operation.written, size) != 0;
    if (const auto conflict = w.machine().order().write(address, size, made, changes))
      report(w, *conflict, operation.use == Use::write ? "writes" : "updates", size, address);
    w.machine().note_progress();
  }
  if (operation.use != Use::write) w.order.observe(w.machine().order(), address, operation.order);
  return found;
}

std::byte* local_at(Warp& w, std::uint64_t offset, std::uint32_t size, std::size_t lane) {
  const std::uint64_t at = offset - local_start, all = w.machine().program().local_bytes;
  if (at > all || size > all - at)
    throw Finding(fmt::format("out of bounds: {} bytes at byte {} of local memory, which has {} bytes", size,
                              static_cast<std::int64_t>(at), all),
                  lane);
  return w.local(lane) + at;
}

}  // namespace

void report(const Warp& w, const Conflict& conflict, const char* does, std::uint64_t size, std::uint64_t at) {
  const std::string other =
      fmt::format("{} {} at {}", w.block().cluster().actors().describe(conflict.actor),
                  conflict.was_write ? "wrote" : "read", place_of(w.machine().program(), conflict.at));
  if (conflict.lane)
    throw Finding(
        fmt::format("race: {} {} bytes at byte {} of shared memory, which lane {} of the same warp {} at {}, and no "
                    "__syncwarp() (bar.warp.sync) or other barrier is between them",
                    does, size, at, *conflict.lane, conflict.was_write ? "wrote" : "read",
                    place_of(w.machine().program(), conflict.at)));
  if (conflict.needs_proxy_fence)
    throw Finding(
        fmt::format("race: {} {} bytes at byte {} of shared memory through the asynchronous proxy, which {} "
                    "through the generic one, without fence.proxy.async",
                    does, size, at, other));
  throw Finding(fmt::format("race: {} {} bytes at byte {} of shared memory, which {}, and nothing orders the two", does,
                            size, at, other));
}

std::pair<Block*, std::uint64_t> shared_place(const Warp& w, std::uint64_t address, bool own, std::size_t lane) {
  const std::uint64_t rank = address >> rank_shift, offset = address & shared_offset_mask;
  if (rank == 0) return {&w.block(), offset};
  auto& blocks = w.block().cluster().blocks();
  if (rank - 1 >= blocks.size()) throw Finding(fmt::format("{:#x} is not an address in shared memory", address), lane);
  Block* const block = blocks[rank - 1].get();
  if (own && block != &w.block())
    throw Finding(fmt::format("{:#x} is an address in the shared memory of block {}, not of the thread's own block",
                              address, block->index()),
                  lane);
  if (block->live_threads() == 0)
    throw Finding(fmt::format("accesses the shared memory of block {}, which has ended", block->index()), lane);
  // CUDA C++ Programming Guide, "Distributed Shared Memory": all blocks of the cluster must have started.
  if (block != &w.block() && w.order.knowledge().seen.seen(w.block().cluster().actors().start(block->rank())) == 0)
    throw Finding(fmt::format("race: accesses the shared memory of block {}, and nothing orders this with its start",
                              block->index()),
                  lane);
  return {block, offset};
}

void check_global_read(const Warp& w, std::uint64_t address, std::uint64_t size, const Access& made) {
  if (const auto conflict = w.machine().order().read(address, size, {made, w.block().index(), {}}))
    report(w, *conflict, "reads", size, address);
}

void release(Warp& w, const Instruction& i, std::size_t lane, bool updates) {
  const std::uint64_t address = w.address(i, lane);
  if (i.space == Space::global || (i.space == Space::generic && (address & window_mask) == 0))
    w.order.release(w.machine().order(), address, i.order, updates);
}

std::byte* memory_at(Warp& w, Space space, std::uint64_t address, std::uint32_t size, std::size_t lane,
                     const Operation& operation) {
  const Use use = operation.use;
  if (address % size != 0)
    throw Finding(fmt::format("misaligned: {} bytes at {:#x}, which is not a multiple of {}", size, address, size),
                  lane);
  if (space == Space::generic) {
    const std::uint64_t window = address & window_mask;
    if (window == shared_window) return shared_at(w, address & ~window_mask, size, lane, operation, false);
    if (window == local_window) return local_at(w, address & ~window_mask, size, lane);
    if (window == param_window) return memory_at(w, Space::param, address & ~window_mask, size, lane, operation);
    space = Space::global;
  }
  switch (space) {
    case Space::shared:
      return shared_at(w, address, size, lane, operation, true);
    case Space::shared_cluster:
      return shared_at(w, address, size, lane, operation, false);
    case Space::local:
      return local_at(w, address, size, lane);
    case Space::param: {
      const auto& bytes = w.machine().parameters();
      const std::uint64_t offset = address - param_start;
      if (use != Use::read) throw Finding("writes a parameter of the kernel", lane);
      if (offset > bytes.size() || size > bytes.size() - offset)
        throw Finding(fmt::format("out of bounds: {} bytes at byte {} of the parameters, which have {} bytes", size,
                                  static_cast<std::int64_t>(offset), bytes.size()),
                      lane);
      return const_cast<std::byte*>(bytes.data()) + offset;  // NOLINT: read only, as checked above
    }
    default:
      return global_at(w, address, size, lane, operation);
  }
}

}  // namespace deplo::measure::ptx
