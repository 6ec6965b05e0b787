// What is compiled, run or tuned: a graph from one of four places, a kernel of its own, or a launch of a tile program, and
// what is said of it besides. The command line, the experiments and the library each make one.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/source/graph.h"
#include "engine/source/options.h"
#include "ir/module.h"
#include "ir/program.h"
#include "ir/torch/graph.h"

namespace deplo::engine {

struct Expression {
  std::string text;   // docs/expressions.md
  std::string place;  // for messages: "-c"
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
/// A launch of a tile program (engine/source/tile_launch.h), which names all its types.
struct TileSource {
  std::string file, entry;             // "": its only one
  std::vector<std::string> arguments;  // "A=f16[100,64]", "A=a.npy" or "n=64", in the entry's order
  std::string grid;                    // "64,2,1"
};

struct Source {
  std::variant<Expression, ExpressionFile, Pt2File, ModelBlock, LoopKernel, TileSource> from;  // as SourceKind
  SourceOptions options = {};

  SourceKind kind() const { return static_cast<SourceKind>(from.index()); }
  bool is_graph() const { return kind() != SourceKind::kernel && kind() != SourceKind::tile; }
  const TileSource* tile() const { return std::get_if<TileSource>(&from); }
};

/// What fusion may look at of the target, by its name. Where the name is auto, a device of CUDA counts as sm_90 and any
/// other as opencl-cpu: the device itself is not looked at. Throws Error where there is no such target.
Target fusion_target(const std::string& target, std::string_view device);
/// How a graph becomes kernels for such a target.
Passes passes_of(const SourceOptions&, const Target&);
/// Of a source that is a graph. Throws Error, one line: what is wrong with the source and where.
ir::torch::Graph read_graph(const Source&);
/// Of a source that is a kernel of its own. The same.
ir::Program read_kernel(const Source&);
/// The kernels of a graph by all passes, or of a launch; a kernel of its own is a module of one. Throws Error.
ir::Module read_module(const Source&, const Target& = {});

}  // namespace deplo::engine
