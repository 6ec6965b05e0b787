// The operations of tile programs. Each operation is a row, which drives the readers, the printer and the verifier.
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

/// A version of the specification and of the bytecode, which are the same.
struct Version {
  int major = 13, minor = 1;
  auto operator<=>(const Version&) const = default;  // NOLINT(modernize-use-nullptr): of the comparison it makes
};
inline constexpr Version oldest_version = {13, 1}, newest_version = {13, 4};
std::string print(Version);

enum class Arity : std::uint8_t { one, optional, variadic };

/// The set of types that a value may have.
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

std::string_view description(Class);  // for messages: "tile of integers"

/// The form of an operand or result.
struct ValueForm {
  std::string_view name;
  Arity arity = Arity::one;
  Class types = Class::any;
  DType element = DType::boolean;  // for Class::element
  bool scalar = false;             // the value must be a tile of rank 0
  int same_as = -1;                // the value with the same type; operands are numbered first, then results
  int shape_of = -1;               // the value with the same shape
  Version since;
};

struct AttributeForm {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  const Enumeration* words = nullptr;  // for an enumeration
  std::vector<std::int64_t> allowed;   // allowed numbers of the enumeration; empty: all
  bool optional = false;
  std::optional<std::int64_t> otherwise;  // the default, also for files older than the attribute
  Version since;
};

struct Operation;
struct Region;
struct Context;
/// Checks the rules that the forms do not state. Returns "" or "expected …, found …".
using Check = std::string (*)(const Operation&, const Context&);

/// A piece of an operation's text (see the beginning of operations.cpp).
struct TextItem {
  enum class Kind : std::uint8_t { word, operand, attribute, type, one_type, any_types, regions, group };
  Kind kind = Kind::word;
  std::string_view word;             // the word, or the name of an operand, attribute or value
  int index = -1;                    // index of that operand, attribute or value
  std::vector<TextItem> items = {};  // the parts of a group, which may be omitted from the text
};

/// The parsed row of an operation.
struct Form {
  std::string_view name, other_name;  // other_name: the name in older versions
  std::uint32_t opcode = 0;
  Version since;
  std::vector<ValueForm> operands, results;
  std::vector<AttributeForm> attributes;
  int regions = 0;
  bool terminator = false;
  std::vector<TextItem> text;
  std::string_view special;  // for a text that needs its own function: "for", "make_tensor_view"
  std::string_view refused;  // why deplo does not support the operation; "" if it does
  Check check = nullptr;

  /// True if each operand has its own count in the bytecode.
  bool has_segments() const;
  /// True if a single count of all operands precedes them in the bytecode.
  bool has_counted_operands() const;
  /// True if a count precedes the types of the results in the bytecode.
  bool has_counted_results() const;
  int find_operand(std::string_view) const;
  int find_attribute(std::string_view) const;
  /// Returns the form of a value. Operands are numbered first, then results.
  const ValueForm& value(int index) const;
};

/// Returns all operations, sorted by name.
const std::vector<Form>& operations();
/// Returns nullptr if there is no such operation. The name may have the prefix `cuda_tile.`.
const Form* find_operation(std::string_view name);
const Form* find_opcode(std::uint64_t opcode);

/// The rows of several tables with a row for each of their operations, found by the operation's form. `Row::name` is
/// the name of the operation. If there are several rows for one operation, the first one counts.
template <class Row>
class RowsByForm {
 public:
  explicit RowsByForm(const std::vector<std::vector<Row>>& tables) : rows_(operations().size()) {
    for (const std::vector<Row>& table : tables)
      for (const Row& row : table)
        if (const Form* const form = find_operation(row.name); form != nullptr && !rows_[number(*form)])
          rows_[number(*form)] = row;
  }
  /// Returns nullptr if no table has a row for the operation.
  const Row* find(const Form& form) const { return rows_[number(form)] ? &*rows_[number(form)] : nullptr; }

 private:
  static std::size_t number(const Form& form) { return static_cast<std::size_t>(&form - operations().data()); }
  std::vector<std::optional<Row>> rows_;
};

}  // namespace deplo::ir::tile_program
