#include "rules/tile/helpers/common.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ir/hardware/float16.h"
#include "ir/walk.h"

namespace deplo::rules {
namespace {

using Names = std::set<std::string, std::less<>>;

bool reads_one_of(const ir::Stmt& stmt, const Names& names) {
  bool found = false;
  const auto see = [&](const std::string& name) { found = found || names.count(name) > 0; };
  ir::visit_reads(
      stmt, [&](const ir::Expr& e) { ir::for_each_variable(e, see); }, see);
  return found;
}

// `around`: what holds the body depends on the axis, so whatever it defines does.
bool spread(const ir::Body& body, bool around, const Names& except, Names& names) {
  bool grown = false;
  for (const ir::Stmt& stmt : body) {
    const bool on = around || reads_one_of(stmt, names);
    if (const auto* loop = stmt.as<ir::Loop>(); loop != nullptr && on) grown |= names.insert(loop->axis.name).second;
    if (const std::string& name = ir::defined(stmt); on && !name.empty() && !except.contains(name))
      grown |= names.insert(name).second;
    if (const ir::Body* inner = ir::inner_body(stmt)) grown |= spread(*inner, on, except, names);
  }
  return grown;
}

const ir::Assign* find_product(const ir::Body& body, const ir::Accum& accum) {
  const auto* value = std::get_if<std::string>(&accum.args[0]);
  for (const ir::Stmt& stmt : body)
    if (const auto* s = stmt.as<ir::Assign>(); s != nullptr && value != nullptr && s->dst == *value)
      return s->op == ir::Op::multiply ? s : nullptr;
  return nullptr;
}

// Every accumulation of the loop is acc <- add(acc, v) with v = multiply(x, y) in the same body, and beside them stand
// values only.
bool is_product_sum(const ir::Body& body) {
  bool accumulates = false;
  for (const ir::Stmt& stmt : body) {
    if (stmt.as<ir::Load>() != nullptr || stmt.as<ir::Index>() != nullptr || stmt.as<ir::Assign>() != nullptr) continue;
    const auto* accum = stmt.as<ir::Accum>();
    if (accum == nullptr || accum->op != ir::Op::add || find_product(body, *accum) == nullptr) return false;
    accumulates = true;
  }
  return accumulates;
}

void guard_adds(ir::Body& body, const ir::Expr& condition) {
  for (ir::Stmt& stmt : body) {
    if (ir::Body* inner = ir::inner_body(stmt)) guard_adds(*inner, condition);
    const auto* write = stmt.as<ir::Write>();
    if (write == nullptr || write->mode != ir::WriteMode::add) continue;
    ir::If guard = {condition, {}};
    guard.then.push_back(std::move(stmt));
    stmt = std::move(guard);
  }
}

// One of the two axes of outputs and what depends on it. Along an axis of one element nothing shows it.
struct Side {
  const ir::Axis& axis;
  Names names;
  bool holds(const ir::Arg& value) const {
    const auto* name = std::get_if<std::string>(&value);
    return name != nullptr && names.count(*name) > 0;
  }
  bool walked_by(const ir::Arg& value, const Side& other) const {
    return (holds(value) || axis.extent == 1) && !other.holds(value);
  }
};

// Every product is of a value that walks m and not n and one that walks n and not m.
bool multiplies(const ir::Body& body, const Side& m, const Side& n) {
  return std::all_of(body.begin(), body.end(), [&](const ir::Stmt& stmt) {
    const auto* accum = stmt.as<ir::Accum>();
    if (accum == nullptr) return true;
    const ir::Assign& product = *find_product(body, *accum);
    const ir::Arg &x = product.args[0], &y = product.args[1];
    return (m.walked_by(x, n) && n.walked_by(y, m)) || (m.walked_by(y, n) && n.walked_by(x, m));
  });
}

// The body of a product sum; a guarded tail is the whole body of its loop. nullptr: another loop.
const ir::Body* product_sum(const ir::Loop& loop) {
  if (loop.axis.bind != ir::Bind::reduce || !loop.start.is_constant(0) || loop.step != 1) return nullptr;
  const auto* guard = loop.body.size() == 1 ? loop.body[0].as<ir::If>() : nullptr;
  const ir::Body& body = guard != nullptr ? guard->then : loop.body;
  return is_product_sum(body) ? &body : nullptr;
}

void find_product_sums(const ir::Body& body, std::vector<const ir::Loop*>& found) {
  for (const ir::Stmt& stmt : body) {
    if (const auto* loop = stmt.as<ir::Loop>(); loop != nullptr && product_sum(*loop) != nullptr) found.push_back(loop);
    if (const ir::Body* inner = ir::inner_body(stmt)) find_product_sums(*inner, found);
  }
}

template <class P>
auto& find_tile(P& program) {
  for (auto& stmt : program.body)
    if (auto* tile = stmt.template as<ir::Tile>()) return *tile;
  check_failed("the program has a Tile", __FILE__, __LINE__);
}

}  // namespace

const ir::Tile& tile_of(const ir::Program& program) { return find_tile(program); }
ir::Tile& tile_of(ir::Program& program) { return find_tile(program); }

ir::Loop& to_edit(ir::Program& program, const ir::Loop& found) {
  ir::Loop* same = nullptr;
  ir::for_each(program.body, [&](ir::Stmt& stmt) {
    if (auto* loop = stmt.as<ir::Loop>(); loop == &found) same = loop;
  });
  CHECK(same != nullptr);
  return *same;
}

void add_option(std::vector<Value>& options, std::int64_t value) {
  if (std::find(options.begin(), options.end(), Value{value}) == options.end()) options.emplace_back(value);
}

std::vector<Value> options(std::initializer_list<std::int64_t> preferred, std::int64_t low, std::int64_t high) {
  std::vector<Value> result;
  for (const std::int64_t value : preferred)
    if (value >= low && value <= high) add_option(result, value);
  return result;
}

std::optional<Matmul> find_matmul(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  Matmul result;
  std::vector<std::size_t> threads;
  for (std::size_t i = 0; i < tile.axes.size(); ++i)
    if (tile.axes[i].bind == ir::Bind::thread) threads.push_back(i);
  if (threads.size() < 2) return std::nullopt;
  result.m = threads[threads.size() - 2];
  result.n = threads.back();
  if (has_online_softmax(tile.body)) return std::nullopt;  // its rule has dealt out rows and columns
  if (has_products(tile.body)) return std::nullopt;        // warps multiply: no thread has rows or columns to arrange
  std::vector<const ir::Loop*> candidates;
  find_product_sums(tile.body, candidates);
  if (candidates.empty()) return std::nullopt;
  const ir::Axis &m = tile.axes[result.m], &n = tile.axes[result.n];
  const Side rows = {m, dependent_names(tile.body, m.name)}, columns = {n, dependent_names(tile.body, n.name)};
  for (const ir::Loop* loop : candidates)
    if (multiplies(*product_sum(*loop), rows, columns)) {
      result.reduce = loop;
      return result;
    }
  return std::nullopt;
}

namespace {

// The loads of a matmul's sum that walk n: visit(load, its buffer, the axis).
template <class Visit>
void for_each_columns_load(const ir::Program& program, const Matmul& matmul, Visit&& visit) {
  const std::string& columns = tile_of(program).axes[matmul.n].name;
  ir::for_each(matmul.reduce->body, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    if (load != nullptr && depends(stmt, {columns})) visit(*load, *program.find(load->buffer), columns);
  });
}

}  // namespace

bool multiplies_matrices(const ir::Program& program, const Matmul& matmul, const Target& target) {
  std::set<ir::DType> types;
  ir::for_each(matmul.reduce->body, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    const ir::Buffer* buffer = load == nullptr ? nullptr : program.find(load->buffer);
    if (buffer != nullptr) types.insert(buffer->dtype);
  });
  if (!target.mma || types.size() != 1) return false;
  return ir::is_float16(*types.begin()) || (program.allow_tf32 && *types.begin() == ir::DType::f32);
}

bool is_transposed(const ir::Program& program, const Matmul& matmul) {
  bool found = false;
  for_each_columns_load(program, matmul, [&](const ir::Load& load, const ir::Buffer& buffer, const std::string& axis) {
    found |= buffer.strides.back() != 1 || ir::coefficient(load.index.back(), axis) != 1;
  });
  return found;
}

std::optional<std::size_t> sharing_axis(const ir::Program& program, const Matmul& matmul) {
  const std::vector<ir::Axis>& axes = tile_of(program).axes;
  const auto is_of_batch = [&](std::size_t i) {
    if (i == matmul.m || i == matmul.n || axes[i].extent == 1) return false;
    return axes[i].bind == ir::Bind::thread || (axes[i].bind == ir::Bind::block && i + 1 != matmul.m);
  };
  for (std::size_t i = axes.size(); i-- > 0;) {
    bool shared = is_of_batch(i);
    for_each_columns_load(program, matmul, [&](const ir::Load& load, const ir::Buffer&, const std::string&) {
      shared &= !ir::depends_on(load.index, axes[i].name);
    });
    if (shared) return i;
  }
  return std::nullopt;
}

bool reads_in_place(const ir::Program& program, const Matmul& matmul, std::int64_t rows) {
  constexpr std::int64_t page = 4096;  // bytes
  bool near = rows <= few_rows && !is_transposed(program, matmul);
  if (near && sharing_axis(program, matmul)) return true;
  for_each_columns_load(program, matmul, [&](const ir::Load&, const ir::Buffer& buffer, const std::string&) {
    const std::size_t rank = buffer.strides.size();
    near &= rank < 2 || ir::is_float16(buffer.dtype) || buffer.strides[rank - 2] * ir::bytes(buffer.dtype) < page;
  });
  return near;
}

std::int64_t columns_bytes(const ir::Program& program, const Matmul& matmul) {
  std::int64_t widest = 0;
  for_each_columns_load(program, matmul, [&](const ir::Load&, const ir::Buffer& buffer, const std::string&) {
    widest = std::max(widest, ir::bytes(buffer.dtype));
  });
  return widest == 0 ? ir::bytes(ir::DType::f32) : widest;  // 0: each column has a value that is computed
}

Names dependent_names(const ir::Body& body, const std::string& axis, const Names& except) {
  Names names = {axis};
  // Again: an accumulator may be read before what makes it depend on the axis.
  while (spread(body, false, except, names)) {
  }
  return names;
}

bool depends(const ir::Stmt& stmt, const Names& names) {
  if (reads_one_of(stmt, names)) return true;
  const ir::Body* inner = ir::inner_body(stmt);
  return inner != nullptr &&
         std::any_of(inner->begin(), inner->end(), [&](const ir::Stmt& s) { return depends(s, names); });
}

bool walk_together(const ir::Tile& tile, const std::string& a, const std::string& b) {
  bool found = false;
  ir::for_each(tile.body, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    const auto* write = stmt.as<ir::Write>();
    if (load == nullptr && write == nullptr) return;
    for (const ir::Expr& e : load != nullptr ? load->index : write->index)
      found |= ir::depends_on(e, a) && ir::depends_on(e, b);
  });
  return found;
}

void renumber(ir::Program& program, const std::string& outer, const std::string& inner, std::int64_t count,
              const ir::Expr& to) {
  const std::string whole = ir::lane_variable;  // no axis and no value is called so
  const ir::Substitution together = {{whole, to}}, apart = {{outer, to / count}, {inner, to % count}};
  ir::Ranges scope;
  ir::map_expressions(program.body, scope, [&](const ir::Expr& index, const ir::Ranges& ranges) {
    if (!ir::depends_on(index, outer) && !ir::depends_on(index, inner)) return index;
    // Most indices hold the two as outer * count + inner.
    const ir::Expr by_number = ir::simplify(ir::substitute(index, {{inner, ir::var(whole) - ir::var(outer) * count}}));
    return ir::simplify(
        ir::depends_on(by_number, outer) ? ir::substitute(index, apart) : ir::substitute(by_number, together), ranges);
  });
}

bool loads(const ir::Body& body, const std::string& buffer) {
  bool found = false;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

bool is_scalar(const ir::Stmt& stmt) {
  return stmt.as<ir::Load>() != nullptr || stmt.as<ir::Index>() != nullptr || stmt.as<ir::Assign>() != nullptr;
}

Names names_of(const ir::Program& program) {
  Names names;
  const auto take = [&](const std::string& name) { names.insert(name); };
  ir::for_each_new_name(program, take, take);
  return names;
}

std::string fresh_name(Names& names, const std::string& stem, int n) {
  for (;; ++n)
    if (std::string name = stem + std::to_string(n); names.insert(name).second) return name;
}

std::string slab_name(Names& names, const std::string& source) {
  std::string name = source + "_smem";
  return names.insert(name).second ? name : fresh_name(names, name, 1);
}

ir::Expr position(std::initializer_list<std::pair<std::string, std::int64_t>> steps) {
  ir::Expr sum = 0;
  for (const auto& [axis, step] : steps)
    if (!axis.empty()) sum = sum + ir::var(axis) * step;
  return sum;
}

const ir::Loop* products_loop(const ir::Body& body) {
  const ir::Loop* found = nullptr;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    if (const auto* loop = stmt.as<ir::Loop>(); loop != nullptr && !loop->atom.empty()) found = loop;
  });
  return found;
}

bool has_online_softmax(const ir::Body& body) {
  bool found = false;
  ir::for_each(body, [&](const ir::Stmt& stmt) { found |= stmt.as<ir::Scale>() != nullptr; });
  return found;
}

bool has_reduce(const ir::Body& body) {
  bool found = false;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    found |= loop != nullptr && loop->axis.bind == ir::Bind::reduce;
  });
  return found;
}

bool is_i64(const ir::Stmt& stmt) {
  const auto is = [](const auto* made) { return made != nullptr && made->type.dtype == ir::DType::i64; };
  return is(stmt.as<ir::Load>()) || is(stmt.as<ir::Index>()) || is(stmt.as<ir::Assign>()) || is(stmt.as<ir::Accum>());
}

bool has_bind(const ir::Tile& tile, ir::Bind bind) {
  return std::any_of(tile.axes.begin(), tile.axes.end(), [&](const ir::Axis& axis) { return axis.bind == bind; });
}

ir::Expr shifted_origin(const std::string& block, std::int64_t size, std::int64_t extent) {
  const ir::Expr origin = ir::var(block) * size;
  return extent % size == 0 ? origin : ir::min(origin, extent - size);
}

void guard_overlap(ir::Program& program, const std::string& block, const std::string& inner, std::int64_t size,
                   std::int64_t extent) {
  if (extent % size == 0) return;
  const ir::Ranges ranges = {{block, {0, ceil_div(extent, size) - 1}}, {inner, {0, size - 1}}};
  // Only the last block starts before its own first element, by block * size - (extent - size).
  const ir::Expr own = ir::simplify(ir::less(ir::var(block) * size - (extent - size), ir::var(inner) + 1), ranges);
  guard_adds(tile_of(program).body, own);
}

void split_into_blocks(ir::Program& program, std::size_t position, std::int64_t size) {
  const std::string inner = ir::fresh_axis(program);
  ir::Tile& tile = tile_of(program);
  ir::Axis& axis = tile.axes[position];
  const std::string name = axis.name;
  const std::int64_t extent = axis.extent;
  axis = {name, ceil_div(extent, size), ir::Bind::block};
  tile.axes.insert(tile.axes.begin() + static_cast<std::ptrdiff_t>(position) + 1, {inner, size, ir::Bind::thread});
  ir::substitute_axes(program, {{name, shifted_origin(name, size, extent) + ir::var(inner)}});
  guard_overlap(program, name, inner, size, extent);
}

void split_into_registers(ir::Program& program, std::size_t position, std::int64_t f) {
  if (f == 1) return;
  const std::string reg = ir::fresh_axis(program);
  ir::Tile& tile = tile_of(program);
  const std::string thread = tile.axes[position].name;
  tile.axes[position].extent /= f;
  tile.axes.push_back({reg, f, ir::Bind::reg});
  ir::substitute_axes(program, {{thread, ir::var(thread) * f + ir::var(reg)}});
}

}  // namespace deplo::rules
