// The parts of a file of bytecode: strings, types, constants, debug info. Private to the room.
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

/// A type as the table has it: that of a value, or an element, a pointer or a function's.
struct TypeRow {
  TypePtr value;                                   // of a value; nullptr: none of the others' own
  std::optional<DType> element;                    // of a number
  std::optional<DType> pointee;                    // of a pointer
  std::optional<std::vector<TypePtr>> parameters;  // of a function without results
  bool results = false;                            // of a function with some
};

/// What the functions of a file refer to by number.
class File {
 public:
  /// Reads header and sections; functions and globals stay as they are.
  File(std::string_view bytes, std::string_view where);

  Version version;
  std::optional<Bytes> functions, globals;

  std::string string(Bytes& from, std::string_view what);
  const TypeRow& type_row(Bytes& from, std::string_view what) const;
  /// A type that a value can have.
  TypePtr type(Bytes& from, std::string_view what) const;
  /// The constant whose number follows, as a value of that type.
  Dense constant(Bytes& from, const Type&);
  std::vector<std::string> sources;

  /// Where an operation of a function stands in its source: the function's own debug info first, then one for each
  /// operation in the order of the file.
  Location location(std::uint64_t function_row, std::size_t operation, std::uint64_t byte);

 private:
  struct Section {
    std::optional<Bytes> bytes;
  };
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
  std::size_t copied_ = 0, may_copy_ = 0;  // bytes of strings: a short file may name a long string often
  Table types_, constants_, debug_;
  std::vector<std::optional<TypeRow>> type_rows_;
  std::map<std::tuple<std::uint64_t, DType, std::int64_t>, Dense> dense_;
  std::vector<std::uint32_t> debug_begins_;
  std::vector<std::uint64_t> debug_indices_;
  std::vector<std::optional<Location>> locations_;
  std::map<std::string, std::uint32_t, std::less<>> source_numbers_;
};

}  // namespace deplo::ir::tile_program::bytecode
