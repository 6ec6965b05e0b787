// The sets of kernels that a source may become, by decisions about the source as a whole: those of fusion about a graph,
// and the form of a tile program's launch. Tuning measures them (engine/tune/kernel_sets.h), and stores keep the choice.
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
  Trail changes;       // the decisions that are not the heuristic's
  Trail trail;         // all decisions
  std::string digest;  // of the kernels, except for their names
};

class Alternatives {
 public:
  /// Is there any decision about such a source as a whole?
  static bool exist_for(const Source&);
  /// Throws Error in one line if something is wrong with the source.
  Alternatives(const Source&, const Target&);
  Alternatives(ir::torch::Graph, Passes);

  /// Identifies the source, and what is fixed about its kernels, in stores.
  std::string key() const;
  /// The heuristic's, then one for each other option of each decision, with the heuristic's options for the others.
  std::vector<Alternative> all() const;
  /// The alternative with these decisions. A failure: they do not fit this source.
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
