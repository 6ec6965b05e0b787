// Interprets a tile program: runs its entry on arrays, block by block (Tile IR specification, "Semantics" and "Memory
// Model"). Numbers are computed in double, and rounded to their type if the operation rounds. Integers wrap.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program {

/// Memory that is passed to a program: contiguous elements, little endian.
struct Array {
  std::string name;
  DType element = DType::f32;
  std::vector<std::uint8_t> bytes;

  std::int64_t elements() const { return static_cast<std::int64_t>(bytes.size()) / ir::bytes(element); }
  /// Returns the element as a number. Integers are signed.
  double number(std::int64_t at) const;
  std::vector<double> numbers() const;  // returns all elements
  void set(std::int64_t at, double value);
};
/// Returns an array of zeros. Throws Error for more than 4 GiB, and for 4-bit types, whose elements are not whole
/// bytes.
Array make_array(std::string name, DType, std::int64_t elements);

/// An argument that is a pointer to the first element of the array with this number. All other arguments are numbers.
struct ArrayArgument {
  std::size_t array = 0;
};
using Argument = std::variant<ArrayArgument, std::int64_t, double>;

/// Maximum number of blocks of a grid in each dimension (Tile IR specification, "Launch").
inline constexpr std::int64_t max_blocks = (1 << 24) - 1;

struct Launch {
  std::string entry = {};                        // name of the entry; "": the only entry
  std::vector<Argument> arguments = {};          // one argument for each parameter
  std::array<std::int64_t, 3> grid = {0, 0, 0};  // number of blocks in x, y and z, each from 1 to 2^24 - 1
  std::uint64_t seed = 0;                        // determines how blocks interleave
  int resident = 8;                              // blocks that run at a time; more if these wait for another block
  /// Fill unspecified elements with a NaN or 5A5A…, to reveal their use. Otherwise they are 0, as after the hardware's
  /// copies. Unspecified elements are those outside of a tensor, and masked ones, if there is no padding.
  bool poison = false;
  // Conversions to 16 bits do not round, only stores do. This shows the effect of rounding in conversions.
  bool exact16 = false;
  // After this number of operations without a change of memory, blocks count as hung.
  std::int64_t idle = 4'000'000;
  // Limit on the work of all blocks together: one for each operation, plus one for each 64 elements. 0: no limit.
  std::int64_t steps = 0;
  std::int64_t memory = std::int64_t{8} << 30;  // limit on the bytes that tiles, globals and allocas take at a time
};

/// Throws Error with a one-line message if the arguments or the grid do not fit the entry.
void check_launch(const Program&, const Launch&, std::span<const Array> arrays);
/// Returns the initial memory of a global at a launch.
Array initial_array(const Global&);

struct LaunchResult {
  std::string printed;          // the text that the blocks printed
  std::int64_t operations = 0;  // number of executed operations
};

/// Runs an entry of a verified program on arrays, in place. Globals start with their initial values. Blocks take turns
/// at memory operations, in an order drawn from the seed. Throws Error with a one-line message for arguments that do
/// not fit the entry. Throws Error with the operation's place and block for: an access outside of its array; an index
/// outside of a view; a data race; an assumption that does not hold; undefined behaviour (a division by 0, an overflow
/// that the program excludes, a number that the integer type cannot hold); blocks that wait forever. A data race is two
/// unordered accesses to one place of which at least one writes, unless both are atomic in each other's scope. Accesses
/// are ordered by tokens, data, and release with acquire.
LaunchResult run(const Program&, const Launch&, std::vector<Array>& arrays);

}  // namespace deplo::ir::tile_program
