#include "rules/analysis/matmul.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/names.h"
#include "rules/analysis/tile.h"

namespace deplo::rules {
namespace {

using Names = std::set<std::string, std::less<>>;

const ir::Assign* find_product(const ir::Body& body, const ir::Accum& accum) {
  const auto* value = std::get_if<std::string>(&accum.args[0]);
  for (const ir::Stmt& stmt : body)
    if (const auto* s = stmt.as<ir::Assign>(); s != nullptr && value != nullptr && s->dst == *value)
      return s->op == ir::Op::multiply ? s : nullptr;
  return nullptr;
}

// Returns whether the body has accumulations, each of them acc <- add(acc, v) with v = multiply(x, y) in the same body,
// and otherwise only statements that define values.
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

// One of the two output axes, and the names that depend on it. If the axis has extent 1, no name depends on it.
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

// Returns whether each product multiplies a value that depends on m but not on n by one that depends on n but not on m.
// If both values depend on the same register or lane axis (the channels of a depthwise convolution), each element of
// that axis is a separate sum, and the result is false.
bool multiplies(const ir::Body& body, const Side& m, const Side& n, const std::vector<Side>& elements) {
  return std::all_of(body.begin(), body.end(), [&](const ir::Stmt& stmt) {
    const auto* accum = stmt.as<ir::Accum>();
    if (accum == nullptr) return true;
    const ir::Assign& product = *find_product(body, *accum);
    const ir::Arg &x = product.args[0], &y = product.args[1];
    if (std::ranges::any_of(elements, [&](const Side& side) { return side.holds(x) && side.holds(y); })) return false;
    return (m.walked_by(x, n) && n.walked_by(y, m)) || (m.walked_by(y, n) && n.walked_by(x, m));
  });
}

// Returns the body of a product sum; nullptr if the loop is not one. A tail guard around the whole body is skipped.
const ir::Body* product_sum(const ir::Loop& loop) {
  if (loop.axis.bind != ir::Bind::reduce || !loop.start.is_constant(0) || loop.step != 1) return nullptr;
  const auto* guard = loop.body.size() == 1 ? loop.body[0].as<ir::If>() : nullptr;
  const ir::Body& body = guard != nullptr ? guard->then : loop.body;
  return is_product_sum(body) ? &body : nullptr;
}

}  // namespace

std::optional<Matmul> find_matmul(const ir::Program& program) {
  const ir::Tile& tile = tile_of(program);
  Matmul result;
  std::vector<std::size_t> threads;
  for (std::size_t i = 0; i < tile.axes.size(); ++i)
    if (tile.axes[i].bind == ir::Bind::thread) threads.push_back(i);
  if (threads.size() < 2) return std::nullopt;
  result.m = threads[threads.size() - 2];
  result.n = threads.back();
  if (has_online_softmax(tile.body)) return std::nullopt;  // its rule has already distributed rows and columns
  if (has_products(tile.body)) return std::nullopt;        // warps multiply: no thread has rows or columns to arrange
  std::vector<const ir::Loop*> candidates;
  ir::for_each<ir::Loop>(tile.body, [&](const ir::Loop& loop) {
    if (product_sum(loop) != nullptr) candidates.push_back(&loop);
  });
  if (candidates.empty()) return std::nullopt;
  const ir::Axis &m = tile.axes[result.m], &n = tile.axes[result.n];
  const Side rows = {m, dependent_names(tile.body, m.name)}, columns = {n, dependent_names(tile.body, n.name)};
  std::vector<Side> elements;
  for (const ir::Axis& axis : tile.axes)
    if (axis.bind == ir::Bind::reg || axis.bind == ir::Bind::vector)
      elements.push_back({axis, dependent_names(tile.body, axis.name)});
  for (const ir::Loop* loop : candidates)
    if (multiplies(*product_sum(*loop), rows, columns, elements)) {
      result.reduce = loop;
      return result;
    }
  return std::nullopt;
}

namespace {

// Calls visit(load, its buffer, the name of axis n) for each load in the matmul's loop that depends on n.
template <class Visit>
void for_each_columns_load(const ir::Program& program, const Matmul& matmul, Visit&& visit) {
  const std::string& columns = tile_of(program).axes[matmul.n].name;
  ir::for_each<ir::Load>(matmul.reduce->body, [&](const ir::Load& load) {
    if (ir::depends_on(load.index, columns)) visit(load, *program.find(load.buffer), columns);
  });
}

}  // namespace

bool multiplies_matrices(const ir::Program& program, const Matmul& matmul, const Target& target) {
  std::set<ir::DType> types;
  ir::for_each<ir::Load>(matmul.reduce->body, [&](const ir::Load& load) {
    if (const ir::Buffer* buffer = program.find(load.buffer)) types.insert(buffer->dtype);
  });
  if (!target.mma || types.size() != 1) return false;
  return ir::is_float16(*types.begin()) || (program.allow_tf32 && *types.begin() == ir::DType::f32);
}

bool multiplies_matrices_by_warpgroups(const ir::Program& program, const Matmul& matmul, const Target& target) {
  constexpr std::int64_t rows = 64;  // rows that one instruction of a warpgroup takes
  return target.wgmma && tile_of(program).axes[matmul.m].extent >= rows &&
         multiplies_matrices(program, matmul, target) && columns_bytes(program, matmul) == ir::bytes(ir::DType::f16);
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

std::int64_t row_distance(const ir::Program& program, const Matmul& matmul) {
  std::int64_t distance = 0;
  for_each_columns_load(program, matmul, [&](const ir::Load&, const ir::Buffer& buffer, const std::string&) {
    const std::size_t rank = buffer.strides.size();
    if (rank >= 2) distance = std::max(distance, buffer.strides[rank - 2] * ir::bytes(buffer.dtype));
  });
  return distance;
}

bool reads_in_place(const ir::Program& program, const Matmul& matmul, std::int64_t rows, const InPlaceLimits& limits) {
  if (rows > few_rows || is_transposed(program, matmul)) return false;
  if (sharing_axis(program, matmul)) return true;
  const std::int64_t distance = row_distance(program, matmul);
  if (columns_bytes(program, matmul) == 2) return rows <= limits.halves;
  if (distance < page) return rows <= limits.near;
  constexpr std::int64_t max_distance = 8 * page;  // rows of 11 pages took 1.14 times as long in place
  return rows <= limits.distant && distance <= max_distance;
}

std::int64_t line_of_rows(const ir::Program& program, const Matmul& matmul) {
  const std::set<std::int64_t> lines = divisors_of(matmul.reduce->body, tile_of(program).axes[matmul.m].name);
  return lines.empty() ? 0 : *lines.begin();
}

bool walks_evenly(const ir::Program&, const Matmul& matmul) {
  bool evenly = true;
  ir::for_each<ir::Load>(matmul.reduce->body, [&](const ir::Load& load) {
    for (const ir::Expr& e : load.index) evenly &= ir::coefficient(e, matmul.reduce->axis.name).has_value();
  });
  return evenly;
}

std::int64_t columns_bytes(const ir::Program& program, const Matmul& matmul) {
  std::int64_t widest = 0;
  for_each_columns_load(program, matmul, [&](const ir::Load&, const ir::Buffer& buffer, const std::string&) {
    widest = std::max(widest, ir::bytes(buffer.dtype));
  });
  return widest == 0 ? ir::bytes(ir::DType::f32) : widest;  // 0: no load walks n, the columns' values are computed
}

}  // namespace deplo::rules
