// The modules of torch.nn that have parameters, hold others or call no operation.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

DType parameter_dtype(const Call& c) {
  const DType dtype = c.dtype("dtype", c.session.default_dtype);
  if (!is_float(dtype)) c.fail("dtype", "a dtype of floats");
  return dtype;
}

void add_parameter(const Call& c, Object& o, std::string_view name, Shape shape, Fill fill) {
  Leaf* leaf = c.session.make_leaf({parameter_dtype(c), std::move(shape)}, fill, true);
  c.session.give_name({leaf}, &o, name);
  o.attributes.insert_or_assign(std::string(name), Value{leaf});
}

std::int64_t extent(const Call& c, std::string_view parameter) {
  const std::int64_t n = c.integer(parameter);
  if (n < 1) c.fail(parameter, "at least 1");
  return n;
}

// As PyTorch initialises it: uniform in ±1/sqrt(in).
void build_linear(const Call& c, Object& o) {
  const std::int64_t in = extent(c, "in_features"), out = extent(c, "out_features");
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const Fill fill = {Fill::Draw::uniform, -bound, bound};
  add_parameter(c, o, "weight", {out, in}, fill);
  if (c.flag("bias"))
    add_parameter(c, o, "bias", {out}, fill);
  else
    o.attributes.insert_or_assign("bias", Value{});
}

// Not ones and zeros, as PyTorch has them: these would hide a kernel that forgets the weight.
constexpr Fill norm_weight = {Fill::Draw::uniform, 0.5, 1.5};
constexpr Fill norm_bias = {Fill::Draw::uniform, -0.5, 0.5};

void build_rms_norm(const Call& c, Object& o) {
  if (c.flag("elementwise_affine")) add_parameter(c, o, "weight", c.integers("normalized_shape"), norm_weight);
}

void build_layer_norm(const Call& c, Object& o) {
  const bool affine = c.flag("elementwise_affine"), bias = c.flag("bias");
  o.attributes.insert_or_assign("bias", Value{});
  if (affine) add_parameter(c, o, "weight", c.integers("normalized_shape"), norm_weight);
  if (affine && bias) add_parameter(c, o, "bias", c.integers("normalized_shape"), norm_bias);
}

void build_embedding(const Call& c, Object& o) {
  add_parameter(c, o, "weight", {extent(c, "num_embeddings"), extent(c, "embedding_dim")}, {Fill::Draw::normal, 0, 1});
}

// The items are attributes "0", "1", … as well: their parameters are named so.
void build_list(const Call& c, Object& o) {
  o.attributes.clear();
  if (!c.given("modules")) return;
  const List* list = c.value("modules").as<List>();
  if (!list) c.fail("modules", "modules");
  for (std::size_t i = 0; i < list->items->size(); ++i) {
    const Value& item = (*list->items)[i];
    if (!item.as<Object*>()) throw Error(fmt::format("{}: expected modules, found {}", c.name, describe(item)));
    c.session.give_name(item, &o, std::to_string(i));
    o.attributes.insert_or_assign(std::to_string(i), item);
    o.items.push_back(item);
  }
}

// clang-format off
constexpr std::array modules = {
    ModuleType{"Linear", "in_features, out_features, bias=True, device=None, dtype=None", "linear", build_linear},
    ModuleType{"RMSNorm", "normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None", "rms_norm", build_rms_norm},
    ModuleType{"LayerNorm", "normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None", "layer_norm", build_layer_norm},
    ModuleType{"Embedding", "num_embeddings, embedding_dim, padding_idx=None, *, device=None, dtype=None", "embedding", build_embedding},
    ModuleType{"Dropout", "p=0.5, inplace=False", "dropout"},
    ModuleType{"Identity", "*args", "clone"},
    ModuleType{"Flatten", "start_dim=1, end_dim=-1", "flatten"},
    ModuleType{"Sequential", "*modules", "", build_list},
    ModuleType{"ModuleList", "modules=None", "", build_list},
};
// clang-format on

}  // namespace

std::span<const ModuleType> other_modules() { return modules; }

}  // namespace deplo::ir::torch::python
