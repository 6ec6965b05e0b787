#include "ir/torch/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/config.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text/nearest.h"
#include "core/text/text.h"

namespace deplo::ir::torch {
namespace {

constexpr std::int64_t max_extent = 1 << 20;  // limit of dimensions and sequence lengths, far beyond any model
using List = std::vector<std::int64_t>;

std::filesystem::path model_file(const std::string& name) {
  if (name.ends_with(".yaml")) return find_data(name);
  const std::vector<std::string> names = list_data("configs/models", ".yaml");
  if (std::ranges::find(names, name) == names.end())
    throw Error(fmt::format("expected a model ({}) or a .yaml file, found '{}'{}", join(names, ", "), name,
                            did_you_mean(name, names)));
  return data_folder() / "configs/models" / (name + ".yaml");
}

/// Returns a table of cos or sin (`wave`) of position * theta^(-2i / head_dim), at [position, i] and at [position, i +
/// head_dim / 2].
ValueSource rotary_table(const Model& model, std::int64_t seq, double (*wave)(double)) {
  const std::int64_t half = model.head_dim / 2;
  std::vector<float> values(static_cast<std::size_t>(seq * model.head_dim));
  for (std::int64_t i = 0; i < half; ++i) {
    const double frequency =
        std::pow(model.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(model.head_dim));
    for (std::int64_t position = 0; position < seq; ++position) {
      const auto at = static_cast<std::size_t>(position * model.head_dim + i);
      const auto value = static_cast<float>(wave(static_cast<double>(position) * frequency));
      values[at] = values[at + static_cast<std::size_t>(half)] = value;
    }
  }
  return {{}, std::make_shared<const Numbers>(std::move(values))};
}

class Block {
 public:
  Block(const Model& model, std::int64_t seq) : model_(model), seq_(seq) {}

  Graph build() {
    const Id hidden = builder_.input("hidden_states", {model_.dtype, {1, seq_, model_.hidden}});
    const TensorType angles = {model_.dtype, {seq_, model_.head_dim}};
    cos_ = builder_.input("rope_cos", angles, rotary_table(model_, seq_, std::cos));
    sin_ = builder_.input("rope_sin", angles, rotary_table(model_, seq_, std::sin));
    cos_ = builder_.call("unsqueeze", {cos_}, {{"dim", std::int64_t{0}}}, "cos_heads");
    sin_ = builder_.call("unsqueeze", {sin_}, {{"dim", std::int64_t{0}}}, "sin_heads");
    const Id attended = attention(norm(hidden, "input_layernorm"));
    const Id middle = builder_.call("add", {hidden, attended}, {}, "attention_residual");
    const Id fed = feed_forward(norm(middle, "post_attention_layernorm"));
    return builder_.finish({builder_.call("add", {middle, fed}, {}, "mlp_residual")});
  }

 private:
  Id norm(Id x, const std::string& name) {
    // The weights are around 1 but not 1, because ones would hide a forgotten multiplication.
    const ValueSource weights = {{Fill::Draw::uniform, 0.5, 1.5}, nullptr};
    const Id weight = builder_.parameter(name + "_weight", {model_.dtype, {builder_.type(x).shape.back()}}, weights);
    return builder_.call("rms_norm", {x, weight}, {{"dims", std::int64_t{1}}, {"eps", model_.norm_eps}}, name);
  }

  Id linear(Id x, std::int64_t out, const std::string& name, bool bias = false) {
    const std::int64_t in = builder_.type(x).shape.back();
    const double bound = 1 / std::sqrt(static_cast<double>(in));  // as PyTorch's kaiming_uniform_(a=sqrt(5))
    const ValueSource source = {{Fill::Draw::uniform, -bound, bound}, nullptr};
    std::vector<Id> args = {x, builder_.parameter(name + "_weight", {model_.dtype, {out, in}}, source)};
    if (bias) args.push_back(builder_.parameter(name + "_bias", {model_.dtype, {out}}, source));
    return builder_.call("linear", args, {}, name);
  }

  // Projects (1, seq, hidden) to (1, heads, seq, head_dim). `which`: q, k or v.
  Id project(Id x, std::int64_t heads, const std::string& which) {
    Id y = linear(x, heads * model_.head_dim, which + "_proj", model_.qkv_bias);
    y = builder_.call("reshape", {y}, {{"shape", List{1, seq_, heads, model_.head_dim}}}, which + "_heads");
    if (model_.qk_norm && which != "v") y = norm(y, which + "_norm");
    return builder_.call("transpose", {y}, {{"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}}, which);
  }

  // Returns x * cos + rotate_half(x) * sin, where rotate_half(x) = cat(-second half, first half).
  Id rotate(Id x, const std::string& which) {
    const std::int64_t half = model_.head_dim / 2;
    const Attributes low = {{"dim", std::int64_t{3}}, {"end", half}};
    const Attributes high = {{"dim", std::int64_t{3}}, {"start", half}};
    const Id first = builder_.call("slice", {x}, low, which + "_first");
    const Id second = builder_.call("slice", {x}, high, which + "_second");
    const Id negative = builder_.call("neg", {second}, {}, which + "_neg");
    const Id rotated = builder_.call("cat", {negative, first}, {{"dim", std::int64_t{3}}}, which + "_half");
    const Id by_cos = builder_.call("mul", {x, cos_}, {}, which + "_cos");
    const Id by_sin = builder_.call("mul", {rotated, sin_}, {}, which + "_sin");
    return builder_.call("add", {by_cos, by_sin}, {}, which + "_rope");
  }

  Id attention(Id x) {
    const Id q = rotate(project(x, model_.heads, "q"), "q");
    const Id k = rotate(project(x, model_.kv_heads, "k"), "k");
    const Id v = project(x, model_.kv_heads, "v");
    const Attributes attributes = {{"is_causal", true}, {"enable_gqa", model_.heads != model_.kv_heads}};
    Id y = builder_.call("scaled_dot_product_attention", {q, k, v}, attributes, "attention");
    y = builder_.call("transpose", {y}, {{"dim0", std::int64_t{1}}, {"dim1", std::int64_t{2}}}, "attention_tokens");
    const List joined = {1, seq_, model_.heads * model_.head_dim};
    y = builder_.call("reshape", {y}, {{"shape", joined}}, "attention_joined");
    return linear(y, model_.hidden, "o_proj");
  }

  Id feed_forward(Id x) {
    const Id gate = builder_.call("silu", {linear(x, model_.ffn, "gate_proj")}, {}, "silu");
    const Id up = linear(x, model_.ffn, "up_proj");
    return linear(builder_.call("mul", {gate, up}, {}, "gated"), model_.hidden, "down_proj");
  }

  const Model& model_;
  const std::int64_t seq_;
  Builder builder_;
  Id cos_ = 0, sin_ = 0;  // (1, seq, head_dim)
};

}  // namespace

Model load_model(const std::string& name) {
  const std::filesystem::path file = model_file(name);
  const Config config = Config::load(file);
  config.only({"source", "hidden", "ffn", "heads", "kv_heads", "head_dim", "layers", "rope_theta", "norm_eps",
               "qkv_bias", "qk_norm", "dtype"});
  const auto extent = [&](std::string_view key) { return config.at(key).integer(1, max_extent); };
  Model model;
  model.name = file.stem().string();
  config.at("source").text();
  model.hidden = extent("hidden");
  model.ffn = extent("ffn");
  model.heads = extent("heads");
  model.kv_heads = extent("kv_heads");
  model.head_dim = extent("head_dim");
  model.layers = extent("layers");
  model.rope_theta = config.at("rope_theta").number(1);
  model.norm_eps = config.at("norm_eps").number(0, 1);
  model.qkv_bias = config.boolean_or("qkv_bias", false);
  model.qk_norm = config.boolean_or("qk_norm", false);
  if (const auto dtype = config.find("dtype")) model.dtype = *parse_dtype(dtype->one_of({"f32", "f16", "bf16"}));
  if (model.heads % model.kv_heads != 0)
    config.at("kv_heads").expected(fmt::format("a divisor of heads ({})", model.heads));
  if (model.head_dim % 2 != 0) config.at("head_dim").expected("an even number (rotary halves)");
  return model;
}

Graph build_block(const Model& model, std::int64_t layer, std::int64_t seq) {
  if (layer < 0 || layer >= model.layers)
    throw Error(fmt::format("{}: expected a layer from 0 to {}, found {}", model.name, model.layers - 1, layer));
  if (seq < 1 || seq > max_extent)
    throw Error(fmt::format("{}: expected a sequence of 1 to {} tokens, found {}", model.name, max_extent, seq));
  return Block(model, seq).build();
}

}  // namespace deplo::ir::torch
