#include "engine/source/graph.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "engine/source/experiment.h"
#include "engine/source/inputs.h"
#include "engine/source/kernel.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "ir/torch/pt2/pt2.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"

namespace deplo::engine {
namespace {

int count(const GraphSource& source) {
  return int{source.code.has_value()} + int{source.file.has_value()} + int{source.pt2.has_value()} +
         int{source.model.has_value()};
}

}  // namespace

void check_source(const GraphSource& source, std::optional<bool> kernel) {
  const int found = count(source) + int{kernel.value_or(false)};
  if (found != 1)
    throw Error(fmt::format("expected one of -c CODE, --file FILE, --pt2 FILE, --model NAME{}, found {}; see --help",
                            kernel ? ", --kernel NAME" : "", found == 0 ? "none" : "several"));
  if (!source.model && (source.layer || source.seq))
    throw Error(fmt::format("{}: expected --model with it, found none", source.layer ? "--layer" : "--seq"));
  if (source.model && !source.seq) throw Error("--model: expected --seq N with it, found none; see --help");
}

ir::torch::Graph read_graph(const GraphSource& source, std::string_view where) {
  CHECK(count(source) == 1);
  if (source.code) return ir::torch::parse_expression(*source.code, where);
  if (source.file) {
    const auto path = find_data(*source.file);
    return ir::torch::parse_expression(read_file(path), path.string());
  }
  if (source.pt2) return ir::torch::read_pt2(find_data(*source.pt2));
  return ir::torch::build_block(ir::torch::load_model(*source.model), source.layer.value_or(0), source.seq.value_or(0));
}

Passes parse_passes(const std::string& text) {
  check_name("--passes", "a prefix of dolm", text, {"d", "do", "dol", "dolm"});
  Passes passes;
  passes.optimise = text.size() > 1;
  passes.lift = text.size() > 2;
  passes.merge = text.size() > 3;
  return passes;
}

ir::tensor::Graph lower_to_tensor(const ir::torch::Graph& graph, const Passes& passes) {
  ir::tensor::Graph tensors = rules::decompose(graph);
  return passes.optimise ? rules::compose(tensors) : tensors;
}

ir::Module lower_to_module(const ir::torch::Graph& graph, const Passes& passes, std::string_view place) {
  CHECK(passes.lift);
  ir::Module module = rules::fuse(lower_to_tensor(graph, passes), {passes.merge, passes.guard, true});
  for (const ir::Program& kernel : module.kernels) {
    if (passes.merge) check_size(kernel, place);  // a lifted matmul has all its products, to be looked at only
    if (const std::string fault = ir::verify(kernel); !fault.empty())
      throw Error(fmt::format("{}: expected kernels that verify, found in {}: {}", place, kernel.name, fault));
  }
  return module;
}

ir::Module lower_to_measure(const ir::torch::Graph& graph, std::string_view place) {
  ir::Module module = lower_to_module(graph, {}, place);
  fill_kernels(module);
  return module;
}

}  // namespace deplo::engine
