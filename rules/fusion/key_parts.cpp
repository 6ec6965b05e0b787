// Attention in parts of its keys. Part p has a greatest score m[p] and sums s[p], and these combine as SoftmaxSum says
// (ir/loop.h): the parts are the steps of a sweep with the scores m[p] and the weights s[p].
//   for a0 in 0..32: # free                               (heads)
//     for a1 in 0..64: # free                             (values)
//       for a2 in 0..4096: # reduce { … k[a0, a2, …] …   acc1, acc2, acc3 <- softmax_sum(v1, 1, in2) }
//       v2 = divide(acc3, acc2)
//       o[a0, a1] = v2
//     →                                                        →
//   for a0 in 0..32: # free                               for a0 in 0..32: # free
//     for a1 in 0..16: # free                               for a1 in 0..64: # free
//       for a2 in 0..64: # free                               for a2 in 0..16: # reduce
//         for a3 in 0..256: # reduce                            in0 = load parts[0, a0, a2, a1]
//           … k[a0, ((a1 * 256) + a3), …] …                     in1 = load parts[1, a0, a2, a1]
//           acc1, acc2, acc3 <- softmax_sum(v1, 1, in2)         in2 = load parts[2, a0, a2, a1]
//         parts[0, a0, a1, a2] = acc1                           acc1, acc2, acc3 <- softmax_sum(in0, in1, in2)
//         parts[1, a0, a1, a2] = acc2                         v2 = divide(acc3, acc2)
//         parts[2, a0, a1, a2] = acc3                         o[a0, a1] = v2
// The score and the total of a part are stored with each of its values. So the second kernel has no sweep inside a
// sweep, and the first kernel has no Write that only some values execute. A part in which every score is -inf has sums
// of 0 and adds nothing. Flash-Decoding (Dao, Haziza, Massa, Sizov 2023) splits keys in the same way.
#include "rules/fusion/key_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "core/error.h"
#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/axes.h"
#include "rules/tile/helpers/key_sweep.h"

namespace deplo::rules {

extern const Rule tileify;

namespace fusion {
namespace {

/// Lower bound on the keys of a part for each row that shares them. For each part, the two kernels write and read 24
/// bytes per column and row. With this bound, that is a tenth of the part's keys and values, which take 4 bytes per
/// column and key if they have 16 bits. It is also a tenth of the time of the products on tensor cores.
constexpr std::int64_t keys_of_row = 64;
/// Lower bound on the keys of a part, because the second kernel takes the parts of a value one after the other.
std::int64_t fewest_keys(const Target& target) { return target.cpu ? 2048 : 256; }
/// Upper bound on the rows of a block (rules/tile/online_softmax.cpp).
constexpr std::int64_t max_rows = 128;
/// Blocks per multiprocessor, as in FlashAttention-2 (num_splits_heuristic): one block waits for its loads while the
/// other one computes. A core runs one block.
std::int64_t blocks_of_unit(const Target& target) { return target.cpu ? 1 : 2; }

/// The kernel with all its free axes in one tile, as rule tileify makes it, and its sweep over the keys.
struct SweptKernel {
  ir::Program tile;
  KeySweep sweep;
  const std::vector<ir::Axis>& axes() const { return tile_of(tile).axes; }
  const ir::Body& body() const { return tile_of(tile).body; }
  const ir::Loop& keys() const { return loop_of(tile_of(tile), sweep); }
};

/// Returns nullopt, and sets `why_not`, if the keys cannot be split.
std::optional<SweptKernel> find_attention(const ir::Program& loop, std::string& why_not) {
  ir::Program tile = tileify.apply(loop, {}, {});
  const auto sweep = find_key_sweep(tile);
  why_not = "the values of a row have no axis of their own";
  if (!sweep) return std::nullopt;
  const ir::Body& body = tile_of(tile).body;
  bool alone = tile.body.size() == 1;
  for (std::size_t i = 0; i < body.size(); ++i)
    alone &= i == sweep->at || is_scalar(body[i]) || body[i].as<ir::Write>() != nullptr;
  why_not = "it has loops other than the sweep over the keys";
  if (!alone) return std::nullopt;
  SweptKernel attention = {std::move(tile), *sweep};
  attention.sweep.step = attention.keys().body.back().as<ir::SoftmaxSum>();
  return attention;
}

/// The number of neighbouring rows that share their keys, up to the rows that a block takes.
std::int64_t rows_of_block(const SweptKernel& attention) {
  std::int64_t rows = 1;
  if (!attention.sweep.m) return rows;
  const std::int64_t extent = attention.axes()[*attention.sweep.m].extent;
  for (const std::int64_t size : divisors(extent, 1, std::min(extent, max_rows)))
    if (share_keys(attention.tile, attention.sweep, size)) rows = size;
  return rows;
}

std::int64_t rows_of(const SweptKernel& attention) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < attention.axes().size(); ++i)
    if (i != attention.sweep.n) rows *= attention.axes()[i].extent;
  return rows;
}

/// Splits `all` keys into `parts` parts, or fewer, whose length is a multiple of `granule` keys.
void part(KeyParts& of, std::int64_t all, std::int64_t parts, std::int64_t granule) {
  of.keys = std::min(all, ceil_div(ceil_div(all, parts), granule) * granule);
  of.parts = ceil_div(all, of.keys);
}

/// Splits the keys into `room` parts, or up to a quarter fewer if the last part then shares fewer keys with the part
/// before it. A chunk that contains only shared keys is skipped under a condition, which prevents copies from running
/// ahead of it.
void part_evenly(KeyParts& of, std::int64_t all, std::int64_t room, std::int64_t granule) {
  const auto shared = [&](const KeyParts& parts) { return parts.parts * parts.keys - all; };
  part(of, all, room, granule);
  for (std::int64_t parts = room - 1; parts > 1 && 4 * parts >= 3 * room; --parts) {
    KeyParts other = of;
    part(other, all, parts, granule);
    if (shared(other) < shared(of)) of = other;
  }
}

/// The statements of `body` before `end` that define the values that the statements in `by` need.
ir::Body needed(const ir::Body& body, std::size_t end, const ir::Body& by) {
  std::set<std::string, std::less<>> wanted;
  const auto want = [&](const ir::Stmt& stmt) {
    const ir::Reads reads = ir::reads(stmt);
    wanted.insert(reads.values.begin(), reads.values.end());
  };
  ir::for_each(by, want);
  ir::Body result;
  for (std::size_t i = end; i-- > 0;)
    if (wanted.contains(ir::defined(body[i]))) {
      want(body[i]);
      result.insert(result.begin(), body[i]);
    }
  return result;
}

class Parting {
 public:
  Parting(const ir::Program& loop, SweptKernel attention, const KeyParts& parts, const std::string& tensor)
      : loop_(loop), attention_(std::move(attention)), parts_(parts), names_(names_of(loop)) {
    const ir::SoftmaxSum& step = *attention_.sweep.step;
    sums_ = step.sums;
    sums_.insert(sums_.begin(), step.maximum);
    part_ = ir::fresh_axis(attention_.tile);
    buffer_ = {tensor, ir::DType::f32, ir::Role::output, {std::ssize(sums_)}, {}};
    for (const ir::Axis& axis : around(parts_.parts)) {
      buffer_.shape.push_back(axis.extent);
      index_.push_back(ir::var(axis.name));
    }
    buffer_.strides = ir::row_major_strides(buffer_.shape);
  }

  ir::Program summing() {
    const std::size_t at = attention_.sweep.at;
    const ir::Body& body = attention_.body();
    ir::Body inside = needed(body, at, ir::Body(1, body[at]));
    inside.push_back(body[at]);
    auto& keys = *inside.back().as<ir::Loop>();
    const std::int64_t all = keys.axis.extent;
    keys.axis.extent = parts_.keys;
    for (std::size_t i = 0; i < sums_.size(); ++i) inside.emplace_back(ir::Write{buffer_.name, element(i), sums_[i]});
    ir::Program result = program(buffer_.name, around(parts_.parts), std::move(inside));
    ir::substitute_axes(result, {{key(), shifted_origin(part_, parts_.keys, all) + ir::var(key())}});
    if (all % parts_.keys != 0) ir::for_each(result.body, [&](ir::Stmt& stmt) { count_own(stmt, all); });
    result.buffers.push_back(buffer_);
    return finished(std::move(result));
  }

  ir::Program combining() {
    const auto behind = static_cast<std::ptrdiff_t>(attention_.sweep.at + 1);
    const ir::Body& body = attention_.body();
    const ir::Body epilogue(body.begin() + behind, body.end());
    ir::Body inside = needed(body, attention_.sweep.at, epilogue);
    ir::Loop sweep = {{part_, parts_.parts, ir::Bind::reduce}, 0, 1, 1, {}};
    ir::SoftmaxSum step = *attention_.sweep.step;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::string value = fresh_name(names_, "in");
      sweep.body.emplace_back(ir::Load{value, {}, buffer_.name, element(i)});
      (i == 0 ? step.score : step.weights[i - 1]) = value;
    }
    sweep.body.emplace_back(std::move(step));
    inside.emplace_back(std::move(sweep));
    inside.insert(inside.end(), epilogue.begin(), epilogue.end());
    ir::Program result = program(loop_.name, attention_.axes(), std::move(inside));
    result.buffers.push_back(buffer_);
    result.buffers.back().role = ir::Role::input;
    return finished(std::move(result));
  }

 private:
  const std::string& key() const { return attention_.keys().axis.name; }

  /// The free loops, including the loop over the parts. The loop over the parts stands outside the last free loop,
  /// along which memory is read and written.
  std::vector<ir::Axis> around(std::int64_t parts) const {
    std::vector<ir::Axis> axes = attention_.axes();
    axes.insert(axes.end() - 1, {part_, parts, ir::Bind::thread});
    return axes;
  }

  std::vector<ir::Expr> element(std::size_t i) const {
    std::vector<ir::Expr> index = index_;
    index.insert(index.begin(), static_cast<std::int64_t>(i));
    return index;
  }

  static ir::Program program(const std::string& name, const std::vector<ir::Axis>& axes, ir::Body body) {
    for (std::size_t i = axes.size(); i-- > 0;)
      body = ir::single(ir::Loop{{axes[i].name, axes[i].extent, ir::Bind::free}, 0, 1, 1, std::move(body)});
    return {ir::Level::loop, name, {}, std::move(body)};
  }

  /// Masks the keys of the last part that the part before it also has, so that they do not count twice.
  void count_own(ir::Stmt& stmt, std::int64_t all) {
    auto* keys = stmt.as<ir::Loop>();
    if (keys == nullptr || keys->axis.name != key()) return;
    auto& step = *keys->body.back().as<ir::SoftmaxSum>();
    const std::string own = fresh_name(names_, "v"), score = fresh_name(names_, "v");
    const ir::Arg before = std::exchange(step.score, score);
    const ir::Expr first = ir::var(part_) * parts_.keys - (all - parts_.keys);
    keys->body.insert(keys->body.end() - 1,
                      ir::Index{own, {ir::DType::boolean, 1}, ir::less(first, ir::var(key()) + 1)});
    constexpr double none = -std::numeric_limits<double>::infinity();
    keys->body.insert(keys->body.end() - 1, ir::Assign{score, {}, ir::Op::select, {own, before, none}});
  }

  /// Keeps the buffers of the original kernel that `program` uses. Inputs come first, then the buffers of `program`,
  /// then outputs.
  ir::Program finished(ir::Program program) const {
    std::vector<ir::Buffer> buffers;
    for (const ir::Buffer& buffer : loop_.buffers) {
      bool found = false;
      ir::for_each(program.body, [&](const ir::Stmt& stmt) {
        ir::for_each_name(stmt, [&](ir::Use use, const std::string& name) {
          found |= (use == ir::Use::reads || use == ir::Use::writes) && name == buffer.name;
        });
      });
      if (found) buffers.push_back(buffer);
    }
    const auto output = std::ranges::find(buffers, ir::Role::output, &ir::Buffer::role);
    buffers.insert(output, program.buffers.begin(), program.buffers.end());
    program.buffers = std::move(buffers);
    ir::renumber_axes(program);
    return program;
  }

  const ir::Program& loop_;
  const SweptKernel attention_;
  const KeyParts parts_;
  std::set<std::string, std::less<>> names_;
  std::vector<std::string> sums_;  // sums of a part; the greatest score comes first
  std::string part_;               // axis of the parts
  ir::Buffer buffer_;
  std::vector<ir::Expr> index_;  // index in the buffer, without its first dimension
};

/// All keys as one part. `why`: the reason why they cannot be split, used if `found` is nullopt.
KeyParts unsplit(const ir::Program& attention, const std::optional<SweptKernel>& found, std::string why) {
  KeyParts result;
  result.kernel = attention.name;
  if (found)
    result.keys = found->keys().axis.extent;
  else
    result.why = std::move(why);
  return result;
}

/// Rows of a block of the unsplit kernel, the number of its blocks, and into how many parts each block can be split
/// until the target's units are busy.
struct Room {
  std::int64_t rows, blocks, parts;  // rows: per block
};

Room room_of(const SweptKernel& attention, const Target& target) {
  const std::int64_t rows = rows_of_block(attention), blocks = rows_of(attention) / rows;
  return {rows, blocks, target.units * blocks_of_unit(target) / blocks};
}

/// Splits the keys into enough parts to keep the target's units busy.
KeyParts heuristic_parts(KeyParts result, const Room& of, const Target& target) {
  const auto& [rows, blocks, room] = of;
  const std::int64_t parts = std::min(room, result.keys / std::max(keys_of_row * rows, fewest_keys(target)));
  result.why = fmt::format("of {} block{} for {} {}", blocks, blocks == 1 ? "" : "s", target.units,
                           target.cpu ? "cores" : "multiprocessors");
  if (room < 2) return result;
  if (parts < 2)
    result.why = fmt::format("{} keys are too few to split, with {} rows per block", result.keys, rows);
  else
    part_evenly(result, result.keys, parts, target.vector_lanes);
  return result;
}

}  // namespace

KeyParts fixed_key_parts(const ir::Program& attention, std::int64_t wanted) {
  std::string why_not;
  const auto found = find_attention(attention, why_not);
  KeyParts result = unsplit(attention, found, why_not);
  if (found) part(result, result.keys, std::min(wanted, result.keys), 1);
  return result;
}

std::vector<KeyParts> key_parts_options(const ir::Program& attention, const Target& target) {
  std::string why_not;
  const auto found = find_attention(attention, why_not);
  const KeyParts all = unsplit(attention, found, why_not);
  if (!found) return {all};
  const Room room = room_of(*found, target);
  std::vector<KeyParts> options{heuristic_parts(all, room, target)};
  if (room.parts < 2) return options;  // more blocks cannot run at the same time
  const std::int64_t first = options[0].parts;
  for (const std::int64_t parts : {std::int64_t{1}, first / 2, 2 * first}) {
    KeyParts option = all;
    option.why = "the graph's trail says so";
    if (parts > 0) part(option, all.keys, parts, parts == 1 ? 1 : target.vector_lanes);
    const bool is_new = std::ranges::find(options, option.parts, &KeyParts::parts) == options.end();
    if (is_new && (option.parts == 1 || option.keys >= fewest_keys(target) / 2)) options.push_back(option);
  }
  return options;
}

std::pair<ir::Program, ir::Program> part_keys(const ir::Program& attention, const KeyParts& parts,
                                              const std::string& tensor) {
  std::string why_not;
  auto found = find_attention(attention, why_not);
  CHECK(found && parts.parts > 1);
  Parting parting(attention, *std::move(found), parts, tensor);
  ir::Program first = parting.summing();
  return {std::move(first), parting.combining()};
}

}  // namespace fusion
}  // namespace deplo::rules
