#include "rules/tile/helpers/key_sweep.h"

#include <algorithm>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

// Returns whether the statement, or a statement inside it, defines the name.
bool makes(const ir::Stmt& stmt, const std::string& name) {
  if (ir::defined(stmt) == name) return true;
  const ir::Body* inner = ir::inner_body(stmt);
  return inner != nullptr && std::ranges::any_of(*inner, [&](const ir::Stmt& s) { return makes(s, name); });
}

// Adds the positions of all statements of the body that the value depends on, in order.
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

// Finds axis n: the last axis that the weights depend on and the scores do not. Returns false if there is none.
bool find_values(const ir::Tile& tile, const ir::Body& body, KeySweep& sweep) {
  const auto both = [&](std::size_t s) { return std::ranges::count(sweep.weights, s) > 0; };
  if (std::ranges::any_of(sweep.scores, both)) return false;
  for (std::size_t n = tile.axes.size(); n-- > 0;) {
    const auto names = dependent_names(tile.body, tile.axes[n].name);
    const auto on_value = [&](std::size_t s) { return depends(body[s], names); };
    if (std::ranges::none_of(sweep.scores, on_value) && std::ranges::any_of(sweep.weights, on_value)) {
      sweep.n = n;
      return true;
    }
  }
  return false;
}

// Finds axis m: the axis along which the most neighbouring rows share their keys.
void find_rows(const ir::Program& program, KeySweep& sweep) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  std::int64_t shared_rows = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i == sweep.n) continue;
    KeySweep other = sweep;
    other.m = i;
    std::int64_t rows = 1;
    for (const std::int64_t size : divisors(axes[i].extent, 2, axes[i].extent))
      if (share_keys(program, other, size)) rows = size;
    if (rows >= shared_rows) sweep.m = i, shared_rows = rows;
  }
}

}  // namespace

const ir::Loop& loop_of(const ir::Tile& tile, const KeySweep& sweep) { return *tile.body[sweep.at].as<ir::Loop>(); }

std::optional<KeySweep> find_key_sweep(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  for (std::size_t i = 0; i < tile.body.size(); ++i) {
    const auto* loop = tile.body[i].as<ir::Loop>();
    if (loop == nullptr || loop->axis.bind != ir::Bind::reduce || !loop->start.is_constant(0) || loop->step != 1)
      continue;
    KeySweep sweep = {i, loop->body.back().as<ir::SoftmaxSum>(), {}, {}, 0, std::nullopt};
    if (sweep.step == nullptr) continue;
    add_slice(loop->body, sweep.step->score, sweep.scores);
    for (const ir::Arg& weight : sweep.step->weights) add_slice(loop->body, weight, sweep.weights);
    if (!find_values(tile, loop->body, sweep)) continue;
    find_rows(program, sweep);
    return sweep;
  }
  return std::nullopt;
}

std::vector<const ir::Load*> key_loads(const ir::Loop& keys, const KeySweep& sweep) {
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

bool lies_along_keys(const ir::Program& program, const ir::Load& load, const std::string& key) {
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->strides.empty() || source->strides.back() != 1) return false;
  for (std::size_t d = 0; d + 1 < load.index.size(); ++d)
    if (ir::depends_on(load.index[d], key)) return false;
  return ir::coefficient(load.index.back(), key) == 1;
}

std::optional<KeySlab> find_key_slab(const ir::Program& program, const KeySweep& sweep, const ir::Load& load,
                                     const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const ir::Loop& keys = loop_of(tile, sweep);
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->role != ir::Role::input || gathers(program, load.index)) return std::nullopt;
  ir::Ranges inner;
  ir::for_each<ir::Loop>(keys.body,
                         [&](const ir::Loop& loop) { inner.emplace_back(loop.axis.name, ir::range_of(loop)); });
  KeySlab slab;
  slab.stage = {load.buffer + "_smem", load.buffer, target.cpu ? ir::value_type(source->dtype) : source->dtype, {}, {}};
  std::optional<std::size_t> along;
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    const ir::Expr& e = load.index[d];
    const auto inside = std::ranges::find_if(inner, [&](const auto& axis) { return ir::depends_on(e, axis.first); });
    if (ir::depends_on(e, keys.axis.name)) {
      const ir::Expr first = ir::simplify(ir::substitute(e, {{keys.axis.name, ir::Expr(0)}}));
      const auto walks = [&](const auto& axis) { return ir::depends_on(first, axis.first); };
      if (along || ir::coefficient(e, keys.axis.name) != 1 || std::ranges::any_of(inner, walks)) return std::nullopt;
      along = d;
      slab.stage.origin.push_back(first);  // origin of the first chunk; the origin of each chunk is added later
    } else if (inside != inner.end()) {
      const ir::Expr rest = ir::simplify(ir::substitute(e, {{inside->first, ir::Expr(0)}}), {});
      const auto in_rest = [&](const auto& axis) { return ir::depends_on(rest, axis.first); };
      if (ir::coefficient(e, inside->first) != 1 || std::ranges::any_of(inner, in_rest)) return std::nullopt;
      slab.stage.origin.push_back(rest);  // a head of a projection may begin anywhere in its row
      slab.stage.slab.push_back(
          {"s" + std::to_string(slab.stage.slab.size()), inside->second.high + 1, static_cast<int>(d)});
      slab.index.push_back(ir::var(inside->first));
    } else {
      slab.stage.origin.push_back(e);
    }
  }
  if (!along) return std::nullopt;
  slab.stage.slab.push_back({"s" + std::to_string(slab.stage.slab.size()), 0, static_cast<int>(*along)});
  return slab;
}

std::optional<KeySlab> find_slab(const ir::Program& program, const ir::Load& load, const std::vector<Walk>& walks) {
  const ir::Buffer* source = program.find(load.buffer);
  if (source == nullptr || source->role != ir::Role::input || gathers(program, load.index)) return std::nullopt;
  const auto is_walked = [&](const ir::Expr& e) {
    bool found = false;
    for (const Walk& walk : walks)
      ir::for_each_variable(walk.at, [&](const std::string& name) { found |= ir::depends_on(e, name); });
    return found;
  };
  KeySlab slab = {{load.buffer, load.buffer, source->dtype, {}, {}}, {}};
  for (std::size_t d = 0; d < load.index.size(); ++d) {
    // The part that the slab does not walk: a head of a projection may begin anywhere in its row.
    ir::Expr rest = load.index[d];
    if (is_walked(rest)) {
      const auto along =
          std::ranges::find_if(walks, [&](const Walk& w) { return !is_walked(ir::simplify(load.index[d] - w.at)); });
      if (along == walks.end()) return std::nullopt;
      rest = ir::simplify(rest - along->at + along->origin);
      slab.stage.slab.push_back({"s" + std::to_string(slab.stage.slab.size()), along->extent, static_cast<int>(d)});
      slab.index.push_back(along->in_slab);
    }
    slab.stage.origin.push_back(std::move(rest));
  }
  return slab.stage.slab.size() == walks.size() ? std::optional(std::move(slab)) : std::nullopt;
}

bool gathers_by_key(const ir::Loop& keys) {
  return ir::any_of<ir::Load>(keys.body, [&](const ir::Load& load) { return ir::names_value(keys.body, load.index); });
}

bool has_chunks(const ir::Program& program, const KeySweep& sweep, const Target& target) {
  const ir::Loop& keys = loop_of(tile_of(program), sweep);
  return std::ranges::all_of(key_loads(keys, sweep), [&](const ir::Load* load) {
    return lies_along_keys(program, *load, keys.axis.name) || find_key_slab(program, sweep, *load, target);
  });
}

bool share_keys(const ir::Program& program, const KeySweep& sweep, std::int64_t rows) {
  if (rows == 1) return true;
  const ir::Tile& tile = tile_of(program);
  const ir::Loop& keys = loop_of(tile, sweep);
  const ir::Axis& m = tile.axes[*sweep.m];
  const std::string row = ir::fresh_axis(program);
  const ir::Ranges scope = {{m.name, {0, ceil_div(m.extent, rows) - 1}}, {row, {0, rows - 1}}};
  for (const ir::Load* load : key_loads(keys, sweep)) {
    if (!ir::depends_on(load->index, m.name) || lies_along_keys(program, *load, keys.axis.name)) continue;
    for (const ir::Expr& e : load->index) {
      const ir::Expr at = ir::substitute(e, {{m.name, ir::var(m.name) * rows + ir::var(row)}});
      if (m.extent % rows != 0 || ir::depends_on(ir::simplify(at, scope), row)) return false;
    }
  }
  return true;
}

bool has_vectors(const ir::Program& program, const KeySweep& sweep, std::int64_t lanes, const Target& target) {
  const ir::Tile& tile = tile_of(program);
  const std::string& n = tile.axes[sweep.n].name;
  bool all = true;
  ir::for_each(tile.body, [&](const ir::Stmt& stmt) {
    all &= !is_i64(stmt);
    const auto* load = stmt.as<ir::Load>();
    const auto* write = stmt.as<ir::Write>();
    if (load == nullptr && write == nullptr) return;
    std::vector<ir::Expr> index = load != nullptr ? load->index : write->index;
    if (!ir::depends_on(index, n)) return;
    const ir::Buffer& buffer = *program.find(load != nullptr ? load->buffer : write->buffer);
    const ir::Expr last = index.back();
    index.pop_back();
    all &= !ir::depends_on(index, n) && ir::coefficient(last, n) == 1 && buffer.strides.back() == 1;
    index.push_back(ir::simplify(ir::substitute(last, {{n, ir::Expr(0)}})));
    all = all && aligned(ir::flat_offset(index, buffer.strides), static_cast<int>(lanes), target);
  });
  const ir::Loop& keys = loop_of(tile, sweep);
  for (const ir::Load* load : key_loads(keys, sweep)) {
    if (!lies_along_keys(program, *load, keys.axis.name)) continue;
    std::vector<ir::Expr> first = load->index;
    first.back() = ir::simplify(ir::substitute(first.back(), {{keys.axis.name, ir::Expr(0)}}));
    const std::vector<std::int64_t>& strides = program.find(load->buffer)->strides;
    all = all && aligned(ir::flat_offset(first, strides), static_cast<int>(lanes), target);
  }
  return all;
}

const ir::Loop* dots_loop(const ir::Program& program, const KeySweep& sweep) {
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

}  // namespace deplo::rules
