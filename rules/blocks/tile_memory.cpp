#include "rules/blocks/tile_memory.h"

#include <algorithm>

#include "ir/block.h"

namespace deplo::rules::blocks {

std::int64_t aligned(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

bool fits_in_thread(const Target& target, std::int64_t threads, std::int64_t own) {
  // `max_registers`: per thread of a GPU. `max_stack`: bytes per block on a CPU.
  constexpr std::int64_t max_registers = 64, max_stack = 1 << 14;
  return target.cpu ? own * threads * 8 <= max_stack : own <= max_registers;
}

Stored TileMemory::allocate(ThreadCode& code, DType dtype, std::int64_t count, bool crosses) {
  Stored s{code.fresh("v"), dtype, ir::Space::thread};
  const std::int64_t own = code.slots(count), bytes = aligned(count * ir::local_bytes(dtype), ir::local_alignment);
  if ((!crosses || code.threads == 1) && fits_in_thread(target_, code.threads, own)) {
    code.add(ir::Local{s.array, dtype, own});
    return s;
  }
  const bool in_shared = used_.shared + bytes <= target_.shared_bytes;
  s.space = in_shared ? ir::Space::shared : ir::Space::scratch;
  std::int64_t& used = in_shared ? used_.shared : used_.scratch;
  code.add(ir::Local{s.array, dtype, count, s.space, used});
  used += bytes;
  max_scratch_ = std::max(max_scratch_, used_.scratch);
  return s;
}

}  // namespace deplo::rules::blocks
