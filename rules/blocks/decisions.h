// The decisions of lowering a tile program block by block: how many threads share the tiles of a block, which tiles are
// kept in memory, and how a matrix product is walked.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.h"
#include "core/target.h"
#include "core/trail.h"
#include "ir/tile_program/program.h"

namespace deplo::rules {

/// How the sums of a matrix product are computed.
struct ProductSchedule {
  bool matrix = false;                 // computed by matrix instructions of warps
  std::int64_t rows = 1, columns = 1;  // otherwise: the sums that a thread works on at a time, while it walks k
  bool operator==(const ProductSchedule&) const = default;
};

/// One way to lower an entry.
struct BlockSchedule {
  std::int64_t threads = 1;
  /// Key: the tile's value. Tells whether the tile is kept in memory. For other tiles, the heuristic decides.
  std::map<ir::tile_program::ValueId, bool> kept = {};
  /// Key: the value of the result. Other products are computed by threads without matrix instructions.
  std::map<ir::tile_program::ValueId, ProductSchedule> products = {};
  // Lower bound on the bytes of scratch memory per block, so that schedules have equal buffers.
  std::int64_t scratch = 0;
  bool prints = true;  // whether the kernel prints the program's output
};

/// The decisions of an entry, as a tree. Immutable. The entry must outlive it.
class BlockDecisions {
 public:
  /// `threads`: the options of the first decision. The heuristic's option comes first.
  BlockDecisions(const ir::tile_program::Entry&, const Target&, const std::vector<std::int64_t>& threads);

  /// The decision that follows the choices in `taken`, which must belong to this tree; nullopt if no decision is left.
  /// options[0] is the heuristic's.
  std::optional<Fork> next(const Trail& taken) const;
  /// The schedule of a trail whose choices are in the order of the tree. Decisions after the trail's end take
  /// options[0]. Fails with Status::invalid, naming the first knob or value that does not fit, and what would fit.
  Result<BlockSchedule> schedule(const Trail&) const;

 private:
  /// A decision that does not depend on the number of threads, or a decision about a product.
  struct Knob {
    std::string name;
    ir::tile_program::ValueId value = 0;
    enum class Of : std::uint8_t { keep, by, rows, columns } of = Of::keep;
    const ir::tile_program::Operation* product = nullptr;
  };
  /// Returns nullopt if another choice makes this decision unnecessary.
  std::optional<std::vector<Value>> options(const Knob&, const Trail& taken) const;

  BlockSchedule schedule_of(const Trail& taken) const;

  const ir::tile_program::Entry& entry_;
  Target target_;
  std::vector<Value> threads_;                      // the options of the first decision
  std::vector<Knob> knobs_;                         // the other decisions, in order
  std::map<ir::tile_program::ValueId, bool> kept_;  // the heuristic's choices for the knobs of tiles
};

/// The prefixes of the names of BlockDecisions' knobs, before the dot.
inline constexpr std::string_view threads_group = "blocks", keep_group = "keep", product_group = "product";
inline constexpr std::array groups_of_block_knobs{threads_group, keep_group, product_group};
/// One line for users about a knob of BlockDecisions.
std::string_view meaning_of_block_knob(std::string_view knob);

/// The choices that keep every tile that a schedule may keep.
std::map<ir::tile_program::ValueId, bool> all_kept(const ir::tile_program::Entry&);

/// The numbers of threads that a block may have: powers of two, with the heuristic's choice first. On a CPU it is one
/// thread per block. On a GPU each thread gets a few elements of the largest tile.
std::vector<std::int64_t> block_threads(const ir::tile_program::Entry&, const Target&);

}  // namespace deplo::rules
