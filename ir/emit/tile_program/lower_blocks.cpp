#include <bit>

#include "core/error.h"
#include "ir/emit/tile_program/emitter.h"

namespace deplo::ir::tile_program {
namespace {

std::int64_t largest_tile(const Entry& entry) {
  std::int64_t most = 1;
  for (const Value& value : entry.values)
    if (value.type->is_tile()) most = std::max(most, element_count(*value.type));
  return most;
}

}  // namespace

std::vector<std::int64_t> block_threads(const Entry& entry, const Target& target) {
  constexpr std::int64_t usual = 128, elements = 4;  // of a GPU's block; of a thread
  const std::int64_t wanted = std::min(usual, largest_tile(entry) / elements);
  const std::int64_t best = target.cpu ? 1 : std::bit_floor(static_cast<std::uint64_t>(std::max(wanted, target.warp)));
  std::vector<std::int64_t> threads = {best};
  for (std::int64_t t = target.cpu ? 1 : target.warp; t <= target.max_threads; t *= 2)
    if (t != best) threads.push_back(t);
  return threads;
}

BlockKernel lower_blocks(const Program& program, const Launch& launch, std::span<const Array> arrays,
                         std::int64_t threads, const Target& target) {
  CHECK(threads >= 1 && threads <= target.max_threads && std::has_single_bit(static_cast<std::uint64_t>(threads)));
  check_launch(program, launch, arrays);
  return blocks::Emitter(program, find_entry(program, launch.entry), launch, arrays, threads, target).run();
}

}  // namespace deplo::ir::tile_program
