// A tile program: a kernel that states what a block does with whole tiles (NVIDIA's Tile IR; docs/tile_programs.md).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/operations.h"
#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program {

/// The location of an operation: in a text, its line and column; in bytecode, its byte, and the source location from
/// the debug info.
struct Location {
  std::uint32_t source = 0;  // 1 + the index in Program::sources; 0: unknown, or the program's own text
  std::uint32_t line = 0, column = 0;
  std::uint64_t byte = 0;
};

/// The number of a value in its entry. Every value is defined once, and can be used within its region.
using ValueId = std::uint32_t;
struct Value {
  TypePtr type;
  std::string name;  // the name in the text, without `%`; bytecode has no names
};

struct Operation;
struct Region {
  std::vector<ValueId> arguments;
  std::vector<Operation> operations;  // the last one is a terminator
};

struct Operation {
  const Form* form = nullptr;
  std::vector<ValueId> operands;      // values of all operands of the form, in order
  std::vector<std::uint32_t> counts;  // number of values of each operand: 1 if Arity::one, 0 or 1 if optional
  std::vector<ValueId> results;
  std::vector<Attribute> attributes;  // one for each attribute of the form; monostate: not given
  std::vector<Region> regions;
  Location location;

  /// Returns the range in `operands` of an operand of the form.
  std::pair<std::size_t, std::size_t> range(int operand) const;  // first, count
  bool has(std::string_view operand) const;
  ValueId operand(std::string_view name) const;  // the operand must be present
  std::vector<ValueId> operand_list(std::string_view name) const;
  const Attribute& attribute(std::string_view name) const;
  /// Returns the number of an integer, boolean, flag or enumeration. If it is not given, returns the form's default, or
  /// else 0.
  std::int64_t number(std::string_view attribute) const;
  bool given(std::string_view name) const { return attribute(name).index() != 0; }
};

/// Visits the operations of the region and of its inner regions, in the order of the text.
void for_each_operation(const Region&, const std::function<void(const Operation&)>& see);

struct Entry {
  std::string name;
  std::vector<Value> values;  // indexed by ValueId; parameters come first
  std::vector<ValueId> parameters;
  Region body;
  Hints hints;
  Location location;
};

/// Memory that belongs to the module and is initialized when the module is loaded.
struct Global {
  std::string name;
  TypePtr type;  // a tile of rank 1, or of rank 0 with one element
  Dense value;
  std::int64_t alignment = 0;  // in bytes; 0: the alignment of an element
  bool constant = false, is_private = false;
  Location location;
};

struct Program {
  std::string where;  // name of the file, for messages
  bool is_bytecode = false;
  Version version = newest_version;
  std::string name, producer;
  std::vector<std::string> sources;  // files that the debug info names
  std::vector<Global> globals;
  std::vector<Entry> entries;
};

/// Returns "vec.tile:12:5" for a text, or "vec.tileirbc: byte 123 (vec.py:40:9)" for bytecode.
std::string place(const Program&, const Location&);
/// Reads and verifies a program: bytecode if the bytes begin with its magic, else text. Throws Error with the place.
Program read_program(std::string_view bytes, std::string_view where);
/// Returns the entry of that name, or the only entry for "". Throws Error `WHERE: expected …`, with the nearest name.
const Entry& find_entry(const Program&, std::string_view name);

}  // namespace deplo::ir::tile_program
