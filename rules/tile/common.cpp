#include "rules/tile/common.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "ir/walk.h"

namespace deplo::rules {
namespace {

bool index_depends(const ir::Load& load, const std::string& axis) {
  return std::any_of(load.index.begin(), load.index.end(), [&](const ir::Expr& e) { return ir::depends_on(e, axis); });
}

const ir::Load* find_load(const ir::Body& body, const ir::Arg& value) {
  const auto* name = std::get_if<std::string>(&value);
  for (const ir::Stmt& stmt : body)
    if (const auto* load = stmt.as<ir::Load>(); load != nullptr && name != nullptr && load->dst == *name) return load;
  return nullptr;
}

// Does the load walk this axis, and not that one? Along an axis of one element no index shows it.
bool walks(const ir::Load& load, const ir::Axis& axis, const ir::Axis& other) {
  return (index_depends(load, axis.name) || axis.extent == 1) && !index_depends(load, other.name);
}

// acc <- add(acc, v) with v = multiply(load, load) in the same body, and nothing but loads and assigns around them.
bool is_product_sum(const ir::Loop& loop, const ir::Axis& m, const ir::Axis& n) {
  const ir::Accum* accum = nullptr;
  for (const ir::Stmt& stmt : loop.body) {
    if (stmt.as<ir::Load>() != nullptr || stmt.as<ir::Assign>() != nullptr) continue;
    if (stmt.as<ir::Accum>() == nullptr || accum != nullptr) return false;
    accum = stmt.as<ir::Accum>();
  }
  if (accum == nullptr || accum->op != ir::Op::add) return false;
  const auto* value = std::get_if<std::string>(&accum->args[0]);
  for (const ir::Stmt& stmt : loop.body) {
    const auto* product = stmt.as<ir::Assign>();
    if (product == nullptr || value == nullptr || product->dst != *value || product->op != ir::Op::multiply) continue;
    const ir::Load* x = find_load(loop.body, product->args[0]);
    const ir::Load* y = find_load(loop.body, product->args[1]);
    if (x == nullptr || y == nullptr) return false;
    return (walks(*x, m, n) && walks(*y, n, m)) || (walks(*y, m, n) && walks(*x, n, m));
  }
  return false;
}

const ir::Loop* find_product_sum(const ir::Body& body, const ir::Axis& m, const ir::Axis& n) {
  for (const ir::Stmt& stmt : body) {
    const auto* loop = stmt.as<ir::Loop>();
    if (loop != nullptr && loop->axis.bind == ir::Bind::reduce && is_product_sum(*loop, m, n)) return loop;
    if (loop != nullptr && loop->axis.bind == ir::Bind::reduce) {
      // a guarded tail: the if is the whole body
      const auto* guard = loop->body.size() == 1 ? loop->body[0].as<ir::If>() : nullptr;
      if (guard != nullptr && is_product_sum({loop->axis, 0, 1, 1, guard->then}, m, n)) return loop;
    }
    if (const ir::Body* inner = ir::inner_body(stmt))
      if (const ir::Loop* found = find_product_sum(*inner, m, n)) return found;
  }
  return nullptr;
}

}  // namespace

const ir::Tile& tile_of(const ir::Program& program) {
  for (const ir::Stmt& stmt : program.body)
    if (const auto* tile = stmt.as<ir::Tile>()) return *tile;
  check_failed("the program has a Tile", __FILE__, __LINE__);
}

ir::Tile& tile_of(ir::Program& program) { return const_cast<ir::Tile&>(tile_of(std::as_const(program))); }

std::optional<std::int64_t> pinned(std::span<const Choice> pins, std::string_view knob) {
  for (const Choice& choice : pins)
    if (choice.knob == knob) return std::get<std::int64_t>(choice.value);
  return std::nullopt;
}

std::int64_t pin(std::span<const Choice> pins, std::string_view knob) {
  const auto value = pinned(pins, knob);
  CHECK(value.has_value());
  return *value;
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
  result.reduce = find_product_sum(tile.body, tile.axes[result.m], tile.axes[result.n]);
  if (result.reduce == nullptr) return std::nullopt;
  return result;
}

bool has_reduce(const ir::Body& body) {
  bool found = false;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const auto* loop = stmt.as<ir::Loop>();
    found |= loop != nullptr && loop->axis.bind == ir::Bind::reduce;
  });
  return found;
}

bool has_bind(const ir::Tile& tile, ir::Bind bind) {
  return std::any_of(tile.axes.begin(), tile.axes.end(), [&](const ir::Axis& axis) { return axis.bind == bind; });
}

ir::Expr shifted_origin(const std::string& block, std::int64_t size, std::int64_t extent) {
  const ir::Expr origin = ir::var(block) * size;
  return extent % size == 0 ? origin : ir::min(origin, extent - size);
}

}  // namespace deplo::rules
