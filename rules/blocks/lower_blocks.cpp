#include <algorithm>
#include <bit>
#include <cstring>

#include "core/error.h"
#include "rules/blocks/lowering.h"

namespace deplo::rules {

namespace tp = ir::tile_program;

BlockKernel lower_blocks(const tp::Program& program, const tp::Launch& launch, std::span<const tp::Array> arrays,
                         const BlockSchedule& schedule, const Target& target) {
  const std::int64_t threads = schedule.threads;
  CHECK(threads >= 1 && threads <= target.max_threads && std::has_single_bit(static_cast<std::uint64_t>(threads)));
  tp::check_launch(program, launch, arrays);
  return blocks::Lowering(program, tp::find_entry(program, launch.entry), launch, arrays, schedule, target).run();
}

std::int64_t scratch_bytes(const BlockKernel& kernel) {
  const ir::Buffer* const scratch = kernel.kernel.find(ir::scratch_buffer);
  return scratch == nullptr ? 0 : scratch->shape.back();
}

std::vector<std::vector<std::uint8_t>> contents_of(const BlockKernel& kernel, std::span<const tp::Array> arrays) {
  std::vector<std::vector<std::uint8_t>> contents(kernel.kernel.buffers.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) contents[i] = arrays[i].bytes;
  for (const BlockKernel::Initial& initial : kernel.initial) contents[initial.buffer] = initial.bytes;
  return contents;
}

void take_contents(const BlockKernel& kernel, std::span<const std::vector<std::uint8_t>> contents,
                   std::vector<tp::Array>& arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].bytes = contents[i];
  if (kernel.assertion_buffer < 0) return;
  std::uint32_t number = 0;
  std::memcpy(&number, contents[static_cast<std::size_t>(kernel.assertion_buffer)].data(), sizeof number);
  if (number != 0) throw Error(kernel.assertions.at(number - 1));
}

std::string interpret(const BlockKernel& kernel, std::vector<tp::Array>& arrays, const ir::Limits& limits) {
  std::vector<tp::Array> buffers = arrays;
  for (std::size_t i = arrays.size(); i < kernel.kernel.buffers.size(); ++i) {
    const ir::Buffer& buffer = kernel.kernel.buffers[i];
    buffers.push_back(tp::make_array(buffer.name, buffer.dtype, ir::element_count(buffer)));
  }
  for (const BlockKernel::Initial& initial : kernel.initial)
    std::ranges::copy(initial.bytes, buffers[initial.buffer].bytes.begin());
  std::string printed = ir::interpret_blocks(kernel.kernel, buffers, limits);
  std::vector<std::vector<std::uint8_t>> contents;
  for (tp::Array& buffer : buffers) contents.push_back(std::move(buffer.bytes));
  take_contents(kernel, contents, arrays);
  return printed;
}

}  // namespace deplo::rules
