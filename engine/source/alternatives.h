// The alternative sets of kernels that a source may become. They follow from decisions about the source as a whole: the
// decisions of fusion for a graph, and the form for a launch of a tile program. Tuning measures the sets
// (engine/tune/kernel_sets.h), and stores keep the choice.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "core/outcome.h"
#include "core/target.h"
#include "core/trail.h"
#include "engine/source/graph.h"
#include "engine/source/source.h"
#include "engine/source/tile_program/tile_launch.h"

namespace deplo::engine {

struct Alternative {
  Trail changes;       // the decisions that differ from the heuristic's
  Trail trail;         // all decisions
  std::string digest;  // digest of the kernels, ignoring their names
};

class Alternatives {
 public:
  /// Returns true if such a source can have decisions about the source as a whole.
  static bool exist_for(const Source&);
  /// Throws Error in one line if something is wrong with the source.
  Alternatives(const Source&, const Target&);
  Alternatives(ir::torch::Graph, Passes);

  /// Returns a key that identifies the source in stores. A graph's key also contains what is fixed about its kernels.
  std::string key() const;
  /// Returns the heuristic's alternative, then one alternative for each other option of each decision, with the
  /// heuristic's options for all other decisions. Leaves out a form in which a launch cannot be tuned.
  std::vector<Alternative> all() const;
  /// Returns the alternative with these decisions. Fails if they do not fit this source.
  Result<Alternative> follow(const Trail& taken) const;

 private:
  struct Graph {
    ir::torch::Graph graph;
    Passes passes;
  };
  struct Launch {
    TileLaunch launch;
    SourceOptions options;
    Target target;
  };
  static std::variant<Graph, Launch> read(const Source&, const Target&);
  std::variant<Graph, Launch> source_;
};

}  // namespace deplo::engine
