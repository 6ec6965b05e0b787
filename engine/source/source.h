// The source of the kernels that are compiled, run or tuned, and its options. A source is a graph from one of four
// places, a single kernel, a launch of a tile program, or a kernel file. The command line, experiments and the library
// create sources.
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
  std::string text;        // in the language of docs/expressions.md
  std::string place;       // for error messages, such as "-c"
  ir::Symbols sizes = {};  // integers that the text uses by these names
};
struct ExpressionFile {
  std::string file;
};
struct Pt2File {  // an exported program, which names all its types
  std::string file;
  ir::Symbols sizes = {};  // values of sizes that dynamic_shapes leaves open; others are those of the example
};
struct ModelBlock {
  std::string model;  // a name under configs/models, or a .yaml file
  std::int64_t layer = 0, seq = 1;
};
struct LoopKernel {
  std::string name;  // a name under configs/kernels, or a .loop file
  ir::Symbols symbols;
  std::string place;  // for error messages, such as "--kernel"
};
/// A launch of a tile program (engine/source/tile_program/tile_launch.h), which names all its types.
struct TileSource {
  std::string file, entry;             // entry "": the program's only entry
  std::vector<std::string> arguments;  // "A=f16[100,64]", "A=a.npy" or "n=64", in the entry's order
  std::string grid;                    // such as "64,2,1" (tile_grid.h)
};

struct Source {
  std::variant<Expression, ExpressionFile, Pt2File, ModelBlock, LoopKernel, TileSource, foreign::Files>
      from;  // in the order of SourceKind
  SourceOptions options = {};
  // Decisions about the source as a whole that tuning chose (engine/source/alternatives.h). The heuristic makes all
  // other decisions.
  Trail decisions = {};

  SourceKind kind() const { return static_cast<SourceKind>(from.index()); }
  bool is_graph() const { return kind() < SourceKind::kernel; }
  const TileSource* tile() const { return std::get_if<TileSource>(&from); }
  const foreign::Files* kernel_file() const { return std::get_if<foreign::Files>(&from); }
};

/// Returns the target that fusion takes into account. `target`: its name. If the name is "auto" or "", the target
/// follows from the kind of the device, which is not opened: sm_90 for CUDA and the PTX machine, opencl-cpu for any
/// other device. Throws Error if there is no such target.
Target fusion_target(const std::string& target, std::string_view device);
/// Returns the passes that turn a graph into kernels for this target.
Passes passes_of(const SourceOptions&, const Target&);
/// Reads the graph of a source, which must be a graph. Throws Error in one line that says what is wrong with the source
/// and where.
ir::torch::Graph read_graph(const Source&);
/// Returns a warning about the graph of a source, such as the sizes that a .pt2 file leaves open; "" if there is none,
/// or if the source is no graph.
std::string note_of(const Source&);
/// Reads the kernel of a source, which must be a single kernel. Throws Error like read_graph().
ir::Program read_kernel(const Source&);
/// Returns a module with one kernel. Its tensors are the kernel's buffers: first the inputs, then the outputs.
ir::Module module_of(const ir::Program& kernel);
/// Returns the kernels of a graph after all passes, or the single kernel. Throws Error.
ir::Module read_module(const Source&, const Target& = {});

}  // namespace deplo::engine
