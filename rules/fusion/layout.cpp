// Chooses how tensors between kernels are stored: in the order of dimensions in which their readers walk consecutive
// elements.
//   linear reads p_weight[a1, a2], a2 the reduce axis   →   p_weight is stored transposed and read [a2, a1]
//   o_proj reads heads[0, (a2 / 64), a0, (a2 % 64)]     →   heads is stored (1, s, h * 64) and read [0, a0, a2]
// The writer's order counts too, but for fewer elements. Inputs and outputs of the graph stay where they are in memory:
// their dimensions may only be joined.
#include <algorithm>

#include "ir/simplify/repeats.h"
#include "rules/fusion/loop_op.h"
#include "rules/fusion/nest.h"

namespace deplo::rules::fusion {
namespace {

/// One load or write of a tensor.
struct Access {
  std::vector<ir::Expr> index;
  const ir::Shape* extents;  // extents of the kernel's free axes
  std::string fastest;       // the axis that should walk consecutive elements
  double weight;             // how often it is executed
  std::string summed = "";   // the innermost reduce axis; "": there is none
};

// The axis that neighbouring threads or lanes will walk. This is the innermost free axis of the kernel, if the element
// depends on it. Otherwise it is the innermost reduce axis or, without one, the innermost free axis on which the
// element depends.
std::string fastest_axis(const Values& values, const Live& live, const ir::Shape& extents) {
  int innermost = static_cast<int>(extents.size()) - 1;
  while (innermost >= 0 && extents[static_cast<std::size_t>(innermost)] == 1) --innermost;
  if (innermost >= 0 && (live.free >> innermost & 1) != 0)
    return ir::tensor::coordinate(static_cast<std::size_t>(innermost)).name();
  if (!live.reduces.empty()) return values.axis(live.reduces.back()).name();
  for (int d = innermost; d >= 0; --d)
    if ((live.free >> d & 1) != 0) return ir::tensor::coordinate(static_cast<std::size_t>(d)).name();
  return "";
}

using Users = std::vector<std::vector<const LoopOp*>>;  // for each tensor: the kernels that compute or read it

Users users_of(const Fusion& fusion) {
  Users users(fusion.graph.nodes.size());
  for (const LoopOp& op : fusion.ops) {
    const std::vector<Result> made = results(op);
    for (const Result& result : made) users[static_cast<std::size_t>(result.output)].push_back(&op);
    for (const int tensor : op.reads)
      if (!computes(op, tensor)) users[static_cast<std::size_t>(tensor)].push_back(&op);
  }
  return users;
}

std::vector<Access> accesses(const Fusion& fusion, const Users& users, int tensor) {
  std::vector<Access> result;
  for (const LoopOp* const user : users[static_cast<std::size_t>(tensor)]) {
    const LoopOp& op = *user;
    const ir::Shape& extents = fusion.shape(op);
    if (computes(op, tensor)) {
      const ir::Shape& walked = tensor == op.output ? extents : fusion.type(tensor).shape;
      Access write{written(fusion, op, tensor), &extents, "", static_cast<double>(ir::element_count(walked))};
      const bool follows = tensor == op.output && op.axes.empty() && only_copies(fusion, op);  // see order_axes.cpp
      for (std::size_t d = 0; d < walked.size() && !follows; ++d)
        if (walked[d] > 1) write.fastest = ir::tensor::coordinate(d).name();
      result.push_back(std::move(write));
    }
    if (!std::binary_search(op.reads.begin(), op.reads.end(), tensor)) continue;
    const Nest nest(fusion.values, roots(op), extents);
    for (const ValueId id : nest.values()) {
      const Value& value = fusion.values[id];
      if (value.kind != Value::Kind::load || value.tensor != tensor) continue;
      const Live& live = fusion.values.live(id);
      result.push_back({value.index, &extents, fastest_axis(fusion.values, live, extents), nest.executions(id)});
      if (!live.reduces.empty()) result.back().summed = fusion.values.axis(live.reduces.back()).name();
    }
  }
  return result;
}

double penalty(const Fusion& fusion, int tensor, const Layout& layout, const std::vector<Access>& accesses) {
  // Neighbours may share an element of a parameter: for example, several columns of weights may be packed in a word.
  const bool packed = fusion.graph.nodes[static_cast<std::size_t>(tensor)].as<ir::tensor::Parameter>() != nullptr;
  double sum = 0;
  for (const Access& access : accesses) {
    if (access.fastest.empty()) continue;
    const std::vector<ir::Expr> index = stored_index(fusion, tensor, layout, access.index, *access.extents);
    int walked = 0;  // number of dimensions that the axis walks
    for (const ir::Expr& e : index) walked += ir::depends_on(e, access.fastest) ? 1 : 0;
    if (walked == 0) continue;
    constexpr std::int64_t neighbours = 16;  // lanes of the widest vectors
    if (packed && ir::repeats_of(index, access.fastest, neighbours) > 0) continue;
    const auto step = walked == 1 ? ir::coefficient(index.back(), access.fastest) : std::nullopt;
    // Neighbours that are 2 to 4 elements apart share a cache line. Their penalty is the fraction of the line that is
    // not read.
    const bool near = step && *step >= 1 && *step <= 4;
    sum += near ? access.weight * (1 - 1 / static_cast<double>(*step)) : access.weight;
  }
  return sum;
}

/// The sum of the distances in memory, in elements, between the accesses of neighbouring iterations of reduce axes.
/// With short steps, memory is read in order.
double steps(const Fusion& fusion, int tensor, const Layout& layout, const std::vector<Access>& accesses) {
  const std::vector<std::int64_t> strides = ir::row_major_strides(stored_shape(fusion.type(tensor).shape, layout));
  double sum = 0;
  for (const Access& access : accesses) {
    const std::vector<ir::Expr> index = stored_index(fusion, tensor, layout, access.index, *access.extents);
    const auto place = [&](std::int64_t turn) {
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < index.size(); ++d) {
        std::vector<std::pair<std::string, std::int64_t>> at;
        for (const std::string& axis : ir::variables(index[d])) at.emplace_back(axis, axis == access.summed ? turn : 0);
        offset += ir::evaluate(index[d], at) * strides[d];
      }
      return offset;
    };
    if (!access.summed.empty()) sum += access.weight * static_cast<double>(std::abs(place(1) - place(0)));
  }
  return sum;
}

/// The number of divisions in the indices. Readers that walk several dimensions by one axis divide less if these
/// dimensions are joined.
int divisions(const Fusion& fusion, int tensor, const Layout& layout, const std::vector<Access>& accesses) {
  int sum = 0;
  for (const Access& access : accesses)
    for (const ir::Expr& e : stored_index(fusion, tensor, layout, access.index, *access.extents))
      sum += ir::count_divisions(e);
  return sum;
}

/// Counts the pairs of dimensions whose outer dimension is walked by an axis further inside, weighted by the accesses.
/// With few inversions, planes that a kernel walks one after the other also follow each other in memory.
double inversions(const Fusion& fusion, int tensor, const Layout& layout, const std::vector<Access>& accesses) {
  double sum = 0;
  for (const Access& access : accesses) {
    std::vector<std::size_t> walked;  // the outermost free axis of each dimension that has one
    for (const ir::Expr& e : stored_index(fusion, tensor, layout, access.index, *access.extents))
      for (std::size_t d = 0; d < access.extents->size(); ++d)
        if (ir::depends_on(e, ir::tensor::coordinate(d).name())) {
          walked.push_back(d);
          break;
        }
    for (std::size_t i = 0; i < walked.size(); ++i)
      sum += access.weight * static_cast<double>(std::count_if(walked.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                                               walked.end(), [&](auto d) { return d < walked[i]; }));
  }
  return sum;
}

/// The cost of a layout. The smallest rating is the best.
struct Rating {
  double penalty = 0;
  int divisions = 0;
  double steps = 0;
  double inversions = 0;
  auto operator<=>(const Rating&) const = default;
};
Rating rate(const Fusion& fusion, int tensor, const Layout& layout, const std::vector<Access>& accesses) {
  return {penalty(fusion, tensor, layout, accesses), divisions(fusion, tensor, layout, accesses),
          steps(fusion, tensor, layout, accesses), inversions(fusion, tensor, layout, accesses)};
}

// Joins dimensions that every reader walks as one, such as heads and head_dim for the output projection. Dimensions
// stay separate if joining them does not simplify the index.
Layout join(const Fusion& fusion, int tensor, Layout layout, const std::vector<Access>& accesses) {
  Rating best = rate(fusion, tensor, layout, accesses);
  for (std::size_t s = 0; s + 1 < layout.size();) {
    Layout joined = layout;
    joined[s].insert(joined[s].end(), layout[s + 1].begin(), layout[s + 1].end());
    joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(s) + 1);
    const Rating rating = rate(fusion, tensor, joined, accesses);
    if (std::pair(rating.penalty, rating.divisions) < std::pair(best.penalty, best.divisions)) {
      best = rating, layout = std::move(joined);
      s -= s > 0 ? 1 : 0;  // the new dimension may also join the one before it: channels with joined rows and columns
    } else {
      ++s;
    }
  }
  return layout;
}

Layout in_order(const std::vector<int>& unit, const std::vector<int>& order) {
  Layout layout;
  for (const int d : unit) layout.push_back({d});
  for (const int d : order) layout.push_back({d});
  return layout;
}

/// What may be changed. Inputs and outputs: only which dimensions are joined. Parameters: the order of their
/// dimensions. Results between kernels: both.
struct Freedom {
  bool order = false, join = false, drop_unit = false;
};

Layout choose(const Fusion& fusion, const Users& users, int tensor, const Freedom& freedom) {
  const ir::Shape& shape = fusion.type(tensor).shape;
  std::vector<int> unit, order;
  for (std::size_t d = 0; d < shape.size(); ++d) (shape[d] == 1 ? unit : order).push_back(static_cast<int>(d));
  if (freedom.drop_unit && !order.empty()) unit.clear();  // drop dimensions of extent 1
  Layout result = freedom.drop_unit ? in_order(unit, order) : Layout{};
  const std::vector<Access> all = accesses(fusion, users, tensor);
  Rating best = rate(fusion, tensor, result, all);
  const bool perfect = best.penalty == 0 && (best.divisions == 0 || !freedom.join);
  if (perfect || order.size() < 2 || order.size() > 5) return result;  // 6 dimensions have 720 orders
  do {
    Layout layout = in_order(unit, order);
    if (freedom.join) layout = join(fusion, tensor, std::move(layout), all);
    const Rating rating = rate(fusion, tensor, layout, all);
    if (rating < best) best = rating, result = std::move(layout);
  } while (freedom.order && std::next_permutation(order.begin(), order.end()));
  return result;
}

/// The dimensions in the order in which they lie in memory.
std::vector<int> memory_order(const Layout& layout) {
  std::vector<int> order;
  for (const std::vector<int>& dims : layout) order.insert(order.end(), dims.begin(), dims.end());
  return order;
}

/// The layout of a tensor between kernels: the one that its readers prefer, or the order of its dimensions.
Layout decide(Fusion& fusion, const Users& users, int tensor) {
  Layout readers = choose(fusion, users, tensor, {.order = true, .join = true, .drop_unit = true});
  Layout plain = choose(fusion, users, tensor, {.drop_unit = true});
  if (memory_order(readers) == memory_order(plain)) return readers;
  const deplo::Value wanted = "readers";
  return fusion.decisions.take("layout", fusion.name(tensor), {wanted, "plain"}) == wanted ? readers : plain;
}

}  // namespace

ir::Shape stored_shape(const ir::Shape& tensor, const Layout& layout) {
  ir::Shape shape;
  for (const std::vector<int>& dims : layout) {
    shape.push_back(1);
    for (const int d : dims) shape.back() *= tensor[static_cast<std::size_t>(d)];
  }
  if (layout.empty()) shape = tensor;
  if (shape.empty()) shape.push_back(1);  // a buffer has at least one dimension
  return shape;
}

std::vector<ir::Expr> stored_index(const Fusion& fusion, int tensor, const Layout& layout,
                                   const std::vector<ir::Expr>& index, const ir::Shape& free_extents) {
  const ir::Shape& shape = fusion.type(tensor).shape;
  std::vector<ir::Expr> result;
  for (const std::vector<int>& dims : layout) {
    ir::Expr flat = 0;
    for (const int d : dims) {
      const auto at = static_cast<std::size_t>(d);
      flat = dims.size() == 1 ? index[at] : std::move(flat) * shape[at] + index[at];
    }
    result.push_back(dims.size() == 1 ? flat : fusion.values.substitute(flat, {}, free_extents));
  }
  if (layout.empty()) result = index;
  if (result.empty()) result.emplace_back(0);
  return result;
}

bool only_copies(const Fusion& fusion, const LoopOp& op) {
  return op.others.empty() && Nest(fusion.values, roots(op), fusion.shape(op)).reductions().empty() &&
         scan_axis(fusion.values, roots(op)) < 0;
}

void choose_layouts(Fusion& fusion) {
  const Users users = users_of(fusion);
  for (std::size_t t = 0; t < fusion.graph.nodes.size(); ++t) {
    const auto tensor = static_cast<int>(t);
    const auto& node = fusion.graph.nodes[t];
    const auto is_result = [&](const LoopOp* op) { return computes(*op, tensor); };
    const bool computed = std::ranges::any_of(users[t], is_result);
    if (node.as<ir::tensor::Input>() != nullptr || (fusion.is_stored(tensor) && computed))
      fusion.layouts[t] = choose(fusion, users, tensor, {.join = true});
    else if (node.as<ir::tensor::Parameter>() != nullptr)
      fusion.layouts[t] = choose(fusion, users, tensor, {.order = true});
    else if (computed)
      fusion.layouts[t] = decide(fusion, users, tensor);
  }
}

}  // namespace deplo::rules::fusion
