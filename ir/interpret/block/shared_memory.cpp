#include "ir/interpret/block/shared_memory.h"

#include <algorithm>
#include <span>

#include "core/error.h"
#include "ir/hardware/mma.h"

namespace deplo::ir::exec {

void SharedMemory::start_block() {
  cluster_barrier();
  clock = 0;
  fences = 1;
  seen.clear();
  for (Shared& s : buffers) std::fill(s.cells.begin(), s.cells.end(), Cell{});
}

int SharedMemory::owner(const Shared& s, int lane) const {
  return s.of_warps ? lanes_.thread(lane) / static_cast<int>(gpu::warp) : lanes_.thread(lane);
}

double SharedMemory::read(const Shared& s, Cell& cell, int lane) const {
  cell.fence = fences;
  return read_by_proxy(s, cell, lane);
}

double SharedMemory::read_by_proxy(const Shared& s, Cell& cell, int lane) const {
  const int me = owner(s, lane);
  if (cell.writer == Cell::nobody)
    throw Error("read of shared memory that nothing wrote: " + s.name + " in " + lanes_.place(lane) + " at `" +
                lanes_.text() + "`");
  if (cell.write_epoch == Cell::in_flight)
    throw Error("read of an asynchronous copy that was not waited for: an element of " + s.name + " in " +
                lanes_.place(lane) + " at `" + lanes_.text() + "`");
  if (cell.writer != me && cell.writer != Cell::several && cell.write_epoch == epoch)
    throw Error("race: " + lanes_.place(lane) + " reads an element of " + s.name +
                (s.of_warps ? " that warp " : " that thread ") + std::to_string(cell.writer) +
                " wrote with no Sync between, at `" + lanes_.text() + "`");
  cell.clock = clock;
  cell.reader = cell.read_epoch == epoch && cell.reader != me ? Cell::several : me;
  cell.read_epoch = epoch;
  return cell.value;
}

double SharedMemory::read_afar(const SharedState& of, Shared& s, const Cell& cell, int lane) const {
  const auto fail = [&](const char* what) {
    throw Error(what + (": " + lanes_.place(lane)) + " reads an element of another block's " + s.name + " at `" +
                lanes_.text() + "`");
  };
  if (cell.writer == Cell::nobody) fail("read of shared memory that nothing wrote");
  if (cell.write_epoch == Cell::in_flight) fail("read of an asynchronous copy that was not waited for");
  if (cell.write_epoch >= of.cluster_epoch) fail("race: no ClusterSync is between the write and the read");
  s.read_afar = of.cluster_epoch;
  return cell.value;
}

void SharedMemory::check_finished() const {
  for (const Shared& s : buffers)
    if (s.read_afar == cluster_epoch)
      throw Error("block " + std::to_string(lanes_.block) + " may end while another one reads its " + s.name +
                  ": no ClusterSync follows the last ClusterLoad");
}

void SharedMemory::write(const Shared& s, Cell& cell, int lane, double value) const {
  check_overwrite(s, cell, lane);
  cell.clock = clock;
  cell.writer = owner(s, lane);
  cell.write_epoch = epoch;
  cell.stored = true;
  cell.value = value;
}

void SharedMemory::check_proxy(const Shared& s, const Cell& cell, int lane) const {
  if (cell.fence == fences)
    throw Error("race: " + lanes_.place(lane) + " copies by TMA to an element of " + s.name + " in block " +
                std::to_string(lanes_.block) + ", which a thread read with no ProxyFence after it, at `" +
                lanes_.text() + "`");
}

void SharedMemory::start_copy(const Shared& s, Cell& cell, int lane, double value) const {
  check_overwrite(s, cell, lane);
  cell.writer = lanes_.thread(lane);
  cell.write_epoch = Cell::in_flight;
  cell.stored = false;
  cell.value = value;
}

// Throws Error if another thread has accessed the cell since the last barrier, or if a copy, a product or another block
// uses it.
void SharedMemory::check_overwrite(const Shared& s, const Cell& cell, int lane) const {
  const int me = owner(s, lane);
  if (cell.write_epoch == Cell::in_flight)
    throw Error("overwrite of an asynchronous copy that was not waited for: an element of " + s.name + " in " +
                lanes_.place(lane) + " at `" + lanes_.text() + "`");
  if (s.read_afar == cluster_epoch)
    throw Error("race: " + lanes_.place(lane) + " writes to " + s.name +
                ", which another block reads, with no ClusterSync between, at `" + lanes_.text() + "`");
  if (cell.products > 0)
    throw Error("race: " + lanes_.place(lane) + " writes an element of " + s.name +
                " that a Wgmma under way reads, at `" + lanes_.text() + "`");
  if (producing) {
    if (cell.clock > known)
      throw Error("race: a producer fills an element of " + s.name + " of block " + std::to_string(lanes_.block) +
                  " that the block's threads are not known to be done with, at `" + lanes_.text() + "`");
    return;
  }
  const bool written =
      cell.writer != Cell::nobody && cell.writer != Cell::several && cell.write_epoch == epoch && cell.writer != me;
  const bool read = cell.reader != Cell::nobody && cell.read_epoch == epoch && cell.reader != me;
  if (written || read)
    throw Error("race: " + lanes_.place(lane) + " writes an element of " + s.name + " that another thread " +
                (written ? "wrote" : "read") + " with no Sync between, at `" + lanes_.text() + "`");
}

// Any thread of the block may copy the element, so every read since the last barrier races with it.
void SharedMemory::fill(const Shared& s, Cell& cell, double value, bool starts) const {
  const auto fail = [&](const char* what) {
    throw Error(what + (": an element of " + s.name) + " in block " + std::to_string(lanes_.block) + " at `" +
                lanes_.text() + "`");
  };
  if (cell.write_epoch == Cell::in_flight) fail("overwrite of an asynchronous copy that was not waited for");
  if (s.read_afar == cluster_epoch) fail("race: a slot that another block reads is filled with no ClusterSync between");
  if (cell.reader != Cell::nobody && cell.read_epoch == epoch)
    fail("race: a slot that is read with no barrier between is filled");
  cell = Cell{.value = value, .writer = Cell::several};
  if (starts) cell.write_epoch = Cell::in_flight;
}

void SharedMemory::land(int buffer, std::int64_t first, std::int64_t count, int writer) {
  const auto cells = std::span(buffers[static_cast<std::size_t>(buffer)].cells);
  for (Cell& cell : cells.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))) {
    cell.writer = writer;
    cell.write_epoch = epoch;
  }
}

}  // namespace deplo::ir::exec
