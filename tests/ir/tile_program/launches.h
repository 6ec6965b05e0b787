// Launches of tile programs on arrays of random numbers, for tests.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tile_program/interpret/interpret.h"

namespace deplo::ir::tile_program {

/// Arguments for an entry. An array is passed as NVIDIA's Python package does: pointer, extents, strides.
class Launcher {
 public:
  explicit Launcher(std::uint64_t seed = 1) : seed_(seed) {}

  /// Adds an array of random numbers, rounded to its type: floats in [-1, 1), integers from 0 to 99. Its rows are
  /// `pitch` elements apart (0: dense). Returns its index in `arrays`.
  std::size_t add(std::string name, DType, const Extents& shape, std::int64_t pitch = 0);
  /// Adds such an array that is passed as a pointer only.
  std::size_t add_pointer(std::string name, DType, std::int64_t elements);
  /// Adds an i32 array of these values.
  std::size_t add(std::string name, const std::vector<std::int64_t>& values);
  void scalar(std::int64_t value) { launch.arguments.emplace_back(value); }
  void scalar(double value) { launch.arguments.emplace_back(value); }
  LaunchResult run(const Program&, std::array<std::int64_t, 3> grid, std::uint64_t order = 0);

  /// Returns an element of an array that `add` made.
  double at(std::size_t array, std::initializer_list<std::int64_t> index) const;
  void set(std::size_t array, std::initializer_list<std::int64_t> index, double value);

  Launch launch;
  std::vector<Array> arrays;

 private:
  std::int64_t offset(std::size_t array, std::initializer_list<std::int64_t> index) const;
  std::uint64_t seed_;
  std::vector<Extents> strides_;
};

/// Rows in the order of their experts, for tiles of a given number of rows. The part of each expert is padded to whole
/// tiles by a number that is not a row.
struct Routing {
  std::vector<std::int64_t> ids, experts;  // the row at each place; the expert of each tile
};
Routing route(const std::vector<std::int64_t>& expert_of_row, std::int64_t experts, std::int64_t tile);

/// Returns ../shared/tile_programs of the source folder; empty if it does not exist.
std::filesystem::path shared_programs();
Program read_file_program(const std::filesystem::path&);
/// Returns the message of the Error that reading or running the text throws; "" if there is none.
std::string message_of(std::string_view text);

}  // namespace deplo::ir::tile_program
