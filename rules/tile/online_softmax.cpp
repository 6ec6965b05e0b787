// online_softmax: computes a softmax sweep over keys, and the contraction after it, in chunks of `keys` keys. A block
// takes `rows` rows. `columns` threads share the keys of each row, and afterwards its values. A thread has `fm` rows.
//   Tile(axes=(a0:8=THREAD, a1:512=THREAD, a2:64=THREAD)):          (heads, queries, values)
//     for a3 in 0..512: # reduce
//       for a4 in 0..64: # reduce { … q[a0, a1, a4] … k[a0, a3, a4] … acc0 <- … }
//       acc1, acc2, acc3 <- softmax_sum(acc0, 1, v[a0, a3, a2])
//     → Tile(axes=(a0:8=BLOCK, a1:4=BLOCK, a5:16=THREAD, a6:8=REG, a7:2=REG, a8:2=REG, a9:2=REG, a10:16=VECTOR)):
//         Smem p_smem[128, 256] (f32)
//         for a3 in 0..2: # free
//           k_smem = Stage(k, …, slab=(s0:64@2, s1:256@1)) panel=32
//           for a11 in 0..8: # free { for a4 in 0..64: # reduce { … acc0 <- … }   p_smem[…] = acc0 }
//           for a12 in 0..16: # reduce { … acc4 <- maximum(acc4, …) }   Combine(acc4, …)     the maximum of a row
//           for a13 in 0..16: # reduce { … v5 = exp(…)   p_smem[…] = v5 }
//           acc3 <- scale(acc3, v4)
//           for a14 in 0..256: # reduce { … p_smem[…, a14] … v[a0, ((a3 * 256) + a14), …] … acc3 <- … }
// On GPUs the scores stay in registers until their exponentials are computed. The threads of a row exchange the
// exponentials.
// `by=warps` or `by=warpgroups`: matrix instructions compute both products. Rows and keys are distributed like their
// accumulators (mma).
//           Smem p_smem[128, 64] (bf16) registers
//           for a3 in 0..min(8, ((a1 * 2) + 2)): # free                  if a causal mask hides the later chunks
//             for a11 in 0..128: # reduce mma=m16n8k16 { … q_smem[…, a11] … k_smem[…, a11] … acc0 <- … }
//             … v10 = exp2(…)   p_smem[…] = v10
//             for a12 in 0..64: # reduce mma=m16n8k16 { … p_smem[…, a12] … v_smem[a12, …] … acc3 <- … }
// A block has `rows` rows. A warp has `fm` x 16 of them, a warpgroup `fm` x 64. `a` says where the rows of queries are
// kept.
// `keys=0`: one key after the other, by the steps of ir/softmax.h. The order of the loops is that of Dao,
// FlashAttention-2, arXiv 2307.08691: a block keeps its rows, and loops over the keys.
#include <algorithm>
#include <map>

#include "ir/hardware/gpu.h"
#include "ir/softmax.h"
#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/key_chunks.h"
#include "rules/tile/helpers/options.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// Lowers the sweep to one key after the other, in each thread.
class Steps {
 public:
  explicit Steps(ir::Program program)
      : program_(std::move(program)), names_(names_of(program_)), starts_(ir::accumulator_starts(program_.body)) {
    ir::for_each<ir::SoftmaxSum>(
        program_.body, [&](const ir::SoftmaxSum& step) { openings_.emplace(step.maximum, ir::opening(step)); });
  }

  ir::Program run() {
    expand(program_.body);
    return std::move(program_);
  }

 private:
  // Inner bodies are expanded first, because the starts point to the original bodies.
  void expand(ir::Body& body) {
    ir::Body result;
    for (std::size_t i = 0; i < body.size(); ++i) {
      for (const ir::AccumulatorStart& start : starts_)
        if (const auto found = openings_.find(start.acc);
            start.body == &body && start.index == i && found != openings_.end())
          result.push_back(std::move(found->second));
      if (ir::Body* inner = ir::inner_body(body[i])) expand(*inner);
      if (const auto* step = body[i].as<ir::SoftmaxSum>())
        std::ranges::move(ir::steps(*step, [&] { return fresh_name(names_, "v"); }), std::back_inserter(result));
      else
        result.push_back(std::move(body[i]));
    }
    body = std::move(result);
  }
  ir::Program program_;
  std::set<std::string, std::less<>> names_;
  std::vector<ir::AccumulatorStart> starts_;
  std::map<std::string, ir::Stmt> openings_;  // key: the accumulator
};

// The options of each knob, the heuristic's choice first. For each option, the next knob has an option that gives a
// legal kernel.
class Choices {
 public:
  Choices(const ir::Program& program, const KeySweep& sweep, const Target& target)
      : program_(program),
        sweep_(sweep),
        target_(target),
        extent_(loop_of(tile_of(program), sweep).axis.extent),
        values_(tile_of(program).axes[sweep.n].extent),
        rows_(sweep.m ? tile_of(program).axes[*sweep.m].extent : 1) {}

  std::vector<Value> keys() const {
    std::vector<Value> result;
    if (target_.cpu && gathers_by_key(loop_of(tile_of(program_), sweep_))) return {Value(std::int64_t{0})};
    const std::int64_t lanes = std::min(target_.vector_lanes, values_);
    // On CPUs a row's overhead, besides its sums, falls with the length of a chunk (docs/performance.md, "Attention").
    const std::vector<Value> sizes = !target_.cpu   ? options({64, 128, 32, 256, 16, 8}, 1, extent_)
                                     : hides_keys() ? options({128, 256, 64, 512, 32, 16, 8}, 1, extent_)
                                                    : options({256, 128, 512, 64, 32, 16, 8}, 1, extent_);
    for (const Value& size : sizes) {
      const auto keys = std::get<std::int64_t>(size);
      if (keys % lanes == 0 && may_be(keys, 1, least_rows())) result.push_back(size);
    }
    // If there are fewer keys than lanes in a vector, CPUs take one key after the other: compilers take minutes for
    // that many scalars.
    if (result.empty() && !target_.cpu && may_be(extent_, 1, least_rows())) add_option(result, extent_);
    // On a CPU, one key after the other takes 500 to 1,500 times as long. A tuner would spend seconds on it in which it
    // tries nothing else.
    if (!target_.cpu || result.empty()) add_option(result, 0);
    return result;
  }

  std::vector<Value> columns(std::int64_t keys) const {
    std::vector<Value> result;
    if (!target_.cpu)
      for (const std::int64_t threads : {16, 32, 8, 4})
        if (keys % threads == 0 && values_ % threads == 0 && may_be(keys, threads, least_rows()))
          add_option(result, threads);
    add_option(result, 1);
    const std::int64_t rows = std::get<std::int64_t>(row_sizes().front());
    busy_first(result, [&](std::int64_t columns) { return rows * columns; });
    return result;
  }

  std::vector<Value> rows(std::int64_t keys, std::int64_t columns) const {
    std::vector<Value> result;
    for (const Value& rows : row_sizes())
      if (may_be(keys, columns, std::get<std::int64_t>(rows))) result.push_back(rows);
    return result;
  }

  // Returns the options of `dots`. With few rows, reordering a slab of keys does not pay off.
  std::vector<Value> dots(const ChunkShape& shape) const {
    constexpr std::int64_t row_limit = 8;
    const ir::Loop* loop = dots_loop(program_, sweep_);
    const std::int64_t lanes = chunk_lanes(program_, sweep_, shape.keys, shape.columns, target_);
    if (loop == nullptr || shape.columns > 1 || lanes == 1 || loop->axis.extent % lanes != 0) return {};
    return on_off_fork("dots", shape.rows <= row_limit).options;
  }

  std::vector<Value> fm(std::int64_t keys, std::int64_t columns, std::int64_t rows) const {
    std::vector<Value> result;
    const auto add = [&](std::int64_t fm) {
      if (is({By::threads, keys, columns, rows, fm})) add_option(result, fm);
    };
    if (target_.cpu) add(cpu_rows(target_));
    for (const std::int64_t fm : {8, 4, 6, 12, 16, 2, 1}) add(fm);
    busy_first(result, [&](std::int64_t fm) { return rows / fm * columns; });
    return result;
  }

 private:
  // Returns whether a mask by positions, such as a causal one, hides many keys of the last chunk that a block visits.
  // With few keys, short chunks save more than long ones do (docs/performance.md, "Transposed panels").
  bool hides_keys() const {
    constexpr std::int64_t few_keys = 1024;
    const ir::Loop& loop = loop_of(tile_of(program_), sweep_);
    return extent_ <= few_keys && ir::depends_on(ir::seen(loop.body, sweep_.step->score), loop.axis.name);
  }
  // On GPUs, sizes that give each of a multiprocessor's four schedulers a warp come first. In a decode, which has few
  // rows, this means that more threads share a row.
  template <class F>
  void busy_first(std::vector<Value>& options, F&& threads) const {
    if (target_.cpu) return;
    std::stable_partition(options.begin(), options.end(), [&](const Value& option) {
      return threads(std::get<std::int64_t>(option)) >= ir::gpu::schedulers * target_.warp;
    });
  }
  // With more rows, a block reuses each slab of keys more often.
  std::vector<Value> row_sizes() const {
    std::vector<Value> sizes =
        target_.cpu ? options({128, 64, 256, 32, 16, 8}, 1, rows_) : options({64, 32, 128, 16, 8}, 1, rows_);
    add_option(sizes, std::min<std::int64_t>(rows_, 4));
    std::erase_if(sizes,
                  [&](const Value& rows) { return !share_keys(program_, sweep_, std::get<std::int64_t>(rows)); });
    if (sizes.empty()) add_option(sizes, 1);
    return sizes;
  }
  std::int64_t least_rows() const {
    std::int64_t min_rows = rows_;
    for (const Value& rows : row_sizes()) min_rows = std::min(min_rows, std::get<std::int64_t>(rows));
    return min_rows;
  }
  bool is(const ChunkShape& shape) const {
    if (shape.rows % shape.fm != 0 || shape.rows / shape.fm * shape.columns > target_.max_threads) return false;
    return fits_shared(with_key_chunks(program_, sweep_, shape, target_), target_);
  }
  bool may_be(std::int64_t keys, std::int64_t columns, std::int64_t rows) const {
    return !fm(keys, columns, rows).empty();
  }

  const ir::Program& program_;
  const KeySweep& sweep_;
  const Target& target_;
  const std::int64_t extent_, values_, rows_;
};

constexpr const char *weights_in_registers = "registers", *weights_shared = "shared";

// The options for matrix instructions: chunks of keys, rows of a block, and rows of instructions in a warp or
// warpgroup.
class ProductChoices {
 public:
  ProductChoices(const ir::Program& program, const KeySweep& sweep, By by, const Target& target)
      : program_(program), sweep_(sweep), by_(by), target_(target) {}

  // Longer chunks have fewer maxima to compare and fewer sums to scale. But warps with two rows of instructions fetch
  // half as much from the slabs, while warps with one row wait for the fetches (docs/performance.md, "Attention on
  // tensor cores").
  std::vector<Value> keys() const {
    const std::int64_t extent = loop_of(tile_of(program_), sweep_).axis.extent;
    std::vector<Value> result;
    for (const Value& size : by_ == By::warps ? options({64, 128, 32, 96, 48, 16}, 16, extent)
                                              : options({128, 64, 160, 192, 96, 256, 32, 16}, 16, extent))
      if (const auto keys = std::get<std::int64_t>(size);
          products_obstacle(program_, sweep_, by_, keys, target_).empty() && !rows(keys).empty())
        result.push_back(size);
    if (by_ == By::warps)
      std::stable_partition(result.begin(), result.end(),
                            [&](const Value& size) { return has_two(std::get<std::int64_t>(size)); });
    return result;
  }

  std::vector<Value> rows(std::int64_t keys) const {
    std::vector<Value> result;
    if (!sweep_.m) return result;
    for (const Value& size : options({128, 64, 192, 256, 32, 16}, 1, tile_of(program_).axes[*sweep_.m].extent))
      if (const auto rows = std::get<std::int64_t>(size); share_keys(program_, sweep_, rows) && !fm(keys, rows).empty())
        result.push_back(size);
    return result;
  }

  std::vector<Value> fm(std::int64_t keys, std::int64_t rows) const {
    std::vector<Value> result;
    for (const std::int64_t fm : {2, 1})
      if (!places(keys, rows, fm).empty()) add_option(result, fm);
    return result;
  }

  // Returns where the rows, which are operand a, can be kept: in registers, if there are enough, or in shared memory.
  std::vector<Value> places(std::int64_t keys, std::int64_t rows, std::int64_t fm) const {
    std::vector<Value> result;
    if (is(keys, rows, fm, true)) result.emplace_back(std::string(weights_in_registers));
    if (by_ == By::warps && has_row_slab(program_, sweep_) && is(keys, rows, fm, false))
      result.emplace_back(std::string(weights_shared));
    return result;
  }

 private:
  bool has_two(std::int64_t keys) const {
    return std::ranges::any_of(rows(keys), [&](const Value& size) {
      return fm(keys, std::get<std::int64_t>(size)).front() == Value(std::int64_t{2});
    });
  }
  bool is(std::int64_t keys, std::int64_t rows, std::int64_t fm, bool rows_in_registers) const {
    const std::int64_t values = tile_of(program_).axes[sweep_.n].extent, warps = atom_of(by_, values)->warps,
                       threads = rows / fm / ir::mma::warp_rows * ir::gpu::warp;
    if (rows % (fm * warps * ir::mma::warp_rows) != 0 || threads > target_.max_threads) return false;
    // Sums take 32 bits each. The elements of rows, and the weights of the keys, take 16 bits each, two in a register.
    const std::int64_t depth = rows_in_registers ? find_operands(program_, sweep_)->depth.extent : 0,
                       registers = ir::mma::warp_rows * fm * (values + keys + (depth + keys) / 2) / ir::gpu::warp;
    // With 176 such registers ptxas (13.0) uses 242. With 224 it spills 13, because warps also need registers to fetch
    // operands.
    constexpr std::int64_t others_of_warps = 64;
    const std::int64_t others = by_ == By::warpgroups ? other_registers_of_warpgroups : others_of_warps;
    if (registers + others > thread_registers(threads, target_)) return false;
    const ir::Program made = with_key_chunks(program_, sweep_, {by_, keys, 1, rows, fm, rows_in_registers}, target_);
    // Each iteration of the loop is a phase of TMA. A block that skips iterations before its first one would wait for
    // the wrong phase.
    if (by_ == By::warpgroups && chunk_loops(tile_of(made)).empty()) return false;
    return fits_shared(made, target_);
  }

  const ir::Program& program_;
  const KeySweep& sweep_;
  const By by_;
  const Target& target_;
};

constexpr const char* names[] = {"threads", "warps", "warpgroups"};  // indexed by By
By by_of(const Pins& pins) {
  const std::string name = pins.text("by").value_or(names[0]);
  return static_cast<By>(std::ranges::find(names, name) - std::begin(names));
}

// The first option is the fastest: warpgroups read operands directly from shared memory. Threads alone are much slower
// than both kinds of matrix instructions.
std::vector<Value> multipliers(const ir::Program& program, const KeySweep& sweep, const Target& target) {
  std::vector<Value> result;
  for (const By by : {By::warpgroups, By::warps})
    if (!ProductChoices(program, sweep, by, target).keys().empty())
      result.emplace_back(std::string(names[static_cast<std::size_t>(by)]));
  result.emplace_back(std::string(names[0]));
  return result;
}

Verdict decide_online_softmax(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!ir::has_softmax_sum(program)) return Skip{"no online softmax"};
  const auto sweep = find_key_sweep(program);
  if (!sweep) return Apply{};
  if (pins.empty())
    if (auto by = multipliers(program, *sweep, target); by.size() > 1) return Fork{"by", std::move(by)};
  const auto keys = pins.integer("keys"), columns = pins.integer("columns"), rows = pins.integer("rows"),
             fm = pins.integer("fm");
  if (const By by = by_of(pins); by != By::threads) {
    const ProductChoices choices(program, *sweep, by, target);
    if (!keys) return Fork{"keys", choices.keys()};
    if (!rows) return Fork{"rows", choices.rows(*keys)};
    if (!fm) return Fork{"fm", choices.fm(*keys, *rows)};
    if (!pins.text("a")) return Fork{"a", choices.places(*keys, *rows, *fm)};
    return Apply{};
  }
  if (!has_chunks(program, *sweep, target) || keys == 0) return Apply{};
  const Choices choices(program, *sweep, target);
  if (!keys) return Fork{"keys", choices.keys()};
  if (!columns) return Fork{"columns", choices.columns(*keys)};
  if (!rows) return Fork{"rows", choices.rows(*keys, *columns)};
  if (!fm) return Fork{"fm", choices.fm(*keys, *columns, *rows)};
  const std::vector<Value> dots = choices.dots({By::threads, *keys, *columns, *rows, *fm});
  if (!dots.empty() && !pins.on_off("dots")) return Fork{"dots", dots};
  return Apply{};
}

ir::Program apply_online_softmax(ir::Program program, const Target& target, const Pins& pins) {
  if (pins.integer("keys").value_or(0) == 0) return Steps(std::move(program)).run();
  const ChunkShape shape = {by_of(pins),
                            pins.integer("keys").value(),
                            pins.integer("columns").value_or(1),
                            pins.integer("rows").value(),
                            pins.integer("fm").value(),
                            pins.text("a").value_or(weights_in_registers) == weights_in_registers,
                            pins.on_off("dots").value_or(false)};
  const KeySweep sweep = *find_key_sweep(program);
  return with_key_chunks(std::move(program), sweep, shape, target);
}

}  // namespace

extern const Rule online_softmax = {
    .name = "online_softmax",
    .summary = "keys of a softmax in chunks: scores, then the sums that they weight",
    .knobs = {{"by", KnobType::text, names[0]},
              {"keys", KnobType::integer},
              {"columns", KnobType::integer},
              {"rows", KnobType::integer},
              {"fm", KnobType::integer},
              {"a", KnobType::text, weights_in_registers},
              {"dots", KnobType::on_off}},
    .decide = decide_online_softmax,
    .apply = apply_online_softmax,
};

}  // namespace deplo::rules
