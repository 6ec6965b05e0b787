#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/run/subject.h"
#include "core/error.h"
#include "core/mapped.h"
#include "core/text/text.h"
#include "engine/source/tile_program/tile_launch.h"
#include "ir/torch/expression/expression.h"
#include "measure/check/tile_arrays.h"

namespace deplo::apps {
namespace {

namespace tiles = ir::tile_program;

/// Returns the statement that declares the array in an expression.
std::string declaration(const engine::TileLaunch::Array& array) {
  std::string shape;
  for (const std::int64_t extent : array.shape) shape += fmt::format("{}, ", extent);
  const ir::DType dtype = array.element;
  const bool is_float = ir::is_float(dtype) && ir::is_kernel_type(dtype);
  if (is_float) return fmt::format("{} = torch.randn({}dtype=torch.{})\n", array.name, shape, ir::torch_name(dtype));
  if (dtype == ir::DType::i32)
    return fmt::format("{} = torch.randint(-2147483648, 2147483647, ({}), dtype=torch.int32)\n", array.name, shape);
  throw Error(fmt::format("--reference: expected arrays of f32, f16, bf16 and i32, found {} ({})", ir::tile_name(dtype),
                          array.name));
}

/// Returns the reference expression as a graph whose inputs are the arrays.
ir::torch::Graph read_reference(const std::string& expression, const engine::TileLaunch& launch) {
  std::string text;
  for (const engine::TileLaunch::Array& array : launch.arrays) text += declaration(array);
  const std::string where = fmt::format("--reference, after {} of arrays", counted(launch.arrays.size(), "line"));
  return ir::torch::parse_expression(text + expression, where);
}

/// A launch of a tile program. Its reference is the user's expression if there is one, else the interpreter of tile
/// programs, which runs block by block.
class TileSubject : public Subject {
 public:
  TileSubject(engine::TileLaunch launch, ir::Module module, const RunOptions& options)
      : launch_(std::move(launch)), seed_(options.seed) {
    module_ = std::move(module);
    arrays_ = make_arrays(launch_, options.seed);
    for (const std::string& output : module_.outputs) {
      written_.push_back(array_of(output));
      outputs_.push_back({output, arrays_[written_.back()].name, module_.find(output)->type});
    }
    if (options.reference) graph_ = read_reference(*options.reference, launch_);
    if (graph_) check_reference();
  }

  ir::Numbers values(const ir::Tensor& tensor) const override {
    return measure::numbers_of(arrays_[array_of(tensor.name)], tensor.type.dtype);
  }

  std::vector<std::vector<double>> reference() const override {
    if (graph_) return ir::torch::evaluate(*graph_, sources());
    return interpret(launch_of(launch_, seed_));
  }

  std::vector<std::vector<double>> rounding(const std::vector<std::vector<double>>& reference) const override {
    if (graph_) return rounding_of(*graph_, sources(), reference);
    tiles::Launch launch = launch_of(launch_, seed_);
    launch.exact16 = true;
    const std::vector<std::vector<double>> exact = interpret(launch);
    std::vector<std::vector<double>> bounds;
    for (std::size_t i = 0; i < reference.size(); ++i)
      bounds.push_back(measure::rounding_of(reference[i], exact[i], outputs_[i].type.dtype));
    return bounds;
  }

  std::optional<measure::TileCall> tile_call() const override { return engine::tile_call(launch_, module_); }

  double reference_bytes() const override {
    double bytes = 0, numbers = 0;
    for (const tiles::Array& array : arrays_) bytes += 2 * static_cast<double>(array.bytes.size());
    for (const Output& output : outputs_) numbers += static_cast<double>(ir::element_count(output.type.shape));
    return bytes + 8 * numbers;
  }

 private:
  /// Returns the values of the arrays that the launch writes.
  std::vector<std::vector<double>> interpret(const tiles::Launch& launch) const {
    std::vector<tiles::Array> arrays = arrays_;
    tiles::run(launch_.program, launch, arrays);
    return mapped(written_, [&](std::size_t number) { return arrays[number].numbers(); });
  }

  std::size_t array_of(const std::string& tensor) const { return engine::array_of(launch_, tensor); }

  void check_reference() const {
    std::string expected, found;
    for (const Output& output : outputs_) expected += fmt::format(" {}", ir::print(output.type.shape));
    for (const int output : graph_->outputs)
      found += fmt::format(" {}", ir::print(graph_->nodes[static_cast<std::size_t>(output)].type.shape));
    if (found != expected)
      throw Error(fmt::format("--reference: expected values of the shapes{} ({}), found{}", expected,
                              join(module_.outputs, ", "), found));
  }

  std::vector<ir::torch::Values> sources() const {
    std::vector<ir::torch::Values> sources(graph_->nodes.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const ir::torch::Node& node = graph_->nodes[i];
      if (node.kind != ir::torch::Node::Kind::input) continue;
      const auto array = std::ranges::find(arrays_, node.name, &tiles::Array::name);
      if (array == arrays_.end())
        throw Error(fmt::format("--reference: expected only arrays of the program as inputs, found '{}'", node.name));
      sources[i] = array->numbers();
    }
    return sources;
  }

  engine::TileLaunch launch_;
  std::uint64_t seed_;
  std::vector<tiles::Array> arrays_;       // the arrays with their contents before the launch
  std::optional<ir::torch::Graph> graph_;  // the reference expression, if there is one
  std::vector<std::size_t> written_;       // [i]: index of the array that output i is
};

}  // namespace

std::unique_ptr<Subject> tile_subject(engine::TileLaunch launch, ir::Module module, const RunOptions& options) {
  return std::make_unique<TileSubject>(std::move(launch), std::move(module), options);
}

}  // namespace deplo::apps
