// Private to the interpreter: the state of a block and the execution of its instructions.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/cells.h"
#include "ir/interpret/impl.h"

namespace deplo::ir::exec {

/// One bit per lane; nullptr where all are active.
using Mask = const std::uint8_t*;

struct Variable {
  bool varies = false;
  std::int64_t scalar = 0;
  std::vector<std::int64_t> lanes = {};
};

/// How far rounding in f32 may have taken a value. Of a sum: the terms' own errors, and the squares of those of adding.
struct Rounding {
  double error = 0, terms = 0, squares = 0;
};

struct Machine {
  int threads = 1, registers = 1, lanes = 1;
  std::vector<std::pair<int, std::int64_t>> block_axes;  // variable, extent
  std::vector<Variable> variables;
  std::vector<double> values;  // element w of lane l of a value at its start + w * lanes + l
  std::vector<Global> globals;
  std::vector<Shared> shared;
  std::vector<Barrier> barriers;
  std::vector<Descriptor> descriptors;
  Code code;
  std::vector<Point>* points = nullptr;  // of evaluate_at: receives what is written
  bool rounds = false;                   // Loop IR: keep beside each value how far rounding in f32 may have taken it

  void run();

 private:
  double* element(std::size_t value, int w) { return values.data() + value + std::ptrdiff_t{w} * lanes; }
  void execute(Code& code, Mask mask);
  void loop(LoopCode&c, Mask mask), strided_loop(LoopCode&c, Mask mask);
  void branch(IfCode& c, Mask mask);

  std::int64_t scalar(const Index& index) const;
  void vector(Index& index, std::int64_t* out) const;
  Offsets locate(const Instruction& at, Access& access, Mask mask);
  void check_range(const Instruction& at, const Layout& layout, std::size_t dim, std::int64_t i, int more,
                   int lane) const;

  void load(const Instruction& at, LoadCode& c, Mask mask);
  template <class T>
  void gather(const LoadCode& c, const T* data, const Offsets& offsets, Mask mask);
  const Point& read_point(const Instruction& at, const Global& global, std::int64_t offset) const;
  void evaluate(IndexCode&c), compute(const ComputeCode&c, Mask mask), init(const InitCode&c, Mask mask);
  void write(const Instruction& at, WriteCode& c, Mask mask);
  void write_global(const Instruction& at, const WriteCode& c, std::int64_t offset, int lane, double value);
  void combine(const Instruction& at, const CombineCode& c, Mask mask);
  // rounding.cpp
  void start_rounding();
  void compute_rounded(const ComputeCode& c);
  // stage.cpp
  void stage(const Instruction& at, StageCode& c, Mask mask);
  void fill(const Instruction& at, const StageCode& c, std::int64_t first);
  void check_refill(const Instruction& at, const Shared& s, const Cell& cell) const;
  void wait(const Instruction& at, const AsyncWaitCode& c, Mask mask);
  void wait_slot(const Instruction& at, std::int64_t slot, std::int64_t phase);
  void tree(const Instruction& at, TreeCode& c, Mask mask);
  void barrier(const Instruction& at, Mask mask);
  void converge(const Instruction& at, Mask mask) const;
  void shuffle(const Instruction& at, const ShuffleCode& c, Mask mask);
  // async.cpp
  void copy(const Instruction& at, CopyCode& c, Mask mask);
  void commit(Mask mask);
  void wait(const CopyWaitCode& c, Mask mask);
  void init(const Instruction& at, const BarrierInitCode& c, Mask mask);
  void arrive(const Instruction& at, const ArriveCode& c, Mask mask);
  void wait(const Instruction& at, const BarrierWaitCode& c, Mask mask);
  void load(const Instruction& at, TmaCode& c, Mask mask);
  void load_box(const Instruction& at, const TmaCode& c, std::int64_t first, int lane);
  Barrier::Slot& slot_of(const Instruction& at, int barrier, const Index& slot, int lane);

  void land(const Flight& flight, int writer);
  void check_completed() const;
  void start_block();
  double read_shared(const Instruction& at, const Shared& s, Cell& cell, int lane) const;
  void write_shared(const Instruction& at, const Shared& s, Cell& cell, int lane, double value) const;
  void claim(const Instruction& at, const WriteCode& c, Global& global, std::size_t i, int lane, double value) const;
  void check_overwrite(const Instruction& at, const Shared& s, const Cell& cell, int lane) const;
  void issue(const Instruction& at, const Shared& s, Cell& cell, int lane, double value) const;
  [[noreturn]] void fault(const Instruction& at, const std::string& what, int lane) const;
  std::int64_t at_lane(const Index& index, int lane) const;
  bool full(Mask mask) const;
  int thread(int lane) const { return lane / registers; }
  std::string place(int lane) const;  // "block 3, thread 5"

  std::int64_t block_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<Flight> flights_;
  std::vector<std::int64_t> groups_;                 // how many each thread, or the block, has asked for
  std::vector<std::int64_t> index_, offset_, from_;  // scratch, one per lane
  std::vector<double> result_;
  std::vector<Rounding> roundings_;  // of the values, where `rounds`
};

}  // namespace deplo::ir::exec
