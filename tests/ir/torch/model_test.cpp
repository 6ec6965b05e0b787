#include "ir/torch/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "core/error.h"

namespace deplo::ir::torch {
namespace {

const Node* find(const Graph& graph, std::string_view name) {
  const auto node = std::ranges::find(graph.nodes, name, &Node::name);
  return node == graph.nodes.end() ? nullptr : &*node;
}

TEST(Model, KnowsThePublishedDimensions) {
  const Model tiny = load_model("tinyllama-1.1b"), qwen = load_model("qwen2.5-7b");
  EXPECT_EQ(tiny.name, "tinyllama-1.1b");
  EXPECT_EQ((std::vector{tiny.hidden, tiny.ffn, tiny.heads, tiny.kv_heads, tiny.head_dim, tiny.layers}),
            (std::vector<std::int64_t>{2048, 5632, 32, 4, 64, 22}));
  EXPECT_EQ(qwen.name, "qwen2.5-7b");
  EXPECT_EQ((std::vector{qwen.hidden, qwen.ffn, qwen.heads, qwen.kv_heads, qwen.head_dim, qwen.layers}),
            (std::vector<std::int64_t>{3584, 18944, 28, 4, 128, 28}));
  EXPECT_EQ(qwen.rope_theta, 1e6);
  EXPECT_EQ(qwen.norm_eps, 1e-6);
  EXPECT_TRUE(qwen.qkv_bias);
  EXPECT_FALSE(tiny.qkv_bias);
  EXPECT_TRUE(load_model("qwen3-embedding-0.6b").qk_norm);
}

const char* const tiny_llama_block = R"(# Graph: 50 nodes, 3 inputs, 1 outputs
inputs:
hidden_states: (1, 32, 2048) float32
rope_cos: (32, 64) float32
rope_sin: (32, 64) float32
constants:
input_layernorm_weight: (2048,) float32
q_proj_weight: (2048, 2048) float32
k_proj_weight: (256, 2048) float32
v_proj_weight: (256, 2048) float32
o_proj_weight: (2048, 2048) float32
post_attention_layernorm_weight: (2048,) float32
gate_proj_weight: (5632, 2048) float32
up_proj_weight: (5632, 2048) float32
down_proj_weight: (2048, 5632) float32
cos_heads = unsqueeze(rope_cos, dim=0) -> (1, 32, 64) float32
sin_heads = unsqueeze(rope_sin, dim=0) -> (1, 32, 64) float32
input_layernorm = rms_norm(hidden_states, input_layernorm_weight, dims=1, eps=1e-05) -> (1, 32, 2048) float32
q_proj = linear(input_layernorm, q_proj_weight) -> (1, 32, 2048) float32
q_heads = reshape(q_proj, shape=[1, 32, 32, 64]) -> (1, 32, 32, 64) float32
q = transpose(q_heads, dim0=1, dim1=2) -> (1, 32, 32, 64) float32
q_first = slice(q, dim=3, end=32) -> (1, 32, 32, 32) float32
q_second = slice(q, dim=3, start=32) -> (1, 32, 32, 32) float32
q_neg = neg(q_second) -> (1, 32, 32, 32) float32
q_half = cat(q_neg, q_first, dim=3) -> (1, 32, 32, 64) float32
q_cos = mul(q, cos_heads) -> (1, 32, 32, 64) float32
q_sin = mul(q_half, sin_heads) -> (1, 32, 32, 64) float32
q_rope = add(q_cos, q_sin) -> (1, 32, 32, 64) float32
k_proj = linear(input_layernorm, k_proj_weight) -> (1, 32, 256) float32
k_heads = reshape(k_proj, shape=[1, 32, 4, 64]) -> (1, 32, 4, 64) float32
k = transpose(k_heads, dim0=1, dim1=2) -> (1, 4, 32, 64) float32
k_first = slice(k, dim=3, end=32) -> (1, 4, 32, 32) float32
k_second = slice(k, dim=3, start=32) -> (1, 4, 32, 32) float32
k_neg = neg(k_second) -> (1, 4, 32, 32) float32
k_half = cat(k_neg, k_first, dim=3) -> (1, 4, 32, 64) float32
k_cos = mul(k, cos_heads) -> (1, 4, 32, 64) float32
k_sin = mul(k_half, sin_heads) -> (1, 4, 32, 64) float32
k_rope = add(k_cos, k_sin) -> (1, 4, 32, 64) float32
v_proj = linear(input_layernorm, v_proj_weight) -> (1, 32, 256) float32
v_heads = reshape(v_proj, shape=[1, 32, 4, 64]) -> (1, 32, 4, 64) float32
v = transpose(v_heads, dim0=1, dim1=2) -> (1, 4, 32, 64) float32
attention = scaled_dot_product_attention(q_rope, k_rope, v, is_causal=True, enable_gqa=True) -> (1, 32, 32, 64) float32
attention_tokens = transpose(attention, dim0=1, dim1=2) -> (1, 32, 32, 64) float32
attention_joined = reshape(attention_tokens, shape=[1, 32, 2048]) -> (1, 32, 2048) float32
o_proj = linear(attention_joined, o_proj_weight) -> (1, 32, 2048) float32
attention_residual = add(hidden_states, o_proj) -> (1, 32, 2048) float32
post_attention_layernorm = rms_norm(attention_residual, post_attention_layernorm_weight, dims=1, eps=1e-05) -> (1, 32, 2048) float32
gate_proj = linear(post_attention_layernorm, gate_proj_weight) -> (1, 32, 5632) float32
silu = silu(gate_proj) -> (1, 32, 5632) float32
up_proj = linear(post_attention_layernorm, up_proj_weight) -> (1, 32, 5632) float32
gated = mul(silu, up_proj) -> (1, 32, 5632) float32
down_proj = linear(gated, down_proj_weight) -> (1, 32, 2048) float32
mlp_residual = add(attention_residual, down_proj) -> (1, 32, 2048) float32
outputs:
mlp_residual: (1, 32, 2048) float32
)";

TEST(Model, BuildsATinyLlamaBlock) {
  EXPECT_EQ(print(build_block(load_model("tinyllama-1.1b"), 0, 32)), tiny_llama_block);
}

TEST(Model, HasABiasOrNormalisedHeadsWhereTheModelHas) {
  const Graph qwen = build_block(load_model("qwen2.5-7b"), 27, 7);
  for (const char* which : {"q", "k", "v"}) EXPECT_TRUE(find(qwen, which + std::string("_proj_bias"))) << which;
  EXPECT_FALSE(find(qwen, "o_proj_bias"));
  EXPECT_FALSE(find(qwen, "q_norm"));
  const Graph embedding = build_block(load_model("qwen3-embedding-0.6b"), 0, 1);
  ASSERT_TRUE(find(embedding, "q_norm_weight") && find(embedding, "k_norm_weight"));
  EXPECT_EQ(find(embedding, "q_norm_weight")->type.shape, Shape{128});
  EXPECT_EQ(find(embedding, "q_norm")->type.shape, (Shape{1, 1, 16, 128}));
  EXPECT_EQ(find(embedding, "k_proj_weight")->type.shape, (Shape{1024, 1024}));
  EXPECT_EQ(find(embedding, "attention_joined")->type.shape, (Shape{1, 1, 2048}));
  EXPECT_FALSE(find(embedding, "v_norm"));
}

TEST(Model, CarriesTheRotaryAngles) {
  const Graph graph = build_block(load_model("tinyllama-1.1b"), 0, 3);
  const auto& cos = *find(graph, "rope_cos")->source.values;
  const auto& sin = *find(graph, "rope_sin")->source.values;
  ASSERT_EQ(cos.size(), 3U * 64U);
  EXPECT_FLOAT_EQ(cos[0], 1);
  EXPECT_FLOAT_EQ(sin[31], 0);
  EXPECT_FLOAT_EQ(cos[64], 0.5403023F);             // cos(1)
  EXPECT_FLOAT_EQ(sin[64 + 32], 0.8414710F);        // sin(1), in the second half
  EXPECT_FLOAT_EQ(sin[2 * 64 + 16], 0.019998667F);  // sin(2 * 10000^(-1/2))
  EXPECT_FLOAT_EQ(cos[2 * 64 + 48], 0.9998000F);
}

TEST(Model, DrawsWeightsAsPyTorchDoes) {
  const Graph graph = build_block(load_model("tinyllama-1.1b"), 0, 3);
  const Fill down = find(graph, "down_proj_weight")->source.fill;
  EXPECT_EQ(down.draw, Fill::Draw::uniform);
  EXPECT_NEAR(down.b, 0.013325044772, 1e-10);  // 1 / sqrt(5632)
  EXPECT_EQ(down.a, -down.b);
  EXPECT_EQ(find(graph, "hidden_states")->source.fill, (Fill{Fill::Draw::normal, 0, 1}));
  EXPECT_EQ(find(graph, "input_layernorm_weight")->source.fill, (Fill{Fill::Draw::uniform, 0.5, 1.5}));
}

template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Model, RefusesLayersAndSequencesThatAreNotThere) {
  const Model model = load_model("tinyllama-1.1b");
  EXPECT_EQ(message([&] { build_block(model, 22, 1); }), "tinyllama-1.1b: expected a layer from 0 to 21, found 22");
  EXPECT_EQ(message([&] { build_block(model, -1, 1); }), "tinyllama-1.1b: expected a layer from 0 to 21, found -1");
  EXPECT_EQ(message([&] { build_block(model, 0, 0); }),
            "tinyllama-1.1b: expected a sequence of 1 to 1048576 tokens, found 0");
  EXPECT_THAT(message([] { load_model("tinyllama-1.1"); }), ::testing::HasSubstr("did you mean 'tinyllama-1.1b'?"));
}

class ModelFile : public ::testing::Test {
 protected:
  std::string load(const std::string& more, const std::string& head_dim = "8") {
    // Each process has its own folder, because the tests run in parallel.
    const auto folder = std::filesystem::path(::testing::TempDir()) / ("model_file." + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::filesystem::path file = folder / "small.yaml";
    std::ofstream(file) << "source: \"a test\"\nhidden: 32\nffn: 48\nheads: 4\nlayers: 1\nrope_theta: 10000\n"
                           "norm_eps: 1e-6\nhead_dim: "
                        << head_dim << "\n"
                        << more;
    std::string text = message([&] { model_ = load_model(file.string()); });
    std::filesystem::remove_all(folder);
    const std::size_t at = text.find("small.yaml");
    return at == std::string::npos ? text : text.substr(at);
  }
  Model model_;
};

TEST_F(ModelFile, IsReadByPath) {
  EXPECT_EQ(load("kv_heads: 2\n"), "no error");
  EXPECT_EQ(model_.name, "small");
  EXPECT_EQ(model_.kv_heads, 2);
}

TEST_F(ModelFile, IsRefusedWithItsLine) {
  EXPECT_EQ(load("kv_heads: 3\n"), "small.yaml:9: expected a divisor of heads (4), found '3'");
  EXPECT_EQ(load("kv_heads: 2\n", "7"), "small.yaml:8: expected an even number (rotary halves), found '7'");
  EXPECT_THAT(load("kv_heads: 2\nqkv_bais: true\n"), ::testing::StartsWith("small.yaml:10: expected one of source"));
  EXPECT_THAT(load("kv_heads: 0\n"), ::testing::StartsWith("small.yaml:9: expected an integer between 1 and"));
  EXPECT_THAT(load(""), ::testing::HasSubstr("expected the key 'kv_heads'"));
}

}  // namespace
}  // namespace deplo::ir::torch
