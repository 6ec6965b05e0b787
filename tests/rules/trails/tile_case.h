// Launches of tile programs that trails begin with: those of files, and drawn ones.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "rules/raise/launch.h"

namespace deplo::rules {

struct TileSubject {
  ir::tile_program::Program program;
  Launch launch;
  double tolerance = 0;  // how far the raised kernels may be from the tile program, of the greatest of an array
};

/// A family of launches.
struct TileKind {
  enum class Raised { always, partly, never };
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> symbols;  // each with the greatest that takes milliseconds
  Raised raised = Raised::always;
  std::uint64_t weight = 1;  // how often it is drawn beside others
  bool drawn = false;        // the program, too
  std::function<TileSubject(const ir::Symbols&, std::uint64_t draw)> make;
};

/// Programs that are written for the case; `draw` is the seed of what they have.
const std::vector<TileKind>& drawn_tile_kinds();
/// Those, and the programs of experiments/tile and experiments/tile/exported. Every clone has the same kinds, so that
/// the same seeds draw the same cases everywhere.
const std::vector<TileKind>& tile_kinds();
/// The programs of ../shared/tile_programs; none if that folder does not exist.
const std::vector<TileKind>& shared_tile_kinds();
/// Looks the name up in both lists; nullptr if neither has it.
const TileKind* find_tile_kind(std::string_view name);

}  // namespace deplo::rules
