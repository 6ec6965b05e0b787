// Graphs: where they come from, and the kernels that they become.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/module.h"
#include "ir/tensor/tensor.h"
#include "ir/torch/graph.h"

namespace deplo::engine {

/// An expression, a file that holds one, an exported program, or a block of a model: exactly one of the four.
struct GraphSource {
  std::optional<std::string> code, file, pt2, model;
  std::optional<std::int64_t> layer, seq;  // of a model's block; layer: 0 where it is not given
};

/// Throws Error unless exactly one source is given, with a layer and a length only where it is a model's block.
/// `kernel`: whether the command line has --kernel in place of a graph; nullopt where it may not.
void check_source(const GraphSource&, std::optional<bool> kernel = std::nullopt);
/// `where` names an expression's text in messages. Throws Error, one line: what is wrong with the source and where.
ir::torch::Graph read_graph(const GraphSource&, std::string_view where);

/// The passes of the front half: decompose, optimise, lift, merge. Each needs those before it.
struct Passes {
  bool optimise = true, lift = true, merge = true;
  bool guard = true;  // false: merge whatever is legal, whatever it costs
};
/// "d", "do", "dol" or "dolm". Throws Error.
Passes parse_passes(const std::string& text);

ir::tensor::Graph lower_to_tensor(const ir::torch::Graph&, const Passes&);
/// Every kernel verified. `place` begins the message of an Error: the graph needs more memory than any device has, or
/// a type that kernels cannot hold.
ir::Module lower_to_module(const ir::torch::Graph&, const Passes&, std::string_view place);
/// The same with all passes, each kernel's inputs to be drawn as the graph says (fill_kernels in engine/source/inputs.h).
ir::Module lower_to_measure(const ir::torch::Graph&, std::string_view place);

}  // namespace deplo::engine
