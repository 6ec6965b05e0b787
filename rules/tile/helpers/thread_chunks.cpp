#include "rules/tile/helpers/thread_chunks.h"

#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/axes.h"

namespace deplo::rules::key_chunks {
namespace {

// Returns how many accumulator vectors per row one loop keeps in registers, for each of `fm` rows. A quarter of the
// registers is kept for operands. With AVX-512, 24 registers remain for accumulators, which allows 8 rows of two
// vectors, as in register_tile's 8 x 32.
std::int64_t group(std::int64_t fm, std::int64_t vectors, const Target& target) {
  const std::int64_t max_group = std::max<std::int64_t>(1, (register_budget(target) * 3 / 4) / fm);
  return divisors(vectors, 1, std::min(max_group, vectors)).back();
}

}  // namespace

void ThreadChunks::deal_out() {
  const std::string n = tile().axes[sweep_.n].name;
  lanes_ = chunk_lanes(program_, sweep_, shape_.keys, shape_.columns, target_);
  deal_rows(n);
  const Elements values = deal(values_);
  value_groups_ = values.groups;
  ir::Expr value = values.place;
  deal_keys();
  if (lane_ = add_axis(lanes_, ir::Bind::vector); !lane_.empty()) value = value + ir::var(lane_);
  for (const std::string& axis : {lane_, key_groups_, key_register_, thread_})
    if (!axis.empty()) over_.push_back(axis);
  replace_axes({{n, value}});
  key_ = place_keys();
  if (!lane_.empty()) key_ = key_ + ir::var(lane_);
}

// Splits the rows (sweep_.m) into blocks, threads and registers. Removes axis n. All other axes become block axes.
void ThreadChunks::deal_rows(const std::string& n) {
  const std::size_t rows = deal_blocks(n);
  row_ = ir::var(tile().axes[rows].name) * shape_.fm;
  thread_ = add_axis(shape_.columns, ir::Bind::thread);
  split_into_registers(program_, rows, shape_.fm);
  if (shape_.fm > 1) row_ = row_ + ir::var(tile().axes.back().name);
}

// Distributes the elements of a row over lanes, threads, the registers of one loop, and groups of these registers.
ThreadChunks::Elements ThreadChunks::deal(std::int64_t elements) {
  const std::int64_t step = shape_.columns * lanes_, group_vectors = group(shape_.fm, elements / step, target_);
  Elements dealt;
  dealt.groups = add_axis(elements / step / group_vectors, ir::Bind::reg);
  dealt.one = add_axis(group_vectors, ir::Bind::reg);
  dealt.place = position({{dealt.groups, group_vectors * step}, {dealt.one, step}, {thread_, lanes_}});
  return dealt;
}

void ThreadChunks::deal_keys() {
  Elements keys = deal(shape_.keys);
  key_groups_ = std::move(keys.groups);
  key_register_ = std::move(keys.one);
  dealt_keys_ = std::move(keys.place);
}

void ThreadChunks::add_inputs() {
  for (const ir::Load* load : key_loads(keys_, sweep_)) {
    if (lies_along_keys(program_, *load, keys_.axis.name)) continue;
    KeySlab slab = *find_key_slab(program_, sweep_, *load, target_);
    slab.stage.buffer = slab_name(out_.names(), load->buffer);
    ir::Expr& first = slab.stage.origin[static_cast<std::size_t>(slab.stage.slab.back().dim)];
    first = ir::simplify(origin_ + first);
    slab.stage.slab.back().extent = shape_.keys;
    slab.stage.panel = panel();
    slab.index.push_back(key_in_chunk_);
    staged_.emplace_back(*load, ir::Load{load->dst, load->type, slab.stage.buffer, slab.index});
    out_.add(std::move(slab.stage));
  }
}

ir::Smem MemoryChunks::probabilities() {
  return {slab_name(out_.names(), "p"), ir::DType::f32, {shape_.rows, shape_.keys}};
}

void MemoryChunks::deal_keys() {
  if (shape_.dots) return;
  keys_of_group_ = group(shape_.fm, shape_.keys / lanes_, target_);
  groups_ = shape_.keys / lanes_ / keys_of_group_;
  key_of_group_ = add_axis(keys_of_group_, ir::Bind::reg);
}

ir::Expr MemoryChunks::place_keys() {
  if (shape_.dots) return 0;
  group_ = out_.fresh("a");
  return ir::var(group_) * (keys_of_group_ * lanes_) + position({{key_of_group_, lanes_}});
}

void MemoryChunks::add_chunk() {
  shape_.dots ? add_dots() : add_score_groups();
  const std::string greatest = out_.fresh("acc"), sum = out_.fresh("acc");
  sweep_row([&](const std::string& score, const ir::Expr&) {
    out_.add(ir::Accum{greatest, {}, ir::Op::maximum, {score}});
  });
  combine(greatest, ir::Op::maximum);
  raise_maximum(greatest);
  sweep_row([&](const std::string& score, const ir::Expr& key) {
    const std::string part = exponential(score);
    out_.add(ir::Accum{sum, {}, ir::Op::add, {part}});
    if (has_weights(step_)) out_.add(ir::Write{probabilities_.buffer, {row_, key}, part});
  });
  combine(sum, ir::Op::add);
  add_counts(sum);
  if (has_weights(step_)) add_weighted();
}

/// Calls f(score, key) in a loop over the row's scores, which are in memory.
template <class F>
void MemoryChunks::sweep_row(F&& f) {
  const std::string axis = out_.fresh("a"), score = out_.fresh("in");
  ir::Loop loop = {{axis, shape_.keys / lanes_, ir::Bind::reduce}, 0, 1, 1, {}};
  const ir::Expr key = ir::simplify(ir::var(axis) * lanes_ + position({{lane_, 1}}));
  ir::Body* const around = out_.write_to(loop.body);
  out_.add(ir::Load{score, {}, probabilities_.buffer, {row_, key}});
  f(score, key);
  out_.write_to(*around);
  out_.add(std::move(loop));
}

// Computes the scores of one key after the other. Lanes lie along the axis that a score sums over.
void MemoryChunks::add_dots() {
  const std::string dot = out_.fresh("a");
  const ir::Expr key = later(origin_ + ir::var(dot));
  ir::Loop one = {{dot, shape_.keys, ir::Bind::free}, 0, 1, 1, {}};
  ir::Body* const around = out_.write_to(one.body);
  const std::string dots = dots_loop(program_, sweep_)->axis.name;
  for (ir::Stmt& stmt : copied(sweep_.scores, key)) {
    out_.add(std::move(stmt));
    auto* loop = out_.body().back().as<ir::Loop>();
    if (loop == nullptr || loop->axis.name != dots) continue;
    loop->axis.extent /= lanes_;
    ir::Ranges scope;
    ir::map_expressions(loop->body, scope, [&](const ir::Expr& e, const ir::Ranges&) {
      return ir::substitute(e, {{dots, ir::var(dots) * lanes_ + ir::var(lane_)}});
    });
    out_.add(ir::Combine{ir::defined(loop->body.back()), ir::Op::add, {lane_}});
  }
  out_.add(ir::Write{probabilities_.buffer, {row_, ir::var(dot)}, new_only(step_.score, key)});
  out_.write_to(*around);
  out_.add(std::move(one));
}

// Computes the scores of as many keys at a time as the registers can hold. Each lane has its own keys.
void MemoryChunks::add_score_groups() {
  add_inputs();
  ir::Loop group = {{group_, groups_, ir::Bind::free}, 0, 1, 1, {}};
  ir::Body* const around = out_.write_to(group.body);
  for (ir::Stmt& stmt : scores()) out_.add(std::move(stmt));
  out_.add(ir::Write{probabilities_.buffer, {row_, key_in_chunk_}, new_only(step_.score, key_of_score_)});
  out_.write_to(*around);
  out_.add(std::move(group));
}

}  // namespace deplo::rules::key_chunks
