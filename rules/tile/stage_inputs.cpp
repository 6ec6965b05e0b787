// stage_inputs: a slab of an input that the threads of a block reuse is copied to shared memory once.
//   for a5 in 0..56: # free
//     for a6 in 0..16: # reduce
//       in0 = load b[((a5 * 16) + a6), ((a3 * 128) + a4)]
//     →   for a5 in 0..56: # free
//           b_smem = Stage(b, origin=((a5 * 16), (a3 * 128)), slab=(s0:16@0, s1:128@1))
//           for a6 in 0..16: # reduce
//             in0 = load b_smem[a6, a4]
// One knob per stageable buffer. A matmul stages the chunks of its operands, a reduction a row that is read more than
// once, or the chunks of its row, in each sweep a buffer of its own. On CPUs 16 bits are converted once, on the way.
// Rows of a convolution lie in lines of images, so the origin says where each of them is:
//       in0 = load x[((a0 * 64) + a1) / 56, ((a0 * 64) + a1) % 56 * 32 + a6]
//     →   x_smem = Stage(x, origin=(((a0 * 64) + s0) / 56, ((a0 * 64) + s0) % 56 * 32), slab=(s0:64, s1:32@1))
#include <algorithm>

#include "ir/hardware/stage_layout.h"
#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

constexpr std::int64_t most_alignment = 64;  // bytes, of a stage that is copied (CPUs: a vector of 16 floats)

struct Plan {
  ir::Stage stage;
  std::vector<ir::Expr> index;      // of the loads, into the stage's buffer
  std::string rows;                 // the axis along which the origin names the slab's first axis; "": none
  std::optional<std::size_t> loop;  // in whose body of the tile's statements it stands; nullopt: in the tile's
  std::int64_t bytes = 0;
  std::vector<std::vector<ir::Expr>> loads;  // their indices, of those that read the slab
  bool mixed = false;                        // is some load of another slab?
  std::int64_t readers = 1;                  // threads that read one element
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

// Do the values that the index names stand before the region, the same for all of it? A slab begins where they say,
// along dimensions of which it has one element.
bool begins_by_values(const ir::Tile& tile, const ir::Expr& index, const ir::Expr& local, const ir::Ranges& inside,
                      const std::vector<std::string>& before) {
  std::vector<std::string> names;
  ir::collect_variables(index, names);
  const auto is_value = [&](const std::string& name) { return ir::names_value(tile.body, {ir::var(name)}); };
  std::erase_if(names, [&](const std::string& name) { return !is_value(name); });
  if (names.empty()) return true;
  const auto known = [&](const std::string& name) { return std::ranges::find(before, name) != before.end(); };
  const auto varies = [&](const std::string& axis) {
    const auto on_axis = dependent_names(tile.body, axis);
    return std::ranges::any_of(names, [&](const std::string& name) { return on_axis.contains(name); });
  };
  return local.is_constant(0) && std::ranges::all_of(names, known) &&
         std::ranges::none_of(inside, [&](const auto& range) { return varies(range.first); });
}

// The axes of a matmul's outputs; "": there is none.
struct Sides {
  std::string rows, columns;
};

// `columns` come last in the slab, so that vectors lie along n also where the source has it in another place (k
// transposed in q @ k.T). `in_lines`: the origin says where each row is.
std::optional<Plan> plan_load(const ir::Program& program, const ir::Load& load, const ir::Ranges& ranges,
                              const std::vector<std::string>& before, const Sides& sides, bool in_lines,
                              const Target& target) {
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->role != ir::Role::input) return std::nullopt;
  if (source->dtype == ir::DType::i64 || ir::is_integer8(source->dtype)) return std::nullopt;  // no copies have them
  Plan plan;
  plan.stage.source = load.buffer;
  plan.stage.dtype = target.cpu ? ir::value_type(source->dtype) : source->dtype;
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  if (std::ranges::any_of(axes, [&](const ir::Axis& axis) {
        return axis.bind == ir::Bind::vector && ir::depends_on(load.index, axis.name);
      }))
    return std::nullopt;  // its lanes, which an online softmax has dealt out, lie in memory already
  std::vector<ir::Expr> index = load.index;
  ir::Ranges walked = ranges;  // by the slab's axes that walk a dimension
  if (in_lines && ir::names_value(program.body, load.index)) return std::nullopt;  // loaded numbers say where
  if (in_lines) {
    plan.rows = sides.rows;
    plan.index.push_back(ir::var(sides.rows));
    const std::int64_t extent = ir::bounds(ir::var(sides.rows), ranges)->high + 1;
    plan.stage.slab.push_back({"s0", extent, ir::SlabAxis::in_origin});
    std::erase_if(walked, [&](const auto& range) { return range.first == sides.rows; });
    for (ir::Expr& e : index) e = ir::substitute(e, {{sides.rows, ir::var(plan.stage.slab[0].name)}});
  }
  std::vector<ir::Expr> locals(load.index.size());
  std::vector<std::size_t> dims(load.index.size());
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    ir::Expr origin;
    if (!split_index(index[d], walked, origin, locals[d])) return std::nullopt;
    if (!begins_by_values(tile_of(program), load.index[d], locals[d], ranges, before)) return std::nullopt;
    plan.stage.origin.push_back(origin);
    dims[d] = d;
  }
  std::stable_partition(dims.begin(), dims.end(),
                        [&](std::size_t d) { return !ir::depends_on(locals[d], sides.columns); });
  for (const std::size_t d : dims) {
    if (locals[d].is_constant(0)) continue;
    const std::int64_t extent = ir::bounds(locals[d], walked)->high + 1;
    plan.stage.slab.push_back({"s" + std::to_string(plan.stage.slab.size()), extent, static_cast<int>(d)});
    plan.index.push_back(locals[d]);
  }
  if (plan.stage.slab.empty()) return std::nullopt;
  plan.bytes = ir::physical_count(plan.stage) * ir::bytes(plan.stage.dtype);
  return plan;
}

template <class T>
auto& body_of(T& tile, std::optional<std::size_t> loop) {
  return loop ? tile.body[*loop].template as<ir::Loop>()->body : tile.body;
}

// The values of the tile's body that stand before the region.
std::vector<std::string> values_before(const ir::Tile& tile, std::optional<std::size_t> loop) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < loop.value_or(0); ++i)
    if (is_scalar(tile.body[i])) names.push_back(ir::defined(tile.body[i]));
  return names;
}

// How many threads of the block read the same element? Those that share a sweep do not.
std::int64_t count_readers(const ir::Tile& tile, const ir::Body& region, const std::vector<ir::Expr>& index) {
  std::vector<std::string> own;
  for (const ir::Expr& e : index) ir::collect_variables(e, own);
  ir::for_each(region, [&](const ir::Stmt& stmt) {
    if (const auto* loop = stmt.as<ir::Loop>()) ir::collect_variables(loop->start, own);
  });
  std::int64_t readers = 1;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::thread && std::find(own.begin(), own.end(), axis.name) == own.end())
      readers *= axis.extent;
  return readers;
}

// Is the element that the load reads in the slab?
bool holds(const ir::Stage& stage, const ir::Load& load) {
  if (has_rows_in_lines(stage)) return false;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const auto axis = std::ranges::find(stage.slab, static_cast<int>(d), &ir::SlabAxis::dim);
    const std::int64_t extent = axis == stage.slab.end() ? 1 : axis->extent;
    const ir::Expr place = ir::simplify(load.index[d] - stage.origin[d]);
    if (place.kind() != ir::Expr::Kind::constant || place.value() < 0 || place.value() >= extent) return false;
  }
  return true;
}

// Of two slabs of one buffer on a CPU: the columns of a matmul, where the other one has its rows (queries and keys that
// are parts of one tensor). The rows stay where they are. nullopt: both or none are columns.
std::optional<Plan> of_columns(const Plan& a, const Plan& b, const Sides& sides, const Target& target) {
  const auto walks = [](const Plan& plan, const std::string& axis) { return ir::depends_on(plan.index, axis); };
  const auto is_columns = [&](const Plan& x, const Plan& y) {
    return walks(x, sides.columns) && !walks(x, sides.rows) && walks(y, sides.rows) && !walks(y, sides.columns);
  };
  if (!target.cpu || sides.columns.empty()) return std::nullopt;
  return is_columns(a, b) ? std::optional(a) : is_columns(b, a) ? std::optional(b) : std::nullopt;
}

// The buffers of a region, each with the slab that every load of it must be of. A load of one element, such as a row's
// first, makes no slab but may read one.
std::vector<Plan> plan_region(const ir::Program& program, std::optional<std::size_t> loop, const Sides& sides,
                              const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const ir::Body& region = body_of(tile, loop);
  const ir::Ranges ranges = inside(tile, region);
  const std::vector<std::string> before = values_before(tile, loop);
  std::vector<Plan> plans;
  std::vector<const ir::Load*> singles;  // of one element in the whole region
  const auto varies = [&](const ir::Expr& e) {
    return std::ranges::any_of(ranges, [&](const auto& range) { return ir::depends_on(e, range.first); });
  };
  ir::for_each(region, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    if (load == nullptr) return;
    if (std::ranges::none_of(load->index, varies)) return singles.push_back(load);
    const auto same = [&](const Plan& p) { return p.stage.source == load->buffer; };
    const auto known = std::find_if(plans.begin(), plans.end(), same);
    if (known != plans.end() && known->mixed) return;
    auto plan = plan_load(program, *load, ranges, before, sides, false, target);
    // On CPUs what lies in lines is read in place, by rows that lie within a line.
    if (!plan && !target.cpu && ir::depends_on(load->index, sides.rows))
      plan = plan_load(program, *load, ranges, before, sides, true, target);
    if (plan) {
      plan->loads = {load->index};
      plan->loop = loop;
      plan->readers = count_readers(tile, region, plan->index);
    }
    if (known == plans.end()) {
      plans.push_back(plan.value_or(Plan{}));
      plans.back().stage.source = load->buffer;
      plans.back().mixed = !plan;
    } else if (plan && plan->stage == known->stage) {
      known->loads.push_back(load->index);
    } else if (const auto columns = plan ? of_columns(*known, *plan, sides, target) : std::nullopt) {
      *known = *columns;
    } else {
      known->mixed = true;
    }
  });
  for (const ir::Load* load : singles)
    for (Plan& plan : plans)
      if (plan.stage.source == load->buffer && !plan.mixed && !holds(plan.stage, *load)) plan.mixed = true;
  return plans;
}

// The chunk loop of a matmul, or of a row's sweeps (chunk_reduce), which holds nothing but the sweep.
bool is_chunk_loop(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop == nullptr || loop->axis.bind != ir::Bind::free || loop->body.size() != 1) return false;
  const auto* sweep = loop->body[0].as<ir::Loop>();
  return sweep != nullptr && sweep->axis.bind == ir::Bind::reduce;
}

// A matmul stages the operands of its product (what the epilogue adds is read once), chunk by chunk. A row has to be
// read twice to be worth a copy; a chunk of it once, the copy can be ahead of its use.
std::vector<Plan> find_plans(const ir::Program& program, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const auto matmul = find_matmul(program);
  const Sides sides = matmul ? Sides{tile.axes[matmul->m].name, tile.axes[matmul->n].name} : Sides{};
  std::vector<Plan> result;
  std::set<std::string, std::less<>> chunked;
  for (std::size_t i = 0; i < tile.body.size(); ++i) {
    if (!is_chunk_loop(tile.body[i])) continue;
    for (Plan& plan : plan_region(program, i, sides, target)) {
      chunked.insert(plan.stage.source);
      if (!plan.mixed) result.push_back(std::move(plan));
    }
  }
  if ((!matmul || chunked.empty()) && has_reduce(tile.body))
    for (Plan& plan : plan_region(program, std::nullopt, sides, target))
      if (!plan.mixed && plan.loads.size() >= (matmul ? 1U : 2U) && chunked.count(plan.stage.source) == 0)
        result.push_back(std::move(plan));
  if (matmul) std::erase_if(result, [&](const Plan& plan) { return !loads(matmul->reduce->body, plan.stage.source); });
  return result;
}

// Does the load read windows: along one dimension a row or a column of the matmul together with the chunk, which is an
// element of a convolution's kernel?
bool reads_windows(const ir::Program& program, const Matmul& matmul, const ir::Loop& chunks, const ir::Load& load) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  return std::ranges::any_of(load.index, [&](const ir::Expr& e) {
    return ir::depends_on(e, chunks.axis.name) &&
           (ir::depends_on(e, axes[matmul.m].name) || ir::depends_on(e, axes[matmul.n].name));
  });
}

// On CPUs a convolution reads its columns in place if they are windows, whose lines are in the caches for the next
// element of the kernel, or if an element has few channels: a copy of so few rows is a barrier, at which all sums are
// stored and loaded. With 16, 32 and 64 channels the copy took 1.6, 1.3 to 2.0 and 1.0 to 1.4 times as long, with 96 or
// more 0.75 to 1.06, and with windows 1.2 to 2.0 (docs/performance.md, "KernelBench, level 1").
bool copies_columns(const Plan& plan, const ir::Program& program, const Matmul& matmul) {
  constexpr std::int64_t least_channels = 96;
  if (!plan.loop) return true;
  const ir::Loop& chunks = *tile_of(program).body[*plan.loop].as<ir::Loop>();
  bool convolves = false, of_columns = false;
  ir::for_each(matmul.reduce->body, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    if (load == nullptr || !reads_windows(program, matmul, chunks, *load)) return;
    convolves = true;
    of_columns |= load->buffer == plan.stage.source;
  });
  return !convolves || (!of_columns && matmul.reduce->axis.extent >= least_channels);
}

// GPUs stage whatever is read more than once. On CPUs shared memory is ordinary memory: a compact copy of rows that lie
// pages apart, so in one set of the caches. One operand of a matmul gains by it: that which is read along n, or, where
// that is read in place, the other, unless a batch shares the first (docs/performance.md, "A routed MLP"). What is read
// element by element, to be multiplied with vectors, is read from memory by the multiplication itself, but of 16 bits
// it would be converted each time, where no dot product takes it: it has half of the cache at most, the panel comes
// first.
bool wanted(const Plan& plan, const ir::Program& program, const Target& target) {
  if (!target.cpu) return !plan.loop || plan.loads.size() > 1 || plan.readers > 1;
  const auto matmul = find_matmul(program);
  if (!matmul) return false;
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  if (!ir::depends_on(plan.index, matmul->reduce->axis.name)) return false;  // a scale that a whole chunk shares
  const bool columns = ir::depends_on(plan.index.back(), axes[matmul->n].name);
  const ir::DType dtype = program.find(plan.stage.source)->dtype;
  const bool converts = ir::is_float16(dtype) && !(target.dot_pairs && dtype == ir::DType::bf16);
  const bool scalars_convert = !columns && converts && plan.bytes <= target.shared_bytes / 2;
  const bool in_place = reads_in_place(program, *matmul, axes[matmul->m].extent, rows_in_place(target));
  if (columns) return scalars_convert || (!in_place && copies_columns(plan, program, *matmul));
  return scalars_convert || (in_place && !sharing_axis(program, *matmul));
}

// Without a copy each thread of a matmul waits for the caches at every step, and no slab travels beside the arithmetic.
// What few outputs share may be read from the caches: registers reuse most of it.
bool needed(const Plan& plan, const ir::Program& program, const Target& target) {
  constexpr std::int64_t few = 16;  // the rows of a large register tile
  return !target.cpu && plan.readers >= few && find_matmul(program).has_value();
}

Verdict decide_stage_inputs(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!has_reduce(tile_of(program).body)) return Skip{"no chunk loop and no shared reduction"};
  const std::vector<Plan> plans = find_plans(program, target);
  if (plans.empty()) return Skip{"no load qualifies for staging"};
  std::int64_t taken = shared_bytes(program, target);
  std::set<std::string, std::less<>> seen;
  for (const Plan& first : plans) {
    const std::string& source = first.stage.source;
    if (!seen.insert(source).second) continue;
    std::int64_t bytes = 0;
    bool worth = false, must = false;
    for (const Plan& plan : plans) {
      if (plan.stage.source != source) continue;
      bytes += (plan.bytes + most_alignment - 1) / most_alignment * most_alignment;
      worth |= wanted(plan, program, target);
      must |= needed(plan, program, target);
    }
    const auto choice = pins.on_off(source);
    if (!choice && taken + bytes > target.shared_bytes) continue;
    if (!choice && must) return Fork{source, {Value{std::int64_t{1}}}};
    if (!choice) return on_off_fork(source, worth);
    if (*choice) taken += bytes;
  }
  if (pins.empty()) return Skip{"no slab fits shared memory"};
  return Apply{};
}

void redirect_loads(ir::Body& body, const Plan& plan) {
  ir::for_each(body, [&](ir::Stmt& stmt) {
    auto* load = stmt.as<ir::Load>();
    if (load == nullptr || load->buffer != plan.stage.source) return;
    if (std::ranges::find(plan.loads, load->index) == plan.loads.end() && !holds(plan.stage, *load)) return;
    // The same slab, but each load has its own position in it.
    std::vector<ir::Expr> local;
    for (std::size_t s = 0; s < plan.stage.slab.size(); ++s) {
      if (!plan.stage.slab[s].walks_dimension()) {
        local.push_back(plan.index[s]);
        continue;
      }
      const auto d = static_cast<std::size_t>(plan.stage.slab[s].dim);
      const ir::Expr origin = ir::substitute(plan.stage.origin[d], {{plan.stage.slab[0].name, ir::var(plan.rows)}});
      local.push_back(ir::simplify(load->index[d] - origin));
    }
    load->buffer = plan.stage.buffer;
    load->index = std::move(local);
  });
}

ir::Program apply_stage_inputs(ir::Program program, const Target& target, const Pins& pins) {
  auto names = names_of(program);
  std::vector<Plan> plans = find_plans(program, target);  // those of the tile's body last: positions in it stay
  std::size_t at = 0;
  std::optional<std::size_t> last;
  for (Plan& plan : plans) {
    if (!pins.on_off(plan.stage.source).value_or(false)) continue;
    plan.stage.buffer = slab_name(names, plan.stage.source);
    ir::Body& region = body_of(tile_of(program), plan.loop);
    redirect_loads(region, plan);
    if (plan.loop != last) at = 0;
    last = plan.loop;
    region.insert(region.begin() + static_cast<std::ptrdiff_t>(at++), std::move(plan.stage));
  }
  return program;
}

}  // namespace

extern const Rule stage_inputs = {
    .name = "stage_inputs",
    .summary = "inputs copied to shared memory, once a block",
    .knobs = {{"*", KnobType::on_off}},
    .decide = decide_stage_inputs,
    .apply = apply_stage_inputs,
};

}  // namespace deplo::rules
