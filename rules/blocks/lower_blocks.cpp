#include <bit>

#include "core/error.h"
#include "rules/blocks/lowering.h"

namespace deplo::rules {
namespace {

namespace tp = ir::tile_program;

std::int64_t largest_tile(const tp::Entry& entry) {
  std::int64_t most = 1;
  for (const tp::Value& value : entry.values)
    if (value.type->is_tile()) most = std::max(most, tp::element_count(*value.type));
  return most;
}

}  // namespace

std::vector<std::int64_t> block_threads(const tp::Entry& entry, const Target& target) {
  constexpr std::int64_t usual = 128, elements = 4;  // of a GPU's block; of a thread
  const std::int64_t wanted = std::min(usual, largest_tile(entry) / elements);
  const std::int64_t best = target.cpu ? 1 : std::bit_floor(static_cast<std::uint64_t>(std::max(wanted, target.warp)));
  std::vector<std::int64_t> threads = {best};
  for (std::int64_t t = target.cpu ? 1 : target.warp; t <= target.max_threads; t *= 2)
    if (t != best) threads.push_back(t);
  return threads;
}

BlockKernel lower_blocks(const tp::Program& program, const tp::Launch& launch, std::span<const tp::Array> arrays,
                         std::int64_t threads, const Target& target) {
  CHECK(threads >= 1 && threads <= target.max_threads && std::has_single_bit(static_cast<std::uint64_t>(threads)));
  tp::check_launch(program, launch, arrays);
  return blocks::Lowering(program, tp::find_entry(program, launch.entry), launch, arrays, threads, target).run();
}

std::string interpret(const BlockKernel& kernel, std::vector<tp::Array>& arrays, const ir::Limits& limits) {
  std::vector<tp::Array> buffers = arrays;
  for (std::size_t i = arrays.size(); i < kernel.kernel.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel.kernel.buffers[i];
    buffers.push_back(tp::make_array(buffer.name, buffer.dtype, ir::element_count(buffer)));
  }
  for (const BlockKernel::Initial& initial : kernel.initial) buffers[initial.buffer].bytes = initial.bytes;
  std::string printed = ir::interpret_blocks(kernel.kernel, buffers, limits);
  if (kernel.assertion_buffer >= 0) {
    const auto failed = static_cast<std::size_t>(buffers[static_cast<std::size_t>(kernel.assertion_buffer)].number(0));
    if (failed != 0) throw Error(kernel.assertions.at(failed - 1));
  }
  std::copy_n(buffers.begin(), arrays.size(), arrays.begin());
  return printed;
}

}  // namespace deplo::rules
