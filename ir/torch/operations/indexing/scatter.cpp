// Operations that write elements to indexed positions.
//   scatter(T, T index, T source, dim)   scatter_add(T, T index, T source, dim)
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

TensorType infer_scatter(const Inference& call) {
  if (!is_index_type(call.dtype(1))) call.expected("indices of int32 or int64");
  if (call.dtype(0) != call.dtype(2) || call.dtype(0) == DType::boolean) call.expected("numbers of one dtype");
  if (call.rank(0) == 0) call.expected("a tensor of at least one dimension");
  const auto dim = static_cast<std::size_t>(call.normalise_dim("dim", call.rank(0)));
  Shape sources = call.shape(0);
  if (call.rank(1) == call.rank(0)) sources[dim] = call.shape(1)[dim];
  if (call.shape(1) != sources || call.shape(2) != sources)
    call.expected(fmt::format("an index and a source of one shape, which is the tensor's except in dimension {}", dim));
  const std::int64_t pairs = call.shape(0)[dim] * sources[dim];
  if (pairs > max_pairs)
    call.expected(fmt::format("at most {} pairs of a place and an index, because all pairs are compared", max_pairs),
                  std::to_string(pairs));
  return call.type(0);
}

template <bool adds>
Values evaluate_scatter(const Operands& o) {
  const std::size_t dim = dim_of(o.node);
  Shape strides = row_major_strides(o.result());
  const auto stride = static_cast<std::size_t>(std::exchange(strides[dim], 0));
  Values result = o.value(0);
  for_each_index(o.shape(1), std::array{row_major_strides(o.shape(1)), strides}, [&](std::size_t i, std::size_t to) {
    double& element = result[to + checked_index(o, o.value(1)[i], o.result()[dim]) * stride];
    element = adds ? element + o.value(2)[i] : o.value(2)[i];
  });
  return result;
}

/// All pairs of a place of the result and an index; the index is the second of a pair.
struct Meant {
  Pairs pairs;
  int hit;  // whether the index equals the place

  Meant(Emitter& e, const TensorCall& call) : pairs(pairs_of(e, call)) {
    const int index = pairs.at_second(e.index(call.args[1]), "index");
    hit = e.elementwise(Op::equal, {index, e.coordinate(pairs.first(), {DType::i32, pairs.space()}, "place")}, "hit");
  }
  static Pairs pairs_of(Emitter& e, const TensorCall& call) {
    const std::int64_t dim = call.node.integer("dim");
    return {e, call.shape(), static_cast<std::size_t>(dim), e.extent(call.args[1], dim)};
  }
};

// out[t] = x[t] + sum over i of (source[i] where index[i] == t). The order of additions does not depend on threads.
int decompose_scatter_add(Emitter& e, const TensorCall& call) {
  const DType t = accumulation_type(call.dtype());
  const Meant meant(e, call);
  const int source = meant.pairs.at_second(e.convert(call.args[2], t), "source");
  const int part = e.elementwise(Op::select, {meant.hit, source, e.scalar(0, t, "zero")}, "part");
  const int sum = meant.pairs.reduce(Op::add, part);
  return e.convert(e.elementwise(Op::add, {e.convert(call.args[0], t), sum}, "ew"), call.dtype());
}

// If several indices are equal, the last one wins, as in a loop over the indices.
int decompose_scatter(Emitter& e, const TensorCall& call) {
  const Meant meant(e, call);
  const int from = e.coordinate(meant.pairs.second(), {DType::i32, meant.pairs.space()}, "from");
  const int none = e.scalar(-1, DType::i32, "none");
  const int last = meant.pairs.reduce(Op::maximum, e.elementwise(Op::select, {meant.hit, from, none}, "chosen"));
  const std::int64_t dim = call.node.integer("dim");
  tensor::Coordinates at = tensor::identity(call.shape());
  at[static_cast<std::size_t>(dim)] = index_below(e.extent(call.args[1], dim));
  const int value = e.gather(e.convert(call.args[2], call.dtype()), last, call.shape(), std::move(at), "value");
  const int kept = e.elementwise(Op::equal, {last, none}, "kept");
  return e.elementwise(Op::select, {kept, e.convert(call.args[0], call.dtype()), value}, "ew");
}

// Calls scatter or scatter_add. Booleans are scattered as integers.
Id placed(const Given& g, std::string_view op, Scatter s) {
  const DType dtype = g.dtype(s.x);
  if (dtype == DType::boolean && g.dtype(s.source) == dtype) {
    s.x = g.to(s.x, DType::i32);
    s.source = g.to(s.source, DType::i32);
  }
  const Id result = in_covered_part(g, s, [&](const Scatter& part) {
    return g.call(op, {part.x, part.index, part.source}, {{"dim", static_cast<std::int64_t>(part.dim)}});
  });
  return g.to(result, dtype);
}

// scatter and scatter_add. A number as the source becomes a tensor of the index's shape.
template <bool adds>
Id scatter(const Given& g) {
  const Id x = g.tensor("input"), index = g.tensor("index");
  Scatter s = {x, index, g.operand(g.has("src") ? "src" : "value"), g.dim(g.integer("dim", 0), g.rank(x))};
  if (const Node source = g.node(s.source); source.kind == Node::Kind::scalar)
    s.source = g.full(g.shape(index), source.value, g.dtype(x));
  else if (source.type.shape.empty() && g.shape(index) == Shape{1})
    s.source = g.reshape(s.source, {1});  // of a tensor without dimensions
  const std::string by = g.text("reduce", "");
  if (!by.empty() && by != "add" && by != "multiply") g.fail("reduce", "None, 'add' or 'multiply'");
  if (by == "multiply") return scatter_reduced(g, s, "prod", true);
  return placed(g, adds || by == "add" ? "scatter_add" : "scatter", s);
}

// Writes (scatter) or adds (scatter_add) the rows of the source to the rows of x that `index`, of one dimension,
// selects.
Id scatter_rows(const Caller& c, std::string_view op, Id x, std::int64_t dim, Id index, Id source) {
  const Shape shape = c.shape(source), places = c.shape(index);
  const auto wrapped = static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(shape.size()) : dim);
  if (places.size() != 1 || wrapped >= shape.size() || places[0] != shape[wrapped])
    throw Error(
        fmt::format("{}: expected an index of one dimension with an element for each row of the source {}, found {}",
                    op, print(shape), print(places)));
  Shape column(shape.size(), 1);
  column[wrapped] = places[0];
  const Id spread = c.call("expand", {c.call("reshape", {index}, {{"shape", column}})}, {{"shape", shape}});
  return c.call(op, {x, spread, source}, {{"dim", dim}});
}

Id index_add(const Given& g) {
  const Id x = g.tensor("input"), index = g.tensor("index");
  Id source = g.tensor("source");
  if (g.has("alpha") && g.number("alpha", 1) != 1) source = g.apply("mul", source, g.operand("alpha"));
  return scatter_rows(g, "scatter_add", x, g.integer("dim", 0), index, source);
}

/// Scatters rows of any dtype. Booleans are scattered as integers.
Id scatter_any(const Caller& c, std::string_view op, Id x, std::int64_t dim, Id index, Id source) {
  const DType dtype = c.dtype(x);
  if (dtype != DType::boolean) return scatter_rows(c, op, x, dim, index, source);
  const Attributes whole = {{"dtype", DType::i32}}, truth = {{"dtype", DType::boolean}};
  return c.call("to", {scatter_rows(c, op, c.call("to", {x}, whole), dim, index, c.call("to", {source}, whole))},
                truth);
}

// The source replaces the rows of x that the index selects.
Id index_copy(const Given& g) {
  const Id x = g.tensor("input"), index = g.tensor("index"), source = g.tensor("source");
  return scatter_any(g, "scatter", x, g.integer("dim", 0), index, source);
}

Id index_put(const Given& g) {
  const Id x = g.tensor("input");
  return put_by_tensors(g, x, g.optional_tensors("indices"), g.tensor("values"), g.flag("accumulate", false));
}

/// Returns x with `part` in place of the elements start, start + step, … along a dimension.
Id replaced(const Given& g, Id x, Id part, std::size_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t extent = g.shape(x)[dim];
  const auto bound = [&](std::int64_t b) { return std::clamp<std::int64_t>(b < 0 ? b + extent : b, 0, extent); };
  start = bound(start);
  end = std::max(start, bound(end));
  Shape shape = g.shape(x);
  shape[dim] = step < 1 ? -1 : (end - start + step - 1) / step;
  if (g.shape(part) != shape) g.refuse(fmt::format("a source {}", print(shape)), part);
  part = g.to(part, g.dtype(x));
  if (shape[dim] == 0) return x;
  const auto along = static_cast<std::int64_t>(dim);
  if (step == 1) {
    std::vector<Id> parts;
    if (start > 0) parts.push_back(g.slice(x, dim, 0, start));
    parts.push_back(part);
    if (end < extent) parts.push_back(g.slice(x, dim, end, extent));
    return parts.size() == 1 ? part : g.call("cat", parts, {{"dim", along}});
  }
  const Id places = g.range(start, end, step);
  return scatter_any(g, "scatter", x, along, places, part);
}

Id slice_scatter(const Given& g) {
  const Id x = g.tensor("input"), source = g.tensor("src");
  return replaced(g, x, source, g.dim(g.integer("dim", 0), g.rank(x)), g.integer("start", 0), g.integer("end", no_end),
                  g.integer("step", 1));
}

Id select_scatter(const Given& g) {
  const Id x = g.tensor("input"), source = g.tensor("src");
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(x));
  const auto at = static_cast<std::int64_t>(g.dim(g.integer("index", 0), static_cast<std::size_t>(g.shape(x)[dim])));
  const Id part = g.unsqueeze(source, static_cast<std::int64_t>(dim));
  return replaced(g, x, part, dim, at, at + 1, 1);
}

// x.copy_(source): returns the source in the dtype and the shape of x.
Id copy(const Given& g) {
  g.ignore({"non_blocking"});
  const Id x = g.tensor("input");
  return g.expand(g.to(g.tensor("src"), g.dtype(x)), g.shape(x));
}

/// An assignment that chooses for each element, as `where` does. The mask has the number of dimensions that x has.
struct MaskedValues {
  Id mask, values;
};

/// Returns x[mask] = values as a choice, if a mask is the only index. The values are the same for all true elements of
/// the mask; or, if the mask is the first index and known only at run time, they have a row for each true element.
/// PyTorch requires as many rows as there are true elements.
std::optional<MaskedValues> masked_values(const Caller& c, const std::vector<std::optional<Id>>& indices,
                                          const Shape& x, Id values) {
  const auto given = [](const std::optional<Id>& index) { return index.has_value(); };
  const auto at = std::ranges::find_if(indices, given);
  if (at == indices.end() || std::any_of(at + 1, indices.end(), given)) return {};
  const TensorType type = c.type(**at);
  const auto before = at - indices.begin(), after = before + static_cast<std::ptrdiff_t>(type.shape.size());
  const auto rank = static_cast<std::ptrdiff_t>(x.size()), kept = static_cast<std::ptrdiff_t>(c.rank(values));
  if (type.dtype != DType::boolean || after > rank || kept > rank - after + 1) return {};
  const bool has_rows = kept > rank - after;
  if (has_rows && (before > 0 || type.shape.empty() || c.shape(values)[0] == 0 || known_values(c, **at))) return {};
  const Shape covered(x.begin() + before, x.begin() + after);
  if (covered != type.shape)
    throw Error(fmt::format("expected a mask of the shape {}, as the dimensions that it selects from, found {}",
                            print(covered), print(type)));
  if (has_rows) {
    Shape rows(x.begin() + after, x.end());
    rows.insert(rows.begin(), c.shape(values)[0]);
    values = next_rows(c, **at, c.expand(values, rows));
  }
  Shape wide(x.size(), 1);
  std::ranges::copy(type.shape, wide.begin() + before);
  return MaskedValues{c.reshape(**at, wide), values};
}

}  // namespace

Id in_covered_part(const Given& g, Scatter s, const std::function<Id(const Scatter&)>& place) {
  const Shape whole = g.shape(s.x), covered = g.shape(s.index), source = g.shape(s.source);
  if (covered.size() != whole.size() || source.size() != whole.size()) return place(s);
  for (std::size_t d = 0; d < covered.size(); ++d)
    if (source[d] > covered[d]) s.source = g.slice(s.source, d, 0, covered[d]);
  for (std::size_t d = 0; d < covered.size(); ++d) {
    if (d == s.dim || covered[d] >= whole[d]) continue;
    const Id rest = g.slice(s.x, d, covered[d], whole[d]);
    s.x = g.slice(s.x, d, 0, covered[d]);
    return g.call("cat", {in_covered_part(g, s, place), rest}, {{"dim", static_cast<std::int64_t>(d)}});
  }
  return place(s);
}

Id next_rows(const Caller& c, Id mask, Id rows) {
  Shape whole = c.shape(mask), source = c.shape(rows);
  const Id flat = c.to(c.reshape(mask, {element_count(whole)}), DType::i32);
  const Id before = c.apply("sub", c.call("cumsum", {flat}, {{"dim", std::int64_t{0}}}), flat);
  const Id place = c.apply("minimum", before, c.whole(source[0] - 1, DType::i64));
  whole.insert(whole.end(), source.begin() + 1, source.end());
  return c.reshape(pick_by_tensors(c, rows, {place}), whole);
}

// The indexed dimensions are moved to the front and become a single dimension. Its rows are selected by flat indices.
Id put_by_tensors(const Caller& c, Id x, const std::vector<std::optional<Id>>& given, Id values, bool adds) {
  const Shape shape = c.shape(x);
  if (const auto masked = masked_values(c, given, shape, values)) {
    const Id put = c.to(masked->values, c.dtype(x));
    return c.call("where", {masked->mask, adds ? c.call("add", {x, put}) : put, x});
  }
  const std::vector<std::optional<Id>> indices = without_masks(c, given);
  Shape order, rest, indexed, broad;
  Id places = -1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d >= indices.size() || !indices[d]) {
      rest.push_back(static_cast<std::int64_t>(d));
      continue;
    }
    Id index = *indices[d];
    if (!is_index_type(c.dtype(index)))
      throw Error(fmt::format("expected indices of int32 or int64, found {}", print(c.type(index))));
    index = counted_from_start(c, index, shape[d]);
    broad = broadcast("index_put", broad, c.shape(index));
    places = places < 0 ? index : c.call("add", {c.call("mul", {places, c.whole(shape[d])}), index});
    order.push_back(static_cast<std::int64_t>(d));
    indexed.push_back(shape[d]);
  }
  if (order.empty()) throw Error("expected at least one tensor of indices, found none");
  const bool adjacent = order.back() - order.front() + 1 == static_cast<std::int64_t>(order.size());
  const std::size_t place = adjacent ? static_cast<std::size_t>(order.front()) : 0;
  // The values get the shape of x[indices]. Then the dimensions of the indices are moved to the front.
  Shape chosen, rows = {element_count(indexed)}, picked = {element_count(broad)}, first, back(shape.size());
  for (const std::int64_t d : rest) chosen.push_back(shape[static_cast<std::size_t>(d)]);
  rows.push_back(element_count(chosen));
  picked.push_back(rows.back());
  const Shape whole = [&] {
    Shape s = chosen;
    s.insert(s.begin() + static_cast<std::ptrdiff_t>(place), broad.begin(), broad.end());
    return s;
  }();
  for (std::size_t d = 0; d < broad.size(); ++d) first.push_back(static_cast<std::int64_t>(place + d));
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (d < place || d >= place + broad.size()) first.push_back(static_cast<std::int64_t>(d));
  values = c.reshape(c.permute(c.expand(c.to(values, c.dtype(x)), whole), first), picked);
  places = c.expand(places, broad);
  order.insert(order.end(), rest.begin(), rest.end());
  Shape moved;
  for (std::size_t d = 0; d < order.size(); ++d) {
    moved.push_back(shape[static_cast<std::size_t>(order[d])]);
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  }
  const Id table = c.reshape(c.permute(x, order), rows);
  const Id put = scatter_any(c, adds ? "scatter_add" : "scatter", table, 0, c.reshape(places, {picked[0]}), values);
  return c.permute(c.reshape(put, moved), back);
}

// clang-format off
std::vector<Operation> scatter_operations() {
  return {
      {"scatter", 3, 3, dim_attribute, infer_scatter, evaluate_scatter<false>, decompose_scatter,
       {{"scatter", either, "input, dim, index, src=None, *, value=None, reduce=None",
         call_made<along_dimension<scatter<false>>>}},
       {{"aten.scatter", read_made<along_dimension<scatter<false>>>}}},
      {"scatter_add", 3, 3, dim_attribute, infer_scatter, evaluate_scatter<true>, decompose_scatter_add,
       {{"scatter_add", either, "input, dim, index, src", call_made<along_dimension<scatter<true>>>}},
       {{"aten.scatter_add", read_made<along_dimension<scatter<true>>>}}},
  };
}

Composites placements() {
  return composites_of(
      {made<along_dimension<index_add>>("aten.index_add", either, "input, dim, index, source, *, alpha=1"),
       made<along_dimension<index_copy>>("aten.index_copy", either, "input, dim, index, source"),
       made<index_put>("aten.index_put", either, "input, indices, values, accumulate=False"),
       made<select_scatter>("aten.select_scatter", either, "input, src, dim, index"),
       made<slice_scatter>("aten.slice_scatter", either, "input, src, dim=0, start=None, end=None, step=1")},
      {{"aten.copy", read_made<copy>}, {"aten._unsafe_index_put", read_made<index_put>}});
}
// clang-format on

}  // namespace deplo::ir::torch
