#include "rules/analysis/tile.h"

#include <algorithm>

#include "core/error.h"

namespace deplo::rules {
namespace {

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
  ir::for_each<ir::Loop>(program.body, [&](ir::Loop& loop) {
    if (&loop == &found) same = &loop;
  });
  CHECK(same != nullptr);
  return *same;
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

bool loads(const ir::Body& body, const std::string& buffer) {
  return ir::any_of<ir::Load>(body, [&](const ir::Load& load) { return load.buffer == buffer; });
}

bool is_scalar(const ir::Stmt& stmt) {
  return stmt.as<ir::Load>() != nullptr || stmt.as<ir::Index>() != nullptr || stmt.as<ir::Assign>() != nullptr;
}

const ir::Loop* products_loop(const ir::Body& body) {
  const ir::Loop* found = nullptr;
  ir::for_each<ir::Loop>(body, [&](const ir::Loop& loop) {
    if (!loop.atom.empty()) found = &loop;
  });
  return found;
}

bool has_online_softmax(const ir::Body& body) { return ir::has<ir::Scale>(body); }

namespace {

bool has_loop(const ir::Body& body, ir::Bind bind) {
  return ir::any_of<ir::Loop>(body, [&](const ir::Loop& loop) { return loop.axis.bind == bind; });
}

}  // namespace

bool has_reduce(const ir::Body& body) { return has_loop(body, ir::Bind::reduce); }
bool has_scan(const ir::Body& body) { return has_loop(body, ir::Bind::scan); }

bool is_i64(const ir::Stmt& stmt) {
  const auto is = [](const auto* made) { return made != nullptr && made->type.dtype == ir::DType::i64; };
  return is(stmt.as<ir::Load>()) || is(stmt.as<ir::Index>()) || is(stmt.as<ir::Assign>()) || is(stmt.as<ir::Accum>());
}

bool has_bind(const ir::Tile& tile, ir::Bind bind) {
  return std::any_of(tile.axes.begin(), tile.axes.end(), [&](const ir::Axis& axis) { return axis.bind == bind; });
}

}  // namespace deplo::rules
