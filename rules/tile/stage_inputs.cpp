// stage_inputs: a slab of an input that the threads of a block reuse is copied to shared memory once.
//   for a5 in 0..56: # free                        for a5 in 0..56: # free
//     for a6 in 0..16: # reduce             →        b_smem = Stage(b, origin=((a5 * 16), (a3 * 128)), slab=(s0:16@0,
//     s1:128@1))
//       in0 = load b[((a5 * 16) + a6), ((a3 * 128) + a4)]   for a6 in 0..16: # reduce
//                                                               in0 = load b_smem[a6, a4]
// One knob per stageable buffer. A matmul stages the chunks of its operands, a reduction a row that is read more than
// once.
#include <algorithm>

#include "ir/walk.h"
#include "rules/resources.h"
#include "rules/tile/common.h"
#include "rules/tile/rules.h"

namespace deplo::rules {
namespace {

struct Plan {
  ir::Stage stage;
  std::vector<ir::Expr> index;  // of the loads, into the stage's buffer
  std::int64_t bytes = 0;
};

// Ranges of what varies inside the staged region: thread axes and the loops below it. Everything else is the origin.
ir::Ranges inside(const ir::Tile& tile, const ir::Body& region) {
  ir::Ranges ranges;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::thread || axis.bind == ir::Bind::reg)
      ranges.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
  ir::for_each(region, [&](const ir::Stmt& stmt) {
    if (const auto* loop = stmt.as<ir::Loop>())
      ranges.emplace_back(loop->axis.name, ir::Interval{0, loop->axis.extent - 1});
  });
  return ranges;
}

// Splits one index into origin + local; local is a single axis or a sum with known bounds.
bool split_index(const ir::Expr& index, const ir::Ranges& ranges, ir::Expr& origin, ir::Expr& local) {
  ir::Substitution zero;
  for (const auto& [name, range] : ranges) zero.emplace_back(name, ir::Expr(0));
  origin = ir::simplify(ir::substitute(index, zero));
  local = 0;
  for (const auto& [name, range] : ranges) {
    if (!ir::depends_on(index, name)) continue;
    const auto c = ir::coefficient(index, name);
    if (!c || *c < 0) return false;
    local = local + ir::var(name) * *c;
  }
  local = ir::simplify(local, ranges);
  return true;
}

bool is_taken(const ir::Program& program, const std::string& name) {
  bool taken = program.find(name) != nullptr;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) { taken |= ir::defined(stmt) == name; });
  return taken;
}

// `columns`: what a matmul's loads walk along n by. It comes last in the slab, so that vectors lie along n also where
// the source has it in another place (k transposed in q @ k.T).
std::optional<Plan> plan_load(const ir::Program& program, const ir::Load& load, const ir::Ranges& ranges,
                              const std::string& columns) {
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->role != ir::Role::input || gathers(program, load.index)) return std::nullopt;
  Plan plan;
  plan.stage = {load.buffer + "_smem", load.buffer, {}, {}};
  if (is_taken(program, plan.stage.buffer)) return std::nullopt;
  plan.bytes = ir::bytes(source->dtype);
  std::vector<ir::Expr> locals(load.index.size());
  std::vector<std::size_t> dims(load.index.size());
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    ir::Expr origin;
    if (!split_index(load.index[d], ranges, origin, locals[d])) return std::nullopt;
    plan.stage.origin.push_back(origin);
    dims[d] = d;
  }
  std::stable_partition(dims.begin(), dims.end(), [&](std::size_t d) { return !ir::depends_on(locals[d], columns); });
  for (const std::size_t d : dims) {
    if (locals[d].is_constant(0)) continue;
    const std::int64_t extent = ir::bounds(locals[d], ranges)->high + 1;
    plan.stage.slab.push_back({"s" + std::to_string(plan.stage.slab.size()), extent, static_cast<int>(d)});
    plan.index.push_back(locals[d]);
    plan.bytes *= extent;
  }
  if (plan.stage.slab.empty()) return std::nullopt;
  return plan;
}

// The body that stages go into: a chunk loop of a matmul, or the tile body of a reduction; nullptr: none.
const ir::Body* region_of(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  if (find_matmul(program))
    for (const ir::Stmt& stmt : tile.body)
      if (const auto* loop = stmt.as<ir::Loop>(); loop != nullptr && loop->axis.bind == ir::Bind::free)
        return &loop->body;
  return has_reduce(tile.body) ? &tile.body : nullptr;
}

bool loads(const ir::Body& body, const std::string& buffer) {
  bool found = false;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

// Every load of a buffer must be of the same slab; a row has to be read twice to be worth a copy, an operand of a
// matmul in its reduce loop (what the epilogue adds is read once).
std::vector<Plan> stageable(const ir::Program& program, const ir::Body& region) {
  const auto matmul = find_matmul(program);
  const std::string columns = matmul ? tile_of(program).axes[matmul->n].name : "";
  const ir::Ranges ranges = inside(tile_of(program), region);
  std::vector<Plan> plans;
  std::vector<int> uses;
  ir::for_each(region, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    if (load == nullptr) return;
    const auto same = [&](const Plan& p) { return p.stage.source == load->buffer; };
    const auto known = std::find_if(plans.begin(), plans.end(), same);
    auto plan = plan_load(program, *load, ranges, columns);
    if (known == plans.end()) {
      plans.push_back(plan.value_or(Plan{{load->buffer + "_smem", load->buffer, {}, {}}, {}, 0}));
      uses.push_back(plan ? 1 : -1);
      return;
    }
    int& count = uses[static_cast<std::size_t>(known - plans.begin())];
    const bool fits = plan && count > 0 && plan->stage == known->stage;
    count = fits ? count + 1 : -1;
  });
  const ir::Body product = matmul ? matmul->reduce->body : ir::Body{};
  std::vector<Plan> result;
  for (std::size_t i = 0; i < plans.size(); ++i)
    if (uses[i] >= (matmul ? 1 : 2) && (!matmul || loads(product, plans[i].stage.source)))
      result.push_back(std::move(plans[i]));
  return result;
}

// GPUs stage whatever they may. On CPUs shared memory is ordinary memory: only the operand that is read along n gains,
// by a compact copy of rows that lie pages apart.
bool wanted(const Plan& plan, const ir::Program& program, const Target& target) {
  if (!target.cpu) return true;
  const auto matmul = find_matmul(program);
  return matmul && ir::depends_on(plan.index.back(), tile_of(program).axes[matmul->n].name);
}

Verdict decide(const ir::Program& program, const Target& target, std::span<const Choice> pins) {
  const ir::Body* region = region_of(program);
  if (region == nullptr) return Skip{"no chunk loop and no shared reduction"};
  const std::vector<Plan> plans = stageable(program, *region);
  if (plans.empty()) return Skip{"no load qualifies for staging"};
  std::int64_t taken = shared_bytes(program);
  for (const Plan& plan : plans) {
    const auto choice = pinned(pins, plan.stage.source);
    const bool fits = taken + plan.bytes <= target.shared_bytes;
    if (!choice && !fits) continue;
    if (!choice) {
      const std::int64_t first = wanted(plan, program, target) ? 1 : 0;
      return Fork{plan.stage.source, {Value{first}, Value{1 - first}}};
    }
    if (*choice == 1) taken += plan.bytes;
  }
  if (pins.empty()) return Skip{"no slab fits shared memory"};
  return Apply{};
}

void redirect_loads(ir::Body& body, const Plan& plan) {
  for (ir::Stmt& stmt : body) {
    if (auto* load = stmt.as<ir::Load>(); load != nullptr && load->buffer == plan.stage.source) {
      // The same slab, but each load has its own position in it.
      std::vector<ir::Expr> local;
      for (std::size_t s = 0; s < plan.stage.slab.size(); ++s) {
        const auto d = static_cast<std::size_t>(plan.stage.slab[s].dim);
        local.push_back(ir::simplify(load->index[d] - plan.stage.origin[d]));
      }
      load->buffer = plan.stage.buffer;
      load->index = std::move(local);
    }
    if (ir::Body* inner = ir::inner_body(stmt)) redirect_loads(*inner, plan);
  }
}

ir::Program apply(ir::Program program, const Target&, std::span<const Choice> pins) {
  auto* region = const_cast<ir::Body*>(region_of(program));
  std::vector<Plan> plans = stageable(program, *region);
  std::size_t at = 0;
  for (Plan& plan : plans) {
    if (pinned(pins, plan.stage.source).value_or(0) == 0) continue;
    redirect_loads(*region, plan);
    region->insert(region->begin() + static_cast<std::ptrdiff_t>(at++), std::move(plan.stage));
  }
  return program;
}

}  // namespace

const Rule stage_inputs = {"stage_inputs", decide, apply};

}  // namespace deplo::rules
