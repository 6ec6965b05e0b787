// The source of what is compiled, run or tuned, and its options: a graph from one of four places, a single kernel, a
// launch of a tile program, or a kernel file. The command line, the experiments and the library each make one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/foreign/files.h"
#include "engine/source/graph.h"
#include "engine/source/options.h"
#include "ir/module.h"
#include "ir/program.h"
#include "ir/torch/graph.h"

namespace deplo::engine {

struct Expression {
  std::string text;        // docs/expressions.md
  std::string place;       // for messages: "-c"
  ir::Symbols sizes = {};  // integers that the text may use by these names
};
struct ExpressionFile {
  std::string file;
};
struct Pt2File {  // an exported program, which names all its types
  std::string file;
};
struct ModelBlock {
  std::string model;  // a name under configs/models, or a .yaml file
  std::int64_t layer = 0, seq = 1;
};
struct LoopKernel {
  std::string name;  // under configs/kernels, or a .loop file
  ir::Symbols symbols;
  std::string place;  // for messages: "--kernel"
};
/// A launch of a tile program (engine/source/tile_program/tile_launch.h), which names all its types.
struct TileSource {
  std::string file, entry;             // entry "": the only one
  std::vector<std::string> arguments;  // "A=f16[100,64]", "A=a.npy" or "n=64", in the entry's order
  std::string grid;                    // "64,2,1"
};

struct Source {
  std::variant<Expression, ExpressionFile, Pt2File, ModelBlock, LoopKernel, TileSource, foreign::Files>
      from;  // as SourceKind
  SourceOptions options = {};
  Trail decisions = {};  // about the source as a whole, taken by tuning (engine/source/alternatives.h); the heuristic
                         // takes the others

  SourceKind kind() const { return static_cast<SourceKind>(from.index()); }
  bool is_graph() const { return kind() < SourceKind::kernel; }
  const TileSource* tile() const { return std::get_if<TileSource>(&from); }
  const foreign::Files* kernel_file() const { return std::get_if<foreign::Files>(&from); }
};

/// The target that fusion may look at, by its name. For "auto" or "", a CUDA device counts as sm_90 and any other as
/// opencl-cpu, without a look at the device itself. Throws Error if there is no such target.
Target fusion_target(const std::string& target, std::string_view device);
/// The passes that turn a graph into kernels for such a target.
Passes passes_of(const SourceOptions&, const Target&);
/// The source must be a graph. Throws Error in one line that says what is wrong with the source and where.
ir::torch::Graph read_graph(const Source&);
/// The source must be a single kernel. Throws Error like read_graph().
ir::Program read_kernel(const Source&);
/// A module of one kernel, whose buffers are its tensors: first its inputs, then its outputs.
ir::Module module_of(const ir::Program& kernel);
/// The kernels of a graph after all passes, those of a launch, or the single kernel. Throws Error.
ir::Module read_module(const Source&, const Target& = {});

}  // namespace deplo::engine
