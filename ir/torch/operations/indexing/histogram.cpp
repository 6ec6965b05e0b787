// Histograms, and products of rows with the matrix of their group.
#include <fmt/format.h>

#include <algorithm>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

/// Counts how many elements of the integer vector `bins` are 0, 1, …, count - 1. With `weights`, an element counts as
/// much as its weight.
Id counts(const Given& g, Id bins, std::int64_t count, std::optional<Id> weights, DType dtype) {
  const std::int64_t elements = g.shape(bins)[0];
  if (count > max_pairs / std::max<std::int64_t>(elements, 1))
    g.refuse(fmt::format("at most {} pairs of an element and a bin, because all pairs are compared", max_pairs), bins);
  const Id bin = g.reshape(g.range(0, count), {count, 1});
  const Id hits = g.apply("eq", bin, bins);
  const Id parts = weights ? g.call("where", {hits, *weights, g.scalar(0)}) : g.to(hits, dtype);
  return g.to(g.call("sum", {parts}, {{"dims", Shape{1}}}), dtype);
}

// histc: bins of equal width from min to max. The last bin includes max. Elements outside of this range are not
// counted.
Id histc(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  const std::int64_t bins = g.integer("bins", 100);
  const double low = g.number("min", 0), high = g.number("max", 0);
  if (bins < 1) g.fail("bins", "at least 1");
  if (!(low < high)) g.fail("max", "more than min (the bins of a kernel cannot depend on data)");
  const Id flat = g.reshape(x, {element_count(g.shape(x))});
  const Id scaled = g.apply("mul", g.apply("sub", flat, low), static_cast<double>(bins));
  const Id place = g.to(g.apply("div", scaled, high - low), DType::i32);
  const Id inside = g.apply("logical_and", g.apply("ge", flat, low), g.apply("le", flat, high));
  const Id bin = g.call("where", {inside, g.call("minimum", {place, g.whole(bins - 1)}), g.whole(-1)});
  return counts(g, bin, bins, std::nullopt, g.dtype(x));
}

// `length`: the number of bins, which minlength or the file states.
Id bincount_of(const Given& g, std::int64_t length) {
  const Id x = g.tensor("input");
  if (!is_integer(g.dtype(x)) || g.rank(x) != 1) g.refuse("a vector of integers", x);
  const std::optional<Id> weights = g.optional_tensor("weights");
  return counts(g, x, length, weights, weights ? g.dtype(*weights) : DType::i64);
}

Id bincount(const Given& g) {
  if (g.integer("minlength", 0) < 1)
    g.fail("minlength", "at least 1 and more than every element (the shapes of a kernel cannot depend on data)");
  return bincount_of(g, g.integer("minlength", 0));
}

std::vector<Id> read_bincount(pt2::Call& call) {
  call.ignore({"minlength"});
  return {bincount_of(Given(call), call.output_type().shape.at(0))};
}

// Multiplies the rows offs[i - 1] to offs[i] of a (rows, k) by b[i] of (groups, k, n).
Id grouped_product(const Given& g, Id a, Id b, Id offs) {
  if (g.rank(a) != 2 || g.rank(b) != 3 || g.rank(offs) != 1 || g.shape(b)[0] != g.shape(offs)[0] ||
      g.shape(a)[1] != g.shape(b)[1])
    g.refuse("rows (m, k), matrices (groups, k, n) and the end of each group's rows (groups,)", a);
  const std::int64_t rows = g.shape(a)[0], groups = g.shape(b)[0];
  const Id row = g.to(g.range(0, rows), g.dtype(offs));
  const Id group = g.call("searchsorted", {offs, row}, {{"right", true}});
  const Id last = g.whole(groups - 1);
  const Id chosen = g.call("index_select", {b, g.call("minimum", {group, last})}, {{"dim", std::int64_t{0}}});
  const Id product = g.call("matmul", {g.unsqueeze(a, 1), chosen});
  return g.call("squeeze", {product}, {{"dims", Shape{1}}});
}

std::vector<Id> read_grouped_mm(pt2::Call& call) {
  const Given g(call);
  const bool transformers = call.has("input");
  const Id a = call.tensor(transformers ? "input" : "self");
  Id result = grouped_product(g, a, call.tensor(transformers ? "weight" : "mat2"), call.tensor("offs"));
  if (call.has("bias")) call.fail("bias", "None (no other value is supported)");
  call.ignore({"out_dtype"});
  return {result};
}

}  // namespace

// clang-format off
Composites histograms() {
  return {
      {{"bincount", either, "input, weights=None, minlength=0", call_made<bincount>},
       {"histc", either, "input, bins=100, min=0, max=0", call_made<histc>}},
      {{"aten.bincount", read_bincount}, {"aten.histc", read_made<histc>}, {"aten._grouped_mm", read_grouped_mm},
       {"transformers.grouped_mm_fallback", read_grouped_mm}}};
}
// clang-format on

}  // namespace deplo::ir::torch
