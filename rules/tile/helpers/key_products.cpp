#include "rules/tile/helpers/key_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {

const ir::mma::Atom* atom_of(By by, std::int64_t columns) {
  return ir::mma::find_atom(by == By::warpgroups ? fmt::format("m64n{}k16", columns) : "m16n8k16");
}

std::optional<ProductOperands> find_operands(const ir::Program& program, const KeySweep& sweep) {
  const ir::Tile& tile = tile_of(program);
  const ir::Loop& keys = loop_of(tile, sweep);
  const std::string &key = keys.axis.name, &n = tile.axes[sweep.n].name;
  const auto element = [&](const ir::Load& load) {
    const ir::Buffer* source = program.find(load.buffer);
    return source != nullptr && source->role == ir::Role::input && ir::is_float16(source->dtype);
  };
  const ir::Loop* sums = nullptr;
  for (const std::size_t at : sweep.scores)
    if (const auto* loop = keys.body[at].as<ir::Loop>()) {
      if (sums != nullptr) return std::nullopt;
      sums = loop;
    }
  if (sums == nullptr || !sums->start.is_constant(0) || sums->step != 1 || sums->body.size() != 4) return std::nullopt;
  const auto *first = sums->body[0].as<ir::Load>(), *second = sums->body[1].as<ir::Load>();
  const auto* times = sums->body[2].as<ir::Assign>();
  const auto* sum = sums->body[3].as<ir::Accum>();
  if (first == nullptr || second == nullptr || times == nullptr || sum == nullptr || times->op != ir::Op::multiply ||
      sum->op != ir::Op::add || sum->args.front() != ir::Arg(times->dst) || !element(*first) || !element(*second))
    return std::nullopt;
  if (ir::depends_on(first->index, key)) std::swap(first, second);
  ProductOperands result = {*first, *second, {}, sums->axis, program.find(first->buffer)->dtype};
  if (ir::depends_on(first->index, key) || !ir::depends_on(second->index, key)) return std::nullopt;
  int values = 0;
  for (const ir::Arg& weight : sweep.step->weights) {
    if (weight == ir::Arg(1.0)) continue;
    ++values;
    for (const std::size_t at : sweep.weights)
      if (const auto* load = keys.body[at].as<ir::Load>(); load != nullptr && weight == ir::Arg(load->dst))
        result.value = *load;
  }
  const bool good = values == 1 && sweep.weights.size() == 1 && !result.value.dst.empty() && element(result.value) &&
                    ir::depends_on(result.value.index, key) && ir::depends_on(result.value.index, n) &&
                    program.find(second->buffer)->dtype == result.dtype &&
                    program.find(result.value.buffer)->dtype == result.dtype;
  return good ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<KeySlab> product_slab(const ir::Program& program, const ir::Load& load, const Walk& keys,
                                    const Walk& columns, By by, bool weighs) {
  std::optional<KeySlab> slab = find_slab(program, load, {keys, columns});
  if (!slab || by == By::warps) return slab;
  const bool transposed = weighs == (slab->index.back() == columns.in_slab);
  auto layout = warpgroup_layout(program, slab->stage, transposed, weighs ? columns.extent : keys.extent);
  if (!layout) return std::nullopt;
  slab->stage = *std::move(layout);
  return slab;
}

std::optional<KeySlab> row_slab(const ir::Program& program, const ir::Load& load, const ir::Axis& depth,
                                const ir::Expr& row, std::int64_t rows) {
  const auto in_block = [&](const ir::Expr& e) {
    bool found = false;
    ir::for_each_variable(row, [&](const std::string& name) { found |= ir::depends_on(e, name); });
    return found;
  };
  const auto along = std::ranges::find_if(load.index, in_block);
  if (along == load.index.end()) return std::nullopt;
  // An axis of extent 1 simplifies to 0.
  const ir::Expr origin = ir::simplify(*along - row, scope_in(tile_of(program)));
  if (in_block(origin)) return std::nullopt;
  const ir::Expr column = ir::var(depth.name);
  return find_slab(program, load, {{*along, rows, origin, row}, {column, depth.extent, 0, column}});
}

std::string products_obstacle(const ir::Program& program, const KeySweep& sweep, By by, std::int64_t keys,
                              const Target& target) {
  if (by == By::warps && !target.mma) return "no matrix instructions on this target (CUDA has them from sm_80 on)";
  if (by == By::warpgroups && !target.wgmma) return "no matrix instructions of warpgroups on this target";
  const auto operands = find_operands(program, sweep);
  if (!operands) return "the operands of its products are not 16-bit";
  const ir::Axis& n = tile_of(program).axes[sweep.n];
  const ir::mma::Atom *scores = atom_of(by, keys), *values = atom_of(by, n.extent);
  if (scores == nullptr || values == nullptr || keys % scores->n != 0 || n.extent % values->n != 0)
    return "the keys or values are not a multiple of the atom's size";
  if (operands->depth.extent % scores->k != 0 || keys % values->k != 0)
    return "the depth of the sum is not a multiple of the atom's";
  const Walk key = {ir::var(loop_of(tile_of(program), sweep).axis.name), keys, 0, 0};
  const auto columns = [](const ir::Axis& axis) { return Walk{ir::var(axis.name), axis.extent, 0, 1}; };
  if (!product_slab(program, operands->key, key, columns(operands->depth), by, false) ||
      !product_slab(program, operands->value, key, columns(n), by, true))
    return "keys or values are not a slab of an input that the instructions can read";
  return "";
}

bool has_row_slab(const ir::Program& program, const KeySweep& sweep) {
  const ProductOperands operands = *find_operands(program, sweep);
  const ir::Axis& m = tile_of(program).axes[*sweep.m];
  return row_slab(program, operands.row, operands.depth, ir::var(m.name), m.extent).has_value();
}

}  // namespace deplo::rules
