// Launches of tile programs with which random trails begin: programs from files, and generated ones.
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
  double tolerance = 0;  // largest difference of the raised kernels, relative to an array's largest element
};

/// A family of launches.
struct TileKind {
  enum class Raised { always, partly, never };
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> symbols;  // each with the largest extent that takes milliseconds
  Raised raised = Raised::always;
  std::uint64_t weight = 1;  // how often the kind is drawn, relative to the others
  bool drawn = false;        // whether the program is generated, too
  std::function<TileSubject(const ir::Symbols&, std::uint64_t draw)> make;
};

/// Returns the kinds whose programs are generated for each case. `draw` is the seed of the program.
const std::vector<TileKind>& drawn_tile_kinds();
/// Returns these kinds, and the programs of experiments/tile and experiments/tile/exported. Every clone has the same
/// kinds, so that the same seeds draw the same cases everywhere.
const std::vector<TileKind>& tile_kinds();
/// Returns the programs of ../shared/tile_programs; none if that folder does not exist.
const std::vector<TileKind>& shared_tile_kinds();
/// Looks the name up in both lists; nullptr if neither has it.
const TileKind* find_tile_kind(std::string_view name);

}  // namespace deplo::rules
