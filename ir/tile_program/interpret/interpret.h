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

/// Memory that a program is given: contiguous elements, little endian.
struct Array {
  std::string name;
  DType element = DType::f32;
  std::vector<std::uint8_t> bytes;

  std::int64_t elements() const { return static_cast<std::int64_t>(bytes.size()) / ir::bytes(element); }
  /// The element as a number. Integers are signed.
  double number(std::int64_t at) const;
  std::vector<double> numbers() const;  // all of them
  void set(std::int64_t at, double value);
};
/// An array of zeros. Throws Error for more than 4 GiB, and for 4-bit types, whose elements are not whole bytes.
Array make_array(std::string name, DType, std::int64_t elements);

/// A parameter's value: a number, or a pointer to the first element of the array with this number.
struct ArrayArgument {
  std::size_t array = 0;
};
using Argument = std::variant<ArrayArgument, std::int64_t, double>;

/// Most blocks of a grid in each dimension (Tile IR specification, "Launch").
inline constexpr std::int64_t most_blocks = (1 << 24) - 1;

struct Launch {
  std::string entry = {};                        // "": the only one
  std::vector<Argument> arguments = {};          // one for each parameter
  std::array<std::int64_t, 3> grid = {0, 0, 0};  // blocks in x, y and z; each 1 to 2^24 - 1
  std::uint64_t seed = 0;                        // draws how blocks interleave
  int resident = 8;                              // blocks that run at a time; more if these wait for another block
  /// Fill unspecified elements (outside of a tensor without a padding, or masked without a padding) with a NaN or
  /// 5A5A…, to reveal their use. Otherwise they are 0, as after the hardware's copies.
  bool poison = false;
  bool exact16 = false;           // conversions to 16 bits do not round, only stores do: shows the conversions' effect
  std::int64_t idle = 4'000'000;  // after so many operations without a change of memory, blocks count as hung
  std::int64_t steps = 0;         // limit on the operations of all blocks, counted per 64 elements; 0: any number
  std::int64_t memory = std::int64_t{8} << 30;  // limit on the bytes of tiles, globals and allocas at a time
};

/// Throws Error in one line if the arguments or the grid do not fit the entry.
void check_launch(const Program&, const Launch&, std::span<const Array> arrays);
/// The initial memory of a global at a launch.
Array initial_array(const Global&);

struct LaunchResult {
  std::string printed;          // the text that the blocks printed
  std::int64_t operations = 0;  // executed operations
};

/// Runs an entry of a verified program on arrays, in place. Globals start with their initial values. Blocks take turns
/// at memory operations, in an order drawn from the seed. Throws Error in one line for arguments that do not fit the
/// entry. Throws Error with the operation's place and block for: an access outside of its array; an index outside of a
/// view; a data race (unordered accesses to one place, of which one writes and not both are atomic in each other's
/// scope; tokens, data, and release with acquire order accesses); an assumption that does not hold; undefined behaviour
/// (a division by 0, an overflow that the program excludes, a number that no integer holds); blocks that wait forever.
LaunchResult run(const Program&, const Launch&, std::vector<Array>& arrays);

}  // namespace deplo::ir::tile_program
