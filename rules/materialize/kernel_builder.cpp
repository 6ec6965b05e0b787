#include "rules/materialize/kernel_builder.h"

#include "rules/analysis/tile.h"

namespace deplo::rules::materializer {

KernelBuilder::KernelBuilder(const ir::Program& program, const Target& t)
    : tile_program(program), tile(tile_of(program)), target(t) {
  for (const ir::Axis& axis : tile.axes) {
    if (axis.bind == ir::Bind::thread) threads *= axis.extent;
    if (axis.bind == ir::Bind::thread || axis.bind == ir::Bind::block || axis.bind == ir::Bind::cluster)
      scope.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
  }
  for (const ir::Buffer& buffer : program.buffers) reserve(buffer.name);
}

ir::Expr KernelBuilder::thread_id() const {
  ir::Expr id = 0;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::thread) id = id * axis.extent + ir::var(axis.name);
  return ir::simplify(id, scope);
}

ir::Expr KernelBuilder::block_in_cluster() const {
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::cluster) return ir::var(axis.name);
  return 0;
}

std::string KernelBuilder::fresh(const std::string& like) {
  std::string prefix = like.substr(0, like.find_first_of("0123456789"));
  if (prefix.empty()) prefix = "v";
  std::string name;
  do name = prefix + std::to_string(next_[prefix]++);
  while (reserved_.count(name) > 0);
  return name;
}

}  // namespace deplo::rules::materializer
