// Private to the interpreter: a program as instructions, and the state of the block that runs them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/block/async_copies.h"
#include "ir/interpret/block/global_memory.h"
#include "ir/interpret/block/matrix_products.h"
#include "ir/interpret/block/producer.h"
#include "ir/interpret/block/shared_memory.h"
#include "ir/interpret/rounding.h"
#include "ir/interpret/turns.h"

namespace deplo::ir::exec {

struct Machine;

/// What a statement does, in all lanes that are active.
struct Instruction {
  const Stmt* source;
  std::function<void(Machine&, Mask)> run;
  bool of_cluster = false;  // runs once, when all blocks of the cluster have come here
};
using Code = std::vector<Instruction>;

using FreeValues = std::map<std::string, std::int64_t, std::less<>>;

/// What a block keeps while another one of its cluster runs.
struct BlockState {
  std::vector<Variable> variables;
  std::vector<double> values;
  SharedState shared;
  CopyState copies;
  ProductState products;
  ProducerState producer;
};

struct Machine {
  /// Resolves the names. `free_values`: where given, each free loop runs for its value only.
  explicit Machine(const Program&, const FreeValues* free_values = nullptr, const Limits& = {});
  Machine(const Machine&) = delete;  // its parts refer to each other
  Machine& operator=(const Machine&) = delete;

  Lanes lanes;
  Roundings roundings;
  GlobalMemory global{lanes, roundings};
  SharedMemory shared{lanes};
  AsyncCopies copies{lanes, shared};
  MatrixProducts products{lanes, shared};
  Producer producer{lanes};
  std::uint64_t seed = 0;                                // of the order of blocks and their producers
  std::vector<std::pair<int, std::int64_t>> block_axes;  // variable, extent; the cluster's last
  int cluster = 1;                                       // blocks of a cluster
  std::int64_t most_blocks = INT64_MAX;                  // that run
  Code code;
  std::vector<std::int64_t> index, offset;  // scratch, one per lane
  std::vector<double> result;

  void run();  // every block
  void execute(std::span<Instruction>, Mask);
  /// Calls f(rank) for each block of the cluster, as that block.
  template <class F>
  void for_each_block(F&& f) {
    const int own = lanes.rank;
    for (int rank = 0; rank < cluster; ++rank) enter(rank), f(rank);
    enter(own);
  }
  /// The block's threads wait until `done`: its producer and the other blocks of the cluster go on. False: that will
  /// never be. All threads wait, as other blocks overwrite the masks of this one.
  bool wait_until(const std::function<bool()>& done);
  SharedState& shared_of(int rank) {
    return rank == lanes.rank ? shared : waiting_[static_cast<std::size_t>(rank)].shared;
  }
  /// All threads of the block reach the statement.
  void converge(Mask) const;
  void barrier(Mask);
  /// Into `offset`. Throws Error on an index out of range.
  Offsets locate(Access&, Mask);
  /// The access's elements, to the lanes from value `dst` on.
  void load(Access&, std::size_t dst, Mask);
  /// Of index i and `more` behind it.
  void check_range(const Layout&, std::size_t dim, std::int64_t i, int more, int lane) const;

 private:
  void run_cluster();
  void run_block();
  void meet(Instruction&);
  void enter(int rank);
  void exchange(BlockState&);

  std::int64_t first_ = 0;           // block of the cluster that runs
  std::vector<BlockState> waiting_;  // of the blocks that do not run, by rank
  Turns turns_;
  int arrived_ = 0;            // blocks that have come to the next statement of the cluster
  std::int64_t meetings_ = 0;  // such statements that they have executed
};

}  // namespace deplo::ir::exec
