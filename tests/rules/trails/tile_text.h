// Writes a tile program as text, operation by operation, and its launch. The arrays contain small whole numbers, so
// results are exact in any order of operations, as long as the bound that each tile carries remains small enough.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "rules/raise/launch.h"

namespace deplo::rules {

/// A tile of the program that is being written.
struct WrittenTile {
  std::string name;
  ir::DType element = ir::DType::f32;
  ir::tile_program::Extents shape = {};
  double bound = 0;  // upper bound on absolute values; infinite: elements may be infinite or NaN
  bool pointer = false;
};

struct WrittenArray {
  std::string name;  // name of the parameter, without %
  ir::DType element = ir::DType::f32;
  ir::tile_program::Extents shape;
  double bound = 0;
};

struct WrittenView {
  std::string name, type;
  WrittenTile tile;  // the tile that a load returns
};

class TileText {
 public:
  explicit TileText(std::uint64_t seed) : rng(seed) {}

  using Extents = ir::tile_program::Extents;

  // --- Parameters, in their order
  /// Adds an array of random whole numbers from -`bound` to `bound`. With `gaps`, there may be gaps between its rows.
  WrittenArray array(ir::DType, const Extents& shape, double bound, bool gaps = true);
  /// Adds an array of i32 below `past`, with some values below 0 and some of `past` or more. With `distinct`, no value
  /// occurs twice.
  WrittenArray numbers(std::int64_t count, std::int64_t past, bool distinct);
  WrittenTile scalar(std::int64_t);
  WrittenTile scalar(double);

  // --- Operations
  WrittenTile constant(ir::DType, const Extents& shape, double);
  /// Writes `op` for operands of one type, which is also the type of the result. `words` follow the operands.
  WrittenTile same(const std::string& op, const std::vector<WrittenTile>&, double bound, const std::string& words = "");
  WrittenTile reshape(const WrittenTile&, const Extents&);
  /// Broadcasts a tile of the same or a lower rank. Missing dimensions come first.
  WrittenTile broadcast(const WrittenTile&, const Extents&);
  WrittenTile permute(const WrittenTile&, const std::vector<int>&);
  /// Converts between types of floats, or between floats and integers.
  WrittenTile convert(const WrittenTile&, ir::DType);
  WrittenTile compare(const std::string& predicate, const WrittenTile&, const WrittenTile&);
  WrittenTile select(const WrittenTile& condition, const WrittenTile&, const WrittenTile&);
  /// Returns offset + 0, offset + 1, offset + 2, …
  WrittenTile iota(const WrittenTile& offset, std::int64_t extent);
  /// `op` is addf, maxf or minf.
  WrittenTile reduce(const std::string& op, const WrittenTile&, std::int64_t dim);
  WrittenTile running_sum(const WrittenTile&, std::int64_t dim);
  WrittenTile multiply_tiles(const WrittenTile& a, const WrittenTile& b, const WrittenTile& sum, std::int64_t k_in_all);
  WrittenTile integer(const std::string& op, const WrittenTile&, std::int64_t);  // `op` with a constant operand

  // --- Memory
  /// `padding`: a padding value of Tile IR, or "". `dims`: the array's dimension for each dimension of the tile; if
  /// empty, the dimensions are in order.
  WrittenView view(const WrittenArray&, const Extents& tile, const std::string& padding, std::vector<int> dims = {});
  WrittenTile tiles_of(const WrittenView&, std::int64_t dim);
  WrittenTile load(const WrittenView&, const std::vector<WrittenTile>& index);
  void store(const WrittenView&, const std::vector<WrittenTile>& index, const WrittenTile&);
  /// Returns pointers to the elements at these indices. `index` has a tile for each dimension, all of one shape.
  WrittenTile pointers(const WrittenArray&, const std::vector<WrittenTile>& index);
  WrittenTile advanced(const WrittenTile& pointers, const WrittenTile& offset);
  /// Returns a mask of the indices that are below the array's extents.
  WrittenTile inside(const WrittenArray&, const std::vector<WrittenTile>& index);
  WrittenTile load(const WrittenTile& pointers, const WrittenArray&, const WrittenTile* mask,
                   const WrittenTile* padding);
  void store(const WrittenTile& pointers, const WrittenTile&, const WrittenTile* mask);
  void add_atomically(const WrittenTile& pointers, const WrittenTile&, const WrittenTile& mask);

  // --- Control
  WrittenTile block(int dimension);
  WrittenTile blocks(int dimension);
  /// Begins a loop that carries the values `first`. Returns its counter and the carried values.
  std::pair<WrittenTile, std::vector<WrittenTile>> begin_for(const WrittenTile& lower, const WrittenTile& upper,
                                                             const WrittenTile& step,
                                                             const std::vector<WrittenTile>& first);
  /// Ends the loop's body, which continues with the values `next`. Returns the loop's results.
  std::vector<WrittenTile> end_for(const std::vector<WrittenTile>& next);
  void begin_if(const WrittenTile& condition, const std::vector<WrittenTile>& like);
  void begin_else(const std::vector<WrittenTile>& results);
  std::vector<WrittenTile> end_if(const std::vector<WrittenTile>& results);
  void line(const std::string& text) { body_ += text + "\n"; }

  /// Returns the text of the program.
  std::string text() const;

  Rng rng;
  Launch launch;

 private:
  struct Region {
    std::size_t at = 0;  // position in body_ at which `%names = ` is inserted
    std::vector<WrittenTile> results;
  };
  WrittenTile fresh(ir::DType, Extents, double bound, bool pointer = false);
  WrittenTile define(const std::string& operation, ir::DType, Extents, double bound, bool pointer = false);
  std::string parameter(const std::string& type);
  void yield(const std::string& word, const std::vector<WrittenTile>&);
  std::vector<WrittenTile> close();

  std::string parameters_, head_, body_;
  std::vector<Region> regions_;
  int named_ = 0, blocks_known_ = 0, counts_known_ = 0;
};

std::string print_type(const WrittenTile&);

}  // namespace deplo::rules
