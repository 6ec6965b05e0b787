// Private to the interpreter: copies that are under way, and what waits for them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/index.h"
#include "ir/stmt.h"

namespace deplo::ir::exec {

/// Cells first … first + count - 1 of a shared buffer that have been asked for and not been waited for. They carry
/// their values and the write epoch Cell::in_flight.
struct Flight {
  int shared;
  std::int64_t first, count;
  int thread;              // who asked; Cell::several: the block
  std::int64_t group = 0;  // of the thread, or of the block
};

/// An array of mbarriers; above Kernel IR, of each slot of a TMA stage. A phase is complete when all have arrived and
/// the bytes are those that were expected. Copies land as late as they may: when somebody waits.
struct Barrier {
  struct Slot {
    std::int64_t arrivals = 0, expected = 0, delivered = 0;  // in this phase; the last two in bytes
    std::int64_t phase = 0;
    std::vector<Flight> flights;
  };
  std::string name;
  const Stmt* source;
  std::int64_t count;
  std::vector<Slot> slots;
  std::uint32_t epoch = 0;  // of its initialisation
};

struct Descriptor {
  std::string name;
  int source;
  std::vector<std::int64_t> box;
  int swizzle;
};

struct StageCode {
  int shared, source;
  std::vector<Index> origin;
  std::vector<SlabAxis> slab;
  Transport transport;
  Index slot;
  std::int64_t count;  // cells of a slot
  bool opens_group;    // the first of a run that is waited for together
  bool behind_barrier;
  int barrier;  // of a TMA stage
};
struct AsyncWaitCode {
  std::int64_t keep;
  Index phase, slot;
};
struct ShuffleCode {
  std::size_t dst, value;
  Op op;
  int length;
};
struct CopyCode {
  Access to, from;
};
struct CommitCode {};
struct CopyWaitCode {
  std::int64_t keep;
};
struct BarrierInitCode {
  int barrier;
};
struct ArriveCode {
  int barrier;
  Index slot;
  std::int64_t bytes;
};
struct BarrierWaitCode {
  int barrier;
  Index slot, phase;
};
struct TmaCode {
  Access to;
  int descriptor;
  std::vector<Index> coordinates;
  int barrier;
  Index slot;
};

}  // namespace deplo::ir::exec
