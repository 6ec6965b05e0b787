#include "library/source.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "engine/source/experiment.h"
#include "engine/source/graph.h"
#include "engine/source/kernel.h"

namespace deplo {
namespace {

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

engine::GraphSource graph_source(const Source& source) {
  engine::GraphSource graph;
  if (!source.expression.empty()) graph.code = source.expression;
  if (!source.pt2.empty()) graph.pt2 = source.pt2;
  if (source.model.empty()) return graph;
  graph.model = source.model;
  graph.layer = source.layer;
  graph.seq = source.seq;
  return graph;
}

}  // namespace

void check(const Source& source) {
  int found = 0;
  for (const std::string* one : {&source.expression, &source.pt2, &source.model, &source.kernel})
    found += !one->empty();
  if (found != 1)
    throw Error(fmt::format("Source: expected one of expression, pt2, model, kernel, found {}",
                            found == 0 ? "none" : "several"));
  if (source.kernel.empty() && !source.symbols.empty())
    throw Error("Source: expected symbols with a kernel only, found them with a graph");
  for (const auto& [name, value] : source.symbols)
    if (value < 1 || value > engine::most_extent)
      throw Error(fmt::format("Source: expected {} from 1 to {}, found {}", name, engine::most_extent, value));
}

ir::Module read_module(const Source& source) {
  check(source);
  if (source.kernel.empty())
    return engine::lower_to_module(engine::read_graph(graph_source(source), "expression"), {}, "the graph");
  return module_of(engine::load_kernel(source.kernel, {source.symbols.begin(), source.symbols.end()}, "Source"));
}

std::string kernel_name(const Source& source, const ir::Module& module, const ir::Program& kernel) {
  return module.kernels.size() == 1 ? source.name : source.name + "." + kernel.name;
}

std::string experiment_entry(const Source& source) {
  check(source);
  nlohmann::ordered_json entry;
  if (!source.expression.empty()) entry["expression"] = source.expression;
  if (!source.pt2.empty()) entry["pt2"] = source.pt2;
  if (!source.model.empty()) entry = {{"model", source.model}, {"layer", source.layer}, {"seq", source.seq}};
  if (!source.kernel.empty()) entry["kernel"] = source.kernel;
  if (!source.symbols.empty()) entry["symbols"] = source.symbols;
  entry["name"] = source.name;
  // What is no UTF-8 becomes what no source has, so that its reader says where.
  return entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace deplo
