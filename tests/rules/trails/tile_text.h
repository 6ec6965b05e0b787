// Writes a tile program as text, operation by operation, and the launch of it. Its arrays have small whole numbers:
// what is calculated of them is exact, in whatever order, as long as it stays below the bound that goes along.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "rules/raise/launch.h"

namespace deplo::rules {

/// A tile of the program that is written.
struct WrittenTile {
  std::string name;
  ir::DType element = ir::DType::f32;
  ir::tile_program::Extents shape = {};
  double bound = 0;  // no element is greater; infinite: some may be, or NaN
  bool pointer = false;
};

struct WrittenArray {
  std::string name;  // of the parameter, without %
  ir::DType element = ir::DType::f32;
  ir::tile_program::Extents shape;
  double bound = 0;
};

struct WrittenView {
  std::string name, type;
  WrittenTile tile;  // what a load gives
};

class TileText {
 public:
  explicit TileText(std::uint64_t seed) : rng(seed) {}

  using Extents = ir::tile_program::Extents;

  // --- Parameters, in their order
  /// Of random whole numbers from -`bound` to `bound`; rows may lie further apart than they are long, if `gaps`.
  WrittenArray array(ir::DType, const Extents& shape, double bound, bool gaps = true);
  /// Of i32 below `past`, and not, each at most once if `distinct`.
  WrittenArray numbers(std::int64_t count, std::int64_t past, bool distinct);
  WrittenTile scalar(std::int64_t);
  WrittenTile scalar(double);

  // --- Operations
  WrittenTile constant(ir::DType, const Extents& shape, double);
  /// `op` of operands of one type, which is that of the result; `words` stand behind the operands.
  WrittenTile same(const std::string& op, const std::vector<WrittenTile>&, double bound, const std::string& words = "");
  WrittenTile reshape(const WrittenTile&, const Extents&);
  /// Of any rank below: dimensions that are missing stand in front.
  WrittenTile broadcast(const WrittenTile&, const Extents&);
  WrittenTile permute(const WrittenTile&, const std::vector<int>&);
  /// To another type of floats, or between floats and integers.
  WrittenTile convert(const WrittenTile&, ir::DType);
  WrittenTile compare(const std::string& predicate, const WrittenTile&, const WrittenTile&);
  WrittenTile select(const WrittenTile& condition, const WrittenTile&, const WrittenTile&);
  /// offset + 0, 1, 2 …
  WrittenTile iota(const WrittenTile& offset, std::int64_t extent);
  /// `op` is addf, maxf or minf.
  WrittenTile reduce(const std::string& op, const WrittenTile&, std::int64_t dim);
  WrittenTile running_sum(const WrittenTile&, std::int64_t dim);
  WrittenTile multiply_tiles(const WrittenTile& a, const WrittenTile& b, const WrittenTile& sum, std::int64_t k_in_all);
  WrittenTile integer(const std::string& op, const WrittenTile&, std::int64_t);  // op with a constant

  // --- Memory
  /// `padding` is "" or a word. `dims` of the tile are those of the array; none: in order.
  WrittenView view(const WrittenArray&, const Extents& tile, const std::string& padding, std::vector<int> dims = {});
  WrittenTile tiles_of(const WrittenView&, std::int64_t dim);
  WrittenTile load(const WrittenView&, const std::vector<WrittenTile>& index);
  void store(const WrittenView&, const std::vector<WrittenTile>& index, const WrittenTile&);
  /// Of the elements at these indices, a tile for each dimension, all of one shape.
  WrittenTile pointers(const WrittenArray&, const std::vector<WrittenTile>& index);
  WrittenTile advanced(const WrittenTile& pointers, const WrittenTile& offset);
  /// The indices that lie within the array.
  WrittenTile inside(const WrittenArray&, const std::vector<WrittenTile>& index);
  WrittenTile load(const WrittenTile& pointers, const WrittenArray&, const WrittenTile* mask,
                   const WrittenTile* padding);
  void store(const WrittenTile& pointers, const WrittenTile&, const WrittenTile* mask);
  void add_atomically(const WrittenTile& pointers, const WrittenTile&, const WrittenTile& mask);

  // --- Control
  WrittenTile block(int dimension);
  WrittenTile blocks(int dimension);
  /// A loop that carries these; the counter, and what is carried.
  std::pair<WrittenTile, std::vector<WrittenTile>> begin_for(const WrittenTile& lower, const WrittenTile& upper,
                                                             const WrittenTile& step,
                                                             const std::vector<WrittenTile>& first);
  /// Continues with these; what the loop leaves.
  std::vector<WrittenTile> end_for(const std::vector<WrittenTile>& next);
  void begin_if(const WrittenTile& condition, const std::vector<WrittenTile>& like);
  void begin_else(const std::vector<WrittenTile>& results);
  std::vector<WrittenTile> end_if(const std::vector<WrittenTile>& results);
  void line(const std::string& text) { body_ += text + "\n"; }

  /// The module; `globals` stand before its entry.
  std::string text() const;

  Rng rng;
  Launch launch;

 private:
  struct Region {
    std::size_t at = 0;  // where `%names = ` is put in
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
