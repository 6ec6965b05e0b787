#include "rules/tile/helpers/axes.h"

#include "rules/analysis/tile.h"

namespace deplo::rules {
namespace {

void guard_adds(ir::Body& body, const ir::Expr& condition) {
  for (ir::Stmt& stmt : body) {
    if (ir::Body* inner = ir::inner_body(stmt)) guard_adds(*inner, condition);
    const auto* write = stmt.as<ir::Write>();
    if (write == nullptr || write->mode != ir::WriteMode::add) continue;
    stmt = ir::If{condition, ir::single(std::move(stmt))};
  }
}

}  // namespace

void renumber(ir::Program& program, const std::string& outer, const std::string& inner, std::int64_t count,
              const ir::Expr& to) {
  const std::string whole = ir::lane_variable;  // no axis or value has this name
  const ir::Substitution together = {{whole, to}}, apart = {{outer, to / count}, {inner, to % count}};
  ir::Ranges scope;
  ir::map_expressions(program.body, scope, [&](const ir::Expr& index, const ir::Ranges& ranges) {
    if (!ir::depends_on(index, outer) && !ir::depends_on(index, inner)) return index;
    // Most indices contain the two axes as outer * count + inner.
    const ir::Expr by_number = ir::simplify(ir::substitute(index, {{inner, ir::var(whole) - ir::var(outer) * count}}));
    return ir::simplify(
        ir::depends_on(by_number, outer) ? ir::substitute(index, apart) : ir::substitute(by_number, together), ranges);
  });
}

ir::Expr position(std::initializer_list<std::pair<std::string, std::int64_t>> steps) {
  ir::Expr sum = 0;
  for (const auto& [axis, step] : steps)
    if (!axis.empty()) sum = sum + ir::var(axis) * step;
  return sum;
}

ir::Expr shifted_origin(const std::string& block, std::int64_t size, std::int64_t extent) {
  const ir::Expr origin = ir::var(block) * size;
  return extent % size == 0 ? origin : ir::min(origin, extent - size);
}

void guard_overlap(ir::Program& program, const std::string& block, const std::string& inner, std::int64_t size,
                   std::int64_t extent) {
  if (extent % size == 0) return;
  const ir::Ranges ranges = {{block, {0, ceil_div(extent, size) - 1}}, {inner, {0, size - 1}}};
  // Only the last block starts before the end of its predecessor, by block * size - (extent - size) elements.
  const ir::Expr own = ir::simplify(ir::less(ir::var(block) * size - (extent - size), ir::var(inner) + 1), ranges);
  guard_adds(tile_of(program).body, own);
}

void join(ir::Program& program, std::size_t begin, std::size_t end) {
  if (end - begin < 2) return;
  std::vector<ir::Axis>& axes = tile_of(program).axes;
  const ir::Expr joined = ir::var(axes[end - 1].name);
  ir::Substitution apart;
  std::int64_t within = 1;
  for (std::size_t i = end; i-- > begin; within *= axes[i].extent)
    apart.emplace_back(axes[i].name, i == begin ? joined / within : joined / within % axes[i].extent);
  axes[end - 1].extent = within;
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(begin), axes.begin() + static_cast<std::ptrdiff_t>(end) - 1);
  ir::substitute_axes(program, apart);
}

void split_into_blocks(ir::Program& program, std::size_t position, std::int64_t size) {
  const std::string inner = ir::fresh_axis(program);
  ir::Tile& tile = tile_of(program);
  ir::Axis& axis = tile.axes[position];
  const std::string name = axis.name;
  const std::int64_t extent = axis.extent;
  axis = {name, ceil_div(extent, size), ir::Bind::block};
  tile.axes.insert(tile.axes.begin() + static_cast<std::ptrdiff_t>(position) + 1, {inner, size, ir::Bind::thread});
  ir::substitute_axes(program, {{name, shifted_origin(name, size, extent) + ir::var(inner)}});
  guard_overlap(program, name, inner, size, extent);
}

void split_into_registers(ir::Program& program, std::size_t position, std::int64_t f) {
  if (f == 1) return;
  const std::string reg = ir::fresh_axis(program);
  ir::Tile& tile = tile_of(program);
  const std::string thread = tile.axes[position].name;
  const std::int64_t extent = tile.axes[position].extent;
  tile.axes[position].extent = ceil_div(extent, f);
  tile.axes.push_back({reg, f, ir::Bind::reg});
  ir::substitute_axes(program, {{thread, shifted_origin(thread, f, extent) + ir::var(reg)}});
  guard_overlap(program, thread, reg, f, extent);
}

}  // namespace deplo::rules
