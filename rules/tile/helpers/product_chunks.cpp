#include "rules/tile/helpers/product_chunks.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "core/error.h"
#include "ir/hardware/mma.h"
#include "ir/softmax.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/tile/helpers/axes.h"

namespace deplo::rules::key_chunks {

ProductChunks::ProductChunks(ir::Program program, const KeySweep& sweep, const ChunkShape& shape, const Target& target)
    : Chunks(std::move(program), sweep, shape, target), operands_(*find_operands(program_, sweep)) {}

// Distributes rows and columns as matrix instructions leave their accumulators in a warp's registers
// (ir/hardware/mma.h).
void ProductChunks::deal_out() {
  using namespace ir::mma;
  const std::string n = tile().axes[sweep_.n].name;
  const std::int64_t warps = atom_of(shape_.by, values_)->warps, part = warps * warp_rows;
  lanes_ = has_vectors(program_, sweep_, column_registers, target_) ? column_registers : 1;
  const std::size_t at = deal_blocks(n);
  const std::string rows = tile().axes[at].name;
  const std::string w = add_axis(warps, ir::Bind::thread), g = add_axis(row_threads, ir::Bind::thread);
  thread_ = add_axis(column_threads, ir::Bind::thread);
  const std::string tile_m = add_axis(shape_.fm, ir::Bind::reg), r = add_axis(row_registers, ir::Bind::reg);
  const std::string value_groups = add_axis(values_ / warp_columns, ir::Bind::reg);
  const std::string key_groups = add_axis(shape_.keys / warp_columns, ir::Bind::reg);
  const std::string depth_groups = add_axis(operands_.depth.extent / warp_columns, ir::Bind::reg);
  lane_ = add_axis(column_registers, lanes_ > 1 ? ir::Bind::vector : ir::Bind::reg);
  tile().axes[at].extent = shape_.rows / (shape_.fm * part);
  row_ = ir::simplify(position({{rows, shape_.fm * part}, {tile_m, part}, {w, warp_rows}, {r, row_threads}, {g, 1}}));
  const auto column = [&](const std::string& of) {
    return ir::simplify(position({{of, warp_columns}, {thread_, column_registers}, {lane_, 1}}));
  };
  key_ = column(key_groups), value_ = column(value_groups), depth_ = column(depth_groups);
  over_ = {lane_, key_groups, thread_};
  replace_axes({{rows, row_}, {n, value_}});
}

ir::Smem ProductChunks::probabilities() {
  ir::Smem memory = Chunks::probabilities();
  memory.dtype = operands_.dtype;
  memory.registers = true;
  return memory;
}

// Stages slabs of keys and of values. The rows that are multiplied by keys stay in registers, or in shared memory, for
// all chunks.
void ProductChunks::add_inputs() {
  const std::string& depth = operands_.depth.name;
  weighted_ = out_.fresh("a");
  const Walk keys = {ir::var(keys_.axis.name), shape_.keys, origin_, key_in_chunk_};
  add_operand(operands_.key, keys, {ir::var(depth), operands_.depth.extent, 0, ir::var(depth)});
  Walk weights = keys;
  weights.in_slab = ir::var(weighted_);
  add_operand(operands_.value, weights, {value_, values_, 0, value_});
  if (shape_.by == By::warpgroups) out_.add(ir::AsyncWait{0, ir::var(chunk_.axis.name) % 2, 0});
  shape_.rows_in_registers ? keep_rows() : stage_rows();
}

void ProductChunks::keep_rows() {
  ir::Smem rows = {
      slab_name(out_.names(), operands_.row.buffer), operands_.dtype, {shape_.rows, operands_.depth.extent}};
  rows.registers = true;
  const ir::Load& row = placed(operands_.row);
  ir::Load element = {out_.fresh("in"), row.type, row.buffer, {}};
  for (const ir::Expr& e : row.index) element.index.push_back(ir::substitute(e, {{operands_.depth.name, depth_}}));
  ir::Write write = {rows.buffer, {row_, depth_}, element.dst};
  before_.emplace_back(std::move(element));
  before_.emplace_back(std::move(write));
  staged_.emplace_back(row, ir::Load{row.dst, row.type, rows.buffer, {row_, ir::var(operands_.depth.name)}});
  kept_.push_back(std::move(rows));
}

void ProductChunks::stage_rows() {
  const ir::Load& row = placed(operands_.row);
  KeySlab slab = *row_slab(program_, row, operands_.depth, row_, shape_.rows);
  slab.stage.buffer = slab_name(out_.names(), row.buffer);
  staged_.emplace_back(row, ir::Load{row.dst, row.type, slab.stage.buffer, slab.index});
  before_.emplace_back(std::move(slab.stage));
}

void ProductChunks::add_operand(const ir::Load& original, const Walk& keys, const Walk& columns) {
  const ir::Load& load = placed(original);
  KeySlab slab = *product_slab(program_, load, keys, columns, shape_.by, &original == &operands_.value);
  slab.stage.buffer = slab_name(out_.names(), load.buffer);
  staged_.emplace_back(load, ir::Load{load.dst, load.type, slab.stage.buffer, slab.index});
  out_.add(std::move(slab.stage));
}

/// Returns the program's load after its axes were distributed.
const ir::Load& ProductChunks::placed(const ir::Load& original) const {
  const ir::Load* found = nullptr;
  ir::for_each<ir::Load>(keys_.body, [&](const ir::Load& load) {
    if (load.dst == original.dst) found = &load;
  });
  CHECK(found != nullptr);
  return *found;
}

// If scores are a sum times a positive factor, masked or not, the greatest score belongs to the greatest sum. Then the
// factor moves to power_, unless another statement reads the maximum.
void ProductChunks::simplify_scores() {
  power_ = std::numbers::log2e;
  may_be_least_ = has_summand();
  if (is_maximum_read()) return;
  ir::Body& body = out_.body();
  const auto* wanted = std::get_if<std::string>(&step_.score);
  for (std::size_t i = body.size(); wanted != nullptr && i-- > 0;) {
    auto* stmt = body[i].as<ir::Assign>();
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

bool ProductChunks::is_maximum_read() {
  bool read = false;
  ir::for_each(tile().body, [&](const ir::Stmt& stmt) {
    ir::for_each_name(
        stmt, [&](ir::Use use, const std::string& name) { read |= use == ir::Use::value && name == step_.maximum; });
  });
  return read;
}

/// Returns whether something is added to the products, such as a mask with the lowest number. Then a score may be that
/// number.
bool ProductChunks::has_summand() {
  ir::Body& body = out_.body();
  const auto* wanted = std::get_if<std::string>(&step_.score);
  for (std::size_t i = body.size(); wanted != nullptr && i-- > 0;) {
    const auto* stmt = body[i].as<ir::Assign>();
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

// Returns the bound times power_. The product stays finite, even if rounding increases the bound's magnitude.
std::string ProductChunks::bound(const std::string& greatest) {
  if (!has_scaled_bound()) return Chunks::bound(greatest);
  const double lowest = ir::lowest_maximum / (2 * std::max(1.0, power_));
  const std::string raised = out_.assign(ir::Op::maximum, {step_.maximum, greatest});
  return out_.assign(ir::Op::multiply, {out_.assign(ir::Op::maximum, {raised, lowest}), power_});
}

// Returns e^(score - bound) as a power of two, which takes a multiply-add and one special instruction. Rounding to 16
// bits, if any, follows. power_ includes the scores' own factor. If all scores of a row may be the lowest number, the
// subtraction comes first, so that the difference is 0, as in PyTorch, and not infinite.
std::string ProductChunks::exponential(const ir::Arg& score) {
  if (!has_scaled_bound()) {
    const std::string difference = out_.assign(ir::Op::subtract, {score, bound_});
    return out_.assign(ir::Op::exp2, {out_.assign(ir::Op::multiply, {difference, power_})});
  }
  const std::string scaled = out_.assign(ir::Op::multiply, {score, power_});
  return out_.assign(ir::Op::exp2, {out_.assign(ir::Op::subtract, {scaled, bound_})});
}

}  // namespace deplo::rules::key_chunks
