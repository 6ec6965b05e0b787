// The operations of tile programs: a row each, from which the readers, the printer and the verifier follow.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tile_program/attribute.h"
#include "ir/tile_program/type.h"

namespace deplo::ir::tile_program {

/// Of the specification, which is that of the bytecode.
struct Version {
  int major = 13, minor = 1;
  auto operator<=>(const Version&) const = default;  // NOLINT(modernize-use-nullptr): of the comparison it makes
};
inline constexpr Version oldest_version = {13, 1}, newest_version = {13, 4};
std::string print(Version);

enum class Arity : std::uint8_t { one, optional, variadic };

/// Which types a value may have.
enum class Class : std::uint8_t {
  any,
  token,
  tile,
  number,
  integer,
  integer_or_i4,
  base_float,
  any_float,
  pointer,
  element,
  tensor_view,
  partition_view,
  strided_view,
  gather_scatter_view,
  tile_view,
};

/// An operand or result.
struct ValueForm {
  std::string_view name;
  Arity arity = Arity::one;
  Class types = Class::any;
  DType element = DType::boolean;  // of Class::element
  bool scalar = false;             // a tile of rank 0
  int same_as = -1;                // has the type of this value: operands are counted first, then results
  int shape_of = -1;               // has the shape of this one
  Version since;
};

struct AttributeForm {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  const Enumeration* words = nullptr;  // of an enumeration
  std::vector<std::int64_t> allowed;   // of its numbers; empty: all
  bool optional = false;
  std::optional<std::int64_t> otherwise;  // of an attribute that is not given, also by files older than it
  Version since;
};

struct Operation;
struct Region;
struct Context;
/// Says what the forms do not: "" or "expected …, found …".
using Check = std::string (*)(const Operation&, const Context&);

/// A piece of an operation's text (operations.cpp, "text").
struct TextItem {
  enum class Kind : std::uint8_t { word, operand, attribute, type, one_type, any_types, regions, group };
  Kind kind = Kind::word;
  std::string_view word;             // or the name of an operand, attribute or value
  int index = -1;                    // of that operand, attribute or value
  std::vector<TextItem> items = {};  // of a group, which may be left out
};

/// An operation's row, read.
struct Form {
  std::string_view name, other_name;  // what older versions call it
  std::uint32_t opcode = 0;
  Version since;
  std::vector<ValueForm> operands, results;
  std::vector<AttributeForm> attributes;
  int regions = 0;
  bool terminator = false;
  std::vector<TextItem> text;
  std::string_view special;  // a text that only a function of its own can read and print: "for", "make_tensor_view"
  std::string_view refused;  // why deplo does not take it
  Check check = nullptr;

  /// In the bytecode each operand then has its own count; else one count stands before all.
  bool has_segments() const;
  /// Whether one count of all operands stands before them.
  bool has_counted_operands() const;
  /// Whether a count stands before the results' types.
  bool has_counted_results() const;
  int find_operand(std::string_view) const;
  int find_attribute(std::string_view) const;
  /// Of operands, then results.
  const ValueForm& value(int index) const;
};

/// In the order of their names.
const std::vector<Form>& operations();
/// nullptr where there is none. The text may have the prefix `cuda_tile.`.
const Form* find_operation(std::string_view name);
const Form* find_opcode(std::uint64_t opcode);

}  // namespace deplo::ir::tile_program
