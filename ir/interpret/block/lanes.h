// The lanes of a block, which run in lockstep. A lane is one thread, or in Tile IR one combination of thread, register
// and vector axes: lane = thread * registers + register. Private to the interpreter.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/index.h"
#include "ir/stmt.h"

namespace deplo::ir::exec {

/// A byte per lane: 0 if the lane is inactive. nullptr: all lanes are active.
using Mask = const std::uint8_t*;
inline bool is_active(Mask mask, int lane) { return mask == nullptr || mask[lane] != 0; }

/// The value of an axis. An axis that is the same in all lanes of a block is uniform, and its value is a scalar.
struct Variable {
  bool varies = false;
  std::int64_t scalar = 0;
  std::vector<std::int64_t> lanes = {};
};

struct Lanes {
  int threads = 1, registers = 1, count = 1;
  std::vector<Variable> variables;
  std::vector<double> values;       // element w of a value in lane l is at: start of the value + w * count + l
  std::int64_t block = 0;           // number of the running block
  int rank = 0;                     // number of the block in its cluster
  const Stmt* statement = nullptr;  // the running statement, for messages

  double* element(std::size_t value, int w) { return values.data() + value + std::ptrdiff_t{w} * count; }
  int thread(int lane) const { return lane / registers; }
  bool all(Mask mask) const;

  std::int64_t scalar(const Index& uniform) const;  // inline, because scalar programs spend half their time here
  std::int64_t at(const Index&, int lane) const;
  void evaluate(Index&, std::int64_t* out) const;  // evaluates the index in all lanes

  std::string place(int lane) const;  // for example "block 3, thread 5"
  std::string text() const;           // text of the running statement
  [[noreturn]] void fail(const std::string& what, int lane) const;

 private:
  std::int64_t add_scalar_atoms(std::int64_t sum, const Index&) const;
};

/// Returns the first line of the statement's text.
std::string text_of(const Stmt& stmt);

// --- inline functions

/// Returns sum + a * b. Wraps on overflow, so that an overflowing index is out of range or harmless, never undefined
/// behaviour.
inline std::int64_t multiply_add(std::int64_t sum, std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) +
                                   static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

inline std::int64_t Lanes::scalar(const Index& index) const {
  std::int64_t sum = index.constant;
  for (const auto& [slot, coefficient] : index.uniform)
    sum = multiply_add(sum, coefficient, variables[static_cast<std::size_t>(slot)].scalar);
  return index.atoms.empty() ? sum : add_scalar_atoms(sum, index);
}

}  // namespace deplo::ir::exec
