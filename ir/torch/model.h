// Models described by a few numbers (configs/models/*.yaml), and the transformer block that is built from them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "ir/torch/graph.h"

namespace deplo::ir::torch {

/// A decoder of the Llama family.
struct Model {
  std::string name;
  std::int64_t hidden = 0, ffn = 0, heads = 0, kv_heads = 0, head_dim = 0, layers = 0;
  double rope_theta = 10000, norm_eps = 1e-6;
  bool qkv_bias = false;     // as in Qwen2.5
  bool qk_norm = false;      // as in Qwen3: RMSNorm over each head of q and k
  DType dtype = DType::f32;  // type of weights and hidden states
};

/// Loads a model. `name`: a file under configs/models without its extension, or a path ending in .yaml. Throws Error.
Model load_model(const std::string& name);

/// Builds a whole block on hidden states (1, seq, hidden): RMSNorm, q/k/v projections, rotary embedding (cos and sin of
/// positions 0 … seq - 1 are inputs (seq, head_dim)), grouped-query causal attention, output projection, residual,
/// RMSNorm, SwiGLU, residual. Throws Error on a layer out of range or seq < 1.
Graph build_block(const Model&, std::int64_t layer, std::int64_t seq);

}  // namespace deplo::ir::torch
