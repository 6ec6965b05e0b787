#include "engine/source/source.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/target.h"
#include "core/text/characters.h"
#include "engine/loop/kernel.h"
#include "ir/hardware/mma.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "ir/torch/pt2/pt2.h"

namespace deplo::engine {
namespace {

using DTypeOption = std::optional<ir::DType>;

ir::torch::Graph read(const Expression& source, DTypeOption dtype) {
  for (const auto& [name, size] : source.sizes)
    if (!has_word(source.text, name))
      throw Error(fmt::format("{}: expected an expression that uses {}, because its size is given, found none",
                              source.place, name));
  return ir::torch::parse_expression(source.text, source.place, dtype.value_or(ir::DType::f32), source.sizes);
}

ir::torch::Graph read(const ExpressionFile& source, DTypeOption dtype) {
  const auto path = find_data(source.file);
  return ir::torch::parse_expression(read_text(path), path.string(), dtype.value_or(ir::DType::f32));
}

ir::torch::Graph read(const Pt2File& source, DTypeOption) {
  return ir::torch::read_pt2(find_data(source.file), source.sizes);
}

ir::torch::Graph read(const ModelBlock& source, DTypeOption dtype) {
  ir::torch::Model model = ir::torch::load_model(source.model);
  model.dtype = dtype.value_or(model.dtype);
  return ir::torch::build_block(model, source.layer, source.seq);
}

template <class NoGraph>
ir::torch::Graph read(const NoGraph&, DTypeOption) {
  check_failed("the source is a graph", __FILE__, __LINE__);
}

ir::Tensor tensor_of(const ir::Buffer& buffer) {
  ir::Tensor tensor;
  tensor.kind = buffer.role == ir::Role::input ? ir::Tensor::Kind::input : ir::Tensor::Kind::computed;
  tensor.name = buffer.name;
  tensor.type = {buffer.dtype, buffer.shape};
  return tensor;
}

}  // namespace

Target fusion_target(const std::string& target, std::string_view device) {
  if (!target.empty() && target != "auto") return load_target(target);
  return load_target(device.starts_with("cuda") || device.starts_with("ptx") ? "sm_90" : "opencl-cpu");
}

Passes passes_of(const SourceOptions& options, const Target& target) {
  Passes passes;
  passes.target = target;
  for (const Choice& choice : options.fixed)
    if (choice.value != Value{"auto"}) passes.fixed.push_back(choice);
  return passes;
}

ir::torch::Graph read_graph(const Source& source) {
  ir::torch::Graph graph = std::visit([&](const auto& from) { return read(from, source.options.dtype); }, source.from);
  graph.allow_tf32 = source.options.allow_tf32.value_or(false);
  return graph;
}

std::string note_of(const Source& source) {
  const bool has_notes = source.is_graph() && !std::holds_alternative<ModelBlock>(source.from);
  return has_notes ? read_graph(source).note : "";
}

ir::Program read_kernel(const Source& source) {
  const auto& kernel = std::get<LoopKernel>(source.from);
  ir::Program loop = load_kernel(kernel.name, kernel.symbols, kernel.place);
  const ir::DType dtype = source.options.dtype.value_or(ir::DType::f32);
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.dtype == ir::DType::f32) buffer.dtype = dtype;
  loop.allow_tf32 |=
      source.options.allow_tf32.value_or(false) && !ir::mma::find_products(loop, ir::mma::Operands::tf32).empty();
  if (dtype == ir::DType::f32) return loop;
  if (const std::string fault = ir::verify(loop); !fault.empty())
    throw Error(
        fmt::format("{}: expected a kernel that can have buffers of {}, found: {}", kernel.place, name(dtype), fault));
  return loop;
}

ir::Module module_of(const ir::Program& kernel) {
  ir::Module module;
  for (const ir::Role role : {ir::Role::input, ir::Role::output})
    for (const ir::Buffer& buffer : kernel.buffers)
      if (buffer.role == role) module.tensors.push_back(tensor_of(buffer));
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.role == ir::Role::output) module.outputs.push_back(buffer.name);
  module.kernels.push_back(kernel);
  return module;
}

ir::Module read_module(const Source& source, const Target& target) {
  if (source.kind() == SourceKind::kernel) return module_of(read_kernel(source));
  return lower_by_trail(read_graph(source), passes_of(source.options, target), source.decisions)
      .value_or_throw()
      .module;
}

}  // namespace deplo::engine
