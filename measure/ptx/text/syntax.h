// A PTX module as it is written: declarations, and instructions with the names of their operands.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deplo::measure::ptx {

/// A state space of memory (PTX ISA, "State Spaces"). `generic`: the address says which of the other spaces is meant.
enum class Space { generic, global, shared, shared_cluster, param, local };

struct Operand {
  enum class Kind { name, number, address, list, alternatives, sink };
  Kind kind = Kind::sink;
  // of a register, variable, label or function; in an address: the name of the base, "" if the base is a number
  std::string name = {};
  bool negated = false;             // "!%p1"
  std::uint64_t bits = 0;           // the value or bits of a number; the offset of an address
  int float_bits = 0;               // for a number: 32 or 64 if it is a float, else 0
  std::vector<Operand> parts = {};  // the elements of {a, b} and of a|b; in [a, {b, c}], the operands after the first
};

/// A place in the kernel's source that the PTX was compiled from (.loc). For the code of an inlined function,
/// `inlined_at` is the line of the call.
struct Place {
  int line = 0, inlined_at = 0;  // 0 if not known
};

struct Statement {
  int line = 0;  // line of the PTX
  Place place;
  std::string guard;  // name of a predicate; "": no guard
  bool guard_negated = false;
  std::string opcode;  // including modifiers
  std::vector<Operand> operands;
};

/// A variable, or a parameter of a kernel.
struct Variable {
  std::string name;
  Space space = Space::global;
  std::uint64_t align = 1, size = 0;  // bytes; size 0: the launch gives the size
  std::vector<std::uint8_t> initial;  // initial bytes; the remaining bytes are 0
  std::string type = {};              // of an element, such as "u32"
  bool is_array = false;              // a parameter that is an array is a struct in the source
};

struct Register {
  std::string name;
  int bits = 0;  // 1 for a predicate
};

struct Function {
  std::string name;
  int line = 0;
  std::vector<Variable> parameters, results, variables;
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::string, std::size_t> labels;  // label → number of a statement
  std::int64_t max_threads = 0;               // .maxntid, .reqntid; 0: not given
  std::int64_t least_blocks = 1;              // blocks per multiprocessor: .minnctapersm
  std::int64_t cluster = 1;                   // .reqnctapercluster
};

struct Module {
  std::string version, target;
  std::vector<Variable> variables;  // variables of the module
  std::vector<Function> functions;  // entries
  std::vector<Function> callees;    // other functions that have a body
};

}  // namespace deplo::measure::ptx
