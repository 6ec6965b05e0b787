// Random calls give a graph or an Error, and never a crash. Normalised attributes stay as they are. A call that has a
// type has values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/rng.h"
#include "ir/torch/operations/operation.h"
#include "ir/torch/operations/ops.h"
#include "ir/torch/torch_case.h"

namespace deplo::ir::torch {
namespace {

template <class T>
const T& pick(Rng& rng, const std::vector<T>& from) {
  return from[rng.below(from.size())];
}

std::int64_t random_integer(Rng& rng) {
  static const std::vector<std::int64_t> extremes = {std::numeric_limits<std::int64_t>::min(),
                                                     std::numeric_limits<std::int64_t>::max(), 1LL << 31, -(1LL << 31),
                                                     1LL << 40};
  return rng.below(12) == 0 ? pick(rng, extremes) : static_cast<std::int64_t>(rng.below(9)) - 4;
}

List random_list(Rng& rng) {
  List list(rng.below(5));
  for (std::int64_t& value : list) value = random_integer(rng);
  return list;
}

Attribute random_attribute(Rng& rng, std::string_view name) {
  static const std::vector<double> numbers = {0, 1, -2.5, 1e-5, 1e300, -std::numeric_limits<double>::infinity()};
  static const std::vector<DType> types = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean};
  if (rng.below(25) == 0) return std::string("tanh");
  if (name == "dtype") return pick(rng, types);
  if (name == "keepdim" || name == "is_causal" || name == "enable_gqa") return rng.below(2) == 0;
  if (name == "eps" || name == "scale" || name == "value") return pick(rng, numbers);
  if (name == "approximate") return std::string(rng.below(2) ? "tanh" : "none");
  if (name == "pad") return List{random_integer(rng), static_cast<std::int64_t>(rng.below(3))};
  if (name == "kernel" || name == "stride" || name == "padding" || name == "dilation")
    return List(1 + rng.below(2), 1 + static_cast<std::int64_t>(rng.below(2)));
  if (name == "shape" || (name == "dims" && rng.below(3) > 0)) return random_list(rng);
  return random_integer(rng);
}

Attributes random_attributes(Rng& rng) {
  static const std::vector<std::string> names = {
      "dim",  "dims", "keepdim", "shape", "start", "end",       "step",       "index",       "diagonal",  "dtype",
      "dim0", "dim1", "eps",     "scale", "value", "is_causal", "enable_gqa", "approximate", "correction"};
  Attributes attributes;
  for (std::uint64_t left = rng.below(4); left > 0; --left) {
    const std::string& name = pick(rng, names);
    attributes.insert_or_assign(name, random_attribute(rng, name));
  }
  return attributes;
}

TensorType random_type(Rng& rng) {
  static const std::vector<DType> types = {DType::f32, DType::f32, DType::f32, DType::f16, DType::i32, DType::boolean};
  TensorType type = {pick(rng, types), Shape(rng.below(5))};
  for (std::int64_t& extent : type.shape) extent = 1 + static_cast<std::int64_t>(rng.below(3));
  return type;
}

Values random_values(Rng& rng, const TensorType& type) {
  Values values(static_cast<std::size_t>(element_count(type.shape)));
  for (double& value : values)
    value = type.dtype == DType::boolean ? static_cast<double>(rng.below(2)) : static_cast<double>(rng.below(5)) - 1;
  return values;
}

// Adds the attributes that the operation requires. Without them, nearly every call would be refused.
void add_required(Rng& rng, std::string_view op, const std::vector<TensorType>& types, Attributes& attributes) {
  for (std::string message = typed(op, types, attributes); message.ends_with("), found none");
       message = typed(op, types, attributes)) {
    const std::size_t begin = message.find("expected ") + 9;  // `op: expected dim (an integer), found none`
    const std::string name = message.substr(begin, message.find(" (", begin) - begin);
    attributes.emplace(name, random_attribute(rng, name));
  }
}

/// Returns whether the call has a type.
bool try_call(Rng& rng, std::string_view op) {
  std::vector<Given> given(rng.below(4));
  const TensorType common = random_type(rng);
  for (Given& g : given) {
    g.type = rng.below(3) ? common : random_type(rng);
    g.values = random_values(rng, g.type);
  }
  Attributes attributes = rng.below(2) ? random_attributes(rng) : Attributes{};
  std::vector<TensorType> types;
  for (const Given& g : given) types.push_back(g.type);
  add_required(rng, op, types, attributes);
  Builder b;
  std::vector<Id> args;
  for (const Given& g : given) args.push_back(b.input("x", g.type));
  Id id = 0;
  try {
    id = b.call(op, args, attributes);
  } catch (const Error&) {
    return false;
  }
  const Node node = b.node(id);
  if (node.op != op) return true;  // a call on tensors without elements becomes other calls
  const Id again = b.call(op, args, node.attributes);
  EXPECT_EQ(b.node(again).attributes, node.attributes) << op;
  EXPECT_EQ(b.type(again), node.type) << op;
  if (element_count(node.type.shape) > 1 << 16) return true;
  EXPECT_FALSE(print(b.finish({id})).empty());
  try {
    evaluated(op, given, attributes);
  } catch (const Error&) {
    constexpr std::array looks_up = std::to_array<std::string_view>(
        {"embedding", "gather", "index", "index_select", "one_hot", "scatter", "scatter_add"});
    EXPECT_TRUE(std::ranges::count(looks_up, op) > 0) << op;  // an index is out of range
  }
  return true;
}

TEST(TorchFuzz, RandomCallsGiveATypeOrAnError) {
  Rng rng(7);
  for (const Operation& operation : operations()) {
    const std::string_view op = operation.name;
    int typed_calls = 0;
    for (int i = 0; i < 1000; ++i) typed_calls += try_call(rng, op);
    EXPECT_GT(typed_calls, 0) << op;  // otherwise no call was tested
  }
}

}  // namespace
}  // namespace deplo::ir::torch
