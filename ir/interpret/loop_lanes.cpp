#include "ir/interpret/loop_lanes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/walk.h"

namespace deplo::ir::exec {
namespace {

// 256 lanes of a value are 2 KiB, so that the values of a statement stay in the L1 cache. With fewer than 4 lanes, the
// calls per statement cost as much as the work of the lanes.
constexpr std::int64_t few_lanes = 4, max_lanes = 256;

/// Returns the free loops that enclose all other statements, outermost first.
std::vector<const Loop*> outer_loops(const Program& program) {
  std::vector<const Loop*> loops;
  for (const Body* body = &program.body; body->size() == 1; body = &loops.back()->body) {
    const auto* loop = body->front().as<Loop>();
    if (loop == nullptr || loop->axis.bind != Bind::free || loop->step != 1 || !loop->start.is_constant(0)) break;
    loops.push_back(loop);
  }
  return loops;
}

/// True if each iteration writes elements of its own and reads no element that another iteration writes. The order of
/// sums is then preserved.
bool turns_are_independent(const Program& program, const std::vector<const Loop*>& loops) {
  bool independent = true;
  for_each(program.body, [&](const Stmt& stmt) {
    if (const auto* write = stmt.as<Write>()) {
      const auto names = [&](const Loop* loop) {
        return std::ranges::any_of(write->index, [&](const Expr& e) { return depends_on(e, loop->axis.name); });
      };
      independent &=
          !adds(write->mode) && !names_value(program.body, write->index) && std::ranges::all_of(loops, names);
    } else if (const auto* load = stmt.as<Load>()) {
      const Buffer* buffer = program.find(load->buffer);
      independent &= buffer != nullptr && buffer->role != Role::output;
    }
  });
  return independent;
}

std::int64_t largest_divisor(std::int64_t n, std::int64_t max_divisor) {
  std::int64_t divisor = std::min(n, max_divisor);
  while (n % divisor != 0) --divisor;
  return divisor;
}

}  // namespace

std::optional<Program> in_lanes(const Program& loop) {
  if (loop.level != Level::loop) return std::nullopt;
  const std::vector<const Loop*> loops = outer_loops(loop);
  if (loops.empty() || !turns_are_independent(loop, loops)) return std::nullopt;
  std::vector<Axis> blocks, threads;  // both with the innermost axis first
  Substitution parts;
  std::int64_t lanes = 1;
  for (auto outer = loops.rbegin(); outer != loops.rend(); ++outer) {
    const auto& [name, extent, bind] = (*outer)->axis;
    const std::int64_t together = largest_divisor(extent, max_lanes / lanes);
    lanes *= together;
    if (together == extent) {
      threads.push_back({name, extent, Bind::thread});
      continue;
    }
    blocks.push_back({name, extent / together, Bind::block});
    if (together == 1) continue;
    threads.push_back({name + " in lanes", together, Bind::thread});  // no program has an axis of this name
    parts.emplace_back(name, var(name) * together + var(threads.back().name));
  }
  if (lanes < few_lanes) return std::nullopt;
  Tile tile{{blocks.rbegin(), blocks.rend()}, loops.back()->body};
  tile.axes.insert(tile.axes.end(), threads.rbegin(), threads.rend());
  Program result = loop;
  result.level = Level::tile;
  result.body = {std::move(tile)};
  substitute_axes(result, parts);
  return result;
}

}  // namespace deplo::ir::exec
