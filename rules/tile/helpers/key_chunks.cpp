#include "rules/tile/helpers/key_chunks.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "core/text/match.h"
#include "ir/softmax.h"
#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/key_mask.h"

namespace deplo::rules {
namespace {

// What a chunk's copies call the key while they are made. No program has such names.
constexpr const char *score_key = "key of a score", *weight_key = "key of a weight", *chunk_key = "key in the chunk",
                     *dot_key = "key of a dot product", *key_group = "group of keys";

// Registers of sums that one loop fills, of so many for each row. A fourth is for what they are made of:
// with AVX-512 that leaves 8 rows of two vectors, as register_tile's 8 x 32, of 24 vectors for sums.
std::int64_t group(std::int64_t fm, std::int64_t vectors, const Target& target) {
  const std::int64_t most = std::max<std::int64_t>(1, (register_budget(target) * 3 / 4) / fm);
  return divisors(vectors, 1, std::min(most, vectors)).back();
}

class Chunks {
 public:
  Chunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target)
      : program_(std::move(program)), sweep_(sweep), shape_(shape), target_(target), names_(names_of(program_)) {}

  ir::Program run() {
    keys_ = *tile().body[sweep_.at].as<ir::Loop>();
    step_ = *keys_.body.back().as<ir::SoftmaxSum>();
    values_ = tile().axes[sweep_.n].extent;
    if (by_products()) operands_ = find_operands(program_, sweep_);
    by_products() ? deal_out_to_warps() : deal_out();
    tile().body[sweep_.at] = chunk_loop();
    before_.insert(before_.begin(), ir::opening(step_));
    tile().body.insert(tile().body.begin() + static_cast<std::ptrdiff_t>(sweep_.at), before_.begin(), before_.end());
    if (!probabilities_.buffer.empty()) kept_.push_back(std::move(probabilities_));
    tile().body.insert(tile().body.begin(), kept_.begin(), kept_.end());
    key_ = ir::substitute(key_, {{key_group, ir::var(group_)}});
    ir::substitute_axes(program_, {{score_key, origin_ + key_},
                                   {dot_key, origin_ + ir::var(dot_)},
                                   {weight_key, origin_ + ir::var(weighted_)},
                                   {chunk_key, key_}});
    return std::move(program_);
  }

 private:
  ir::Tile& tile() { return tile_of(program_); }

  std::string fresh(const std::string& stem) { return fresh_name(names_, stem); }
  std::string add_axis(std::int64_t extent, ir::Bind bind) {
    if (extent == 1) return "";
    std::string name = ir::fresh_axis(program_);
    tile().axes.push_back({name, extent, bind});
    return name;
  }
  // The launch: blocks of rows; threads along the rows, and along the keys as along the values.
  void deal_out() {
    const std::string n = tile().axes[sweep_.n].name;
    lanes_ = chunk_lanes(program_, sweep_, shape_.keys, shape_.columns, target_);
    deal_rows(n);
    std::string value_register, key_register;
    ir::Expr value = deal(values_, value_groups_, value_register);
    if (in_registers()) {
      key_ = deal(shape_.keys, key_groups_, key_register);
    } else if (!shape_.dots) {
      const std::int64_t each = group(shape_.fm, shape_.keys / lanes_, target_);
      groups_ = shape_.keys / lanes_ / each;
      key_ = ir::var(key_group) * (each * lanes_) + position({{add_axis(each, ir::Bind::reg), lanes_}});
    }
    if (lane_ = add_axis(lanes_, ir::Bind::vector); !lane_.empty()) {
      value = value + ir::var(lane_);
      key_ = key_ + ir::var(lane_);
    }
    for (const std::string& axis : {lane_, key_groups_, key_register, thread_})
      if (!axis.empty()) over_.push_back(axis);
    replace_axes({{n, value}});
  }
  void replace_axes(const ir::Substitution& by) {
    ir::substitute_axes(program_, by);
    keys_ = *tile().body[sweep_.at].as<ir::Loop>();
    for (const ir::Axis& axis : tile().axes) names_.insert(axis.name);
  }

  // As matrix instructions leave their sums in the registers of a warp (ir/hardware/mma.h).
  void deal_out_to_warps() {
    using namespace ir::mma;
    const std::string n = tile().axes[sweep_.n].name;
    const std::int64_t warps = atom_of(shape_.by, values_)->warps, part = warps * warp_rows;
    lanes_ = has_vectors(program_, sweep_, column_registers, target_) ? column_registers : 1;
    const std::size_t at = deal_blocks(n);
    const std::string rows = tile().axes[at].name;
    const std::string w = add_axis(warps, ir::Bind::thread), g = add_axis(row_threads, ir::Bind::thread);
    thread_ = add_axis(column_threads, ir::Bind::thread);
    const std::string tile_m = add_axis(shape_.fm, ir::Bind::reg), r = add_axis(row_registers, ir::Bind::reg);
    value_groups_ = add_axis(values_ / warp_columns, ir::Bind::reg);
    key_groups_ = add_axis(shape_.keys / warp_columns, ir::Bind::reg);
    const std::string groups = add_axis(operands_->depth.extent / warp_columns, ir::Bind::reg);
    lane_ = add_axis(column_registers, lanes_ > 1 ? ir::Bind::vector : ir::Bind::reg);
    tile().axes[at].extent = shape_.rows / (shape_.fm * part);
    row_ = ir::simplify(position({{rows, shape_.fm * part}, {tile_m, part}, {w, warp_rows}, {r, row_threads}, {g, 1}}));
    const auto column = [&](const std::string& of) {
      return ir::simplify(position({{of, warp_columns}, {thread_, column_registers}, {lane_, 1}}));
    };
    key_ = column(key_groups_), value_ = column(value_groups_), depth_ = column(groups);
    over_ = {lane_, key_groups_, thread_};
    replace_axes({{rows, row_}, {n, value_}});
  }

  // The last axis becomes the rows of blocks, threads and registers; the axis n goes, all others are blocks.
  void deal_rows(const std::string& n) {
    const std::size_t rows = deal_blocks(n);
    row_ = ir::var(tile().axes[rows].name) * shape_.fm;
    thread_ = add_axis(shape_.columns, ir::Bind::thread);
    split_into_registers(program_, rows, shape_.fm);
    if (shape_.fm > 1) row_ = row_ + ir::var(tile().axes.back().name);
  }

  // All axes but n are blocks. Returns the place of the one that is left: the rows of a block.
  std::size_t deal_blocks(const std::string& n) {
    ir::Axis rows = {ir::fresh_axis(program_), 1, ir::Bind::thread};
    if (sweep_.m) rows = tile().axes[*sweep_.m];
    std::erase_if(tile().axes, [&](const ir::Axis& axis) { return axis.name == n || axis.name == rows.name; });
    const std::size_t m = tile().axes.size();
    for (ir::Axis& axis : tile().axes) axis.bind = ir::Bind::block;
    tile().axes.push_back(rows);
    split_into_blocks(program_, m, shape_.rows);
    return m + 1;
  }

  // Elements of a row: lanes, threads, registers of one loop, and groups of these.
  ir::Expr deal(std::int64_t elements, std::string& groups, std::string& one) {
    const std::int64_t step = shape_.columns * lanes_, each = group(shape_.fm, elements / step, target_);
    groups = add_axis(elements / step / each, ir::Bind::reg);
    one = add_axis(each, ir::Bind::reg);
    return position({{groups, each * step}, {one, step}, {thread_, lanes_}});
  }

  ir::Loop chunk_loop() {
    const std::int64_t extent = keys_.axis.extent, keys = shape_.keys;
    origin_ = shifted_origin(keys_.axis.name, keys, extent);
    chunk_ = {{keys_.axis.name, ceil_div(extent, keys), ir::Bind::free}, 0, 1, 1, {}};
    if (has_weights() || !in_registers())
      probabilities_ = {slab_name(names_, "p"), ir::DType::f32, {shape_.rows, shape_.keys}};
    if (by_products()) {
      probabilities_.dtype = operands_->dtype;
      probabilities_.registers = true;
    }
    in_registers() ? chunk_in_registers() : chunk_in_memory();
    leave_out_masked();
    return std::move(chunk_);
  }

  bool by_products() const { return shape_.by != By::threads; }

  // GPUs: each thread has its part of a row's scores, and all of them exchange exponentials. The threads of a CPU's
  // block have rows of their own, whose scores pass through memory: registers are for the sums of one loop at a time.
  bool in_registers() const { return !target_.cpu; }

  void chunk_in_registers() {
    by_products() ? add_operands() : add_slabs();
    for (ir::Stmt& stmt : scores_by(score_key)) add(std::move(stmt));
    if (by_products()) leave_out_factor();
    const ir::Arg score = new_only(step_.score, score_key);
    const std::string greatest = fresh("acc");
    add(ir::Accum{greatest, {}, ir::Op::maximum, {score}});
    combine(greatest, ir::Op::maximum);
    raise_maximum(greatest);
    const std::string part = exponential(score), sum = fresh("acc");
    add(ir::Accum{sum, {}, ir::Op::add, {part}});
    combine(sum, ir::Op::add);
    add_counts(sum);
    if (!has_weights()) return;
    const bool meet = !thread_.empty() && !by_products();
    if (meet) add(ir::Sync{});
    add(ir::Write{probabilities_.buffer, {row_, ir::var(chunk_key)}, part});
    if (meet) add(ir::Sync{});
    add_weighted();
  }

  void chunk_in_memory() {
    shape_.dots ? add_dots() : add_score_groups();
    const std::string greatest = fresh("acc"), sum = fresh("acc");
    sweep_row([&](const std::string& score, const ir::Expr&) {
      add(ir::Accum{greatest, {}, ir::Op::maximum, {score}});
    });
    combine(greatest, ir::Op::maximum);
    raise_maximum(greatest);
    sweep_row([&](const std::string& score, const ir::Expr& key) {
      const std::string part = exponential(score);
      add(ir::Accum{sum, {}, ir::Op::add, {part}});
      if (has_weights()) add(ir::Write{probabilities_.buffer, {row_, key}, part});
    });
    combine(sum, ir::Op::add);
    add_counts(sum);
    if (has_weights()) add_weighted();
  }

  // Calls f(score, key) in a loop over what memory has of the row.
  template <class F>
  void sweep_row(F&& f) {
    const std::string axis = fresh("a"), score = fresh("in");
    ir::Loop loop = {{axis, shape_.keys / lanes_, ir::Bind::reduce}, 0, 1, 1, {}};
    const ir::Expr key = ir::simplify(ir::var(axis) * lanes_ + position({{lane_, 1}}));
    to_ = &loop.body;
    add(ir::Load{score, {}, probabilities_.buffer, {row_, key}});
    f(score, key);
    to_ = &chunk_.body;
    add(std::move(loop));
  }

  // Scores that are a sum times a positive factor, masked or not: the greatest is that of the sums, too. Nobody else may
  // read the maximum.
  void leave_out_factor() {
    power_ = std::numbers::log2e;
    may_be_least_ = has_summand();
    std::size_t uses = 0;
    ir::for_each(tile().body, [&](const ir::Stmt& stmt) {
      ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
        uses += use == ir::Use::value && name == step_.maximum ? 1 : 0;
      });
    });
    if (uses > 0) return;
    const auto* wanted = std::get_if<std::string>(&step_.score);
    for (std::size_t i = to_->size(); wanted != nullptr && i-- > 0;) {
      auto* stmt = (*to_)[i].as<ir::Assign>();
      if (stmt == nullptr || stmt->dst != *wanted) continue;
      if (stmt->op == ir::Op::select && stmt->args[2] == ir::Arg(-std::numeric_limits<double>::infinity())) {
        wanted = std::get_if<std::string>(&stmt->args[1]);
      } else if (stmt->op == ir::Op::multiply) {
        const auto* factor = std::get_if<double>(&stmt->args[1]);
        if (factor == nullptr || !(*factor > 0)) return;
        power_ = *factor * std::numbers::log2e;
        stmt->op = ir::Op::copy;
        stmt->args.pop_back();
        return;
      } else {
        return;
      }
    }
  }

  // Whether something is added to the products, such as a mask of the least number: a score may be that number.
  bool has_summand() const {
    const auto* wanted = std::get_if<std::string>(&step_.score);
    for (std::size_t i = to_->size(); wanted != nullptr && i-- > 0;) {
      const auto* stmt = (*to_)[i].as<ir::Assign>();
      if (stmt == nullptr || stmt->dst != *wanted) continue;
      const bool scaled = stmt->op == ir::Op::multiply && std::holds_alternative<double>(stmt->args[1]);
      if (stmt->op == ir::Op::select)
        wanted = std::get_if<std::string>(&stmt->args[1]);
      else if (scaled || stmt->op == ir::Op::copy)
        wanted = std::get_if<std::string>(&stmt->args[0]);
      else
        return true;
    }
    return false;
  }

  void combine(const std::string& acc, ir::Op op) {
    if (!over_.empty()) add(ir::Combine{acc, op, over_});
  }
  // The maximum takes in the chunk's, and what it was before scales the sums.
  void raise_maximum(const std::string& greatest) {
    // Times the power the bound stays finite, also where that is rounded up.
    const double lowest = has_scaled_bound() ? ir::lowest_maximum / (2 * std::max(1.0, power_)) : ir::lowest_maximum;
    bound_ = assign(ir::Op::maximum, {assign(ir::Op::maximum, {step_.maximum, greatest}), lowest});
    if (has_scaled_bound()) bound_ = assign(ir::Op::multiply, {bound_, power_});
    factor_ = exponential(step_.maximum);
    add(ir::Accum{step_.maximum, {}, ir::Op::maximum, {greatest}});
  }
  // One multiplication and addition a score, of which the product is finite.
  bool has_scaled_bound() const { return by_products() && !may_be_least_; }
  // Of a score less the bound. As a power of two, a multiplication and addition and one special instruction, where it is
  // rounded to 16 bits behind that; the scores' own factor is in the power. Where all scores of a row may be the least
  // number, the difference comes first: it is 0, as in PyTorch, and not infinite.
  std::string exponential(const ir::Arg& score) {
    if (!by_products()) return assign(ir::Op::exp, {assign(ir::Op::subtract, {score, bound_})});
    if (!has_scaled_bound())
      return assign(ir::Op::exp2, {assign(ir::Op::multiply, {assign(ir::Op::subtract, {score, bound_}), power_})});
    return assign(ir::Op::exp2, {assign(ir::Op::subtract, {assign(ir::Op::multiply, {score, power_}), bound_})});
  }
  void add_counts(const std::string& sum) {
    for (std::size_t i = 0; i < step_.sums.size(); ++i) {
      if (!counts(i)) continue;
      add(ir::Scale{step_.sums[i], {}, factor_});
      add(ir::Accum{step_.sums[i], {}, ir::Op::add, {sum}});
    }
  }

  void leave_out_masked() {
    VisitedChunks visited = visited_chunks(tile(), keys_, step_, shape_.keys);
    chunk_.end = std::move(visited.end);
    if (visited.condition.is_constant(1)) return;
    ir::If rest = {std::move(visited.condition), std::exchange(chunk_.body, {})};
    add(std::move(rest));
  }

  bool has_weights() const {
    return std::ranges::any_of(step_.weights, [](const ir::Arg& weight) { return weight != ir::Arg(1.0); });
  }
  bool counts(std::size_t i) const { return step_.weights[i] == ir::Arg(1.0); }

  template <class S>
  void add(S&& stmt) {
    to_->emplace_back(std::forward<S>(stmt));
  }
  std::string assign(ir::Op op, std::vector<ir::Arg> args) {
    std::string value = fresh("v");
    add(ir::Assign{value, {}, op, std::move(args)});
    return value;
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
  ir::Arg new_only(const ir::Arg& score, const char* key) {
    if (keys_.axis.extent % shape_.keys == 0) return score;
    const std::string is_new = fresh("v");
    add(ir::Index{is_new, {ir::DType::boolean, 1}, ir::less(ir::var(keys_.axis.name) * shape_.keys, ir::var(key) + 1)});
    return assign(ir::Op::select, {is_new, score, -std::numeric_limits<double>::infinity()});
  }

  // One key after the other, each by lanes along what it sums up.
  void add_dots() {
    dot_ = fresh("a");
    ir::Loop one = {{dot_, shape_.keys, ir::Bind::free}, 0, 1, 1, {}};
    to_ = &one.body;
    const std::string dots = dots_loop(program_, sweep_)->axis.name;
    for (ir::Stmt& stmt : copied(sweep_.scores, dot_key)) {
      add(std::move(stmt));
      auto* loop = to_->back().as<ir::Loop>();
      if (loop == nullptr || loop->axis.name != dots) continue;
      loop->axis.extent /= lanes_;
      ir::Ranges scope;
      ir::map_expressions(loop->body, scope, [&](const ir::Expr& e, const ir::Ranges&) {
        return ir::substitute(e, {{dots, ir::var(dots) * lanes_ + ir::var(lane_)}});
      });
      add(ir::Combine{ir::defined(loop->body.back()), ir::Op::add, {lane_}});
    }
    add(ir::Write{probabilities_.buffer, {row_, ir::var(dot_)}, new_only(step_.score, dot_key)});
    to_ = &chunk_.body;
    add(std::move(one));
  }

  // So many keys after each other as there are registers for, each lane's its own.
  void add_score_groups() {
    add_slabs();
    group_ = fresh("a");
    ir::Loop group = {{group_, groups_, ir::Bind::free}, 0, 1, 1, {}};
    to_ = &group.body;
    for (ir::Stmt& stmt : scores_by(score_key)) add(std::move(stmt));
    add(ir::Write{probabilities_.buffer, {row_, ir::var(chunk_key)}, new_only(step_.score, score_key)});
    to_ = &chunk_.body;
    add(std::move(group));
  }

  void add_slabs() {
    for (const ir::Load* load : key_loads(keys_, sweep_)) {
      if (lies_along_keys(program_, *load, keys_.axis.name)) continue;
      KeySlab slab = *find_key_slab(program_, sweep_, *load, target_);
      slab.stage.buffer = slab_name(names_, load->buffer);
      ir::Expr& first = slab.stage.origin[static_cast<std::size_t>(slab.stage.slab.back().dim)];
      first = ir::simplify(origin_ + first);
      slab.stage.slab.back().extent = shape_.keys;
      slab.stage.panel = groups_ > 1 ? shape_.keys / groups_ : 0;  // what one loop reads lies together
      slab.index.emplace_back(ir::var(chunk_key));
      staged_.emplace_back(*load, ir::Load{load->dst, load->type, slab.stage.buffer, slab.index});
      add(std::move(slab.stage));
    }
  }
  // Slabs of keys and of values; the rows that are multiplied by keys stay in registers for all chunks.
  void add_operands() {
    const std::string& depth = operands_->depth.name;
    weighted_ = fresh("a");
    const Walk keys = {ir::var(keys_.axis.name), shape_.keys, origin_, ir::var(chunk_key)};
    add_operand(operands_->key, keys, {ir::var(depth), operands_->depth.extent, 0, ir::var(depth)});
    Walk weights = keys;
    weights.in_slab = ir::var(weighted_);
    add_operand(operands_->value, weights, {value_, values_, 0, value_});
    if (shape_.by == By::warpgroups) add(ir::AsyncWait{0, ir::var(chunk_.axis.name) % 2, 0});
    shape_.rows_in_registers ? keep_rows() : stage_rows();
  }
  void keep_rows() {
    ir::Smem rows = {
        slab_name(names_, operands_->row.buffer), operands_->dtype, {shape_.rows, operands_->depth.extent}};
    rows.registers = true;
    const ir::Load& row = placed(operands_->row);
    ir::Load element = {fresh("in"), row.type, row.buffer, {}};
    for (const ir::Expr& e : row.index) element.index.push_back(ir::substitute(e, {{operands_->depth.name, depth_}}));
    ir::Write write = {rows.buffer, {row_, depth_}, element.dst};
    before_.emplace_back(std::move(element));
    before_.emplace_back(std::move(write));
    staged_.emplace_back(row, ir::Load{row.dst, row.type, rows.buffer, {row_, ir::var(operands_->depth.name)}});
    kept_.push_back(std::move(rows));
  }
  void stage_rows() {
    const ir::Load& row = placed(operands_->row);
    KeySlab slab = *row_slab(program_, row, operands_->depth, row_, shape_.rows);
    slab.stage.buffer = slab_name(names_, row.buffer);
    staged_.emplace_back(row, ir::Load{row.dst, row.type, slab.stage.buffer, slab.index});
    before_.emplace_back(std::move(slab.stage));
  }
  void add_operand(const ir::Load& original, const Walk& keys, const Walk& columns) {
    const ir::Load& load = placed(original);
    KeySlab slab = *product_slab(program_, load, keys, columns, shape_.by, &original == &operands_->value);
    slab.stage.buffer = slab_name(names_, load.buffer);
    staged_.emplace_back(load, ir::Load{load.dst, load.type, slab.stage.buffer, slab.index});
    add(std::move(slab.stage));
  }
  // The load of the program as its axes are dealt out.
  const ir::Load& placed(const ir::Load& original) const {
    const ir::Load* found = nullptr;
    ir::for_each(keys_.body, [&](const ir::Stmt& stmt) {
      const auto* load = stmt.as<ir::Load>();
      if (load != nullptr && load->dst == original.dst) found = load;
    });
    CHECK(found != nullptr);
    return *found;
  }

  // What makes the scores, of the slabs.
  ir::Body scores_by(const char* key) const {
    ir::Body scores = copied(sweep_.scores, key);
    ir::for_each(scores, [&](ir::Stmt& stmt) {
      if (auto* loop = stmt.as<ir::Loop>()) {
        if (by_products())
          loop->atom = atom_of(shape_.by, shape_.keys)->name;
        else
          loop->per = key_groups_;
      }
    });
    read_slabs(scores);
    return scores;
  }
  void read_slabs(ir::Body& body) const {
    ir::for_each(body, [&](ir::Stmt& stmt) {
      auto* load = stmt.as<ir::Load>();
      if (load == nullptr) return;
      for (const auto& [before, after] : staged_)
        if (before.dst == load->dst) *load = after;
    });
  }

  // Sums with weights: a contraction over the chunk, of what all threads of a row have made, from shared memory.
  void add_weighted() {
    if (weighted_.empty()) weighted_ = fresh("a");
    ir::Loop loop = {{weighted_, shape_.keys, ir::Bind::reduce}, 0, 1, 1, copied(sweep_.weights, weight_key)};
    read_slabs(loop.body);
    if (by_products())
      loop.atom = atom_of(shape_.by, values_)->name;
    else
      loop.per = value_groups_;
    const std::string read = fresh("in");
    loop.body.emplace_back(ir::Load{read, {}, probabilities_.buffer, {row_, ir::var(weighted_)}});
    for (std::size_t i = 0; i < step_.sums.size(); ++i) {
      if (counts(i)) continue;
      add(ir::Scale{step_.sums[i], {}, factor_});
      const std::string product = fresh("v");
      loop.body.emplace_back(ir::Assign{product, {}, ir::Op::multiply, {read, step_.weights[i]}});
      loop.body.emplace_back(ir::Accum{step_.sums[i], {}, ir::Op::add, {product}});
    }
    add(std::move(loop));
  }

  ir::Program program_;
  const KeySweep sweep_;
  const ChunkShape shape_;
  const Target& target_;
  std::set<std::string, std::less<>> names_;
  ir::Loop keys_, chunk_;
  ir::SoftmaxSum step_;
  ir::Smem probabilities_;
  std::vector<ir::Smem> kept_;                             // all memory that is declared
  ir::Body before_;                                        // the chunk loop
  std::optional<ProductOperands> operands_;                // of matrix instructions
  std::int64_t values_ = 1;                                // of a row
  std::vector<std::pair<ir::Load, ir::Load>> staged_;      // before and after
  std::vector<std::string> over_;                          // axes along which a row's keys lie
  std::string key_groups_, value_groups_, lane_, thread_;  // axes of the tile
  std::string dot_, group_, weighted_;                     // of loops
  std::string bound_, factor_;
  double power_ = 1;  // of two, of which a score is the exponent
  bool may_be_least_ = false;
  std::int64_t lanes_ = 1, groups_ = 1;
  ir::Body* to_ = &chunk_.body;              // where statements are added
  ir::Expr key_ = 0, origin_ = 0, row_ = 0;  // in the chunk; the chunk's first key; in the block
  ir::Expr value_ = 0, depth_ = 0;           // of a row; of what a score sums up
};

}  // namespace

// A mask has rows of all keys, in which a language may ask for aligned vectors.
std::int64_t chunk_lanes(const ir::Program& program, const KeySweep& sweep, std::int64_t keys, std::int64_t columns,
                         const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::int64_t values = tile.axes[sweep.n].extent;
  const std::int64_t rows = traits(target.dialect).unaligned_vectors ? 0 : loop_of(tile, sweep).axis.extent;
  std::int64_t lanes = gathers_by_key(loop_of(tile, sweep)) ? 1 : target.vector_lanes;
  while (lanes > 1 && (keys % (columns * lanes) != 0 || values % (columns * lanes) != 0 || rows % lanes != 0 ||
                       !has_vectors(program, sweep, lanes, target)))
    lanes /= 2;
  return lanes;
}

ir::Program with_key_chunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target) {
  return Chunks(std::move(program), sweep, shape, target).run();
}

}  // namespace deplo::rules
