// Private to the interpreter: a program as instructions, and the state of the block that runs them.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/async_copies.h"
#include "ir/interpret/global_memory.h"
#include "ir/interpret/rounding.h"
#include "ir/interpret/shared_memory.h"

namespace deplo::ir::exec {

struct Machine;

/// What a statement does, in all lanes that are active.
struct Instruction {
  const Stmt* source;
  std::function<void(Machine&, Mask)> run;
};
using Code = std::vector<Instruction>;

using FreeValues = std::map<std::string, std::int64_t, std::less<>>;

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
  std::vector<std::pair<int, std::int64_t>> block_axes;  // variable, extent
  Code code;
  std::vector<std::int64_t> index, offset;  // scratch, one per lane
  std::vector<double> result;

  void run();  // every block
  void execute(Code&, Mask);
  /// All threads of the block reach the statement.
  void converge(Mask) const;
  void barrier(Mask);
  /// Into `offset`. Throws Error on an index out of range.
  Offsets locate(Access&, Mask);
  /// Of index i and `more` behind it.
  void check_range(const Layout&, std::size_t dim, std::int64_t i, int more, int lane) const;
};

}  // namespace deplo::ir::exec
