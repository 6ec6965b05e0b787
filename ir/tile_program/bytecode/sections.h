// The sections of a file of bytecode: strings, types, constants, debug info. Private to this folder.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/tile_program/bytecode/bytes.h"
#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program::bytecode {

/// A row of the type table: the type of a value, an element, a pointer or a function.
struct TypeRow {
  TypePtr value;                                   // the type of a value; nullptr for all other rows
  std::optional<DType> element;                    // the type of an element
  std::optional<DType> pointee;                    // for a pointer: the type of the element that it points to
  std::optional<std::vector<TypePtr>> parameters;  // for a function without results
  bool results = false;                            // the row is a function with results
};

/// A file of bytecode, with the tables that its functions refer to by number.
class File {
 public:
  /// Reads the header and the sections, but leaves functions and globals as bytes.
  File(std::string_view bytes, std::string_view where);

  Version version;
  std::optional<Bytes> functions, globals;

  std::string string(Bytes& from, std::string_view what);
  const TypeRow& type_row(Bytes& from, std::string_view what) const;
  /// Reads the number of a type, and returns the type. Throws Error if no value can have it.
  TypePtr type(Bytes& from, std::string_view what) const;
  /// Reads the number of a constant, and returns the constant as a value of that type.
  Dense constant(Bytes& from, const Type&);
  std::vector<std::string> sources;

  /// Returns the source location of an operation of a function. A function's row starts with the debug info of the
  /// function itself, followed by that of each operation in the order of the file.
  Location location(std::uint64_t function_row, std::size_t operation, std::uint64_t byte);

 private:
  void read_strings(Bytes);
  void read_types(Bytes);
  TypeRow read_type(Bytes, std::size_t depth);
  TypeRow read_view(std::uint64_t tag, Bytes& from, std::size_t depth);
  bool has_pointer_attribute(Bytes&) const;
  static void read_pointer_attribute(Bytes&);
  const TypeRow& type_at(std::uint64_t index, std::size_t depth, const Bytes& from);
  void read_debug(Bytes);
  const Location& debug_location(std::uint64_t index, int depth);
  std::uint32_t source(const std::string& name);

  std::string_view where_;
  std::vector<std::string_view> strings_;
  // Number of bytes of copied strings, and its limit: a short file may name a long string many times.
  std::size_t copied_ = 0, may_copy_ = 0;
  std::vector<Bytes> types_, constants_, debug_;
  std::vector<std::optional<TypeRow>> type_rows_;
  std::map<std::tuple<std::uint64_t, DType, std::int64_t>, Dense> dense_;
  std::vector<std::uint32_t> debug_begins_;
  std::vector<std::uint64_t> debug_indices_;
  std::vector<std::optional<Location>> locations_;
  std::map<std::string, std::uint32_t, std::less<>> source_numbers_;
};

}  // namespace deplo::ir::tile_program::bytecode
