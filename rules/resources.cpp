#include "rules/resources.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ir/stage_layout.h"
#include "ir/walk.h"

namespace deplo::rules {

std::vector<std::int64_t> divisors(std::int64_t n, std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> result;
  const auto add = [&](std::int64_t d) {
    if (d >= low && d <= high) result.push_back(d);
  };
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    add(d);
    if (d != n / d) add(n / d);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::int64_t registers(std::int64_t values, std::int64_t lanes, const Target& target) {
  return target.cpu ? values / lanes : values;
}

std::int64_t register_budget(const Target& target) {
  return target.cpu ? target.register_floats / target.vector_lanes : target.register_floats;
}

bool legal_register_tile(std::int64_t bm, std::int64_t bn, std::int64_t fm, std::int64_t fn, const Target& target) {
  const std::int64_t lanes = std::gcd(fn, target.vector_lanes);
  return bm % fm == 0 && bn % fn == 0 && registers(fm * fn, lanes, target) <= register_budget(target) &&
         (bm / fm) * (bn / fn) <= target.max_threads;
}

bool legal_block_tile(std::int64_t bm, std::int64_t bn, const Target& target) {
  for (std::int64_t fm = std::min(bm, target.register_floats); fm > 0; --fm) {
    if (bm % fm != 0) continue;
    for (std::int64_t fn = std::min(bn, target.register_floats / fm); fn > 0; --fn)
      if (legal_register_tile(bm, bn, fm, fn, target)) return true;
  }
  return false;
}

std::int64_t shared_bytes(const ir::Program& program) {
  const std::int64_t threads = ir::count_of(program.body, ir::Bind::thread);
  std::int64_t total = 0;
  std::set<std::string, std::less<>> seen;  // a pipelined buffer is filled in several places
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    if (const auto* stage = stmt.as<ir::Stage>(); stage != nullptr && seen.insert(stage->buffer).second) {
      const std::int64_t align = ir::alignment(*stage);
      total = (total + align - 1) / align * align +
              ir::physical_count(*stage) * ir::bytes(program.find(stage->source)->dtype);
    }
    if (stmt.as<ir::Combine>() != nullptr) total += threads * ir::bytes(ir::DType::f32);
  });
  return total;
}

bool aligned(const ir::Expr& offset, int lanes, const Target& target) {
  return target.dialect == Dialect::opencl || ir::known_divisor(offset) % lanes == 0;
}

namespace {

void collect_staged(const ir::Body& body, ir::Ranges& scope, std::vector<Staged>& result) {
  const std::size_t outside = scope.size();
  for (const ir::Stmt& stmt : body) {
    if (const auto* stage = stmt.as<ir::Stage>()) {
      const auto same = [&](const Staged& s) { return s.stage->buffer == stage->buffer; };
      if (std::none_of(result.begin(), result.end(), same)) result.push_back({stage, scope});
    }
    if (const auto* tile = stmt.as<ir::Tile>())
      for (const ir::Axis& axis : tile->axes) scope.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
    if (const auto* loop = stmt.as<ir::Loop>()) scope.emplace_back(loop->axis.name, ir::range_of(*loop));
    if (const ir::Body* inner = ir::inner_body(stmt)) collect_staged(*inner, scope, result);
    scope.resize(outside);
  }
}

}  // namespace

std::vector<Staged> staged_buffers(const ir::Program& tile) {
  std::vector<Staged> result;
  ir::Ranges scope;
  collect_staged(tile.body, scope, result);
  return result;
}

std::vector<int> copy_widths(const ir::Stage& stage, const ir::Buffer& source, const Target& target,
                             const ir::Ranges& scope) {
  const ir::SlabAxis& inner = stage.slab.back();
  const std::size_t last = source.shape.size() - 1;
  if (static_cast<std::size_t>(inner.dim) != last || source.strides[last] != 1) return {1};
  const auto range = ir::bounds(stage.origin[last], scope);
  if (!range || range->low < 0 || range->high + inner.extent > source.shape[last]) return {1};
  // Where rows may start: in the source at multiples of the other dimensions' strides, in shared memory after the pad.
  std::int64_t start = ir::known_divisor(ir::simplify(ir::flat_offset(stage.origin, source.strides), scope));
  for (const ir::SlabAxis& axis : stage.slab)
    if (&axis != &inner) start = std::gcd(start, source.strides[static_cast<std::size_t>(axis.dim)]);
  if (stage.pad > 0) start = std::gcd(start, stage.pad);
  const std::int64_t columns = stage.panel > 0 ? stage.panel : inner.extent;
  std::vector<int> widths;
  for (int lanes = static_cast<int>(target.vector_lanes); lanes > 1; lanes /= 2)
    if (columns % lanes == 0 && (target.dialect == Dialect::opencl || start % lanes == 0)) widths.push_back(lanes);
  widths.push_back(1);
  return widths;
}

}  // namespace deplo::rules
