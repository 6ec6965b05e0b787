// Matrix products, attention and what else networks have.
#include <fmt/format.h>

#include <array>

#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {
namespace {

Value matmul(const Call& c) { return c.node({c.tensor("input"), c.tensor("other")}); }

// mm and bmm: of two and of three dimensions only
template <std::size_t rank>
Value matmul_of(const Call& c) {
  const Id a = c.tensor("input"), b = c.tensor("mat2");
  if (c.type(a).shape.size() != rank || c.type(b).shape.size() != rank)
    throw Error(fmt::format("{}: expected two tensors of {} dimensions, found {} and {}", c.name, rank,
                            print(c.type(a)), print(c.type(b))));
  return c.node({a, b});
}

// (n,) × (m,) → (n, m)
Value outer(const Call& c) {
  const Id a = c.tensor("input"), b = c.tensor("vec2");
  if (c.type(a).shape.size() != 1 || c.type(b).shape.size() != 1)
    throw Error(fmt::format("outer: expected two vectors, found {} and {}", print(c.type(a)), print(c.type(b))));
  return c.node({c.session.call("unsqueeze", {a}, {{"dim", std::int64_t{1}}}), b});
}

Value linear(const Call& c) {
  std::vector<Id> args = {c.tensor("input"), c.tensor("weight")};
  if (c.given("bias")) args.push_back(c.tensor("bias"));
  return c.node(std::move(args));
}

Value attention(const Call& c) {
  std::vector<Id> args = {c.tensor("query"), c.tensor("key"), c.tensor("value")};
  if (c.given("attn_mask")) args.push_back(c.tensor("attn_mask"));
  if (c.number("dropout_p") != 0) c.fail("dropout_p", "0 (dropout is not supported)");
  Attributes attributes = {{"is_causal", c.flag("is_causal")}, {"enable_gqa", c.flag("enable_gqa")}};
  if (c.given("scale")) attributes.emplace("scale", c.number("scale"));
  return c.node(std::move(args), std::move(attributes));
}

Value gelu(const Call& c) { return c.node({c.tensor("input")}, {{"approximate", std::string(c.text("approximate"))}}); }

Value embedding(const Call& c) {
  const Id weight = c.tensor("weight");
  return c.node({weight, c.tensor("input")});
}

Value gather(const Call& c) {
  const Id x = c.tensor("input"), index = c.tensor("index");
  return c.node({x, index}, {{"dim", c.integer("dim")}});
}

// As in evaluation mode: the same elements.
Value dropout(const Call& c) { return {Tensor{c.tensor("input")}}; }

constexpr unsigned kBoth = kTorch | kMethod;

// clang-format off
constexpr std::array kFunctions = {
    Function{"matmul", kBoth, "input, other", matmul},
    Function{"mm", kBoth, "input, mat2", matmul_of<2>, "matmul"},
    Function{"bmm", kBoth, "input, mat2", matmul_of<3>, "matmul"},
    Function{"outer", kBoth, "input, vec2", outer, "mul"},
    Function{"linear", kFunctional, "input, weight, bias=None", linear},
    Function{"scaled_dot_product_attention", kFunctional,
             "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False", attention},
    Function{"gelu", kFunctional, "input, approximate='none'", gelu},
    Function{"embedding", kFunctional, "input, weight, padding_idx=None", embedding},
    Function{"gather", kBoth, "input, dim, index", gather},
    Function{"dropout", kFunctional, "input, p=0.5, training=True, inplace=False", dropout},
    Function{"dropout", kTorch, "input, p, train", dropout},
};
// clang-format on

}  // namespace

std::span<const Function> network_functions() { return kFunctions; }

}  // namespace deplo::ir::torch::python
