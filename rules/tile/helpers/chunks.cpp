#include "rules/tile/helpers/chunks.h"

#include <algorithm>
#include <limits>

#include "ir/softmax.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/key_mask.h"

namespace deplo::rules::key_chunks {

std::string Writer::fresh(const std::string& stem) { return fresh_name(names_, stem); }

std::string Writer::assign(ir::Op op, std::vector<ir::Arg> args) {
  std::string value = fresh("v");
  add(ir::Assign{value, {}, op, std::move(args)});
  return value;
}

bool has_weights(const ir::SoftmaxSum& step) {
  return std::ranges::any_of(step.weights, [](const ir::Arg& weight) { return weight != ir::Arg(1.0); });
}

bool counts(const ir::SoftmaxSum& step, std::size_t i) { return step.weights[i] == ir::Arg(1.0); }

Chunks::Chunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target)
    : program_(std::move(program)), sweep_(sweep), shape_(shape), target_(target), out_(names_of(program_)) {
  keys_ = *tile().body[sweep_.at].as<ir::Loop>();
  step_ = *keys_.body.back().as<ir::SoftmaxSum>();
  values_ = tile().axes[sweep_.n].extent;
}

ir::Program Chunks::run() {
  deal_out();
  tile().body[sweep_.at] = chunk_loop();
  before_.insert(before_.begin(), ir::opening(step_));
  tile().body.insert(tile().body.begin() + static_cast<std::ptrdiff_t>(sweep_.at), before_.begin(), before_.end());
  if (!probabilities_.buffer.empty()) kept_.push_back(std::move(probabilities_));
  tile().body.insert(tile().body.begin(), kept_.begin(), kept_.end());
  ir::substitute_axes(program_, placed_);
  return std::move(program_);
}

ir::Loop Chunks::chunk_loop() {
  const std::int64_t extent = keys_.axis.extent, keys = shape_.keys;
  origin_ = shifted_origin(keys_.axis.name, keys, extent);
  chunk_ = {{keys_.axis.name, ceil_div(extent, keys), ir::Bind::free}, 0, 1, 1, {}};
  key_in_chunk_ = later(key_), key_of_score_ = later(origin_ + key_);
  out_.write_to(chunk_.body);
  probabilities_ = probabilities();
  add_chunk();
  leave_out_masked();
  return std::move(chunk_);
}

ir::Smem Chunks::probabilities() {
  if (!has_weights(step_)) return {};
  return {slab_name(out_.names(), "p"), ir::DType::f32, {shape_.rows, shape_.keys}};
}

void Chunks::add_chunk() {
  add_inputs();
  for (ir::Stmt& stmt : scores()) out_.add(std::move(stmt));
  simplify_scores();
  const ir::Arg score = new_only(step_.score, key_of_score_);
  const std::string greatest = out_.fresh("acc");
  out_.add(ir::Accum{greatest, {}, ir::Op::maximum, {score}});
  combine(greatest, ir::Op::maximum);
  raise_maximum(greatest);
  const std::string part = exponential(score), sum = out_.fresh("acc");
  out_.add(ir::Accum{sum, {}, ir::Op::add, {part}});
  combine(sum, ir::Op::add);
  add_counts(sum);
  if (!has_weights(step_)) return;
  if (threads_meet()) out_.add(ir::Sync{});
  out_.add(ir::Write{probabilities_.buffer, {row_, key_in_chunk_}, part});
  if (threads_meet()) out_.add(ir::Sync{});
  add_weighted();
}

void Chunks::leave_out_masked() {
  VisitedChunks visited = visited_chunks(tile(), keys_, step_, shape_.keys);
  chunk_.end = std::move(visited.end);
  if (visited.condition.is_constant(1)) return;
  ir::If rest = {std::move(visited.condition), std::exchange(chunk_.body, {})};
  out_.add(std::move(rest));
}

ir::Expr Chunks::later(ir::Expr e) {
  std::string name = out_.fresh("a");
  placed_.emplace_back(name, std::move(e));
  return ir::var(name);
}

std::string Chunks::bound(const std::string& greatest) {
  return out_.assign(ir::Op::maximum, {out_.assign(ir::Op::maximum, {step_.maximum, greatest}), ir::lowest_maximum});
}

std::string Chunks::exponential(const ir::Arg& score) {
  return out_.assign(ir::Op::exp, {out_.assign(ir::Op::subtract, {score, bound_})});
}

ir::Tile& Chunks::tile() { return tile_of(program_); }

std::string Chunks::add_axis(std::int64_t extent, ir::Bind bind) {
  if (extent == 1) return "";
  std::string name = ir::fresh_axis(program_);
  tile().axes.push_back({name, extent, bind});
  return name;
}

void Chunks::replace_axes(const ir::Substitution& by) {
  ir::substitute_axes(program_, by);
  keys_ = *tile().body[sweep_.at].as<ir::Loop>();
  for (const ir::Axis& axis : tile().axes) out_.names().insert(axis.name);
}

std::size_t Chunks::deal_blocks(const std::string& n) {
  ir::Axis rows = {ir::fresh_axis(program_), 1, ir::Bind::thread};
  if (sweep_.m) rows = tile().axes[*sweep_.m];
  std::erase_if(tile().axes, [&](const ir::Axis& axis) { return axis.name == n || axis.name == rows.name; });
  const std::size_t m = tile().axes.size();
  for (ir::Axis& axis : tile().axes) axis.bind = ir::Bind::block;
  tile().axes.push_back(rows);
  split_into_blocks(program_, m, shape_.rows);
  return m + 1;
}

ir::Body Chunks::copied(const std::vector<std::size_t>& slice, const ir::Expr& key) const {
  ir::Body body;
  for (const std::size_t at : slice) body.push_back(keys_.body[at]);
  ir::Ranges scope;
  ir::map_expressions(body, scope, [&](const ir::Expr& e, const ir::Ranges&) {
    return ir::substitute(e, {{keys_.axis.name, key}});
  });
  return body;
}

ir::Body Chunks::scores() const {
  ir::Body scores = copied(sweep_.scores, key_of_score_);
  ir::for_each<ir::Loop>(scores, [&](ir::Loop& loop) { mark_scores(loop); });
  read_staged(scores);
  return scores;
}

void Chunks::read_staged(ir::Body& body) const {
  ir::for_each<ir::Load>(body, [&](ir::Load& load) {
    for (const auto& [before, after] : staged_)
      if (before.dst == load.dst) load = after;
  });
}

ir::Arg Chunks::new_only(const ir::Arg& score, const ir::Expr& key) {
  if (keys_.axis.extent % shape_.keys == 0) return score;
  const std::string is_new = out_.fresh("v");
  out_.add(ir::Index{is_new, {ir::DType::boolean, 1}, ir::less(ir::var(keys_.axis.name) * shape_.keys, key + 1)});
  return out_.assign(ir::Op::select, {is_new, score, -std::numeric_limits<double>::infinity()});
}

void Chunks::combine(const std::string& acc, ir::Op op) {
  if (!over_.empty()) out_.add(ir::Combine{acc, op, over_});
}

void Chunks::raise_maximum(const std::string& greatest) {
  bound_ = bound(greatest);
  factor_ = exponential(step_.maximum);
  out_.add(ir::Accum{step_.maximum, {}, ir::Op::maximum, {greatest}});
}

void Chunks::add_counts(const std::string& sum) {
  for (std::size_t i = 0; i < step_.sums.size(); ++i) {
    if (!counts(step_, i)) continue;
    out_.add(ir::Scale{step_.sums[i], {}, factor_});
    out_.add(ir::Accum{step_.sums[i], {}, ir::Op::add, {sum}});
  }
}

ir::Expr Chunks::first_weighted() const {
  if (shape_.by != By::threads || keys_.axis.extent % shape_.keys == 0) return 0;
  const ir::Expr shift = ir::var(keys_.axis.name) * shape_.keys - (keys_.axis.extent - shape_.keys);
  return {ir::ExprOp::max, shift, 0};
}

void Chunks::add_weighted() {
  if (weighted_.empty()) weighted_ = out_.fresh("a");
  ir::Loop loop = {{weighted_, shape_.keys, ir::Bind::reduce},
                   first_weighted(),
                   1,
                   1,
                   copied(sweep_.weights, later(origin_ + ir::var(weighted_)))};
  read_staged(loop.body);
  mark_weights(loop);
  const std::string read = out_.fresh("in");
  loop.body.emplace_back(ir::Load{read, {}, probabilities_.buffer, {row_, ir::var(weighted_)}});
  for (std::size_t i = 0; i < step_.sums.size(); ++i) {
    if (counts(step_, i)) continue;
    out_.add(ir::Scale{step_.sums[i], {}, factor_});
    const std::string product = out_.fresh("v");
    loop.body.emplace_back(ir::Assign{product, {}, ir::Op::multiply, {read, step_.weights[i]}});
    loop.body.emplace_back(ir::Accum{step_.sums[i], {}, ir::Op::add, {product}});
  }
  out_.add(std::move(loop));
}

}  // namespace deplo::rules::key_chunks
