// stage_inputs: copies a slab of an input to shared memory once, if the threads of a block reuse it.
//   for a5 in 0..56: # free
//     for a6 in 0..16: # reduce
//       in0 = load b[((a5 * 16) + a6), ((a3 * 128) + a4)]
//     →   for a5 in 0..56: # free
//           b_smem = Stage(b, origin=((a5 * 16), (a3 * 128)), slab=(s0:16@0, s1:128@1))
//           for a6 in 0..16: # reduce
//             in0 = load b_smem[a6, a4]
// There is one knob per buffer that can be staged. A matmul stages the chunks of its operands. A reduction stages a row
// that is read more than once, or the chunks of its row, in a separate buffer for each sweep. On CPUs, 16-bit elements
// are converted once, during the copy.
// The rows of a convolution lie in lines of images, so the origin contains the position of each row:
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

constexpr std::int64_t max_alignment = 64;  // bytes, of a copied stage (CPUs: a vector of 16 floats)

struct Plan {
  ir::Stage stage;
  std::vector<ir::Expr> index;  // the index of the loads in the stage's buffer
  std::string rows;             // the axis that becomes the slab's first axis in the origin; "" if there is none
  // Position in the tile's body of the loop that holds the stage; nullopt if the tile's body holds it.
  std::optional<std::size_t> loop;
  std::int64_t bytes = 0;
  std::vector<std::vector<ir::Expr>> loads;  // indices of the loads that read the slab
  bool mixed = false;                        // whether some load reads another slab
  std::int64_t readers = 1;                  // threads that read the same element
};

// Returns the ranges of what varies inside the staged region: thread and REG axes, and the region's loops. Everything
// else is part of the origin.
ir::Ranges inside(const ir::Tile& tile, const ir::Body& region) {
  ir::Ranges ranges;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::thread || axis.bind == ir::Bind::reg)
      ranges.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
  ir::for_each<ir::Loop>(region, [&](const ir::Loop& loop) {
    ranges.emplace_back(loop.axis.name, ir::Interval{0, loop.axis.extent - 1});
  });
  return ranges;
}

// The part of an index that does not depend on what varies.
ir::Expr origin_of(const ir::Expr& index, const ir::Ranges& ranges) {
  ir::Substitution zero;
  for (const auto& [name, range] : ranges) zero.emplace_back(name, ir::Expr(0));
  return ir::simplify(ir::substitute(index, zero));
}

// Splits an index into origin + local, where local is a single axis or a sum with known bounds. Returns false if it
// cannot.
bool split_index(const ir::Expr& index, const ir::Ranges& ranges, ir::Expr& origin, ir::Expr& local) {
  origin = origin_of(index, ranges);
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

// Splits an index that one loop walks in another way: the channel a6 % 3 and the element a6 / 3 of a convolution's
// kernel, in the chunk a5 of 21. Local is then any function of the loop. Returns false if it cannot.
bool split_by_loop(const ir::Tile& tile, const ir::Expr& index, const ir::Ranges& ranges, ir::Expr& origin,
                   ir::Expr& local) {
  origin = origin_of(index, ranges);
  local = ir::simplify(index - origin, ranges);
  const std::vector<std::string> names = ir::variables(local);
  const auto is_loop = [&](const std::string& name) {
    return std::ranges::find(ranges, name, &ir::Ranges::value_type::first) != ranges.end() &&
           std::ranges::find(tile.axes, name, &ir::Axis::name) == tile.axes.end();
  };
  const auto bounds = ir::bounds(local, ranges);
  return names.size() == 1 && is_loop(names[0]) && bounds && bounds->low == 0;
}

// Returns whether the values that the index contains are defined before the region, and are the same in all of it. A
// slab may begin at such values along dimensions in which it has one element.
bool begins_by_values(const ir::Tile& tile, const ir::Expr& index, const ir::Expr& local, const ir::Ranges& inside,
                      const std::vector<std::string>& before) {
  std::vector<std::string> names = ir::variables(index);
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

// The axes of a matmul's outputs; "" if there is no matmul.
struct Sides {
  std::string rows, columns;
};

// Returns whether the load walks the columns, and not along the last dimension of memory: only a copy has them in
// vectors.
bool walks_columns_apart(const ir::Load& load, const std::string& columns) {
  return !columns.empty() && ir::depends_on(load.index, columns) && !ir::depends_on(load.index.back(), columns);
}

// Plans the slab that the load reads; nullopt if there is none. Dimensions that walk the columns come last in the slab,
// so that vectors lie along n even if the source has another order (k transposed in q @ k.T). `in_lines`: the origin
// contains the position of each row.
std::optional<Plan> plan_load(const ir::Program& program, const ir::Load& load, const ir::Ranges& ranges,
                              const std::vector<std::string>& before, const Sides& sides, bool in_lines,
                              const Target& target) {
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->role != ir::Role::input) return std::nullopt;
  // Copies do not support these types.
  if (source->dtype == ir::DType::i64 || ir::is_narrow_integer(source->dtype)) return std::nullopt;
  Plan plan;
  plan.stage.source = load.buffer;
  plan.stage.dtype = target.cpu ? ir::value_type(source->dtype) : source->dtype;
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  if (std::ranges::any_of(axes, [&](const ir::Axis& axis) {
        return axis.bind == ir::Bind::vector && ir::depends_on(load.index, axis.name);
      }))
    return std::nullopt;  // online_softmax has chosen its lanes, which are contiguous in memory already
  std::vector<ir::Expr> index = load.index;
  ir::Ranges walked = ranges;  // without the rows' axis if the origin contains the rows
  if (in_lines && ir::names_value(program.body, load.index)) return std::nullopt;  // loaded numbers select the rows
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
    if (!split_index(index[d], walked, origin, locals[d]) &&
        !(target.cpu && walks_columns_apart(load, sides.columns) &&
          split_by_loop(tile_of(program), index[d], walked, origin, locals[d])))
      return std::nullopt;
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

// Returns the values that the tile's body defines before the region.
std::vector<std::string> values_before(const ir::Tile& tile, std::optional<std::size_t> loop) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < loop.value_or(0); ++i)
    if (is_scalar(tile.body[i])) names.push_back(ir::defined(tile.body[i]));
  return names;
}

// Returns how many threads of the block read the same element. Threads that share a sweep read different elements.
std::int64_t count_readers(const ir::Tile& tile, const ir::Body& region, const std::vector<ir::Expr>& index) {
  std::vector<std::string> own = ir::variables(index);
  ir::for_each<ir::Loop>(region, [&](const ir::Loop& loop) { ir::collect_variables(loop.start, own); });
  std::int64_t readers = 1;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::thread && std::ranges::find(own, axis.name) == own.end()) readers *= axis.extent;
  return readers;
}

// Returns whether the slab contains the element that the load reads.
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

// Chooses between two slabs of one buffer on a CPU: the slab of a matmul's columns, if the other slab has its rows
// (queries and keys that are parts of one tensor). The rows are not staged. nullopt if both or neither are columns.
std::optional<Plan> of_columns(const Plan& a, const Plan& b, const Sides& sides, const Target& target) {
  const auto walks = [](const Plan& plan, const std::string& axis) { return ir::depends_on(plan.index, axis); };
  const auto is_columns = [&](const Plan& x, const Plan& y) {
    return walks(x, sides.columns) && !walks(x, sides.rows) && walks(y, sides.rows) && !walks(y, sides.columns);
  };
  if (!target.cpu || sides.columns.empty()) return std::nullopt;
  return is_columns(a, b) ? std::optional(a) : is_columns(b, a) ? std::optional(b) : std::nullopt;
}

// Plans a slab for each buffer of a region. Every load of the buffer must read this slab. A load of one element, such
// as a row's first, gets no slab but may read one.
std::vector<Plan> plan_region(const ir::Program& program, std::optional<std::size_t> loop, const Sides& sides,
                              const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const ir::Body& region = body_of(tile, loop);
  const ir::Ranges ranges = inside(tile, region);
  const std::vector<std::string> before = values_before(tile, loop);
  std::vector<Plan> plans;
  std::vector<const ir::Load*> singles;  // loads of a single element in the whole region
  const auto varies = [&](const ir::Expr& e) {
    return std::ranges::any_of(ranges, [&](const auto& range) { return ir::depends_on(e, range.first); });
  };
  ir::for_each<ir::Load>(region, [&](const ir::Load& load) {
    if (std::ranges::none_of(load.index, varies)) return singles.push_back(&load);
    const auto same = [&](const Plan& p) { return p.stage.source == load.buffer; };
    const auto known = std::find_if(plans.begin(), plans.end(), same);
    if (known != plans.end() && known->mixed) return;
    auto plan = plan_load(program, load, ranges, before, sides, false, target);
    // CPUs read rows in lines in place: the rows of their blocks lie within a line.
    if (!plan && !target.cpu && ir::depends_on(load.index, sides.rows))
      plan = plan_load(program, load, ranges, before, sides, true, target);
    if (plan) {
      plan->loads = {load.index};
      plan->loop = loop;
      plan->readers = count_readers(tile, region, plan->index);
    }
    if (known == plans.end()) {
      plans.push_back(plan.value_or(Plan{}));
      plans.back().stage.source = load.buffer;
      plans.back().mixed = !plan;
    } else if (plan && plan->stage == known->stage) {
      known->loads.push_back(load.index);
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

// Returns whether the statement is the chunk loop of a matmul, or of a row's sweeps (chunk_reduce), which holds only
// the sweep.
bool is_chunk_loop(const ir::Stmt& stmt) {
  const auto* loop = stmt.as<ir::Loop>();
  if (loop == nullptr || loop->axis.bind != ir::Bind::free || loop->body.size() != 1) return false;
  const auto* sweep = loop->body[0].as<ir::Loop>();
  return sweep != nullptr && sweep->axis.bind == ir::Bind::reduce;
}

// Finds the slabs that may be staged. A matmul stages the operands of its product chunk by chunk (the epilogue's inputs
// are read once). A row must be read twice to be worth a copy. A chunk of a row needs to be read only once, because its
// copy can run ahead of its use.
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

// Returns whether the load reads windows: one of its dimensions depends on a row or a column of the matmul and on the
// chunk, which is an element of a convolution's kernel.
bool reads_windows(const ir::Program& program, const Matmul& matmul, const ir::Loop& chunks, const ir::Load& load) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  return std::ranges::any_of(load.index, [&](const ir::Expr& e) {
    return ir::depends_on(e, chunks.axis.name) &&
           (ir::depends_on(e, axes[matmul.m].name) || ir::depends_on(e, axes[matmul.n].name));
  });
}

// Returns whether a CPU copies the columns. A convolution reads its columns in place if they are windows, whose lines
// are in the caches for the next element of the kernel, or if an element has few channels: the copy of so few rows
// costs a barrier, at which all sums are stored and loaded. With 16, 32 and 64 channels the copy took 1.6, 1.3 to 2.0
// and 1.0 to 1.4 times as long, with 96 or more 0.75 to 1.06, and with windows 1.2 to 2.0 (docs/performance.md,
// "KernelBench, level 1"). Columns that lie apart in memory are always copied.
bool copies_columns(const Plan& plan, const ir::Program& program, const Matmul& matmul) {
  constexpr std::int64_t least_channels = 96;
  if (!plan.loop) return true;
  const ir::Loop& chunks = *tile_of(program).body[*plan.loop].as<ir::Loop>();
  const std::string& columns = tile_of(program).axes[matmul.n].name;
  bool convolves = false, of_columns = false, apart = false;
  ir::for_each<ir::Load>(matmul.reduce->body, [&](const ir::Load& load) {
    apart |= load.buffer == plan.stage.source && walks_columns_apart(load, columns);
    if (!reads_windows(program, matmul, chunks, load)) return;
    convolves = true;
    of_columns |= load.buffer == plan.stage.source;
  });
  return apart || !convolves || (!of_columns && matmul.reduce->axis.extent >= least_channels);
}

// Returns whether the heuristic stages the slab. GPUs stage everything that is read more than once. On CPUs shared
// memory is ordinary memory: the slab is a compact copy of rows that lie pages apart, and so in one set of the caches.
// One operand of a matmul gains by it: the operand that is read along n or, if that is read in place, the other one,
// unless a batch shares the first (docs/performance.md, "A routed MLP"). An operand that is read element by element, to
// be multiplied with vectors, needs no copy, because the multiplication reads it from memory. But 16-bit elements would
// be converted each time, unless a dot product takes them. They are copied if they take at most half of the cache,
// because the panel is more important.
bool wanted(const Plan& plan, const ir::Program& program, const Target& target) {
  if (!target.cpu) return !plan.loop || plan.loads.size() > 1 || plan.readers > 1;
  const auto matmul = find_matmul(program);
  if (!matmul) return false;
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  // For example, a scale that a whole chunk shares.
  if (!ir::depends_on(plan.index, matmul->reduce->axis.name)) return false;
  const bool columns = ir::depends_on(plan.index.back(), axes[matmul->n].name);
  const ir::DType dtype = program.find(plan.stage.source)->dtype;
  const bool converts = ir::is_float16(dtype) && !(target.fast_pairs && dtype == ir::DType::bf16);
  const bool scalars_convert = !columns && converts && plan.bytes <= target.shared_bytes / 2;
  const bool in_place = reads_in_place(program, *matmul, axes[matmul->m].extent, in_place_limits(target));
  if (columns) return scalars_convert || (!in_place && copies_columns(plan, program, *matmul));
  return scalars_convert || (in_place && !sharing_axis(program, *matmul));
}

// Returns whether a GPU's matmul must stage the slab. Without a copy each thread waits for the caches at every step,
// and no slab is copied during the arithmetic. Elements that few outputs share may be read from the caches, because
// registers reuse most of them.
bool needed(const Plan& plan, const ir::Program& program, const Target& target) {
  constexpr std::int64_t min_readers = 16;  // the rows of a large register tile
  return !target.cpu && plan.readers >= min_readers && find_matmul(program).has_value();
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
      bytes += (plan.bytes + max_alignment - 1) / max_alignment * max_alignment;
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
  ir::for_each<ir::Load>(body, [&](ir::Load& load) {
    if (load.buffer != plan.stage.source) return;
    if (std::ranges::find(plan.loads, load.index) == plan.loads.end() && !holds(plan.stage, load)) return;
    // The loads read the same slab, but each has its own position in it.
    std::vector<ir::Expr> local;
    for (std::size_t s = 0; s < plan.stage.slab.size(); ++s) {
      if (!plan.stage.slab[s].walks_dimension()) {
        local.push_back(plan.index[s]);
        continue;
      }
      const auto d = static_cast<std::size_t>(plan.stage.slab[s].dim);
      const ir::Expr origin = ir::substitute(plan.stage.origin[d], {{plan.stage.slab[0].name, ir::var(plan.rows)}});
      local.push_back(ir::simplify(load.index[d] - origin));
    }
    load.buffer = plan.stage.buffer;
    load.index = std::move(local);
  });
}

ir::Program apply_stage_inputs(ir::Program program, const Target& target, const Pins& pins) {
  auto names = names_of(program);
  // The plans of the tile's body come last, so that positions in it stay valid.
  std::vector<Plan> plans = find_plans(program, target);
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
    .summary = "inputs copied to shared memory, once per block",
    .knobs = {{"*", KnobType::on_off}},
    .decide = decide_stage_inputs,
    .apply = apply_stage_inputs,
};

}  // namespace deplo::rules
