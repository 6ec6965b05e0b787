// The kernel that is being written: names, declarations, and where in it the lowering stands. Private to
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
  std::int64_t threads = 1;  // of a block

  // Around the statement that is lowered.
  ir::Ranges scope;                // of the kernel's axes
  std::vector<std::string> loops;  // axes of the Tile program's loops, outermost first

  ir::Body shared, descriptors;  // declarations at the head of the kernel's Tile and before it

  ir::Expr thread_id() const;
  ir::Expr block_in_cluster() const;
  /// Keeps a name from all values; false where it is taken.
  bool reserve(const std::string& name) { return reserved_.insert(name).second; }
  /// Values are numbered by kind, as `like` is: in0, v0, acc0.
  std::string fresh(const std::string& like);
  std::string fresh_axis() { return "f" + std::to_string(next_axis_++) + "_"; }  // no value is called so

 private:
  std::set<std::string, std::less<>> reserved_;
  std::map<std::string, int> next_;  // by kind
  int next_axis_ = 0;
};

}  // namespace deplo::rules::materializer
