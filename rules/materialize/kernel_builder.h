// The kernel under construction: its names, its declarations, and the current position in it. Private to
// rules/materialize.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/target.h"
#include "ir/program.h"

namespace deplo::rules::materializer {

struct KernelBuilder {
  KernelBuilder(const ir::Program& tile_program, const Target& target);

  const ir::Program& tile_program;
  const ir::Tile& tile;
  const Target& target;
  std::int64_t threads = 1;  // number of threads in a block

  // The surroundings of the statement that is being lowered.
  ir::Ranges scope;                // ranges of the kernel's axes
  std::vector<std::string> loops;  // axes of the Tile program's loops, outermost first

  ir::Body shared, descriptors;  // declarations: at the head of the kernel's Tile, and before the Tile

  ir::Expr thread_id() const;
  ir::Expr block_in_cluster() const;
  /// Reserves a name, so that no value gets it. Returns false if the name is taken.
  bool reserve(const std::string& name) { return reserved_.insert(name).second; }
  /// Returns a new name of the same kind as `like`. Values are numbered by kind: in0, v0, acc0.
  std::string fresh(const std::string& like);
  std::string fresh_axis() { return "f" + std::to_string(next_axis_++) + "_"; }  // no value has such a name

 private:
  std::set<std::string, std::less<>> reserved_;
  std::map<std::string, int> next_;  // the next number of each kind
  int next_axis_ = 0;
};

}  // namespace deplo::rules::materializer
