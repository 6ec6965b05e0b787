#include "ir/interpret/machine.h"

#include <fmt/format.h>

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
  if (blocks_wait) {
    constexpr std::int64_t max_waiting = 512;  // each waiting block has a thread of its own
    if (blocks > max_waiting)
      throw Error(
          fmt::format("interpret: expected at most {} blocks that wait for each other, found {}", max_waiting, blocks));
    cluster = static_cast<int>(blocks);
  }
  if (cluster > 1)
    waiting_.assign(static_cast<std::size_t>(cluster),
                    BlockState{lanes.variables, lanes.values, shared, copies, products, producer, locals});
  for (const std::int64_t number : clusters) first_ = number * cluster, run_cluster();
  if (!clusters.empty()) return;
  for (first_ = 0; first_ < std::min(blocks, max_blocks); first_ += cluster) run_cluster();
}

void Machine::run_cluster() {
  for_each_block([&](int) {
    shared.start_block();
    copies.start_block();
    products.start_block();
    producer.start_block(seed + static_cast<std::uint64_t>(lanes.block));
  });
  arrived_ = 0;
  if (cluster == 1)
    run_block();
  else
    turns_.run(cluster, seed + static_cast<std::uint64_t>(first_), [&](int rank) {
      enter(rank);
      run_block();
    });
  for_each_block([&](int) {
    shared.check_finished();
    copies.check_completed();
    products.check_finished();
  });
}

void Machine::run_block() {
  for (Instruction& instruction : code)
    if (instruction.of_cluster)
      meet(instruction);
    else
      execute({&instruction, 1}, nullptr);
  jump.reset();
  if (!wait_until([&] { return producer.is_done(); })) producer.fail();
}

// The last block that arrives executes the statement for all blocks. Producer threads do not arrive; the other threads
// wait until the producers have ended (PTX ISA, "barrier.cluster": the barrier counts all threads that have not
// exited).
void Machine::meet(Instruction& instruction) {
  if (!wait_until([&] { return producer.is_done(); })) producer.fail();
  const std::int64_t meeting = meetings_;
  if (++arrived_ == cluster) {
    arrived_ = 0;
    ++meetings_;
    execute({&instruction, 1}, nullptr);
  } else if (!wait_until([&] { return meetings_ > meeting; })) {
    throw Error("would hang: not all blocks of the cluster come to `" + text_of(*instruction.source) + "`");
  }
}

bool Machine::wait_until(const std::function<bool()>& done) {
  const int own = lanes.rank;
  const Stmt* const statement = lanes.statement;
  const auto yield = [&](bool moved) {
    const bool goes_on = turns_.yield(moved);
    enter(own);
    lanes.statement = statement;
    return goes_on;
  };
  if (cluster > 1 && turns_.wants_to_yield()) yield(true);
  bool moved = true;  // the block's threads have made progress by coming here
  for (;;) {
    const std::size_t before = producer.next;
    producer.serve(*this, done);
    if (done()) return true;
    if (cluster == 1 || !yield(moved || producer.next > before)) return false;
    moved = false;
  }
}

void Machine::pass_turn() {
  if (!blocks_wait || cluster == 1) return;
  if (addressed.is_idle()) lanes.fail("would hang: no block changes memory any more", 0);
  const int own = lanes.rank;
  const Stmt* const statement = lanes.statement;
  turns_.yield(true);
  enter(own);
  lanes.statement = statement;
}

void Machine::enter(int rank) {
  if (rank != lanes.rank) {
    exchange(waiting_[static_cast<std::size_t>(lanes.rank)]);
    exchange(waiting_[static_cast<std::size_t>(rank)]);
    lanes.rank = rank;
  }
  lanes.block = first_ + rank;
  std::int64_t rest = lanes.block;
  for (auto axis = block_axes.rbegin(); axis != block_axes.rend(); ++axis) {
    lanes.variables[static_cast<std::size_t>(axis->first)].scalar = rest % axis->second;
    rest /= axis->second;
  }
}

void Machine::exchange(BlockState& state) {
  std::swap(lanes.variables, state.variables);
  std::swap(lanes.values, state.values);
  std::swap(static_cast<SharedState&>(shared), state.shared);
  std::swap(static_cast<CopyState&>(copies), state.copies);
  std::swap(static_cast<ProductState&>(products), state.products);
  std::swap(static_cast<ProducerState&>(producer), state.producer);
  std::swap(locals, state.locals);
}

void Machine::execute(std::span<Instruction> body, Mask mask) {
  for (Instruction& instruction : body) {
    lanes.statement = instruction.source;
    instruction.run(*this, mask);
    if (jump) return;
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
  pass_turn();
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
  const Layout& layout = this->layout(access);
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
