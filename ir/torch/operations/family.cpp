// Helpers that several families of operations share.
#include "ir/torch/operations/family.h"

#include <type_traits>

#include "ir/types/float16.h"

namespace deplo::ir::torch {
namespace {

bool is_required(const AttributeSpec& spec) { return std::holds_alternative<Required>(spec.fallback); }
bool is_computed(const AttributeSpec& spec) { return std::holds_alternative<Computed>(spec.fallback); }

Attribute attribute_of(const python::Call& c, const AttributeSpec& spec) {
  if (spec.kind == Kind::flag) return c.flag(spec.name);
  if (spec.kind == Kind::integer) return c.integer(spec.name);
  if (spec.kind == Kind::text) return std::string(c.text(spec.name));
  if (spec.kind == Kind::integers) return c.integers(spec.name);
  if (spec.kind == Kind::dtype) return c.dtype(spec.name);
  return c.number(spec.name);
}

// An attribute of kind dtype is never read from a file, because the file states the result's dtype.
Attribute attribute_of(pt2::Call& call, const AttributeSpec& spec) {
  CHECK(spec.kind != Kind::dtype);
  if (spec.kind == Kind::flag) return call.flag(spec.name, false);
  if (spec.kind == Kind::integer) return call.integer(spec.name);
  if (spec.kind == Kind::text) return call.text(spec.name, "");
  if (spec.kind == Kind::integers) return call.integers(spec.name);
  return call.number(spec.name, 0);
}

TensorType type_of_list(const Numbers& numbers) {
  const bool is_float =
      numbers.visit([](const auto& values) { return std::is_floating_point_v<std::decay_t<decltype(values[0])>>; });
  return {is_float ? DType::f32 : DType::i64, {static_cast<std::int64_t>(numbers.size())}};
}

}  // namespace

Caller caller_of(python::Session& session, std::string_view name) {
  return {[&session](std::string_view op, std::vector<Id> args, Attributes attributes) {
            return session.call(op, std::move(args), std::move(attributes));
          },
          [&session, name](double value, DType dtype) {
            const auto whole = static_cast<std::int64_t>(value);
            return session.operand(is_integer(dtype) ? python::Value{whole} : python::Value{value}, name, 1);
          },
          [&session](Id id) -> const Node& { return session.node(id); },
          [&session](Numbers numbers) {
            const TensorType type = type_of_list(numbers);
            python::Leaf* leaf = session.make_leaf(type, {}, true);
            leaf->name = "list";
            leaf->source.values = std::make_shared<const Numbers>(std::move(numbers));
            return session.tensor({leaf});
          }};
}

Caller caller_of(const python::Call& c) { return caller_of(c.session, c.name); }

Caller caller_of(pt2::Call& call) {
  return {[&](std::string_view op, std::vector<Id> args, Attributes attributes) {
            return call.add(op, std::move(args), std::move(attributes));
          },
          [&](double value, DType dtype) { return call.builder().scalar(value, dtype); },
          [&](Id id) -> const Node& { return call.builder().node(id); },
          [&](Numbers numbers) {
            const TensorType type = type_of_list(numbers);
            ValueSource source;
            source.values = std::make_shared<const Numbers>(std::move(numbers));
            return call.builder().parameter("list", type, std::move(source));
          }};
}

Id Caller::full(const Shape& shape, double value, DType dtype) const {
  return call("full", {}, {{"shape", shape}, {"value", value}, {"dtype", dtype}});
}

Id Caller::reshape(Id id, const Shape& to) const {
  return shape(id) == to ? id : call("reshape", {id}, {{"shape", to}});
}
Id Caller::expand(Id id, const Shape& to) const { return shape(id) == to ? id : call("expand", {id}, {{"shape", to}}); }
Id Caller::along(Id vector, std::size_t dim, std::size_t rank) const {
  Shape extents(rank, 1);
  extents[dim] = element_count(shape(vector));
  return reshape(vector, extents);
}
Id Caller::to(Id id, DType to) const { return dtype(id) == to ? id : call("to", {id}, {{"dtype", to}}); }

Id Caller::permute(Id id, const Shape& dims) const {
  bool moves = false;
  for (std::size_t d = 0; d < dims.size(); ++d) moves |= dims[d] != static_cast<std::int64_t>(d);
  return moves ? call("permute", {id}, {{"dims", dims}}) : id;
}

Id Caller::slice(Id id, std::size_t dim, std::int64_t start, std::int64_t end) const {
  if (start == 0 && end == shape(id)[dim]) return id;
  return call("slice", {id}, {{"dim", static_cast<std::int64_t>(dim)}, {"start", start}, {"end", end}});
}

Id Caller::range(std::int64_t start, std::int64_t end, std::int64_t step) const {
  return call("arange", {}, {{"start", start}, {"end", end}, {"step", step}});
}

Id Caller::select(Id id, std::size_t dim, Id index) const {
  return call("index_select", {id, index}, {{"dim", static_cast<std::int64_t>(dim)}});
}

python::Value call_plain(const python::Call& c) {
  Attributes attributes;
  for (const AttributeSpec& spec : find_operation(c.op)->attributes)
    if (c.has(spec.name) && (c.given(spec.name) || !is_computed(spec)))
      attributes.emplace(spec.name, attribute_of(c, spec));
  return c.node({c.tensor("input")}, std::move(attributes));
}

std::vector<Id> read_plain(pt2::Call& call) {
  const Id self = call.tensor("self");
  Attributes attributes;
  for (const AttributeSpec& spec : find_operation(call.op)->attributes)
    if (call.has(spec.name) || is_required(spec)) attributes.emplace(spec.name, attribute_of(call, spec));
  return call.node({self}, std::move(attributes));
}

Pairs::Pairs(Emitter& emitter, Shape shape, std::size_t dim, std::int64_t others)
    : emitter_(emitter), dim_(dim), space_(std::move(shape)) {
  space_.insert(space_.begin() + static_cast<std::ptrdiff_t>(dim) + 1, others);
}

int Pairs::at(int x, std::size_t without, std::string_view suffix) const {
  tensor::Coordinates coordinates = tensor::identity(space_);
  coordinates.erase(coordinates.begin() + static_cast<std::ptrdiff_t>(without));
  return emitter_.map(x, space_, std::move(coordinates), suffix);
}

int Pairs::reduce(Op op, int x) const {
  const Dims second = {static_cast<std::int64_t>(dim_) + 1};
  return emitter_.drop(emitter_.reduce(op, x, second, "reduced"), second, "dropped");
}

Expr index_below(std::int64_t extent) { return min(Expr(ExprOp::max, var("g1"), 0), extent - 1); }

void check_float(const Inference& call) {
  if (!is_float(call.dtype(0))) call.expected("floating-point numbers");
}

int operand(Emitter& e, const TensorCall& call, std::size_t i, DType dtype) {
  return e.broadcast(e.convert(call.args[i], dtype), call.shape());
}

int filled_operand(Emitter& e, const TensorCall& call, std::size_t i, DType dtype) {
  const int x = operand(e, call, i, dtype);
  return e.as_scalar(x) == nullptr ? x : e.fill(x, call.shape(), "argument");
}

DType arithmetic_type(DType dtype) { return dtype == DType::boolean ? DType::i32 : dtype; }

DType accumulation_type(DType dtype) { return arithmetic_type(value_type(dtype)); }

int with(Emitter& e, Op op, int a, int b, std::string_view suffix) {
  return e.elementwise(op, {a, e.broadcast(b, Shape(e.shape(a)))}, suffix);
}

double count_along(const Emitter& e, int x, const Dims& dims) {
  double n = 1;
  for (const std::int64_t dim : dims) n *= static_cast<double>(e.extent(x, dim));
  return n;
}

int divided_sum(Emitter& e, int x, const Dims& dims, double divisor) {
  const int sum = e.reduce(Op::add, x, dims, "mean_sum");
  return e.elementwise(Op::divide, {sum, e.scalar(divisor, e.dtype(x), "mean_count")}, "mean");
}

int mean_over(Emitter& e, int x, const Dims& dims) { return divided_sum(e, x, dims, count_along(e, x, dims)); }

namespace {

// Returns the median of the first, the middle and the last element along the dimensions. The dimensions keep extent 1.
int typical_element(Emitter& e, int x, const Dims& dims) {
  const auto element = [&](std::int64_t place) {  // 0: first, 1: middle, 2: last
    Shape shape = e.shape(x);
    tensor::Coordinates at = tensor::identity(shape);
    for (const std::int64_t dim : dims) {
      const auto d = static_cast<std::size_t>(dim);
      at[d] = (shape[d] - 1) * place / 2;
      shape[d] = 1;
    }
    return e.map(x, std::move(shape), std::move(at), "element");
  };
  const int a = element(0), b = element(1), c = element(2);
  const int low = e.elementwise(Op::minimum, {a, b}, "low"), high = e.elementwise(Op::maximum, {a, b}, "high");
  return e.elementwise(Op::maximum, {low, e.elementwise(Op::minimum, {high, c}, "low")}, "typical");
}

}  // namespace

// If the mean is far from zero, its rounding error can exceed the deviations from it. So a typical element is
// subtracted first. This is exact if the elements are close to each other: a constant row becomes 0. The median of
// three elements is not a single outlier.
int centred(Emitter& e, int x, const Dims& dims) {
  if (count_along(e, x, dims) > 1) x = with(e, Op::subtract, x, typical_element(e, x, dims), "shifted");
  return with(e, Op::subtract, x, mean_over(e, x, dims), "centred");
}

}  // namespace deplo::ir::torch
