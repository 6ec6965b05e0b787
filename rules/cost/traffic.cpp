// Computes what a kernel moves beyond a cache, from what each iteration of its loops touches in Tile IR.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/fraction.h"
#include "ir/hardware/stage_layout.h"
#include "ir/walk.h"
#include "rules/analysis/tile.h"
#include "rules/cost/features.h"
#include "rules/cost/resources.h"

namespace deplo::rules {
namespace {

double width(const std::optional<ir::Interval>& range, std::int64_t extent) {
  if (!range) return static_cast<double>(extent);  // the index may be anywhere
  return static_cast<double>(std::clamp<std::int64_t>(range->high - range->low + 1, 1, extent));
}

/// The axes that each value depends on, directly or through other values.
using AxesOfValues = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;
AxesOfValues axes_of_values(const ir::Body& body) {
  AxesOfValues result;
  ir::for_each(body, [&](const ir::Stmt& stmt) {
    const std::string& name = ir::defined(stmt);
    if (name.empty()) return;
    const ir::Reads reads = ir::reads(stmt);
    std::set<std::string, std::less<>> axes(reads.axes.begin(), reads.axes.end());
    for (const std::string& value : reads.values)
      if (const auto made = result.find(value); made != result.end())
        axes.insert(made->second.begin(), made->second.end());
    result[name].insert(axes.begin(), axes.end());
  });
  return result;
}

/// Returns the bytes of a box. Rows count as whole cache lines, unless they are whole rows of the buffer.
double box_bytes(const std::vector<double>& widths, const std::vector<std::int64_t>& shape,
                 const std::vector<std::int64_t>& strides, std::int64_t element) {
  double count = static_cast<double>(element);
  const auto in_line = static_cast<double>(std::max<std::int64_t>(line_bytes / element, 1));
  for (std::size_t d = 0; d < widths.size(); ++d) {
    const bool part = strides[d] == 1 && widths[d] < static_cast<double>(shape[d]);
    if (strides[d] == 0) continue;  // broadcast
    count *= part ? std::min(std::ceil(widths[d] / in_line) * in_line, static_cast<double>(shape[d])) : widths[d];
  }
  return count;
}

bool has_barrier(const ir::Body& body) { return ir::has<ir::Stage, ir::AsyncWait, ir::Combine>(body); }

/// A memory that is accessed: a buffer of the launch or, on CPUs, the buffer that a Stage fills.
struct Memory {
  std::string name;
  std::vector<std::int64_t> shape, strides;
  std::int64_t element = 4;
};

}  // namespace

/// The loops as a tree. A node is a loop, an axis of the grid or (on CPUs, where threads are iterations of a loop
/// between barriers) an axis of the block.
struct Traffic::Nest {
  struct Node {
    std::size_t parent;
    std::string axis;
    ir::Expr start;
    std::int64_t extent;
    double turns, turn_bytes;
    bool grid = false, cluster = false;
  };
  static constexpr std::size_t none = SIZE_MAX;
  /// The bytes that one access touches in the innermost iteration, then in all iterations of each node, from the inside
  /// out.
  struct Boxes {
    std::size_t node;
    std::string buffer;
    std::vector<double> bytes;
  };

  Nest(const ir::Program& program, const Target& target) : program_(program), cpu_(target.cpu) {
    const ir::Tile& tile = tile_of(program);
    ir::for_each<ir::Stage>(tile.body, [&](const ir::Stage& stage) { stages_.try_emplace(stage.buffer, &stage); });
    values_ = axes_of_values(tile.body);
    std::size_t node = none;
    for (const ir::Axis& axis : tile.axes) {
      if (axis.bind == ir::Bind::block || axis.bind == ir::Bind::cluster) {
        node = add(node, axis.name, 0, axis.extent, static_cast<double>(axis.extent));
        nodes[node].grid = true;
        nodes[node].cluster = axis.bind == ir::Bind::cluster;
      }
      if (axis.bind == ir::Bind::thread && cpu_) thread_axes_.push_back(axis);
      if (axis.bind == ir::Bind::reg || axis.bind == ir::Bind::vector || (axis.bind == ir::Bind::thread && !cpu_))
        inner_.emplace_back(axis.name, ir::Interval{0, axis.extent - 1});
    }
    walk(tile.body, node, false);
    touch();
  }

  std::size_t add(std::size_t parent, const std::string& axis, ir::Expr start, std::int64_t extent, double turns) {
    nodes.push_back({parent, axis, std::move(start), extent, turns, 0, false, false});
    return nodes.size() - 1;
  }

  std::size_t in_threads(std::size_t node) {
    if (thread_axes_.empty()) return node;
    const auto [found, fresh] = threads_of_.try_emplace(node, node);
    if (fresh)
      for (const ir::Axis& axis : thread_axes_)
        found->second = add(found->second, axis.name, 0, axis.extent, static_cast<double>(axis.extent));
    return found->second;
  }

  /// `inside`: whether the threads' loops are among the nodes.
  void walk(const ir::Body& body, std::size_t node, bool inside) {
    for (const ir::Stmt& stmt : body) {
      if (const auto* loop = stmt.as<ir::Loop>()) {
        const bool enter = !inside && !has_barrier(loop->body);
        const std::size_t parent = enter ? in_threads(node) : node;
        const auto start = ir::bounds(loop->start, {});
        const std::int64_t low = start ? start->low : 0, step = std::max<std::int64_t>(loop->step, 1);
        const double turns = std::max<double>(1, static_cast<double>(ceil_div(loop->axis.extent - low, step))) *
                             ir::fraction_of_turns(*loop, turns_around(parent));
        walk(loop->body, add(parent, loop->axis.name, loop->start, loop->axis.extent, turns), inside || enter);
      } else if (const auto* condition = stmt.as<ir::If>()) {
        walk(condition->then, node, inside);
      } else if (const auto* stage = stmt.as<ir::Stage>()) {
        fill(*stage, node);
      } else if (const auto* load = stmt.as<ir::Load>()) {
        access(load->buffer, load->index, inside ? node : in_threads(node));
      } else if (const auto* write = stmt.as<ir::Write>()) {
        access(write->buffer, write->index, inside ? node : in_threads(node));
      }
    }
  }

  std::optional<Memory> find(const std::string& name) const {
    if (const ir::Buffer* buffer = program_.find(name))
      return Memory{name, buffer->shape, buffer->strides, ir::bytes(buffer->dtype)};
    const auto stage = stages_.find(name);
    if (!cpu_ || stage == stages_.end()) return std::nullopt;
    const std::vector<std::int64_t> shape = ir::logical_shape(*stage->second);
    return Memory{name, shape, ir::row_major_strides(shape), ir::bytes(stage->second->dtype)};
  }

  void access(const std::string& buffer, const std::vector<ir::Expr>& index, std::size_t node) {
    const std::optional<Memory> memory = find(buffer);
    if (memory) add_boxes(*memory, index, {}, node);
  }

  /// Returns how far an index moves along the axis while all other variables are 0.
  static std::int64_t span_along(const ir::Expr& index, const ir::SlabAxis& axis) {
    ir::Substitution zero;
    for (const std::string& name : ir::variables(index))
      if (name != axis.name) zero.emplace_back(name, ir::Expr(0));
    const auto range = ir::bounds(ir::substitute(index, zero), {{axis.name, ir::Interval{0, axis.extent - 1}}});
    return range ? range->high - range->low : 0;
  }

  void fill(const ir::Stage& stage, std::size_t node) {
    const std::optional<Memory> source = find(stage.source), to = find(stage.buffer);
    std::vector<std::int64_t> more(stage.origin.size(), 0);  // numbers of elements beyond the origin
    std::vector<ir::Expr> first = stage.origin;
    for (const ir::SlabAxis& axis : stage.slab) {
      if (axis.walks_dimension())
        more[static_cast<std::size_t>(axis.dim)] += axis.extent - 1;
      else
        for (std::size_t d = 0; d < first.size(); ++d) {
          more[d] += span_along(first[d], axis);
          first[d] = ir::simplify(ir::substitute(first[d], {{axis.name, ir::Expr(0)}}));
        }
    }
    add_boxes(*source, first, more, node);
    accesses.back().bytes[0] *= share_that_holds(stage.when, turns_around(node));
    share(stage, node);
    if (!to) return;
    std::vector<ir::Expr> origin(to->shape.size(), 0);
    more.clear();
    for (const std::int64_t extent : to->shape) more.push_back(extent - 1);
    if (stage.slots > 1) more[0] = 0, origin[0] = stage.slot;
    add_boxes(*to, origin, more, node);
  }

  /// Counts only a part of a slab that the blocks of a cluster share, because each block reads a part.
  void share(const ir::Stage& stage, std::size_t node) {
    const std::int64_t parts = sharers(stage, tile_of(program_));
    std::vector<double>& bytes = accesses.back().bytes;
    if (parts == 1) return;
    std::size_t inner = 0;
    for (std::size_t n = node; n != none && !nodes[n].cluster; n = nodes[n].parent)
      bytes[inner++] /= static_cast<double>(parts);
    bytes[inner] /= static_cast<double>(parts);
  }

  /// Returns the maximum number of elements that loaded numbers select: one in each iteration of the axes that the
  /// numbers depend on. nullopt if the index contains no loaded number.
  std::optional<double> gathered_width(const ir::Expr& index, const ir::Ranges& scope) const {
    std::set<std::string, std::less<>> axes;
    bool gathers = false;
    ir::for_each_variable(index, [&](const std::string& name) {
      const auto value = values_.find(name);
      gathers |= value != values_.end();
      if (value == values_.end())
        axes.insert(name);
      else
        axes.insert(value->second.begin(), value->second.end());
    });
    if (!gathers) return std::nullopt;
    double turns = 1;
    for (const auto& [axis, range] : scope)
      if (axes.contains(axis)) turns *= static_cast<double>(range.high - range.low + 1);
    return turns;
  }

  /// Returns the maximum number of values of the index. For example, the lines that a thread scans at once are far
  /// apart, each in a separate cache line.
  static double places(const ir::Expr& index, const ir::Ranges& scope) {
    double count = 1;
    for (const auto& [axis, range] : scope)
      if (ir::depends_on(index, axis)) count *= static_cast<double>(range.high - range.low + 1);
    return count;
  }

  void add_boxes(const Memory& memory, const std::vector<ir::Expr>& index, const std::vector<std::int64_t>& more,
                 std::size_t node) {
    std::vector<std::size_t> path;  // nodes from the inside out
    for (std::size_t n = node; n != none; n = nodes[n].parent) path.push_back(n);
    Boxes boxes{node, memory.name, {}};
    for (std::size_t open = 0; open <= path.size(); ++open) {
      const ir::Ranges scope = ranges(path, open);
      std::vector<double> widths;
      for (std::size_t d = 0; d < index.size(); ++d) {
        if (const std::optional<double> gathered = gathered_width(index[d], scope)) {
          const auto line = static_cast<double>(std::max<std::int64_t>(line_bytes / memory.element, 1));
          const double extent = memory.strides[d] == 1 ? line : more.empty() ? 1 : static_cast<double>(more[d] + 1);
          widths.push_back(std::min(*gathered * extent, static_cast<double>(memory.shape[d])));
          continue;
        }
        auto range = ir::bounds(index[d], scope);
        if (range && !more.empty()) range->high += more[d];
        widths.push_back(width(range, memory.shape[d]));
        if (more.empty() && memory.strides[d] == 1)
          widths.back() =
              std::min(widths.back(), places(index[d], scope) * static_cast<double>(line_bytes / memory.element));
      }
      boxes.bytes.push_back(box_bytes(widths, memory.shape, memory.strides, memory.element));
    }
    accesses.push_back(std::move(boxes));
  }

  ir::Ranges turns_around(std::size_t node) const {
    ir::Ranges scope;
    for (std::size_t n = node; n != none; n = nodes[n].parent)
      scope.emplace_back(nodes[n].axis, ir::Interval{0, nodes[n].extent - 1});
    return scope;
  }

  /// Returns ranges in which the innermost `open` nodes run through all their iterations, and the others are at their
  /// first one.
  ir::Ranges ranges(const std::vector<std::size_t>& path, std::size_t open) const {
    ir::Ranges scope = inner_;
    for (std::size_t i = path.size(); i-- > 0;) {
      const Node& node = nodes[path[i]];
      const ir::Interval start = ir::bounds(node.start, scope).value_or(ir::Interval{0, 0});
      scope.emplace_back(node.axis, i < open ? ir::Interval{start.low, std::max(node.extent - 1, start.low)} : start);
    }
    return scope;
  }

  /// Computes the bytes that one iteration of each node touches: the largest box of each buffer.
  void touch() {
    std::map<std::pair<std::size_t, std::string>, double> largest;
    for (const Boxes& boxes : accesses) {
      std::size_t inner = 0;
      for (std::size_t n = boxes.node; n != none; n = nodes[n].parent) {
        double& box_bytes = largest[{n, boxes.buffer}];
        box_bytes = std::max(box_bytes, boxes.bytes[inner++]);
      }
    }
    for (const auto& [key, bytes] : largest) nodes[key.first].turn_bytes += bytes;
  }

  std::vector<Node> nodes;
  std::vector<Boxes> accesses;

 private:
  const ir::Program& program_;
  const bool cpu_;
  ir::Ranges inner_;
  std::vector<ir::Axis> thread_axes_;
  std::map<std::size_t, std::size_t> threads_of_;  // node → the innermost of the threads' loops inside it
  std::map<std::string, const ir::Stage*> stages_;
  AxesOfValues values_;
};

Traffic::Traffic(const ir::Program& tile, const Target& target) {
  const Nest nest(tile, target);
  for (const Nest::Boxes& boxes : nest.accesses) {
    Access access{boxes.bytes[0], {}};
    std::size_t outer = 1;
    for (std::size_t n = boxes.node; n != Nest::none; n = nest.nodes[n].parent)
      access.levels.push_back(
          {nest.nodes[n].turns, nest.nodes[n].turn_bytes, boxes.bytes[outer++], nest.nodes[n].grid});
    accesses_.push_back(std::move(access));
  }
}

double Traffic::through(double cache_bytes, double together) const {
  double sum = 0;
  for (const Access& access : accesses_) {
    double bytes = access.bytes, blocks = together;
    for (const Level& level : access.levels) {
      if (level.turn_bytes <= cache_bytes) {
        bytes = level.bytes;
      } else if (const double at_once = level.grid ? std::min(level.turns, blocks) : 1; at_once > 1) {
        // Additional bytes per iteration.
        const double further = std::max(0.0, level.bytes - bytes) / (level.turns - 1);
        bytes = level.turns / at_once * (bytes + further * (at_once - 1));
      } else {
        bytes = level.turns * bytes;
      }
      if (level.grid) blocks = std::max(1.0, blocks / level.turns);
    }
    sum += bytes;
  }
  return sum;
}

}  // namespace deplo::rules
