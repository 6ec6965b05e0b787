// A program as instructions, and the state of the block that executes them. Private to the interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/block/addressed_memory.h"
#include "ir/interpret/block/async_copies.h"
#include "ir/interpret/block/global_memory.h"
#include "ir/interpret/block/matrix_products.h"
#include "ir/interpret/block/producer.h"
#include "ir/interpret/block/shared_memory.h"
#include "ir/interpret/rounding.h"
#include "ir/interpret/turns.h"

namespace deplo::ir::exec {

struct Machine;

/// The effect of a statement in all active lanes.
struct Instruction {
  const Stmt* source;
  std::function<void(Machine&, Mask)> run;
  bool of_cluster = false;  // runs once, when all blocks of the cluster have reached it
};
using Code = std::vector<Instruction>;

using FreeValues = std::map<std::string, std::int64_t, std::less<>>;

/// An array of ir::Local in registers, or an ir::Table.
struct LocalElements {
  std::string name;
  std::int64_t count = 0;
  bool constant = false;                      // the array is a Table, shared by all lanes
  std::vector<std::optional<double>> values;  // lane l has the elements from l * count on; nullopt: never written
};
struct LocalState {
  std::vector<LocalElements> arrays;
};

/// The saved state of a block while another block of its cluster runs.
struct BlockState {
  std::vector<Variable> variables;
  std::vector<double> values;
  SharedState shared;
  CopyState copies;
  ProductState products;
  ProducerState producer;
  LocalState locals;
};

struct Machine {
  /// Compiles the program. If `free_values` is given, each free loop runs only for its value in it.
  explicit Machine(const Program&, const FreeValues* free_values = nullptr, const Limits& = {},
                   const Arithmetic& = reals());
  Machine(const Machine&) = delete;  // the members refer to each other
  Machine& operator=(const Machine&) = delete;

  const Arithmetic& arithmetic;  // arithmetic of the program's floats
  Lanes lanes;
  Roundings roundings;
  GlobalMemory global{arithmetic, lanes, roundings};
  SharedMemory shared{lanes};
  AsyncCopies copies{lanes, shared};
  MatrixProducts products{arithmetic, lanes, shared};
  Producer producer{lanes};
  LocalState locals;
  AddressedMemory addressed{lanes, shared};
  std::string printed;  // text printed by the blocks
  /// Set by a Jump, until the statement that the Jump leaves has ended.
  std::optional<Jump::To> jump;
  std::uint64_t seed = 0;                                // determines how blocks and their producers interleave
  std::vector<std::pair<int, std::int64_t>> block_axes;  // variable and extent of each axis; cluster axes last
  int cluster = 1;                                       // number of blocks in a cluster
  bool blocks_wait = false;                              // blocks may wait for each other, so all of them take turns
  std::int64_t max_blocks = INT64_MAX;                   // upper bound on the number of blocks that run
  std::vector<std::int64_t> clusters;                    // if not empty: only these clusters run, by number
  Code code;
  std::vector<std::int64_t> index, offset;  // scratch, one per lane
  std::vector<double> result;

  void run();  // runs all blocks
  const Arithmetic& arithmetic_of(DType dtype) const { return is_float(dtype) ? arithmetic : reals(); }
  void execute(std::span<Instruction>, Mask);
  /// Calls f(rank) for each block of the cluster, with the state of that block.
  template <class F>
  void for_each_block(F&& f) {
    const int own = lanes.rank;
    for (int rank = 0; rank < cluster; ++rank) enter(rank), f(rank);
    enter(own);
  }
  /// Makes the block's threads wait until `done`, while its producer and the other blocks of the cluster run. Returns
  /// false if `done` can never become true. All threads must wait, because other blocks overwrite the masks of this
  /// block.
  bool wait_until(const std::function<bool()>& done);
  /// Lets other blocks run. Throws Error if no block has changed memory for very long, because then all of them wait.
  void pass_turn();
  SharedState& shared_of(int rank) {
    return rank == lanes.rank ? shared : waiting_[static_cast<std::size_t>(rank)].shared;
  }
  /// Throws Error unless all threads of the block reach the statement.
  void converge(Mask) const;
  void barrier(Mask);
  const Layout& layout(const Access& access) const {
    const auto buffer = static_cast<std::size_t>(access.buffer);
    return access.shared ? static_cast<const Layout&>(shared.buffers[buffer]) : global.buffers[buffer];
  }
  /// Returns the element after `value` is stored in the layout.
  double stored(const Layout& to, double value) const { return as_stored(arithmetic, value, to.dtype); }
  /// Computes the offsets of an access in all lanes, in `offset`. Throws Error on an index out of range.
  Offsets locate(Access&, Mask);
  /// Loads the elements of an access into the value that starts at `dst`.
  void load(Access&, std::size_t dst, Mask);
  /// Throws Error unless index i and the `more` indices after it are in range.
  void check_range(const Layout&, std::size_t dim, std::int64_t i, int more, int lane) const;

 private:
  void run_cluster();
  void run_block();
  void meet(Instruction&);
  void enter(int rank);
  void exchange(BlockState&);

  std::int64_t first_ = 0;           // number of the first block of the running cluster
  std::vector<BlockState> waiting_;  // saved states of the blocks that do not run, by rank
  Turns turns_;
  int arrived_ = 0;            // number of blocks that wait at the next statement of the whole cluster
  std::int64_t meetings_ = 0;  // number of statements of the whole cluster executed so far
};

}  // namespace deplo::ir::exec
