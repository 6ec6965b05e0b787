// The blocks of a launch, and their shared state. Private to this folder.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/rng.h"
#include "ir/tile_program/interpret/interpret.h"
#include "ir/tile_program/interpret/memory.h"
#include "ir/tile_program/interpret/tile_value.h"

namespace deplo::ir::tile_program::exec {

/// A region that a block is executing.
struct Frame {
  const Region* region = nullptr;
  std::size_t next = 0;              // index of the next operation
  const Operation* owner = nullptr;  // nullptr: the region is the entry's body
};

struct Block {
  std::int64_t number = 0;
  std::array<std::int64_t, 3> id = {};
  std::vector<TileValue> values;  // indexed by ValueId
  std::vector<Frame> frames;      // innermost last; empty if the block has ended
};

class Machine;

/// The execution of one operation. An evaluator (interpret/evaluators.h) reads its operands and sets its results.
class Evaluation {
 public:
  Evaluation(Machine& in, Block& block, const Operation& executed) : machine(in), op(executed), block_(block) {}

  const TileValue& operand(std::size_t at) const { return block_.values[op.operands[at]]; }
  const TileValue& operand(std::string_view name) const { return block_.values[op.operand(name)]; }
  const TileValue& value(ValueId id) const { return block_.values[id]; }
  const Type& type(ValueId) const;
  const Type& operand_type(std::size_t at) const { return type(op.operands[at]); }
  const Type& result_type(std::size_t at = 0) const { return type(op.results[at]); }
  /// Sets a result. Unless `value` has a past, its past is the joined past of all operands.
  void set(TileValue value, std::size_t result = 0);
  void set_argument(ValueId id, TileValue value);
  DType element() const { return result_type().element; }
  const std::array<std::int64_t, 3>& block_id() const { return block_.id; }
  std::int64_t block_number() const { return block_.number; }
  Block& block() { return block_; }
  /// Returns the joined past of all operands.
  PastPtr past() const;
  [[noreturn]] void fail(const std::string& message) const;

  Machine& machine;
  const Operation& op;

 private:
  Block& block_;
};

class Machine {
 public:
  Machine(const Program&, const Entry&, const Launch&, std::vector<Array>& arrays);
  LaunchResult run();

  /// Executes a region without loops and memory operations. Returns the values that it yields.
  std::vector<TileValue> run_pure(Block&, const Region&);
  [[noreturn]] void fail(const Block&, const Operation&, const std::string& message) const;
  /// Adds to the count of bytes that are held from now on. Fails beyond the launch's limit.
  void hold(const Evaluation&, std::int64_t bytes);
  /// Sets a value of a block, and updates the count of held bytes.
  void put(Block&, ValueId, TileValue);
  /// Returns the name, block and place of an event's operation, for messages.
  std::string describe(const Event&) const;

  const Program& program;
  const Entry& entry;
  const Launch& launch;
  Memory memory;
  Events events;
  std::string printed;
  std::vector<std::size_t> globals;  // numbers of the arrays of the program's globals

 private:
  void start(std::int64_t number);
  void start_next();
  void turn(Block&);
  bool step(Block&);  // returns true if the operation accessed memory
  void execute(Block&, const Operation&);
  bool execute_control(Block&, const Operation&);
  void enter(Block&, const Operation& owner, const Region&, const std::vector<TileValue>& arguments);
  void begin_for(Block&, const Operation&);
  void leave_loop(Block&, const Operation& jump);
  void next_iteration(Block&, const Operation& owner, std::vector<TileValue> carried);
  void count_operation(const Block&, const Operation&);
  std::vector<TileValue> gather(const Block&, const std::vector<ValueId>&) const;
  void assign(Block&, const std::vector<ValueId>&, std::vector<TileValue>);

  std::vector<TileValue> arguments_;
  std::vector<std::int64_t> waiting_;  // numbers of the blocks that have not started, the next one last
  std::deque<Block> running_;
  Rng rng_;
  std::int64_t operations_ = 0, work_ = 0, held_ = 0, idle_since_ = 0, changes_seen_ = 0;
};

}  // namespace deplo::ir::tile_program::exec
