// online_softmax: the sweep of a softmax over keys, with the contraction behind it, in chunks of `keys`. A block takes
// `rows` rows; `columns` threads share each row's keys, and its values behind them; a thread has `fm` rows.
//   Tile(axes=(a0:8=THREAD, a1:512=THREAD, a2:64=THREAD)):          (heads, queries, values)
//     for a3 in 0..512: # reduce
//       for a4 in 0..64: # reduce { … q[a0, a1, a4] … k[a0, a3, a4] … acc0 <- … }
//       acc1, acc2, acc3 <- softmax_sum(acc0, 1, v[a0, a3, a2])
//     → Tile(axes=(a0:8=BLOCK, a1:8=BLOCK, a5:8=THREAD, a6:8=REG, a7:2=REG, a8:2=REG, …, a9:16=VECTOR)):
//         Smem p_smem[64, 64] (f32)
//         for a3 in 0..8: # free
//           k_smem = Stage(k, …, slab=(s0:64@2, s1:64@1))
//           for a4 in 0..64: # reduce { … acc0 <- … }                 scores of the chunk, in registers
//           acc4 <- maximum(acc4, acc0)   Combine(acc4, …)            the greatest of a row
//           … v5 = exp(…)   p_smem[…] = v5                            as shared memory has them for the values
//           acc3 <- scale(acc3, v4)
//           for a10 in 0..64: # reduce { … p_smem[…, a10] … v[a0, ((a3 * 64) + a10), …] … acc3 <- … }
// `keys=0`: one key after the other, by the steps of ir/softmax.h. Dao, FlashAttention-2, arXiv 2307.08691, has the
// order of the loops: a block keeps its rows, and the keys pass by.
#include <algorithm>
#include <limits>
#include <map>

#include "ir/hardware/float16.h"
#include "ir/softmax.h"
#include "ir/walk.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/common.h"

namespace deplo::rules {
namespace {

// What a chunk's copies call the key while they are made. No program has such names.
constexpr const char *score_key = "key of a score", *weight_key = "key of a weight", *chunk_key = "key in the chunk",
                     *row_key = "row of a block", *dot_key = "key of a dot product";

// A sweep over keys that stands directly in the tile.
struct Sweep {
  std::size_t at = 0;  // in the tile's body
  const ir::SoftmaxSum* step = nullptr;
  std::vector<std::size_t> scores, weights;  // statements of the loop's body that make the score, and the weights
  std::size_t n = 0;  // the axis of the tile along which a row's values lie; the one before it has the rows
};

const ir::Loop& loop_of(const ir::Tile& tile, const Sweep& sweep) { return *tile.body[sweep.at].as<ir::Loop>(); }

// Does the statement define the name, itself or inside it?
bool makes(const ir::Stmt& stmt, const std::string& name) {
  if (ir::defined(stmt) == name) return true;
  const ir::Body* inner = ir::inner_body(stmt);
  return inner != nullptr && std::ranges::any_of(*inner, [&](const ir::Stmt& s) { return makes(s, name); });
}

// All statements of the body that the value follows from, in order.
void add_slice(const ir::Body& body, const ir::Arg& value, std::vector<std::size_t>& slice) {
  std::vector<std::string> wanted;
  if (const auto* name = std::get_if<std::string>(&value)) wanted.push_back(*name);
  const auto want = [&](const ir::Stmt& stmt) {
    const ir::Reads reads = ir::reads(stmt);
    wanted.insert(wanted.end(), reads.values.begin(), reads.values.end());
  };
  for (std::size_t i = body.size(); i-- > 0;) {
    if (std::ranges::none_of(wanted, [&](const std::string& name) { return makes(body[i], name); })) continue;
    slice.push_back(i);
    want(body[i]);
    if (const ir::Body* inner = ir::inner_body(body[i])) ir::for_each(*inner, want);
  }
  std::ranges::sort(slice);
  slice.erase(std::unique(slice.begin(), slice.end()), slice.end());
}

// A sweep in the body by one SoftmaxSum, whose scores are the same for all values of the last thread axis.
std::optional<Sweep> find_sweep(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  for (std::size_t i = 0; i < tile.body.size(); ++i) {
    const auto* loop = tile.body[i].as<ir::Loop>();
    if (loop == nullptr || loop->axis.bind != ir::Bind::reduce || !loop->start.is_constant(0) || loop->step != 1)
      continue;
    Sweep sweep = {i, loop->body.back().as<ir::SoftmaxSum>(), {}, {}, tile.axes.size() - 1};
    if (sweep.step == nullptr) continue;
    add_slice(loop->body, sweep.step->score, sweep.scores);
    for (const ir::Arg& weight : sweep.step->weights) add_slice(loop->body, weight, sweep.weights);
    const auto on_value = dependent_names(tile.body, tile.axes[sweep.n].name);
    const auto shared = [&](std::size_t s) {
      return depends(loop->body[s], on_value) || std::ranges::count(sweep.weights, s) > 0;
    };
    if (std::ranges::none_of(sweep.scores, shared)) return sweep;
  }
  return std::nullopt;
}

// What a chunk is made of, and who makes it.
struct Shape {
  std::int64_t keys, columns, rows, fm;
  bool dots = false;  // lanes lie along what scores sum up, not along the keys
};

// Lanes of a row's keys, and of its values. A mask has rows of all keys, in which CUDA wants vectors aligned.
std::int64_t width(std::int64_t all_keys, std::int64_t keys, std::int64_t values, std::int64_t columns,
                   const Target& target) {
  std::int64_t lanes = target.vector_lanes;
  const std::int64_t rows = target.dialect == Dialect::cuda ? all_keys : 0;
  while (keys % (columns * lanes) != 0 || values % (columns * lanes) != 0 || rows % lanes != 0) lanes /= 2;
  return lanes;
}

// Registers of sums that one loop fills, of so many for each row: with more of them, or of what they are made of, a
// thread has none left.
std::int64_t group(std::int64_t fm, std::int64_t vectors, const Target& target) {
  const std::int64_t most = std::max<std::int64_t>(1, (register_budget(target) * 3 / 4) / fm);
  return divisors(vectors, 1, std::min(most, vectors)).back();
}

// A slab of each input that scores read by the key, its keys last, so that lanes lie along them.
struct KeySlab {
  ir::Stage stage;
  std::vector<ir::Expr> index;
};
std::optional<KeySlab> slab_of(const ir::Program& program, const Sweep& sweep, const ir::Load& load,
                               const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const ir::Loop& keys = loop_of(tile, sweep);
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->role != ir::Role::input || gathers(program, load.index)) return std::nullopt;
  ir::Ranges inner;
  ir::for_each(keys.body, [&](const ir::Stmt& stmt) {
    if (const auto* loop = stmt.as<ir::Loop>()) inner.emplace_back(loop->axis.name, ir::range_of(*loop));
  });
  KeySlab slab;
  slab.stage = {load.buffer + "_smem", load.buffer, target.cpu ? ir::value_type(source->dtype) : source->dtype, {}, {}};
  std::optional<std::size_t> along;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const ir::Expr& e = load.index[d];
    const auto inside = std::ranges::find_if(inner, [&](const auto& axis) { return ir::depends_on(e, axis.first); });
    if (ir::depends_on(e, keys.axis.name)) {
      if (along || e != ir::var(keys.axis.name)) return std::nullopt;
      along = d;
      slab.stage.origin.push_back(0);  // the chunk's, later
    } else if (inside != inner.end()) {
      if (e != ir::var(inside->first)) return std::nullopt;
      slab.stage.origin.push_back(0);
      slab.stage.slab.push_back(
          {"s" + std::to_string(slab.stage.slab.size()), inside->second.high + 1, static_cast<int>(d)});
      slab.index.push_back(e);
    } else {
      slab.stage.origin.push_back(e);
    }
  }
  if (!along) return std::nullopt;
  slab.stage.slab.push_back({"s" + std::to_string(slab.stage.slab.size()), 0, static_cast<int>(*along)});
  slab.index.push_back(ir::var(chunk_key));
  return slab;
}

// Loads of the scores that walk the key.
std::vector<const ir::Load*> key_loads(const ir::Loop& keys, const Sweep& sweep) {
  std::vector<const ir::Load*> found;
  const auto add = [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    if (load != nullptr && ir::depends_on(load->index, keys.axis.name)) found.push_back(load);
  };
  for (const std::size_t at : sweep.scores) {
    add(keys.body[at]);
    if (const ir::Body* inner = ir::inner_body(keys.body[at])) ir::for_each(*inner, add);
  }
  return found;
}

// Lanes lie along the keys there already: a mask.
bool lies_along_keys(const ir::Program& program, const ir::Load& load, const std::string& key) {
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->strides.empty() || source->strides.back() != 1) return false;
  for (std::size_t d = 0; d + 1 < load.index.size(); ++d)
    if (ir::depends_on(load.index[d], key)) return false;
  return ir::coefficient(load.index.back(), key) == 1;
}

// Why the keys cannot come in chunks; "" where they can.
std::string obstacle(const ir::Program& program, const Sweep& sweep, const Target& target) {
  const ir::Loop& keys = loop_of(tile_of(program), sweep);
  for (const ir::Load* load : key_loads(keys, sweep))
    if (!lies_along_keys(program, *load, keys.axis.name) && !slab_of(program, sweep, *load, target))
      return "no slab of `" + load->buffer + "` has all keys of a chunk";
  return "";
}

// Do so many neighbouring rows share all slabs of keys? Heads that share keys are rows, too.
bool share_keys(const ir::Program& program, const Sweep& sweep, std::int64_t rows) {
  if (rows == 1) return true;
  const ir::Tile& tile = tile_of(program);
  const ir::Loop& keys = loop_of(tile, sweep);
  const ir::Axis& m = tile.axes[sweep.n - 1];
  const ir::Ranges scope = {{m.name, {0, ceil_div(m.extent, rows) - 1}}, {row_key, {0, rows - 1}}};
  for (const ir::Load* load : key_loads(keys, sweep)) {
    if (!ir::depends_on(load->index, m.name) || lies_along_keys(program, *load, keys.axis.name)) continue;
    for (const ir::Expr& e : load->index) {
      const ir::Expr at = ir::substitute(e, {{m.name, ir::var(m.name) * rows + ir::var(row_key)}});
      if (m.extent % rows != 0 || ir::depends_on(ir::simplify(at, scope), row_key)) return false;
    }
  }
  return true;
}

// The loop that sums up a score, of products that lie side by side in memory: lanes may lie along it. nullptr: none.
const ir::Loop* dots_loop(const ir::Program& program, const Sweep& sweep) {
  const ir::Loop& keys = loop_of(tile_of(program), sweep);
  const ir::Loop* found = nullptr;
  for (const std::size_t at : sweep.scores) {
    const auto* loop = keys.body[at].as<ir::Loop>();
    if (loop == nullptr) continue;
    const auto* sum = loop->body.back().as<ir::Accum>();
    if (found != nullptr || sum == nullptr || sum->op != ir::Op::add || !loop->start.is_constant(0) || loop->step != 1)
      return nullptr;
    for (const ir::Stmt& stmt : loop->body) {
      const auto* load = stmt.as<ir::Load>();
      if (load == nullptr && stmt.as<ir::Assign>() == nullptr && &stmt != &loop->body.back()) return nullptr;
      if (load == nullptr || !ir::depends_on(load->index, loop->axis.name)) continue;
      const ir::Buffer* buffer = program.find(load->buffer);
      std::vector<ir::Expr> others = load->index;
      others.pop_back();
      if (buffer == nullptr || buffer->strides.back() != 1 || load->index.back() != ir::var(loop->axis.name) ||
          ir::depends_on(others, loop->axis.name))
        return nullptr;
    }
    found = loop;
  }
  return found;
}

class Chunks {
 public:
  Chunks(ir::Program program, const Sweep& sweep, const Shape& shape, const Target& target)
      : program_(std::move(program)), sweep_(sweep), shape_(shape), target_(target), names_(names_of(program_)) {}

  ir::Program run() {
    keys_ = *tile().body[sweep_.at].as<ir::Loop>();
    step_ = *keys_.body.back().as<ir::SoftmaxSum>();
    deal_out();
    tile().body[sweep_.at] = chunk_loop();
    tile().body.insert(tile().body.begin() + static_cast<std::ptrdiff_t>(sweep_.at), ir::opening(step_));
    if (!probabilities_.buffer.empty()) tile().body.insert(tile().body.begin(), std::move(probabilities_));
    ir::substitute_axes(program_, {{score_key, origin_ + key_},
                                   {dot_key, origin_ + ir::var(dot_)},
                                   {weight_key, origin_ + ir::var(weighted_)},
                                   {chunk_key, key_}});
    return std::move(program_);
  }

 private:
  ir::Tile& tile() { return tile_of(program_); }

  std::string fresh(const std::string& stem) {
    for (int n = 0;; ++n)
      if (std::string name = stem + std::to_string(n); names_.insert(name).second) return name;
  }
  std::string add_axis(std::int64_t extent, ir::Bind bind) {
    if (extent == 1) return "";
    std::string name = ir::fresh_axis(program_);
    tile().axes.push_back({name, extent, bind});
    return name;
  }
  // The sum of each axis times its step; "" is no axis.
  static ir::Expr position(std::initializer_list<std::pair<std::string, std::int64_t>> steps) {
    ir::Expr sum = 0;
    for (const auto& [axis, step] : steps)
      if (!axis.empty()) sum = sum + ir::var(axis) * step;
    return sum;
  }

  // The launch: blocks of rows; threads along the rows, and along the keys as along the values.
  void deal_out() {
    const std::string n = tile().axes[sweep_.n].name;
    const std::int64_t values = tile().axes[sweep_.n].extent, columns = shape_.columns;
    lanes_ = width(keys_.axis.extent, shape_.keys, values, columns, target_);
    const std::int64_t lanes = lanes_;
    tile().axes.erase(tile().axes.begin() + static_cast<std::ptrdiff_t>(sweep_.n));
    if (tile().axes.empty()) tile().axes.push_back({ir::fresh_axis(program_), 1, ir::Bind::thread});
    const std::size_t m = tile().axes.size() - 1;
    for (std::size_t i = 0; i < m; ++i) tile().axes[i].bind = ir::Bind::block;
    split_into_blocks(program_, m, shape_.rows);
    const std::string row = tile().axes[m + 1].name;
    const std::string thread = add_axis(columns, ir::Bind::thread);
    split_into_registers(program_, m + 1, shape_.fm);
    row_ = ir::var(row) * shape_.fm;
    if (shape_.fm > 1) row_ = row_ + ir::var(tile().axes.back().name);
    const auto deal = [&](std::int64_t elements, std::string& groups, std::string& one) {
      const std::int64_t vectors = elements / (columns * lanes), each = group(shape_.fm, vectors, target_);
      groups = add_axis(vectors / each, ir::Bind::reg);
      one = add_axis(each, ir::Bind::reg);
      return position({{groups, each * columns * lanes}, {one, columns * lanes}, {thread, lanes}});
    };
    std::string value_register, key_register;
    ir::Expr value = deal(values, value_groups_, value_register);
    key_ = deal(shape_.keys, key_groups_, key_register);
    if (lane_ = add_axis(lanes, ir::Bind::vector); !lane_.empty()) {
      value = value + ir::var(lane_);
      key_ = key_ + ir::var(lane_);
      over_.push_back(lane_);
    }
    for (const std::string& axis : {key_groups_, key_register, thread})
      if (!axis.empty()) over_.push_back(axis);
    threads_ = !thread.empty();
    ir::substitute_axes(program_, {{n, value}});
    keys_ = *tile().body[sweep_.at].as<ir::Loop>();
  }

  ir::Loop chunk_loop() {
    const std::int64_t extent = keys_.axis.extent, keys = shape_.keys;
    origin_ = shifted_origin(keys_.axis.name, keys, extent);
    chunk_ = {{keys_.axis.name, ceil_div(extent, keys), ir::Bind::free}, 0, 1, 1, {}};
    if (has_weights() || shape_.dots) probabilities_ = {slab_name("p"), ir::DType::f32, {shape_.rows, shape_.keys}};
    const ir::Arg score = new_only(shape_.dots ? add_dots() : add_scores());
    const std::string greatest = total(ir::Op::maximum, score);
    const std::string bound =
        assign(ir::Op::maximum, {assign(ir::Op::maximum, {step_.maximum, greatest}), ir::lowest_maximum});
    const std::string factor = assign(ir::Op::exp, {assign(ir::Op::subtract, {step_.maximum, bound})});
    const std::string part = assign(ir::Op::exp, {assign(ir::Op::subtract, {score, bound})});
    add(ir::Accum{step_.maximum, {}, ir::Op::maximum, {greatest}});
    for (std::size_t i = 0; i < step_.sums.size(); ++i) {
      if (!counts(i)) continue;
      const std::string sum = total(ir::Op::add, part);
      add(ir::Scale{step_.sums[i], {}, factor});
      add(ir::Accum{step_.sums[i], {}, ir::Op::add, {sum}});
    }
    add_weighted(part, factor);
    skip_masked();
    return std::move(chunk_);
  }

  // A chunk is left out where its scores are -inf in all rows of the block, because of a mask by positions.
  void skip_masked() {
    ir::Expr condition = 1;
    for (const ir::Expr& gate : gates(step_.score)) {
      const ir::Expr some = may_hold(ir::substitute(gate, {{keys_.axis.name, origin_ + ir::var(chunk_key)}}));
      if (!some.is_constant(1))
        condition = condition.is_constant(1) ? some : ir::Expr(ir::ExprOp::land, condition, some);
    }
    if (condition.is_constant(1)) return;
    ir::If visited = {std::move(condition), std::exchange(chunk_.body, {})};
    add(std::move(visited));
  }
  // Conditions without which the value is -inf.
  std::vector<ir::Expr> gates(const ir::Arg& value) const {
    const ir::Arg masked = -std::numeric_limits<double>::infinity();
    const auto* name = std::get_if<std::string>(&value);
    const ir::Stmt* made = nullptr;
    if (name != nullptr)
      for (const ir::Stmt& stmt : keys_.body)
        if (ir::defined(stmt) == *name) made = &stmt;
    if (made == nullptr) return {};
    if (const auto* index = made->as<ir::Index>(); index != nullptr && index->type.dtype == ir::DType::boolean)
      return {index->value};
    const auto* assign = made->as<ir::Assign>();
    if (assign == nullptr) return {};
    std::vector<ir::Expr> result;
    const auto take = [&](const ir::Arg& arg) {
      const std::vector<ir::Expr> more = gates(arg);
      result.insert(result.end(), more.begin(), more.end());
    };
    if (assign->op == ir::Op::add || assign->op == ir::Op::logical_and) take(assign->args[0]), take(assign->args[1]);
    if (assign->op == ir::Op::select && assign->args[2] == masked) take(assign->args[0]);
    return result;
  }
  // For some row of the block, and some key of the chunk; 1 where that is not known.
  ir::Expr may_hold(const ir::Expr& condition) {
    if (condition.kind() != ir::Expr::Kind::binary) return 1;
    if (condition.op() == ir::ExprOp::land) {
      const ir::Expr left = may_hold(condition.lhs()), right = may_hold(condition.rhs());
      return left.is_constant(1) ? right : right.is_constant(1) ? left : ir::Expr(ir::ExprOp::land, left, right);
    }
    if (condition.op() != ir::ExprOp::lt) return 1;
    std::vector<std::pair<std::string, std::int64_t>> varying = {{chunk_key, shape_.keys}};
    for (const ir::Axis& axis : tile().axes)
      if (axis.bind != ir::Bind::block) varying.emplace_back(axis.name, axis.extent);
    ir::Expr left = condition.lhs(), right = condition.rhs();
    for (const auto& [axis, extent] : varying) {
      const auto step = ir::coefficient(ir::simplify(left - right), axis);
      if (!step) return 1;
      const ir::Substitution end = {{axis, *step > 0 ? 0 : extent - 1}};
      left = ir::simplify(ir::substitute(left, end)), right = ir::simplify(ir::substitute(right, end));
    }
    return ir::less(left, right);
  }

  bool has_weights() const {
    return std::ranges::any_of(step_.weights, [](const ir::Arg& weight) { return weight != ir::Arg(1.0); });
  }
  bool counts(std::size_t i) const { return step_.weights[i] == ir::Arg(1.0); }

  template <class S>
  void add(S&& stmt) {
    chunk_.body.emplace_back(std::forward<S>(stmt));
  }
  std::string assign(ir::Op op, std::vector<ir::Arg> args) {
    std::string value = fresh("v");
    add(ir::Assign{value, {}, op, std::move(args)});
    return value;
  }
  // Of a row's values in the chunk.
  std::string total(ir::Op op, const ir::Arg& value) {
    std::string acc = fresh("acc");
    add(ir::Accum{acc, {}, op, {value}});
    if (!over_.empty()) add(ir::Combine{acc, op, over_});
    return acc;
  }

  // The statements of the sweep's body with another name for the key.
  ir::Body copied(const std::vector<std::size_t>& slice, const char* key) const {
    ir::Body body;
    for (const std::size_t at : slice) body.push_back(keys_.body[at]);
    ir::Ranges scope;
    ir::map_expressions(body, scope, [&](const ir::Expr& e, const ir::Ranges&) {
      return ir::substitute(e, {{keys_.axis.name, ir::var(key)}});
    });
    return body;
  }

  // Of a last chunk that is shifted inwards only the new keys count.
  ir::Arg new_only(const ir::Arg& score) {
    if (keys_.axis.extent % shape_.keys == 0) return score;
    const std::string is_new = fresh("v");
    add(ir::Index{
        is_new, {ir::DType::boolean, 1}, ir::less(ir::var(keys_.axis.name) * shape_.keys, ir::var(score_key) + 1)});
    return assign(ir::Op::select, {is_new, score, -std::numeric_limits<double>::infinity()});
  }

  // One key after the other, each by lanes along what it sums up; lanes read them along the keys.
  ir::Arg add_dots() {
    const std::string key = ir::fresh_axis(program_);
    ir::Loop one = {{key, shape_.keys, ir::Bind::free}, 0, 1, 1, {}};
    const std::string dots = dots_loop(program_, sweep_)->axis.name;
    for (ir::Stmt& stmt : copied(sweep_.scores, dot_key)) {
      one.body.push_back(std::move(stmt));
      auto* loop = one.body.back().as<ir::Loop>();
      if (loop == nullptr || loop->axis.name != dots) continue;
      loop->axis.extent /= lanes_;
      ir::Ranges scope;
      ir::map_expressions(loop->body, scope, [&](const ir::Expr& e, const ir::Ranges&) {
        return ir::substitute(e, {{dots, ir::var(dots) * lanes_ + ir::var(lane_)}});
      });
      const auto& sum = *loop->body.back().as<ir::Accum>();
      one.body.emplace_back(ir::Combine{sum.dst, ir::Op::add, {lane_}});
    }
    one.body.emplace_back(ir::Write{probabilities_.buffer, {row_, ir::var(key)}, step_.score});
    dot_ = key;
    add(std::move(one));
    std::string score = fresh("in");
    add(ir::Load{score, {}, probabilities_.buffer, {row_, ir::var(chunk_key)}});
    return score;
  }

  // Those of the chunk's keys, each lane's and register's own.
  ir::Arg add_scores() {
    ir::Body stages;
    for (const ir::Load* load : key_loads(keys_, sweep_)) {
      if (lies_along_keys(program_, *load, keys_.axis.name)) continue;
      KeySlab slab = *slab_of(program_, sweep_, *load, target_);
      slab.stage.buffer = slab_name(load->buffer);
      slab.stage.origin[static_cast<std::size_t>(slab.stage.slab.back().dim)] = origin_;
      slab.stage.slab.back().extent = shape_.keys;
      staged_.emplace_back(*load, ir::Load{load->dst, load->type, slab.stage.buffer, slab.index});
      add(std::move(slab.stage));
    }
    ir::Body scores = copied(sweep_.scores, score_key);
    ir::for_each(scores, [&](ir::Stmt& stmt) {
      if (auto* loop = stmt.as<ir::Loop>()) loop->per = key_groups_;
      auto* load = stmt.as<ir::Load>();
      if (load == nullptr) return;
      for (const auto& [before, after] : staged_)
        if (before.dst == load->dst) *load = after;
    });
    for (ir::Stmt& stmt : scores) add(std::move(stmt));
    return step_.score;
  }
  std::string slab_name(const std::string& source) {
    std::string name = source + "_smem";
    for (int n = 1; !names_.insert(name).second; ++n) name = source + "_smem" + std::to_string(n);
    return name;
  }

  // Sums with weights: a contraction over the chunk, of what all threads of a row have made.
  void add_weighted(const std::string& part, const std::string& factor) {
    if (!has_weights()) return;
    if (threads_) add(ir::Sync{});
    add(ir::Write{probabilities_.buffer, {row_, ir::var(chunk_key)}, part});
    if (threads_) add(ir::Sync{});
    weighted_ = ir::fresh_axis(program_);
    ir::Loop loop = {{weighted_, shape_.keys, ir::Bind::reduce}, 0, 1, 1, copied(sweep_.weights, weight_key)};
    loop.per = value_groups_;
    const std::string read = fresh("in");
    loop.body.emplace_back(ir::Load{read, {}, probabilities_.buffer, {row_, ir::var(weighted_)}});
    for (std::size_t i = 0; i < step_.sums.size(); ++i) {
      if (counts(i)) continue;
      add(ir::Scale{step_.sums[i], {}, factor});
      const std::string product = fresh("v");
      loop.body.emplace_back(ir::Assign{product, {}, ir::Op::multiply, {read, step_.weights[i]}});
      loop.body.emplace_back(ir::Accum{step_.sums[i], {}, ir::Op::add, {product}});
    }
    add(std::move(loop));
  }

  ir::Program program_;
  const Sweep sweep_;
  const Shape shape_;
  const Target& target_;
  std::set<std::string, std::less<>> names_;
  ir::Loop keys_, chunk_;
  ir::SoftmaxSum step_;
  ir::Smem probabilities_;
  std::vector<std::pair<ir::Load, ir::Load>> staged_;  // before and after
  std::vector<std::string> over_;                      // axes along which a row's keys lie
  std::string key_groups_, value_groups_, lane_, dot_, weighted_;
  std::int64_t lanes_ = 1;
  ir::Expr key_ = 0, origin_ = 0, row_ = 0;  // in the chunk; the chunk's first key; in the block
  bool threads_ = false;                     // several share a row
};

// One key after the other, in each thread.
class Steps {
 public:
  explicit Steps(ir::Program program)
      : program_(std::move(program)), names_(names_of(program_)), starts_(ir::accumulator_starts(program_.body)) {
    ir::for_each(program_.body, [&](const ir::Stmt& stmt) {
      if (const auto* step = stmt.as<ir::SoftmaxSum>()) openings_.emplace(step->maximum, ir::opening(*step));
    });
  }

  ir::Program run() {
    expand(program_.body);
    return std::move(program_);
  }

 private:
  // Inner bodies first: the starts point to bodies as they were.
  void expand(ir::Body& body) {
    ir::Body result;
    for (std::size_t i = 0; i < body.size(); ++i) {
      for (const ir::AccumulatorStart& start : starts_)
        if (const auto found = openings_.find(start.acc);
            start.body == &body && start.index == i && found != openings_.end())
          result.push_back(std::move(found->second));
      if (ir::Body* inner = ir::inner_body(body[i])) expand(*inner);
      if (const auto* step = body[i].as<ir::SoftmaxSum>())
        std::ranges::move(ir::steps(*step, [&] { return fresh(); }), std::back_inserter(result));
      else
        result.push_back(std::move(body[i]));
    }
    body = std::move(result);
  }
  std::string fresh() {
    for (int n = 0;; ++n)
      if (std::string name = "v" + std::to_string(n); names_.insert(name).second) return name;
  }

  ir::Program program_;
  std::set<std::string, std::less<>> names_;
  std::vector<ir::AccumulatorStart> starts_;
  std::map<std::string, ir::Stmt> openings_;  // by accumulator
};

bool has_steps(const ir::Program& program) {
  bool found = false;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) { found |= stmt.as<ir::SoftmaxSum>() != nullptr; });
  return found;
}

// The choices on offer, the heuristic's first: each has a next one that leaves a kernel for the target.
class Choices {
 public:
  Choices(const ir::Program& program, const Sweep& sweep, const Target& target)
      : program_(program),
        sweep_(sweep),
        target_(target),
        extent_(loop_of(tile_of(program), sweep).axis.extent),
        values_(tile_of(program).axes[sweep.n].extent),
        rows_(sweep.n == 0 ? 1 : tile_of(program).axes[sweep.n - 1].extent) {}

  std::vector<Value> keys() const {
    std::vector<Value> result;
    const std::int64_t lanes = std::min(target_.vector_lanes, values_);
    for (const std::int64_t keys : {64, 128, 32, 256, 16, 8})
      if (keys <= extent_ && keys % lanes == 0 && may_be(keys, 1, least_rows())) add_option(result, keys);
    if (result.empty() && may_be(extent_, 1, least_rows())) add_option(result, extent_);  // a few keys
    add_option(result, 0);
    return result;
  }

  std::vector<Value> columns(std::int64_t keys) const {
    std::vector<Value> result;
    if (!target_.cpu)
      for (const std::int64_t threads : {16, 32, 8, 4})
        if (keys % threads == 0 && values_ % threads == 0 && may_be(keys, threads, least_rows()))
          add_option(result, threads);
    add_option(result, 1);
    return result;
  }

  std::vector<Value> rows(std::int64_t keys, std::int64_t columns) const {
    std::vector<Value> result;
    for (const Value& rows : row_sizes())
      if (may_be(keys, columns, std::get<std::int64_t>(rows))) result.push_back(rows);
    return result;
  }

  // Few rows do not pay for a slab of keys in another order.
  std::vector<Value> dots(const Shape& shape) const {
    constexpr std::int64_t few = 8;
    const ir::Loop* loop = dots_loop(program_, sweep_);
    const std::int64_t lanes = width(extent_, shape.keys, values_, shape.columns, target_);
    if (loop == nullptr || shape.columns > 1 || lanes == 1 || loop->axis.extent % lanes != 0) return {};
    return on_off_fork("dots", shape.rows <= few).options;
  }

  std::vector<Value> fm(std::int64_t keys, std::int64_t columns, std::int64_t rows) const {
    std::vector<Value> result;
    for (const std::int64_t fm : {8, 4, 6, 12, 16, 2, 1})
      if (is({keys, columns, rows, fm})) add_option(result, fm);
    return result;
  }

 private:
  // A block of more rows reads each slab of keys for more of them.
  std::vector<Value> row_sizes() const {
    std::vector<Value> sizes =
        target_.cpu ? options({64, 128, 256, 32, 16, 8}, 1, rows_) : options({64, 32, 128, 16, 8}, 1, rows_);
    add_option(sizes, std::min<std::int64_t>(rows_, 4));
    std::erase_if(sizes,
                  [&](const Value& rows) { return !share_keys(program_, sweep_, std::get<std::int64_t>(rows)); });
    if (sizes.empty()) add_option(sizes, 1);
    return sizes;
  }
  std::int64_t least_rows() const {
    std::int64_t least = rows_;
    for (const Value& rows : row_sizes()) least = std::min(least, std::get<std::int64_t>(rows));
    return least;
  }
  bool is(const Shape& shape) const {
    if (shape.rows % shape.fm != 0 || shape.rows / shape.fm * shape.columns > target_.max_threads) return false;
    return fits_shared(Chunks(program_, sweep_, shape, target_).run(), target_);
  }
  bool may_be(std::int64_t keys, std::int64_t columns, std::int64_t rows) const {
    return !fm(keys, columns, rows).empty();
  }

  const ir::Program& program_;
  const Sweep& sweep_;
  const Target& target_;
  const std::int64_t extent_, values_, rows_;
};

Verdict decide(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!has_steps(program)) return Skip{"no online softmax"};
  const auto sweep = find_sweep(program);
  const auto keys = pins.integer("keys"), columns = pins.integer("columns"), rows = pins.integer("rows");
  if (!sweep || !obstacle(program, *sweep, target).empty() || keys == 0) return Apply{};
  const Choices choices(program, *sweep, target);
  if (!keys) return Fork{"keys", choices.keys()};
  if (!columns) return Fork{"columns", choices.columns(*keys)};
  if (!rows) return Fork{"rows", choices.rows(*keys, *columns)};
  const auto fm = pins.integer("fm");
  if (!fm) return Fork{"fm", choices.fm(*keys, *columns, *rows)};
  const std::vector<Value> dots = choices.dots({*keys, *columns, *rows, *fm});
  if (!dots.empty() && !pins.on_off("dots")) return Fork{"dots", dots};
  return Apply{};
}

ir::Program apply(ir::Program program, const Target& target, const Pins& pins) {
  const auto integer = [&](const char* knob) { return pins.integer(knob).value_or(0); };
  if (integer("keys") == 0) return Steps(std::move(program)).run();
  const Sweep sweep = *find_sweep(program);
  const Shape shape = {integer("keys"), integer("columns"), integer("rows"), integer("fm"),
                       pins.on_off("dots").value_or(false)};
  return Chunks(std::move(program), sweep, shape, target).run();
}

}  // namespace

extern const Rule online_softmax = {
    .name = "online_softmax",
    .summary = "keys of a softmax in chunks: scores, then what they weigh",
    .knobs = {{"keys", KnobType::integer},
              {"columns", KnobType::integer},
              {"rows", KnobType::integer},
              {"fm", KnobType::integer},
              {"dots", KnobType::on_off}},
    .decide = decide,
    .apply = apply,
};

}  // namespace deplo::rules
