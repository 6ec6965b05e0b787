// A tile program: a kernel that says what a block does with whole tiles (NVIDIA's Tile IR; docs/tile_programs.md).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/operations.h"
#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program {

/// Where something stands: line and column of a text; in bytecode the byte, and what the debug info says of the source.
struct Location {
  std::uint32_t source = 0;  // 1 + the index in Program::sources; 0: not known, or the text itself
  std::uint32_t line = 0, column = 0;
  std::uint64_t byte = 0;
};

/// A value is a number in its entry. Every one is defined once; its region is where it can be used.
using ValueId = std::uint32_t;
struct Value {
  TypePtr type;
  std::string name;  // of the text, without `%`; bytecode has none
};

struct Operation;
struct Region {
  std::vector<ValueId> arguments;
  std::vector<Operation> operations;  // the last one is a terminator
};

struct Operation {
  const Form* form = nullptr;
  std::vector<ValueId> operands;      // those of the form one behind the other
  std::vector<std::uint32_t> counts;  // how many each operand of the form has: 1; 0 or 1; any number
  std::vector<ValueId> results;
  std::vector<Attribute> attributes;  // one for each of the form's, monostate where it is not given
  std::vector<Region> regions;
  Location location;

  /// The values of an operand of the form, by its index.
  std::pair<std::size_t, std::size_t> range(int operand) const;  // first, count
  bool has(std::string_view operand) const;
  ValueId operand(std::string_view name) const;  // which is there
  std::vector<ValueId> operand_list(std::string_view name) const;
  const Attribute& attribute(std::string_view name) const;
  /// An integer, boolean, flag or enumeration, or the form's default; 0 where there is neither.
  std::int64_t number(std::string_view attribute) const;
  bool given(std::string_view name) const { return attribute(name).index() != 0; }
};

struct Entry {
  std::string name;
  std::vector<Value> values;  // by ValueId: parameters first
  std::vector<ValueId> parameters;
  Region body;
  Hints hints;
  Location location;
};

/// Memory of the module itself, initialized when it is loaded.
struct Global {
  std::string name;
  TypePtr type;  // a tile of rank 1 or, of one element, 0
  Dense value;
  std::int64_t alignment = 0;  // bytes; 0: that of an element
  bool constant = false, is_private = false;
  Location location;
};

struct Program {
  std::string where;  // the file, for messages
  bool is_bytecode = false;
  Version version = newest_version;
  std::string name, producer;
  std::vector<std::string> sources;  // files that the debug info names
  std::vector<Global> globals;
  std::vector<Entry> entries;
};

/// "vec.tile:12:5", or "vec.tileirbc: byte 123 (vec.py:40:9)".
std::string place(const Program&, const Location&);
/// Reads bytecode, which begins with its magic, or text. Verifies the program. Throws Error with the place.
Program read_program(std::string_view bytes, std::string_view where);
/// The entry of that name; the only one for "". Throws Error `WHERE: expected …`, with the nearest name.
const Entry& find_entry(const Program&, std::string_view name);

}  // namespace deplo::ir::tile_program
