// The meaning of a tile program: its entry run on arrays, block by block (Tile IR specification, "Semantics" and "Memory
// Model"). Numbers are calculated in double and rounded to their type where the operation rounds; integers wrap.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/tile_program/program.h"

namespace deplo::ir::tile_program {

/// Memory that a program is given: elements one behind the other, little endian.
struct Array {
  std::string name;
  DType element = DType::f32;
  std::vector<std::uint8_t> bytes;

  std::int64_t elements() const { return static_cast<std::int64_t>(bytes.size()) / ir::bytes(element); }
  /// As a number; of integers signed.
  double number(std::int64_t at) const;
  std::vector<double> numbers() const;  // all of them
  void set(std::int64_t at, double value);
};
/// An array of so many elements, all 0. Throws Error for 4-bit types, which have no bytes of their own.
Array make_array(std::string name, DType, std::int64_t elements);

/// A parameter's value: the number of an array, to whose first element the parameter points, or a number.
struct ArrayArgument {
  std::size_t array = 0;
};
using Argument = std::variant<ArrayArgument, std::int64_t, double>;

/// Of a grid, in each dimension (Tile IR specification, "Launch").
inline constexpr std::int64_t most_blocks = (1 << 24) - 1;

struct Launch {
  std::string entry = {};                        // "" for the only one
  std::vector<Argument> arguments = {};          // one for each parameter
  std::array<std::int64_t, 3> grid = {0, 0, 0};  // blocks in x, y and z; each 1 to 2^24 - 1
  std::uint64_t seed = 0;                        // of the order in which blocks run beside each other
  int resident = 8;                              // blocks that run at once; more where these wait for another
  /// Elements of which the specification leaves open what they are (outside of a tensor without a padding, masked without
  /// a padding) are 0, as the hardware's copies leave them; here a NaN or 5A5A…, which shows a program that uses them.
  bool poison = false;
  bool exact16 = false;           // conversions to 16 bits do not round, stores do: what the former change
  std::int64_t idle = 4'000'000;  // operations without a change of memory after which blocks hang
  std::int64_t steps = 0;         // operations of all blocks, each of 64 elements; 0: any number
  std::int64_t memory = std::int64_t{8} << 30;  // bytes of tiles, globals and allocas at a time
};

/// Throws Error in one line where arguments or grid do not fit the entry.
void check_launch(const Program&, const Launch&, std::span<const Array> arrays);
/// The memory of a global, as a launch finds it.
Array initial_array(const Global&);

struct LaunchResult {
  std::string printed;          // what the blocks printed
  std::int64_t operations = 0;  // that were executed
};

/// Runs an entry of a verified program on arrays, in place; globals begin with their values. Blocks take turns at memory
/// operations, in an order drawn from the seed. Throws Error in one line: for arguments that do not fit the entry; and,
/// with the operation's place and block, for an access outside of its array, an index outside of a view, two accesses to
/// one place that nothing orders, one of which writes, and is not atomic (tokens, data, and release with acquire order),
/// an assumption that does not hold, what the specification leaves undefined (a division by 0, an overflow that the
/// program excludes, a number that no integer holds), and blocks that wait for ever.
LaunchResult run(const Program&, const Launch&, std::vector<Array>& arrays);

}  // namespace deplo::ir::tile_program
