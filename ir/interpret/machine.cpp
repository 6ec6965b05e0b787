#include "ir/interpret/machine.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::ir::exec {

void Machine::run() {
  const auto n = static_cast<std::size_t>(lanes.count);
  index.resize(n);
  offset.resize(n);
  result.resize(n);
  std::int64_t blocks = 1;
  for (const auto& axis : block_axes) blocks *= axis.second;
  if (cluster > 1)
    waiting_.assign(static_cast<std::size_t>(cluster), BlockState{lanes.values, shared, copies, products});
  for (first_ = 0; first_ < std::min(blocks, most_blocks); first_ += cluster) run_cluster();
}

// Each block runs as far as the next statement of the cluster.
void Machine::run_cluster() {
  for_each_block([&](int) {
    shared.start_block();
    copies.start_block();
    products.start_block();
    producer.start_block(seed + static_cast<std::uint64_t>(lanes.block));
  });
  for (auto at = code.begin(); at != code.end();) {
    const auto stop = std::find_if(at, code.end(), [](const Instruction& i) { return i.of_cluster; });
    for_each_block([&](int) { execute({at, stop}, nullptr); });
    if (stop != code.end()) execute({stop, stop + 1}, nullptr);
    at = stop == code.end() ? stop : stop + 1;
  }
  for_each_block([&](int) {
    producer.finish(*this);
    shared.check_finished();
    copies.check_completed();
    products.check_finished();
  });
}

void Machine::enter(int rank) {
  if (rank != rank_) {
    exchange(waiting_[static_cast<std::size_t>(rank_)]);
    exchange(waiting_[static_cast<std::size_t>(rank)]);
    rank_ = rank;
  }
  lanes.block = first_ + rank;
  std::int64_t rest = lanes.block;
  for (auto axis = block_axes.rbegin(); axis != block_axes.rend(); ++axis) {
    lanes.variables[static_cast<std::size_t>(axis->first)].scalar = rest % axis->second;
    rest /= axis->second;
  }
}

void Machine::exchange(BlockState& state) {
  std::swap(lanes.values, state.values);
  std::swap(static_cast<SharedState&>(shared), state.shared);
  std::swap(static_cast<CopyState&>(copies), state.copies);
  std::swap(static_cast<ProductState&>(products), state.products);
}

void Machine::execute(std::span<Instruction> body, Mask mask) {
  for (Instruction& instruction : body) {
    lanes.statement = instruction.source;
    instruction.run(*this, mask);
  }
}

void Machine::converge(Mask mask) const {
  if (lanes.all(mask)) return;
  const auto idle = static_cast<int>(std::find(mask, mask + lanes.count, 0) - mask);
  throw Error("barrier in divergent control flow: " + lanes.place(idle) + " does not reach `" + lanes.text() + "`");
}

void Machine::barrier(Mask mask) {
  converge(mask);
  shared.barrier();
}

void Machine::check_range(const Layout& layout, std::size_t dim, std::int64_t i, int more, int lane) const {
  const std::int64_t extent = layout.shape[dim];
  if (i >= 0 && i < extent - more) return;
  lanes.fail("index out of range: " + std::to_string(i >= 0 && i < extent ? i + more : i) + " in dimension " +
                 std::to_string(dim) + " of " + layout.name + ", which has " + std::to_string(extent),
             lane);
}

void Machine::load(Access& from, std::size_t dst, Mask mask) {
  const Offsets offsets = locate(from, mask);
  if (!from.shared) return global.load(dst, from, offsets, mask);
  Shared& buffer = shared.buffers[static_cast<std::size_t>(from.buffer)];
  for (int w = 0; w < from.lanes; ++w)
    for (int l = 0; l < lanes.count; ++l)
      if (mask == nullptr || mask[l] != 0)
        lanes.element(dst, w)[l] = shared.read(buffer, buffer.cells[static_cast<std::size_t>(offsets[l] + w)], l);
}

Offsets Machine::locate(Access& access, Mask mask) {
  const auto buffer = static_cast<std::size_t>(access.buffer);
  const Layout& layout = access.shared ? static_cast<const Layout&>(shared.buffers[buffer]) : global.buffers[buffer];
  const std::size_t rank = access.index.size();
  std::int64_t base = 0;
  if (access.varies) std::fill(offset.begin(), offset.end(), 0);
  for (std::size_t d = 0; d < rank; ++d) {
    const int more = d + 1 == rank ? access.lanes - 1 : 0;
    const std::int64_t end = layout.shape[d] - more;
    if (!access.index[d].varies) {
      const std::int64_t i = lanes.scalar(access.index[d]);
      if (i < 0 || i >= end) check_range(layout, d, i, more, 0);
      base += i * layout.strides[d];
      continue;
    }
    lanes.evaluate(access.index[d], index.data());
    for (std::size_t l = 0; l < offset.size(); ++l) {
      if (mask != nullptr && mask[l] == 0) continue;
      if (index[l] < 0 || index[l] >= end) check_range(layout, d, index[l], more, static_cast<int>(l));
      offset[l] += index[l] * layout.strides[d];
    }
  }
  if (access.varies && base != 0)
    for (std::int64_t& o : offset) o += base;
  return {!access.varies, base, offset.data()};
}

}  // namespace deplo::ir::exec
