#include "rules/resources.h"

#include <algorithm>

#include "ir/walk.h"

namespace deplo::rules {

std::vector<std::int64_t> divisors(std::int64_t n, std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> result;
  for (std::int64_t d = std::max<std::int64_t>(low, 1); d <= std::min(n, high); ++d)
    if (n % d == 0) result.push_back(d);
  return result;
}

bool legal_register_tile(std::int64_t bm, std::int64_t bn, std::int64_t fm, std::int64_t fn, const Target& target) {
  return bm % fm == 0 && bn % fn == 0 && fm * fn <= target.register_floats &&
         (bm / fm) * (bn / fn) <= target.max_threads;
}

bool legal_block_tile(std::int64_t bm, std::int64_t bn, const Target& target) {
  for (const std::int64_t fm : divisors(bm, 1, target.register_floats))
    for (const std::int64_t fn : divisors(bn, 1, target.register_floats / fm))
      if (legal_register_tile(bm, bn, fm, fn, target)) return true;
  return false;
}

std::int64_t shared_bytes(const ir::Program& program) {
  std::int64_t total = 0, threads = 1;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    if (const auto* tile = stmt.as<ir::Tile>())
      for (const ir::Axis& axis : tile->axes)
        if (axis.bind == ir::Bind::thread) threads *= axis.extent;
    if (const auto* stage = stmt.as<ir::Stage>()) {
      std::int64_t bytes = ir::bytes(program.find(stage->source)->dtype);
      for (const ir::SlabAxis& axis : stage->slab) bytes *= axis.extent;
      total += bytes;
    }
    if (stmt.as<ir::Combine>() != nullptr) total += threads * ir::bytes(ir::DType::f32);
  });
  return total;
}

bool aligned(const ir::Expr& offset, int lanes, const Target& target) {
  return target.dialect == Dialect::opencl || ir::known_divisor(offset) % lanes == 0;
}

}  // namespace deplo::rules
