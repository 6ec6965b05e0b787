#include "ir/interpret/lane_groups.h"

#include <string>
#include <utility>

#include "ir/walk.h"

namespace deplo::ir::exec {
namespace {

using Axes = std::uint64_t;

// Finds the register and vector axes that each statement depends on: through its indices, the values it reads, or the
// conditions and loop starts around it.
class Dependences {
 public:
  std::map<const Stmt*, Axes> of_statement;

  void walk(const Body& body, Axes context) {
    for (const Stmt& stmt : body) visit(stmt, context);
  }

 private:
  void visit(const Stmt& stmt, Axes context) {
    const Axes on = context | read_by(stmt);
    if (const auto* loop = stmt.as<Loop>()) {
      axes_[loop->axis.name] = on;
      // Walks the body twice, because an accumulator may be read before the statement that makes it depend on an axis.
      for (int pass = 0; pass < 2; ++pass) walk(loop->body, on);
    } else if (const auto* branch = stmt.as<If>()) {
      walk(branch->then, on);
    } else if (const auto* tile = stmt.as<Tile>()) {
      for (std::size_t i = 0; i < tile->axes.size(); ++i)
        if (tile->axes[i].bind == Bind::reg || tile->axes[i].bind == Bind::vector)
          axes_[tile->axes[i].name] = Axes{1} << i;
      walk(tile->body, context);
    } else if (const auto* combine = stmt.as<Combine>()) {
      of_statement[&stmt] |= on;
      for (const std::string& name : combine->over) values_[combine->acc] &= ~axes_[name];
    } else if (stmt.as<Write>() != nullptr) {
      of_statement[&stmt] |= on;
    } else if (const std::string& value = defined(stmt); !value.empty()) {
      values_[value] |= on;
    }
  }

  Axes read_by(const Stmt& stmt) {
    const Reads reads = ir::reads(stmt);
    Axes axes = 0;
    for (const std::string& name : reads.axes) axes |= axes_[name];
    for (const std::string& name : reads.values) axes |= values_[name];
    return axes;
  }

  std::map<std::string, Axes> axes_, values_;
};

}  // namespace

LaneGroups::LaneGroups(const Body& program) {
  Dependences dependences;
  dependences.walk(program, 0);
  dependences_ = std::move(dependences.of_statement);
}

void LaneGroups::add_axis(Bind bind, int step, int extent) {
  if (bind == Bind::thread) threads_ |= std::uint64_t{1} << axes_.size();
  axes_.push_back({step, extent});
}

std::uint64_t LaneGroups::axes_of(const Stmt& stmt) const {
  const auto found = dependences_.find(&stmt);
  return found == dependences_.end() ? threads_ : threads_ | found->second;
}

std::vector<int> LaneGroups::first_lanes(std::uint64_t axes, int lanes) const {
  std::vector<int> result(static_cast<std::size_t>(lanes));
  for (int l = 0; l < lanes; ++l) {
    int first = l;
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (((axes >> i) & 1) != 0 && axes_[i].step > 0) first -= l / axes_[i].step % axes_[i].extent * axes_[i].step;
    result[static_cast<std::size_t>(l)] = first;
  }
  return result;
}

}  // namespace deplo::ir::exec
