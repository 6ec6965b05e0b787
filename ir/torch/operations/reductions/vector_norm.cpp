// Norms of vectors, and functions that scale by a norm.

#include <cmath>

#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

struct Along {
  Shape dims;  // empty: all dimensions
  bool keepdim = false;
};

Id reduced(const Given& g, std::string_view op, Id x, const Along& along) {
  Attributes attributes = {{"keepdim", along.keepdim}};
  if (!along.dims.empty()) attributes.emplace("dims", along.dims);
  return g.call(op, {x}, std::move(attributes));
}

/// (sum of |x|^order)^(1 / order). Order 0 counts the elements other than 0. Order ∞ returns the greatest |x|, and
/// order -∞ the least.
Id norm_of(const Given& g, Id x, double order, const Along& along) {
  g.require_float(x);
  if (order == 2) return g.apply("sqrt", reduced(g, "sum", g.apply("mul", x, x), along));
  if (order == 0) return reduced(g, "sum", g.to(g.apply("ne", x, 0.0), g.dtype(x)), along);
  const Id size = g.apply("abs", x);
  if (order == 1) return reduced(g, "sum", size, along);
  if (std::isinf(order)) return reduced(g, order > 0 ? "amax" : "amin", size, along);
  return g.apply("pow", reduced(g, "sum", g.apply("pow", size, order), along), 1 / order);
}

Along along_of(const Given& g) { return {g.integers("dim", Shape{}), g.flag("keepdim", false)}; }

// torch.norm: without `dim`, the norm of all elements as one vector, whatever the shape.
Id norm(const Given& g) {
  const Id x = g.converted_input();
  if (!g.is_text("p")) return norm_of(g, x, g.number("p", 2), along_of(g));
  if (g.text("p", "fro") != "fro") g.fail("p", "a number or 'fro'");
  return norm_of(g, x, 2, along_of(g));
}

Id vector_norm(const Given& g) { return norm_of(g, g.converted_input(), g.number("ord", 2), along_of(g)); }

// Without `ord`, the result is the Euclidean norm of the elements. For matrices only the Frobenius norm is supported,
// which is the Euclidean norm of their elements.
Id linalg_norm(const Given& g) {
  const Along along = along_of(g);
  const Id x = g.converted_input();
  const bool of_vectors = along.dims.size() == 1 || (along.dims.empty() && g.rank(x) == 1);
  if (g.is_text("ord") && !of_vectors && g.text("ord", "fro") == "fro") return norm_of(g, x, 2, along);
  if (g.has("ord") && (!of_vectors || g.is_text("ord")))
    g.fail("ord", of_vectors ? "a number" : "None or 'fro' (other norms of matrices are not supported)");
  return norm_of(g, x, g.number("ord", 2), along);
}

Id matrix_norm(const Given& g) {
  if (g.has("ord") && (!g.is_text("ord") || g.text("ord", "fro") != "fro"))
    g.fail("ord", "'fro' (other norms of matrices are not supported)");
  return norm_of(g, g.converted_input(), 2, {g.integers("dim", Shape{-2, -1}), g.flag("keepdim", false)});
}

Id vecdot(const Given& g) {
  return reduced(g, "sum", g.apply("mul", g.tensor("input"), g.tensor("other")), {{g.integer("dim", -1)}, false});
}

// x / max(norm, eps)
Id normalize(const Given& g) {
  const Id x = g.tensor("input");
  const Id length = norm_of(g, x, g.number("p", 2), {g.integers("dim", Shape{1}), true});
  return g.apply("div", x, g.apply("maximum", length, g.number("eps", 1e-12)));
}

// v * g / |v|, where the norm is over all dimensions but `dim`.
Id weight_norm(const Given& g) {
  const Id v = g.tensor("v");
  const std::size_t dim = g.dim(g.integer("dim", 0), g.rank(v));
  Along along = {{}, true};
  for (std::size_t d = 0; d < g.rank(v); ++d)
    if (d != dim) along.dims.push_back(static_cast<std::int64_t>(d));
  if (along.dims.empty()) g.refuse("a weight of at least two dimensions", v);
  return g.apply("mul", v, g.apply("div", g.tensor("g"), norm_of(g, v, 2, along)));
}

// x·y / (max(|x|, eps) max(|y|, eps))
Id cosine_similarity(const Given& g) {
  const Id x = g.tensor("x1"), y = g.tensor("x2");
  const Along along = {{g.integer("dim", 1)}, false};
  const auto length = [&](Id v) { return g.apply("maximum", norm_of(g, v, 2, along), g.number("eps", 1e-8)); };
  return g.apply("div", reduced(g, "sum", g.apply("mul", x, y), along), g.apply("mul", length(x), length(y)));
}

}  // namespace

Id norm_of_last(const Given& g, Id x, double order) { return norm_of(g, x, order, {{-1}, false}); }

// clang-format off
Composites vector_norms() {
  return {
      {{"cosine_similarity", in_functional | in_torch, "x1, x2, dim=1, eps=1e-08",
        call_made<cosine_similarity>, "CosineSimilarity"},
       {"matrix_norm", in_linalg, "input, ord='fro', dim=None, keepdim=False, *, dtype=None", call_made<matrix_norm>},
       {"norm", either, "input, p=None, dim=None, keepdim=False, *, dtype=None", call_made<norm>},
       {"norm", in_linalg, "input, ord=None, dim=None, keepdim=False, *, dtype=None", call_made<linalg_norm>},
       {"vecdot", in_linalg, "input, other, *, dim=-1", call_made<vecdot>},
       {"vector_norm", in_linalg, "input, ord=2, dim=None, keepdim=False, *, dtype=None", call_made<vector_norm>},
       {"normalize", in_functional, "input, p=2.0, dim=1, eps=1e-12", call_made<normalize>}},
      {{"aten._weight_norm", read_made<weight_norm>}, {"aten._weight_norm_interface", read_made<weight_norm>},
       {"aten.cosine_similarity", read_made<cosine_similarity>}, {"aten.norm", read_made<norm>},
       {"aten.linalg_matrix_norm", read_made<matrix_norm>},
       {"aten.linalg_norm", read_made<linalg_norm>}, {"aten.linalg_vector_norm", read_made<vector_norm>}}};
}
// clang-format on

}  // namespace deplo::ir::torch
