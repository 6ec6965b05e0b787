#include "rules/tile/helpers/split_sums.h"

#include <algorithm>
#include <numeric>

#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

bool holds(const ir::Stmt& stmt, const ir::Loop& loop) {
  if (stmt.as<ir::Loop>() == &loop) return true;
  const ir::Body* inner = ir::inner_body(stmt);
  return inner != nullptr && std::ranges::any_of(*inner, [&](const ir::Stmt& s) { return holds(s, loop); });
}

// Returns whether one thread may execute the statement for all threads that have a part of the sum.
bool is_of_one(const ir::Stmt& stmt) {
  const auto* guard = stmt.as<ir::If>();
  return is_scalar(stmt) || stmt.as<ir::Write>() != nullptr ||
         (guard != nullptr && std::ranges::all_of(guard->then, is_of_one));
}

bool is_exchange(const ir::Stmt& stmt) {
  const auto* combine = stmt.as<ir::Combine>();
  return combine != nullptr && combine->to;
}

// Returns which of the `parts` threads or blocks receives a sum. If every sum depends on the rows of the register tile,
// the rows are shared evenly by as many receivers as divide their number; otherwise part 0 receives all sums. The first
// REG axis counts the rows if there is another REG axis for the columns.
ir::Expr receiver(const ir::Tile& tile, const SplitSums& sums, std::int64_t parts) {
  const auto is_reg = [](const ir::Axis& axis) { return axis.bind == ir::Bind::reg; };
  if (std::ranges::count_if(tile.axes, is_reg) < 2) return 0;
  const ir::Axis& rows = *std::ranges::find_if(tile.axes, is_reg);
  const auto on_rows = dependent_names(tile.body, rows.name);
  const bool all = std::ranges::all_of(sums.accumulators, [&](const auto& acc) { return on_rows.count(acc) > 0; });
  const std::int64_t receivers = all ? std::gcd(parts, rows.extent) : 1;
  return ir::simplify(ir::var(rows.name) / (rows.extent / receivers), {{rows.name, {0, rows.extent - 1}}});
}

}  // namespace

std::optional<SplitSums> find_split_sums(const ir::Program& program, const ir::Loop& products) {
  const ir::Body& body = tile_of(program).body;
  const auto at = std::ranges::find_if(body, [&](const ir::Stmt& stmt) { return holds(stmt, products); });
  if (!std::all_of(body.begin(), at, is_scalar)) return std::nullopt;
  const auto behind = std::find_if_not(at + 1, body.end(), is_exchange);
  if (!std::all_of(behind, body.end(), is_of_one)) return std::nullopt;
  SplitSums sums = {static_cast<std::size_t>(at - body.begin()), {}};
  bool sound = true;
  for (const ir::AccumulatorStart& start : ir::accumulator_starts(body)) {
    sound &= start.body == &body && start.op == ir::Op::add;
    sums.accumulators.push_back(start.acc);
  }
  ir::for_each<ir::Accum>(body, [&](const ir::Accum& accum) { sound &= accum.type == ir::Type{}; });
  return sound ? std::optional(std::move(sums)) : std::nullopt;
}

bool has_room(const ir::Program& program, const SplitSums& sums, std::int64_t copies, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  constexpr std::int64_t granule = 16;  // alignment of buffers in shared memory, in bytes
  const std::int64_t outputs = ir::count_of(tile, ir::Bind::thread) * ir::count_of(tile, ir::Bind::reg),
                     bytes = ceil_div(outputs * copies * ir::bytes(ir::DType::f32), granule) * granule;
  return shared_bytes(program, target) + std::ssize(sums.accumulators) * bytes <= target.shared_bytes;
}

void merge_sums(ir::Program& program, const SplitSums& sums, const ir::Axis& split) {
  const ir::Expr to = receiver(tile_of(program), sums, split.extent);
  ir::Body& body = tile_of(program).body;
  const auto loop = body.begin() + static_cast<std::ptrdiff_t>(sums.at) + 1;
  const auto behind = std::find_if_not(loop, body.end(), is_exchange);
  ir::If rest = {ir::equal(ir::var(split.name), to), {}};
  rest.then.assign(std::make_move_iterator(behind), std::make_move_iterator(body.end()));
  body.erase(behind, body.end());
  auto merge = split.bind == ir::Bind::thread ? body.begin() + static_cast<std::ptrdiff_t>(sums.at) + 1 : body.end();
  for (const std::string& acc : sums.accumulators)
    merge = body.insert(merge, ir::Combine{acc, ir::Op::add, {split.name}, to}) + 1;
  body.emplace_back(std::move(rest));
}

std::vector<ir::Expr*> receivers(ir::Tile& tile) {
  std::vector<ir::Expr*> result;
  std::vector<std::string> split;
  ir::for_each(tile.body, [&](ir::Stmt& stmt) {
    if (auto* combine = stmt.as<ir::Combine>(); combine != nullptr && combine->to) {
      result.push_back(&*combine->to);
      split.push_back(combine->over.front());
    }
    auto* guard = stmt.as<ir::If>();
    const auto compares = [&](const std::string& axis) { return ir::depends_on(guard->condition, axis); };
    if (guard != nullptr && std::ranges::any_of(split, compares)) result.push_back(&guard->condition);
  });
  return result;
}

}  // namespace deplo::rules
