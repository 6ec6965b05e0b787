#include "measure/check/expected_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "ir/torch/evaluate.h"
#include "ir/torch/expression/expression.h"

namespace deplo::measure {
namespace {

using ir::torch::Graph;
using ir::torch::Node;

bool is_given(const Node& node) { return node.kind == Node::Kind::input || node.kind == Node::Kind::parameter; }

void check(std::int64_t elements, const ir::Buffer& buffer, const char* what, const std::string& place) {
  if (elements == ir::element_count(buffer)) return;
  throw Error(fmt::format("{}: expected {} elements of the {} '{}', found {}", place, ir::element_count(buffer), what,
                          buffer.name, elements));
}

/// True if type `own` of a program can stand for type `of_kernel`. Loop IR has no unsigned integers, so signed integers
/// of the same width stand for them, as long as the values fit.
bool stands_for(ir::DType own, ir::DType of_kernel) {
  return own == of_kernel ||
         (ir::is_unsigned(of_kernel) && ir::is_integer(own) && ir::width(own) == ir::width(of_kernel));
}

const ir::Buffer& find(const ir::Program& kernel, const InputFiles& files, const std::string& input,
                       const std::string& place) {
  const auto has_contents = [&](const ir::Buffer& buffer) {
    return buffer.role == ir::Role::input || buffer.fill || files.contains(buffer.name);
  };
  const ir::Buffer* const buffer = kernel.find(input);
  if (buffer != nullptr && has_contents(*buffer)) return *buffer;
  std::vector<std::string> names;
  for (const ir::Buffer& candidate : kernel.buffers)
    if (has_contents(candidate)) names.push_back(candidate.name);
  const std::string hint = did_you_mean(input, names);
  throw Error(fmt::format("{}: expected an input of the kernel, found '{}'{}", place, input,
                          hint.empty() && !names.empty() ? "; its inputs are " + join(names, ", ") : hint));
}

}  // namespace

ir::Program compared_outputs(ir::Program kernel, const std::set<std::string, std::less<>>& ignored,
                             const std::set<std::string, std::less<>>& summed) {
  for (ir::Buffer& buffer : kernel.buffers) {
    if (ignored.contains(buffer.name)) buffer.role = ir::Role::input;
    if (summed.contains(buffer.name)) buffer.shape = buffer.strides = {1};
  }
  return kernel;
}

std::map<std::string, ir::Numbers, std::less<>> evaluate_expression(
    const std::string& text, const ir::Program& kernel, const InputFiles& files,
    const std::function<ir::Numbers(const ir::Buffer&)>& input) {
  const Graph graph = ir::torch::parse_expression(text);
  std::vector<ir::torch::Values> sources;
  for (const Node& node : graph.nodes) {
    ir::torch::Values& values = sources.emplace_back();
    if (!is_given(node)) continue;
    const ir::Numbers numbers = input(find(kernel, files, node.name, "the reference"));
    values.assign(numbers.begin(), numbers.end());
  }
  const std::vector<ir::torch::Values> results = ir::torch::evaluate(graph, sources);
  std::map<std::string, ir::Numbers, std::less<>> expected;
  auto result = results.begin();
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.role != ir::Role::output) continue;
    ir::Numbers numbers(buffer.dtype, result->size());
    for (std::size_t i = 0; i < result->size(); ++i) numbers.set(i, (*result)[i]);
    expected.emplace(buffer.name, std::move(numbers));
    ++result;
  }
  return expected;
}

void check_expression(const std::string& text, const ir::Program& kernel, const InputFiles& files,
                      const std::string& place) {
  ir::Symbols arrays;
  for (const ir::Buffer& buffer : kernel.buffers) arrays[buffer.name] = ir::element_count(buffer);
  const Graph graph = ir::torch::parse_expression(text, place, ir::DType::f32, {}, arrays);
  for (const Node& node : graph.nodes)
    if (is_given(node))
      check(ir::element_count(node.type.shape), find(kernel, files, node.name, place), "input", place);
  std::size_t output = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    if (buffer.role != ir::Role::output) continue;
    if (output == graph.outputs.size())
      throw Error(fmt::format("{}: expected a result for the output '{}', found none", place, buffer.name));
    const Node& result = graph.nodes[static_cast<std::size_t>(graph.outputs[output++])];
    check(ir::element_count(result.type.shape), buffer, "output", place);
  }
  if (output < graph.outputs.size())
    throw Error(fmt::format("{}: expected {}, one for each output, found {}", place, counted(output, "result"),
                            graph.outputs.size()));
}

std::map<std::string, ir::Numbers, std::less<>> evaluate_expression(const std::string& text, const ir::Program& kernel,
                                                                    std::uint64_t seed, const InputFiles& files) {
  return evaluate_expression(text, kernel, files, [&](const ir::Buffer& buffer) {
    return input_values(kernel, static_cast<std::size_t>(&buffer - kernel.buffers.data()), seed, files);
  });
}

ir::Program program_for(const std::string& text, const ir::Program& kernel, const std::string& place) {
  ir::Program program = ir::parse(text, {}, place);
  std::vector<ir::Buffer> own = std::move(program.buffers);
  program.buffers = kernel.buffers;
  for (const ir::Buffer& buffer : own) {
    const auto found = std::ranges::find(program.buffers, buffer.name, &ir::Buffer::name);
    if (found == program.buffers.end() || found->role != buffer.role || !stands_for(buffer.dtype, found->dtype))
      throw Error(fmt::format("{}: expected {} '{}' of the kernel with the same type, found none", place,
                              buffer.role == ir::Role::output ? "an output" : "an input", buffer.name));
    check(ir::element_count(buffer), *found, buffer.role == ir::Role::output ? "output" : "input", place);
    found->dtype = buffer.dtype;
    found->shape = buffer.shape;
    found->strides = buffer.strides;
  }
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.role == ir::Role::output && std::ranges::find(own, buffer.name, &ir::Buffer::name) == own.end())
      throw Error(fmt::format("{}: expected a program that computes the output '{}', found none", place, buffer.name));
  return program;
}

}  // namespace deplo::measure
