#include "engine/source/source.h"

#include <fmt/format.h>

#include <charconv>

#include "core/error.h"
#include "core/file.h"
#include "core/target.h"
#include "engine/source/experiment.h"
#include "engine/source/kernel.h"
#include "engine/source/tile_launch.h"
#include "ir/hardware/mma.h"
#include "ir/torch/expression/expression.h"
#include "ir/torch/model.h"
#include "ir/torch/pt2/pt2.h"

namespace deplo::engine {
namespace {

ir::torch::Graph read(const Expression& source) {
  return ir::torch::parse_expression(source.text, source.place, source.dtype.value_or(ir::DType::f32));
}

ir::torch::Graph read(const ExpressionFile& source) {
  const auto path = find_data(source.file);
  return ir::torch::parse_expression(read_file(path), path.string(), source.dtype.value_or(ir::DType::f32));
}

ir::torch::Graph read(const Pt2File& source) { return ir::torch::read_pt2(find_data(source.file)); }

ir::torch::Graph read(const ModelBlock& source) {
  ir::torch::Model model = ir::torch::load_model(source.model);
  model.dtype = source.dtype.value_or(model.dtype);
  return ir::torch::build_block(model, source.layer, source.seq);
}

ir::Tensor tensor_of(const ir::Buffer& buffer) {
  ir::Tensor tensor;
  tensor.kind = buffer.role == ir::Role::input ? ir::Tensor::Kind::input : ir::Tensor::Kind::computed;
  tensor.name = buffer.name;
  tensor.type = {buffer.dtype, buffer.shape};
  return tensor;
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

}  // namespace

ir::DType parse_float_type(const std::string& name, std::string_view place) {
  const std::optional<ir::DType> dtype = ir::parse_dtype(name);
  if (!dtype || !ir::is_float(*dtype))
    throw Error(fmt::format("{}: expected a type of floats (f32, f16 or bf16), found '{}'", place, name));
  return *dtype;
}

rules::Attention parse_attention(const std::string& name, std::string_view place) {
  using rules::Attention;
  for (const auto& [word, attention] : {std::pair{"auto", Attention::automatic}, std::pair{"fused", Attention::fused},
                                        std::pair{"split", Attention::split}})
    if (name == word) return attention;
  throw Error(fmt::format("{}: expected auto, fused or split, found '{}'", place, name));
}

std::int64_t parse_key_parts(const std::string& text, std::string_view place) {
  if (text == "auto") return 0;
  std::int64_t parts = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parts);
  if (error == std::errc() && stop == end && parts >= 1 && parts <= most_extent) return parts;
  throw Error(fmt::format("{}: expected auto or a number between 1 and {}, found '{}'", place, most_extent, text));
}

Target fusion_target(const std::string& target, std::string_view device) {
  if (!target.empty() && target != "auto") return load_target(target);
  return load_target(device.starts_with("cuda") ? "sm_90" : "opencl-cpu");
}

Passes passes_of(const GraphSource& source, const Target& target) {
  Passes passes;
  passes.target = target;
  passes.attention = std::visit([](const auto& one) { return one.attention; }, source);
  return passes;
}

ir::torch::Graph read_graph(const GraphSource& source) {
  return std::visit(
      [](const auto& one) {
        ir::torch::Graph graph = read(one);
        graph.allow_tf32 = one.allow_tf32;
        return graph;
      },
      source);
}

ir::Program read_kernel(const LoopKernel& source) {
  ir::Program loop = load_kernel(source.name, source.symbols, source.place);
  const ir::DType dtype = source.dtype.value_or(ir::DType::f32);
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.dtype == ir::DType::f32) buffer.dtype = dtype;
  loop.allow_tf32 |= source.allow_tf32 && !ir::mma::find_products(loop, ir::mma::Operands::tf32).empty();
  if (dtype == ir::DType::f32) return loop;
  if (const std::string fault = ir::verify(loop); !fault.empty())
    throw Error(fmt::format("{}: expected a kernel that can be of {}, found: {}", source.place, name(dtype), fault));
  return loop;
}

ir::Module read_module(const Source& source, const Target& target) {
  if (const auto* kernel = std::get_if<LoopKernel>(&source)) return module_of(read_kernel(*kernel));
  if (const auto* tile = std::get_if<TileSource>(&source)) return raise(read_launch(*tile));
  const auto& graph = std::get<GraphSource>(source);
  return lower_to_module(read_graph(graph), passes_of(graph, target));
}

}  // namespace deplo::engine
