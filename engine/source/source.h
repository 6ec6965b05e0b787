// What is compiled, run or tuned: a graph from one of four places, a kernel of its own, or a launch of a tile program. Who
// takes it from a user (a command line, an experiment, the library) sees to it that it is one of them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/source/graph.h"
#include "ir/module.h"
#include "ir/program.h"
#include "ir/torch/graph.h"

namespace deplo::engine {

// `dtype` is that of floats for which the source names none; nullopt: f32, of a model what its file says. `allow_tf32`:
// of the kernels that multiply f32 (ir/program.h).
struct Expression {
  std::string text;   // docs/expressions.md
  std::string place;  // for messages: "-c"
  std::optional<ir::DType> dtype = {};
  bool allow_tf32 = false;
  rules::AttentionChoice attention = {};
};
struct ExpressionFile {
  std::string file;
  std::optional<ir::DType> dtype = {};
  bool allow_tf32 = false;
  rules::AttentionChoice attention = {};
};
struct Pt2File {  // an exported program, which names all its types
  std::string file;
  bool allow_tf32 = false;
  rules::AttentionChoice attention = {};
};
struct ModelBlock {
  std::string model;  // a name under configs/models, or a .yaml file
  std::int64_t layer = 0, seq = 1;
  std::optional<ir::DType> dtype = {};
  bool allow_tf32 = false;
  rules::AttentionChoice attention = {};
};
using GraphSource = std::variant<Expression, ExpressionFile, Pt2File, ModelBlock>;

struct LoopKernel {
  std::string name;  // under configs/kernels, or a .loop file
  ir::Symbols symbols;
  std::string place;                    // for messages: "--kernel"
  std::optional<ir::DType> dtype = {};  // in place of f32, of all its buffers
  bool allow_tf32 = false;
};
/// A launch of a tile program (engine/source/tile_launch.h), which names all its types.
struct TileSource {
  std::string file, entry;             // "": its only one
  std::vector<std::string> arguments;  // "A=f16[100,64]", "A=a.npy" or "n=64", in the entry's order
  std::string grid;                    // "64,2,1"
};
using Source = std::variant<GraphSource, LoopKernel, TileSource>;

/// Of floats, by its name: f32, f16, bf16, or as PyTorch calls it. Throws Error.
ir::DType parse_float_type(const std::string& name, std::string_view place);
/// "auto", "fused" or "split". Throws Error.
rules::Attention parse_attention(const std::string& name, std::string_view place);
/// "auto" (0), or how many. Throws Error.
std::int64_t parse_key_parts(const std::string& text, std::string_view place);
/// What fusion may look at of the target, by its name. Where the name is auto, a device of CUDA counts as sm_90 and any
/// other as opencl-cpu: the device itself is not looked at. Throws Error where there is no such target.
Target fusion_target(const std::string& target, std::string_view device);
/// How the graph becomes kernels for such a target.
Passes passes_of(const GraphSource&, const Target&);
/// Throws Error, one line: what is wrong with the source and where.
ir::torch::Graph read_graph(const GraphSource&);
/// The same.
ir::Program read_kernel(const LoopKernel&);
/// The kernels of a graph by all passes, or of a launch; a kernel of its own is a module of one. Throws Error.
ir::Module read_module(const Source&, const Target& = {});

}  // namespace deplo::engine
