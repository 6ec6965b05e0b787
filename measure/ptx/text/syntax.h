// A PTX module as it is written: declarations, and instructions with their operands by name.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deplo::measure::ptx {

/// Where memory is (PTX ISA, "State Spaces"). `generic`: any of the others, by its address.
enum class Space { generic, global, shared, shared_cluster, param, local };

struct Operand {
  enum class Kind { name, number, address, list, alternatives, sink };
  Kind kind = Kind::sink;
  std::string name = {};   // of a register, variable, label or function; of an address its base, "" if that is a number
  bool negated = false;    // "!%p1"
  std::uint64_t bits = 0;  // a number's value or bits; an address's offset
  int float_bits = 0;      // of a number: 32 or 64 if it is a float
  std::vector<Operand> parts = {};  // of {a, b}, of a|b, and of [a, {b, c}] what follows the first
};

/// A place in the text of the kernel that the PTX was made of (.loc). Where the code of a function was inlined, the
/// place of the call.
struct Place {
  int line = 0, inlined_at = 0;  // 0: not known
};

struct Statement {
  int line = 0;  // of the PTX
  Place place;
  std::string guard;  // a predicate's name; "": none
  bool guard_negated = false;
  std::string opcode;  // with its modifiers
  std::vector<Operand> operands;
};

/// A variable, or a parameter of a kernel.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t align = 1, size = 0;  // bytes; size 0: as much as the launch gives
  std::vector<std::uint8_t> initial;  // the rest is 0
};

struct Register {
  std::string name;
  int bits = 0;  // 1: a predicate
};

struct Function {
  std::string name;
  int line = 0;
  std::vector<Variable> parameters, results, variables;
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::string, std::size_t> labels;  // a statement's number
  std::int64_t most_threads = 0;              // .maxntid, .reqntid; 0: not said
  std::int64_t least_blocks = 1;              // of a multiprocessor: .minnctapersm
  std::int64_t cluster = 1;                   // .reqnctapercluster
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;  // of the module
  std::vector<Function> functions;  // entries
  std::vector<Function> callees;    // other functions that have a body
};

}  // namespace deplo::measure::ptx
