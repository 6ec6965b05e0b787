// The memory accesses of a warp, with all checks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {

enum class Use { read, write, update };

/// What an instruction does at an address. Use::update is an atomic read-modify-write.
struct Operation {
  Use use = Use::read;
  MemoryOrder order = {};
  const std::byte* written = nullptr;  // for Use::write: the bytes
  std::uint32_t used = 0;  // number of bytes that the kernel uses, from the first on, of those that it reads; 0: all
};

/// Returns the bytes at an address of a space. Throws Finding if they are misaligned or out of bounds, or if nothing
/// orders the access with an earlier one. A read of uninitialized shared memory is recorded
/// (Machine::note_uninitialized).
std::byte* memory_at(Warp&, Space, std::uint64_t address, std::uint32_t size, std::size_t lane, const Operation&);
/// Releases what the warp knows, as the memory order of a write to global memory says. `updates`: the write is by an
/// atomic operation.
void release(Warp&, const Instruction&, std::size_t lane, bool updates);
/// Executes an atom or red for one lane after the other. In the Detail, d has the old values, and b and c have the
/// operands, one per element of a vector. `updated` computes the new value from the old one and the operands.
template <class T, class F>
Flow update_memory(Warp& w, const Instruction& i, Lanes active, const F& updated) {
  const Detail& t = *i.detail;
  for_each_lane(active, [&](std::size_t l) {
    std::byte* const at = memory_at(w, i.space, w.address(i, l), i.size, l, {Use::update, i.order});
    bool writes = false;
    for (std::size_t k = 0; k < t.b.size(); ++k) {
      T old;
      std::memcpy(&old, at + k * sizeof(T), sizeof(T));
      const T result = updated(old, w.lanes<T>(t.b[k])[l], t.c.empty() ? T{} : w.lanes<T>(t.c[k])[l]);
      std::memcpy(at + k * sizeof(T), &result, sizeof(T));
      if (!t.d.empty()) w.lanes<T>(t.d[k])[l] = old;
      writes |= t.c.empty() || old == w.lanes<T>(t.b[k])[l];  // a failed cas only reads
    }
    if (writes) release(w, i, l, true);
  });
  return Flow::next;
}
/// Checks a read of global memory by an asynchronous copy for races.
void check_global_read(const Warp&, std::uint64_t address, std::uint64_t size, const Access&);
/// Returns the block that an address of shared::cluster belongs to, and the offset in that block. If `own`, the address
/// is one of `shared` and must belong to the warp's own block.
std::pair<Block*, std::uint64_t> shared_place(const Warp&, std::uint64_t address, bool own, std::size_t lane);
/// Throws a conflict at byte `at` of shared memory as a Finding. `does`: what the warp does, such as "reads".
[[noreturn]] void report(const Warp&, const Conflict&, const char* does, std::uint64_t size, std::uint64_t at);

}  // namespace deplo::measure::ptx
