// Losses of torch.nn.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "ir/torch/operations/given.h"

namespace deplo::ir::torch {
namespace {

/// Returns 'none', 'mean' or 'sum'. A file states these as 0, 1 or 2.
std::string reduction_of(const Given& g) {
  for (const std::string_view argument : {"size_average", "reduce"})
    if (g.has(argument)) g.fail(argument, "None (no other value is supported)");
  if (g.is_in_file()) {
    const std::int64_t number = g.integer("reduction", 1);
    if (number < 0 || number > 2) g.fail("reduction", "0, 1 or 2");
    return number == 0 ? "none" : number == 1 ? "mean" : "sum";
  }
  const std::string text = g.is_text("reduction") ? g.text("reduction", "") : "";
  if (text != "none" && text != "mean" && text != "sum") g.fail("reduction", "'none', 'mean' or 'sum'");
  return text;
}

Id reduced(const Given& g, Id losses, const std::string& reduction) {
  return reduction == "none" ? losses : g.call(reduction, {losses});
}
Id reduced(const Given& g, Id losses) { return reduced(g, losses, reduction_of(g)); }

Id difference(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  return g.apply("sub", x, g.tensor("target"));
}
Id squared(const Given& g, Id x) { return g.apply("mul", x, x); }

Id mse_loss(const Given& g) {
  if (g.has("weight")) g.fail("weight", "None (no other value is supported)");
  return reduced(g, squared(g, difference(g)));
}

Id l1_loss(const Given& g) {
  if (g.has("weight")) g.fail("weight", "None (no other value is supported)");
  return reduced(g, g.apply("abs", difference(g)));
}

// d < beta ? d² / (2 beta) : d - beta / 2
Id smooth_l1_loss(const Given& g) {
  const Id d = g.apply("abs", difference(g));
  const double beta = g.number("beta", 1);
  if (!(beta >= 0)) g.fail("beta", "at least 0");
  if (beta == 0) return reduced(g, d);
  const Id small = g.apply("mul", squared(g, d), 0.5 / beta);
  return reduced(g, g.where(g.apply("lt", d, beta), small, g.apply("sub", d, 0.5 * beta)));
}

// d < delta ? d² / 2 : delta (d - delta / 2)
Id huber_loss(const Given& g) {
  const Id d = g.apply("abs", difference(g));
  const double delta = g.number("delta", 1);
  if (!(delta > 0)) g.fail("delta", "more than 0");
  const Id large = g.apply("mul", g.apply("sub", d, 0.5 * delta), delta);
  return reduced(g, g.where(g.apply("lt", d, delta), g.apply("mul", squared(g, d), 0.5), large));
}

/// y log y, which is 0 for y = 0.
Id entropy(const Given& g, Id y) {
  return g.where(g.apply("eq", y, 0.0), g.scalar(0), g.apply("mul", y, g.apply("log", y)));
}

// y (log y - x), or e^y (y - x) if log_target is set. 'batchmean' divides by the number of rows.
Id kl_div(const Given& g) {
  const Id x = g.tensor("input"), y = g.tensor("target");
  g.require_float(x);
  const bool logarithms = g.flag("log_target", false);
  const Id losses = logarithms ? g.apply("mul", g.apply("exp", y), g.apply("sub", y, x))
                               : g.apply("sub", entropy(g, y), g.apply("mul", y, x));
  if (!g.is_text("reduction") || g.text("reduction", "") != "batchmean") return reduced(g, losses);
  const Shape shape = g.shape(x);
  const Id sum = g.call("sum", {losses});
  return shape.empty() ? sum : g.apply("div", sum, static_cast<double>(shape[0]));
}

Id weighted(const Given& g, Id losses) { return g.has("weight") ? g.apply("mul", losses, g.tensor("weight")) : losses; }

// -(y log x + (1 - y) log(1 - x)), with logarithms clamped to at least -100.
Id binary_cross_entropy(const Given& g) {
  const Id x = g.tensor("input"), y = g.tensor("target");
  g.require_float(x);
  if (g.shape(x) != g.shape(y)) g.refuse(fmt::format("a target of the input's shape {}", print(g.shape(x))), y);
  const auto logarithm = [&](Id p) { return g.apply("maximum", g.apply("log", p), -100.0); };
  const Id first = g.apply("mul", g.apply("sub", y, 1.0), logarithm(g.apply("sub", 1.0, x)));
  return reduced(g, weighted(g, g.apply("sub", first, g.apply("mul", y, logarithm(x)))));
}

// (1 - y) x + (1 + (pos_weight - 1) y) log(1 + e^-x)
Id binary_cross_entropy_with_logits(const Given& g) {
  const Id x = g.tensor("input"), y = g.tensor("target");
  g.require_float(x);
  if (g.shape(x) != g.shape(y)) g.refuse(fmt::format("a target of the input's shape {}", print(g.shape(x))), y);
  Id sum = log_sum(g, x, true);
  if (g.has("pos_weight")) {
    const Id more = g.apply("mul", g.apply("sub", g.tensor("pos_weight"), 1.0), y);
    sum = g.apply("mul", g.apply("add", more, 1.0), sum);
  }
  return reduced(g, weighted(g, g.apply("add", g.apply("mul", g.apply("sub", 1.0, y), x), sum)));
}

Id soft_margin_loss(const Given& g) {
  const Id x = g.tensor("input");
  g.require_float(x);
  return reduced(g, log_sum(g, g.apply("mul", g.tensor("target"), x), true));
}

// x for y = 1, and max(0, margin - x) for y = -1
Id hinge_embedding_loss(const Given& g) {
  const Id x = g.tensor("input"), y = g.tensor("target");
  g.require_float(x);
  const Id margin = g.apply("maximum", g.apply("sub", g.number("margin", 1), x), 0.0);
  const Id far = g.where(g.apply("ne", y, 1.0), margin, g.scalar(0));
  const Id near = g.where(g.apply("ne", y, -1.0), x, g.scalar(0));
  return reduced(g, g.apply("add", far, near));
}

Id margin_ranking_loss(const Given& g) {
  const Id d = g.apply("sub", g.tensor("input1"), g.tensor("input2"));
  const Id less = g.apply("neg", g.apply("mul", g.tensor("target"), d));
  return reduced(g, g.apply("maximum", g.apply("add", less, g.number("margin", 0)), 0.0));
}

Id sum_of_last(const Given& g, Id x) { return g.call("sum", {x}, {{"dims", Shape{-1}}}); }

// cos = x·y / sqrt((x·x + eps)(y·y + eps)). The loss is 1 - cos for target 1, and max(0, cos - margin) for target -1.
Id cosine_embedding_loss(const Given& g) {
  const Id x = g.tensor("input1"), y = g.tensor("input2"), target = g.tensor("target");
  constexpr double eps = 1e-12;
  const Id xx = g.apply("add", sum_of_last(g, squared(g, x)), eps);
  const Id yy = g.apply("add", sum_of_last(g, squared(g, y)), eps);
  const Id cos = g.apply("div", sum_of_last(g, g.apply("mul", x, y)), g.apply("sqrt", g.apply("mul", xx, yy)));
  const Id apart = g.apply("maximum", g.apply("sub", cos, g.number("margin", 0)), 0.0);
  const Id of_one = g.where(g.apply("eq", target, 1.0), g.apply("sub", 1.0, cos), g.scalar(0));
  return reduced(g, g.apply("add", of_one, g.where(g.apply("eq", target, -1.0), apart, g.scalar(0))));
}

/// (sum of (|x - y + eps|)^p)^(1/p) along the last dimension.
Id distance(const Given& g, Id x, Id y, double p, double eps) {
  return norm_of_last(g, g.apply("add", g.apply("sub", x, y), eps), p);
}

Id pairwise_distance(const Given& g) {
  const Id d = distance(g, g.tensor("x1"), g.tensor("x2"), g.number("p", 2), g.number("eps", 1e-6));
  return g.flag("keepdim", false) ? g.unsqueeze(d, -1) : d;
}

Id triplet_margin_loss(const Given& g) {
  const Id anchor = g.tensor("anchor"), positive = g.tensor("positive"), negative = g.tensor("negative");
  g.require_float(anchor);
  const double p = g.number("p", 2), eps = g.number("eps", 1e-6);
  const Id near = distance(g, anchor, positive, p, eps);
  Id far = distance(g, anchor, negative, p, eps);
  if (g.flag("swap", false)) far = g.apply("minimum", far, distance(g, positive, negative, p, eps));
  const Id margin = g.apply("add", g.apply("sub", near, far), g.number("margin", 1));
  return reduced(g, g.apply("maximum", margin, 0.0));
}

// e^x - y x if log_input is set, otherwise x - y log(x + eps). `full` adds Stirling's approximation of log(y!) if y is
// above 1.
Id poisson_nll_loss(const Given& g) {
  const Id x = g.tensor("input"), y = g.tensor("target");
  g.require_float(x);
  const double eps = g.number("eps", 1e-8);  // which files also state where it has no effect
  Id losses = g.flag("log_input", true) ? g.apply("sub", g.apply("exp", x), g.apply("mul", y, x))
                                        : g.apply("sub", x, g.apply("mul", y, g.apply("log", g.apply("add", x, eps))));
  if (g.flag("full", false)) {
    const Id root = g.apply("mul", g.apply("log", g.apply("mul", y, 2 * std::numbers::pi)), 0.5);
    const Id stirling = g.apply("add", g.apply("sub", g.apply("mul", y, g.apply("log", y)), y), root);
    losses = g.apply("add", losses, g.where(g.apply("gt", y, 1.0), stirling, g.scalar(0)));
  }
  return reduced(g, losses);
}

// (log max(var, eps) + (x - y)² / max(var, eps)) / 2
Id gaussian_nll_loss(const Given& g) {
  const Id d = difference(g);
  const Id var = g.apply("maximum", g.tensor("var"), g.number("eps", 1e-6));
  Id losses = g.apply("mul", g.apply("add", g.apply("log", var), g.apply("div", squared(g, d), var)), 0.5);
  if (g.truth("full", false)) losses = g.apply("add", losses, 0.5 * std::log(2 * std::numbers::pi));
  return reduced(g, losses);
}

// The sum of max(0, margin - x[target] + x[class])^p over the classes other than the target, divided by the number of
// all classes, and multiplied by the weight of the target.
Id multi_margin_loss(const Given& g) {
  const Id x = g.tensor("input"), target = g.tensor("target");
  g.require_float(x);
  if (g.rank(x) != 2 || g.rank(target) != 1) g.refuse("scores (N, C) and classes (N,)", x);
  const Id column = g.unsqueeze(target, 1);
  const Id own = g.call("gather", {x, column}, {{"dim", std::int64_t{1}}});
  const Id above = g.apply("relu", g.apply("add", g.apply("sub", x, own), g.number("margin", 1)));
  const double p = g.number("p", 1);
  if (p != 1 && p != 2) g.fail("p", "1 or 2");
  const Id classes = g.range(0, g.shape(x)[1]);
  const Id others = g.where(g.apply("eq", classes, column), g.scalar(0), p == 1 ? above : squared(g, above));
  Id losses = g.call("mean", {others}, {{"dims", Shape{1}}});
  if (g.has("weight"))
    losses = g.apply("mul", losses, g.call("index_select", {g.tensor("weight"), target}, {{"dim", std::int64_t{0}}}));
  return reduced(g, losses);
}

// The mean over the classes of -(y log s(x) + (1 - y) log s(-x)), where s is the sigmoid.
Id multilabel_soft_margin_loss(const Given& g) {
  const Id x = g.tensor("input"), y = g.tensor("target");
  g.require_float(x);
  const Id rest = g.apply("log", g.apply("add", g.apply("exp", g.apply("neg", g.apply("abs", x))), 1.0));
  const Id positive = g.apply("sub", g.apply("minimum", x, 0.0), rest);  // log s(x)
  const Id losses = g.apply("sub", g.apply("mul", g.apply("sub", 1.0, y), x), positive);
  return reduced(g, g.call("mean", {weighted(g, losses)}, {{"dims", Shape{-1}}}));
}

// Classification losses: log(sum(exp(x))) - x[target]

struct ClassLoss {
  Id x, target;
  bool normalised;  // x holds logarithms of probabilities
  std::int64_t ignored;
  std::string reduction;
  std::optional<Id> weight;  // one weight per class
  double smoothing;
};

/// Returns, for each row, minus the sum over the classes of the logarithms, each multiplied by the weight of its class.
Id smooth_losses(const Caller& c, const ClassLoss& loss, Id logarithms, std::int64_t dim) {
  Id parts = logarithms;
  if (loss.weight) {
    Shape along(c.shape(logarithms).size(), 1);
    along[static_cast<std::size_t>(dim)] = element_count(c.shape(*loss.weight));
    parts = c.call("mul", {parts, c.call("reshape", {*loss.weight}, {{"shape", along}})});
  }
  return c.call("neg", {c.call("sum", {parts}, {{"dims", Shape{dim}}})});
}

Id reduced_loss(const Caller& c, const ClassLoss& loss, Id losses, Id count) {
  if (loss.reduction == "none") return losses;
  const Id sum = c.call("sum", {losses});
  return loss.reduction == "sum" ? sum : c.call("div", {sum, count});
}

/// The loss for a target that holds a probability for each class.
Id probability_loss(const Caller& c, const ClassLoss& loss, std::int64_t dim) {
  const Id logarithms = c.call("log_softmax", {loss.x}, {{"dim", dim}});
  const Shape shape = c.shape(loss.x);
  const auto classes = static_cast<double>(shape[static_cast<std::size_t>(dim)]);
  Id target = loss.target;
  if (loss.smoothing != 0) {
    target = c.call("mul", {target, c.scalar(1 - loss.smoothing)});
    target = c.call("add", {target, c.scalar(loss.smoothing / classes)});
  }
  const Id losses = smooth_losses(c, loss, c.call("mul", {logarithms, target}), dim);
  return reduced_loss(c, loss, losses, c.scalar(static_cast<double>(element_count(shape)) / classes));
}

Id class_loss_of(const Caller& c, const ClassLoss& loss) {
  const TensorType x = c.type(loss.x), target = c.type(loss.target);
  if (!is_float(x.dtype) || x.shape.empty()) throw Error(fmt::format("expected logits of floats, found {}", print(x)));
  const std::int64_t dim = x.shape.size() == 1 ? 0 : 1;
  Shape rows = x.shape, picked = x.shape;
  rows.erase(rows.begin() + dim);
  picked[static_cast<std::size_t>(dim)] = 1;
  if (is_float(target.dtype) && target.shape == x.shape && !loss.normalised) return probability_loss(c, loss, dim);
  if (!is_index_type(target.dtype) || target.shape != rows)
    throw Error(fmt::format("expected a class (int64) for each row {}, found {}", print(rows), print(target)));
  const Id ignored = c.whole(loss.ignored);
  const Id used = c.call("ne", {loss.target, ignored});
  const Id index = c.call("where", {used, loss.target, c.scalar(0, DType::i32)});
  const Id logarithms = loss.normalised ? loss.x : c.call("log_softmax", {loss.x}, {{"dim", dim}});
  const Id taken = pick(c, logarithms, c.call("reshape", {index}, {{"shape", picked}}), dim);
  Id losses = c.call("neg", {c.call("reshape", {taken}, {{"shape", rows}})}), count = c.call("sum", {used});
  if (loss.weight) {
    const Id weights = c.call("index_select", {*loss.weight, index}, {{"dim", std::int64_t{0}}});
    losses = c.call("mul", {losses, weights});
    count = c.call("sum", {c.call("where", {used, weights, c.scalar(0)})});
  }
  if (loss.smoothing != 0) {
    const double part = loss.smoothing / static_cast<double>(x.shape[static_cast<std::size_t>(dim)]);
    const Id smooth = c.call("mul", {smooth_losses(c, loss, logarithms, dim), c.scalar(part)});
    losses = c.call("add", {c.call("mul", {losses, c.scalar(1 - loss.smoothing)}), smooth});
  }
  return reduced_loss(c, loss, c.call("where", {used, losses, c.scalar(0)}), count);
}

// cross_entropy and nll_loss. Of nll_loss_forward, the second result, the total weight, is not supported.
Id class_loss(const Given& g) {
  std::string reduction = reduction_of(g);
  const Id x = g.tensor("input"), target = g.tensor("target");
  const bool normalised = g.name().find("nll_loss") != std::string_view::npos;
  return class_loss_of(g, {x, target, normalised, g.integer("ignore_index", -100), std::move(reduction),
                           g.optional_tensor("weight"), g.number("label_smoothing", 0)});
}

constexpr std::string_view plain = "input, target, size_average=None, reduce=None, reduction='mean'";
constexpr std::string_view with_weight = "input, target, size_average=None, reduce=None, reduction='mean', weight=None";
constexpr std::string_view reducing_module = "size_average=None, reduce=None, reduction='mean'";

}  // namespace

// clang-format off
Composites losses() {
  return composites_of(
      {made<multi_margin_loss>("aten.multi_margin_loss", in_functional,
         "input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'",
         "MultiMarginLoss"),
       {{"multilabel_soft_margin_loss", in_functional,
         "input, target, weight=None, size_average=None, reduce=None, reduction='mean'",
         call_made<multilabel_soft_margin_loss>, "MultiLabelSoftMarginLoss"}},
       made<mse_loss>("aten.mse_loss", in_functional, with_weight),
       {{"MSELoss", stateless_module, reducing_module, nullptr, {}, "mse_loss"}},
       made<l1_loss>("aten.l1_loss", in_functional, with_weight),
       {{"L1Loss", stateless_module, reducing_module, nullptr, {}, "l1_loss"}},
       made<smooth_l1_loss>("aten.smooth_l1_loss", in_functional,
         "input, target, size_average=None, reduce=None, reduction='mean', beta=1.0", "SmoothL1Loss"),
       made<huber_loss>("aten.huber_loss", in_functional, "input, target, reduction='mean', delta=1.0", "HuberLoss"),
       made<kl_div>("aten.kl_div", in_functional,
         "input, target, size_average=None, reduce=None, reduction='mean', log_target=False", "KLDivLoss"),
       made<binary_cross_entropy>("aten.binary_cross_entropy", in_functional,
         "input, target, weight=None, size_average=None, reduce=None, reduction='mean'", "BCELoss"),
       made<binary_cross_entropy_with_logits>("aten.binary_cross_entropy_with_logits", in_functional,
         "input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None",
         "BCEWithLogitsLoss"),
       made<soft_margin_loss>("aten.soft_margin_loss", in_functional, plain, "SoftMarginLoss"),
       made<hinge_embedding_loss>("aten.hinge_embedding_loss", in_functional,
         "input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'", "HingeEmbeddingLoss"),
       made<margin_ranking_loss>("aten.margin_ranking_loss", in_functional,
         "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'"),
       {{"MarginRankingLoss", stateless_module, "margin=0.0, size_average=None, reduce=None, reduction='mean'",
        nullptr, {}, "margin_ranking_loss"}},
       made<cosine_embedding_loss>("aten.cosine_embedding_loss", in_functional,
         "input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'"),
       {{"CosineEmbeddingLoss", stateless_module, "margin=0.0, size_average=None, reduce=None, reduction='mean'",
        nullptr, {}, "cosine_embedding_loss"}},
       made<triplet_margin_loss>("aten.triplet_margin_loss", in_functional,
         "anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, "
         "reduction='mean'"),
       {{"TripletMarginLoss", stateless_module,
         "margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction='mean'", nullptr, {},
         "triplet_margin_loss"}},
       made<poisson_nll_loss>("aten.poisson_nll_loss", in_functional,
         "input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
         "PoissonNLLLoss"),
       {{"gaussian_nll_loss", in_functional,
         "input, target, var, full=False, eps=1e-6, reduction='mean'", call_made<gaussian_nll_loss>}},
       {{"GaussianNLLLoss", stateless_module, "*, full=False, eps=1e-6, reduction='mean'",
        nullptr, {}, "gaussian_nll_loss"}},
       made<pairwise_distance>("aten.pairwise_distance", in_functional | in_torch,
         "x1, x2, p=2.0, eps=1e-6, keepdim=False", "PairwiseDistance"),
       {{"cross_entropy", in_functional,
         "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
         "label_smoothing=0.0", call_made<class_loss>}},
       {{"nll_loss", in_functional,
         "input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
         call_made<class_loss>}}},
      {{"aten.cross_entropy_loss", read_made<class_loss>}, {"aten.nll_loss", read_made<class_loss>},
       {"aten.nll_loss2d", read_made<class_loss>}, {"aten.nll_loss2d_forward", read_made<class_loss>},
       {"aten.nll_loss_forward", read_made<class_loss>}, {"aten.nll_loss_nd", read_made<class_loss>}});
}
// clang-format on

}  // namespace deplo::ir::torch
