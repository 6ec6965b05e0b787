#include "ir/tensor/emitter.h"

#include <algorithm>
#include <utility>

#include "ir/emit/reserved.h"
#include "ir/types/float16.h"
#include "ir/types/integers.h"

namespace deplo::ir::tensor {

// Prefixes a reserved name with `_`. A kernel with a buffer named, say, get_ew does not compile, because OpenCL
// reserves the prefix `get_`.
std::string Emitter::unique(std::string name) {
  if (is_reserved(name)) name.insert(0, "_");
  const auto [at, is_new] = names_.emplace(name, 0);
  if (is_new) return name;
  for (;;) {
    std::string other = name + '_' + std::to_string(++names_[name]);
    if (names_.emplace(other, 0).second) return other;
  }
}

std::string Emitter::named(std::string_view suffix) {
  std::string name;
  name.reserve(call_.size() + 1 + suffix.size());
  return unique(((name += call_) += '_') += suffix);
}

int Emitter::add(Node node) {
  graph_.nodes.push_back(std::move(node));
  return static_cast<int>(size()) - 1;
}

namespace {

double converted(double value, DType from, DType to) {
  if (to == DType::boolean) return value != 0 ? 1 : 0;
  return is_integer(to) ? to_integer(value, from, to) : value;
}

}  // namespace

int Emitter::scalar(double value, DType dtype, std::string_view suffix) {
  return add({named(suffix), {dtype, {}}, Scalar{converted(value, DType::f32, dtype)}, {}});
}

int Emitter::convert(int x, DType to) {
  if (dtype(x) == to) return x;
  if (const auto* s = as_scalar(x))
    return add({unique(node(x).name), {to, {}}, Scalar{converted(s->value, dtype(x), to)}, {}});
  return add({named(ir::name(to)), {to, shape(x)}, Elementwise{Op::copy}, {x}});
}

int Emitter::index(int x) {
  if (dtype(x) == DType::i64) {
    const int above = elementwise(Op::maximum, {x, scalar(INT32_MIN, DType::i64, "least")}, "above");
    x = elementwise(Op::minimum, {above, scalar(INT32_MAX, DType::i64, "most")}, "index");
  }
  return convert(x, DType::i32);
}

int Emitter::round(int x, DType to) {
  if (const auto* s = as_scalar(x)) return add({unique(node(x).name), {to, {}}, Scalar{rounded(s->value, to)}, {}});
  const Op op = to == DType::f16 ? Op::round_f16 : Op::round_bf16;
  return add({named(ir::name(to)), {to, shape(x)}, Elementwise{op}, {x}});
}

int Emitter::elementwise(Op op, std::vector<int> args, std::string_view suffix) {
  if (args.size() == 2 && is_commutative(op) && as_scalar(args[0]) != nullptr && as_scalar(args[1]) == nullptr)
    std::swap(args[0], args[1]);
  TensorType result{dtype(args[op == Op::select ? 1 : 0]), {}};
  if (gives_truth(op)) result.dtype = DType::boolean;
  for (const int a : args)
    if (as_scalar(a) == nullptr) result.shape = shape(a);
  return add({named(suffix), std::move(result), Elementwise{op}, std::move(args)});
}

int Emitter::fill(int scalar, Shape shape, std::string_view suffix) {
  return add({named(suffix), {dtype(scalar), std::move(shape)}, Elementwise{Op::copy}, {scalar}});
}

int Emitter::coordinate(const Expr& value, TensorType type, std::string_view suffix) {
  const Expr simple = simplify(value, coordinate_ranges(type.shape));
  return add({named(suffix), std::move(type), Coordinate{simple}, {}});
}

int Emitter::whole(const Expr& value, std::vector<int> numbers, std::string_view suffix) {
  return add({named(suffix), {dtype(numbers.front()), shape(numbers.front())}, Coordinate{value}, std::move(numbers)});
}

bool Emitter::is_repeated(int x, std::size_t dim) const {
  const Node& n = node(x);
  const std::string place = print(tensor::coordinate(dim));
  if (n.args.size() != 1 || n.type.shape[dim] == 1) return false;
  if (const auto* map = n.as<IndexMap>())
    return std::ranges::none_of(map->branches, [&](const IndexMap::Branch& branch) {
      return depends_on(branch.coordinates, place) || depends_on(branch.condition, place);
    });
  return as_scalar(n.args[0]) != nullptr;
}

int Emitter::reduce(Op op, int x, Dims dims, std::string_view suffix) {
  std::sort(dims.begin(), dims.end());
  // The maximum and the minimum of n equal elements are that element. Their sum is n times that element, with one
  // rounding instead of n.
  double equal = 1;
  const auto repeated = std::stable_partition(dims.begin(), dims.end(), [&](std::int64_t dim) {
    return op == Op::multiply || !is_repeated(x, static_cast<std::size_t>(dim));
  });
  if (repeated != dims.end()) {
    Node one = node(x);
    one.name = named("element");
    for (auto dim = repeated; dim != dims.end(); ++dim)
      equal *= static_cast<double>(std::exchange(one.type.shape[static_cast<std::size_t>(*dim)], 1));
    dims.erase(repeated, dims.end());
    x = add(std::move(one));
  }
  for (const std::int64_t dim : dims) {
    TensorType collapsed = type(x);
    collapsed.shape[static_cast<std::size_t>(dim)] = 1;
    x = add({named(suffix), std::move(collapsed), Reduction{op, static_cast<int>(dim)}, {x}});
  }
  return op == Op::add && equal > 1 ? elementwise(Op::multiply, {x, scalar(equal, dtype(x), "count")}, suffix) : x;
}

int Emitter::scan(Op op, int x, std::int64_t dim, std::string_view suffix) {
  const Shape shape = this->shape(x);
  const auto d = static_cast<std::ptrdiff_t>(dim);
  if (extent(x, dim) == 1) return x;
  // The scanned dimension is moved to the end, and back afterwards.
  Shape lines = shape;
  std::rotate(lines.begin() + d, lines.begin() + d + 1, lines.end());
  Coordinates there = identity(lines), back = identity(shape);
  std::rotate(there.begin() + d, there.end() - 1, there.end());
  std::rotate(back.begin() + d, back.begin() + d + 1, back.end());
  const bool moves = dim + 1 != static_cast<std::int64_t>(shape.size());
  if (moves) x = map(x, lines, std::move(there), "lines");
  x = add({named(suffix), type(x), Scan{op}, {x}});
  return moves ? map(x, shape, std::move(back), suffix) : x;
}

int Emitter::map(int x, Shape result, Coordinates coordinates, std::string_view suffix) {
  return add({named(suffix), {dtype(x), std::move(result)}, IndexMap{{{0, std::move(coordinates), 1}}}, {x}});
}

int Emitter::gather(int x, int indices, Shape result, Coordinates coordinates, std::string_view suffix) {
  return add({named(suffix), {dtype(x), std::move(result)}, IndexMap{{{0, std::move(coordinates), 1}}}, {x, indices}});
}

int Emitter::gather(int x, std::vector<int> indices, Shape result, Coordinates coordinates, std::string_view suffix) {
  indices.insert(indices.begin(), x);
  return branches(std::move(indices), {dtype(x), std::move(result)}, IndexMap{{{0, std::move(coordinates), 1}}},
                  suffix);
}

int Emitter::branches(std::vector<int> args, TensorType type, IndexMap map, std::string_view suffix) {
  return add({named(suffix), std::move(type), std::move(map), std::move(args)});
}

Coordinates identity(const Shape& shape) {
  Coordinates coordinates;
  coordinates.reserve(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) coordinates.push_back(shape[d] == 1 ? Expr(0) : tensor::coordinate(d));
  return coordinates;
}

int Emitter::broadcast(int x, const Shape& to) {
  if (as_scalar(x) != nullptr || shape(x) == to) return x;
  const Shape& from = shape(x);
  CHECK(from.size() <= to.size());
  const std::size_t lead = to.size() - from.size();
  Coordinates coordinates;
  for (std::size_t d = 0; d < from.size(); ++d)
    coordinates.push_back(from[d] == 1 ? Expr(0) : tensor::coordinate(lead + d));
  return add({unique(node(x).name + "_bc"), {dtype(x), to}, IndexMap{{{0, std::move(coordinates), 1}}}, {x}});
}

namespace {

// Dimensions [begin, end) of a shape.
struct Run {
  std::size_t begin = 0, end = 0;
};

Expr flatten(const Shape& shape, Run run) {
  Expr flat = 0;
  for (std::size_t d = run.begin; d < run.end; ++d)
    flat = flat * shape[d] + (shape[d] == 1 ? Expr(0) : tensor::coordinate(d));
  return flat;
}

void unflatten(const Expr& flat, const Shape& shape, Run run, const Ranges& ranges, Coordinates& out) {
  std::int64_t stride = 1;
  for (std::size_t d = run.begin; d < run.end; ++d) stride *= shape[d];
  for (std::size_t d = run.begin; d < run.end; ++d) {
    stride /= shape[d];
    out.push_back(shape[d] == 1 ? Expr(0) : simplify(flat / stride % shape[d], ranges));
  }
}

// Extends each run by at least one dimension, until both hold the same number of elements. The runs are the shortest
// possible.
void next_runs(const Shape& a, Run& x, const Shape& b, Run& y) {
  std::int64_t left = a[x.end++], right = b[y.end++];
  while (left != right) {
    if (left < right)
      left *= a[x.end++];
    else
      right *= b[y.end++];
  }
}

}  // namespace

// Reshapes runs of dimensions with the same number of elements separately, so that most runs need no division at all.
int Emitter::reshape(int x, const Shape& to, std::string_view suffix) {
  const Shape& from = shape(x);
  const Ranges ranges = coordinate_ranges(to);
  Coordinates coordinates;
  Run source, result;
  while (source.end < from.size() && result.end < to.size()) {
    source.begin = source.end;
    result.begin = result.end;
    next_runs(from, source, to, result);
    unflatten(flatten(to, result), from, source, ranges, coordinates);
  }
  for (std::size_t d = source.end; d < from.size(); ++d) coordinates.emplace_back(0);  // trailing extents of 1
  return map(x, to, std::move(coordinates), suffix);
}

int Emitter::drop(int x, const Dims& dims, std::string_view suffix) {
  Shape kept;
  Coordinates coordinates;
  for (std::size_t d = 0; d < rank(x); ++d) {
    const bool dropped = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    const std::int64_t extent = shape(x)[d];
    coordinates.push_back(extent == 1 ? Expr(0) : tensor::coordinate(kept.size()));
    if (!dropped) kept.push_back(extent);
  }
  return map(x, std::move(kept), std::move(coordinates), suffix);
}

}  // namespace deplo::ir::tensor
