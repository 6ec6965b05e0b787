// What may be chosen when a tile program is lowered block by block: how many threads share the tiles of a block, which
// tiles are kept in memory, and how a product of matrices is walked.
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

/// How the sums of a product of matrices are made.
struct ProductSchedule {
  bool matrix = false;                 // by matrix instructions of warps
  std::int64_t rows = 1, columns = 1;  // else: the sums that a thread works on at a time, while it walks k
  bool operator==(const ProductSchedule&) const = default;
};

/// One way to lower an entry.
struct BlockSchedule {
  std::int64_t threads = 1;
  /// Whether tiles are kept in memory, by value; others: as the heuristic says.
  std::map<ir::tile_program::ValueId, bool> kept = {};
  /// By the value of the result; others: by threads.
  std::map<ir::tile_program::ValueId, ProductSchedule> products = {};
  std::int64_t scratch = 0;  // bytes of scratch memory that a block has at least, so that schedules have equal buffers
  bool prints = true;        // whether the kernel prints what the program prints
};

/// The decisions of an entry, as a tree. Immutable; the entry must outlive it.
class BlockDecisions {
 public:
  /// `threads`: the options of the first decision, the heuristic's first.
  BlockDecisions(const ir::tile_program::Entry&, const Target&, const std::vector<std::int64_t>& threads);

  /// The decision that follows these; nullopt: all are taken. options[0] is the heuristic's. The choices must be of
  /// this tree.
  std::optional<Fork> next(const Trail& taken) const;
  /// The schedule of a trail, written in order. Where it ends, options[0] decides. The failure is Status::invalid and
  /// names the first knob or value that does not fit, and what would fit.
  Result<BlockSchedule> schedule(const Trail&) const;

 private:
  /// A decision that is the same for all numbers of threads, or one of a product.
  struct Knob {
    std::string name;
    ir::tile_program::ValueId value = 0;
    enum class Of : std::uint8_t { keep, by, rows, columns } of = Of::keep;
    const ir::tile_program::Operation* product = nullptr;
  };
  /// nullopt: another choice has decided it.
  std::optional<std::vector<Value>> options(const Knob&, const Trail& taken) const;

  BlockSchedule schedule_of(const Trail& taken) const;

  const ir::tile_program::Entry& entry_;
  Target target_;
  std::vector<Value> threads_;                      // the options of the first decision
  std::vector<Knob> knobs_;                         // the others, in order
  std::map<ir::tile_program::ValueId, bool> kept_;  // by the heuristic, of the knobs' values
};

/// What stands before the dot of the names of BlockDecisions' knobs.
inline constexpr std::string_view threads_group = "blocks", keep_group = "keep", product_group = "product";
inline constexpr std::array groups_of_block_knobs{threads_group, keep_group, product_group};
/// One line about a knob of BlockDecisions, for people.
std::string_view meaning_of_block_knob(std::string_view knob);

/// Every tile that a schedule may keep, kept.
std::map<ir::tile_program::ValueId, bool> all_kept(const ir::tile_program::Entry&);

/// The numbers of threads that a block may have: powers of two, the heuristic's pick first. On a CPU the pick is one
/// thread per block; on a GPU each thread gets a few elements of the largest tile.
std::vector<std::int64_t> block_threads(const ir::tile_program::Entry&, const Target&);

}  // namespace deplo::rules
