#include "apps/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/cli/write_file.h"
#include "core/error.h"
#include "engine/compile/compiled_module.h"
#include "engine/compile/plan.h"
#include "engine/compile/target.h"
#include "engine/source/graph.h"
#include "engine/source/values.h"
#include "ir/torch/evaluate.h"
#include "measure/check/npy.h"
#include "measure/host_memory.h"
#include "measure/protocol/operand_sets.h"
#include "measure/store/store.h"

namespace deplo::apps {
namespace {

// The original of a parameter that is stored permuted has its dimensions in the order of the graph.
ir::TensorType given_type(const ir::Tensor& tensor) {
  ir::TensorType type = tensor.type;
  for (std::size_t d = 0; d < tensor.permutation.size(); ++d)
    type.shape[static_cast<std::size_t>(tensor.permutation[d])] = tensor.type.shape[d];
  return type;
}

std::vector<float> tensor_values(const ir::Tensor& tensor, std::uint64_t seed) {
  if (tensor.of.empty()) return engine::source_values(tensor.source, tensor.name, tensor.type, seed);
  const ir::TensorType type = given_type(tensor);
  return engine::permute(engine::source_values(tensor.source, tensor.of, type, seed), type.shape, tensor.permutation);
}

ir::Buffer buffer_of(const ir::Tensor& tensor) {
  const ir::TensorType& type = tensor.type;
  return {tensor.name, type.dtype, ir::Role::output, type.shape, ir::row_major_strides(type.shape)};
}

bool has_source(const ir::torch::Node& node) {
  return node.kind == ir::torch::Node::Kind::input || node.kind == ir::torch::Node::Kind::parameter;
}

/// The reference's values in double: sources, and what is alive at the worst moment at least.
double reference_bytes(const ir::torch::Graph& graph) {
  double sources = 0, largest = 0;
  for (const ir::torch::Node& node : graph.nodes) {
    const double bytes = 8 * static_cast<double>(ir::element_count(node.type.shape));
    if (has_source(node))
      sources += bytes;
    else if (node.kind == ir::torch::Node::Kind::call)
      largest = std::max(largest, bytes);
  }
  return sources + 3 * largest;
}

void check_memory(const ir::torch::Graph& graph, const engine::Plan& plan, const measure::DeviceInfo& device) {
  const double largest = plan.slots.empty() ? 0 : static_cast<double>(*std::ranges::max_element(plan.slots));
  double on_host = 2 * largest;
  if (device.cpu) on_host += plan.bytes();
  if (device.backend == "interpreter") on_host += 3 * plan.bytes();  // and a copy in double
  const double needed = std::max(on_host, reference_bytes(graph));   // one after the other
  const double free = measure::free_host_memory();
  if (needed > free)
    throw Error(
        fmt::format("expected {:.3g} GB of free memory for the graph's tensors and its reference, found {:.3g} GB",
                    needed * 1e-9, free * 1e-9),
        Exit::environment);
}

ir::torch::Graph read_given(const RunOptions& options) {
  ir::torch::Graph graph = engine::read_graph(options.source);
  engine::Inputs inputs = options.inputs;
  engine::give(inputs, graph);
  engine::check_met(inputs);
  return graph;
}

/// Raises each element to how far it is from the expected, where both are finite.
void raise(std::vector<double>& most, const std::vector<double>& found, const std::vector<double>& expected) {
  most.resize(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (const double off = std::abs(found[i] - expected[i]); std::isfinite(off)) most[i] = std::max(most[i], off);
}

/// Two samples of an element may be small by chance; those of all elements together are not.
void raise_to_mean(std::vector<double>& most) {
  double squares = 0;
  for (const double off : most) squares += off * off;
  const double mean = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(most.size(), 1)));
  for (double& off : most) off = std::max(off, mean);
}

class Runner {
 public:
  Runner(const RunOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        graph_(read_given(options)),
        module_(engine::lower_to_module(
            graph_, engine::passes_of(options.source, engine::has_tensor_cores(options.target, options.device)))),
        plan_(engine::plan_buffers(module_)),
        device_(measure::open_device(options.device)),
        target_(engine::pick_target(options.target, device_->info(), device_->dialect(), options.device, "--target")),
        cache_(options.tuned, device_->info(), target_, options.nearest, options.tolerance) {}

  RunReport run() {
    check_memory(graph_, plan_, device_->info());
    build_all();
    if (options_.whole) {
      time_whole();
    } else {
      const auto slots = device_->allocate(slot_buffers());
      fill({slots.get()});
      const std::vector<std::vector<float>> found = launch_all(*slots);
      if (options_.outputs) write_outputs(found);
      progress_.status("reference", "in double");
      compare(found);
    }
    fill_report();
    return std::move(report_);
  }

 private:
  void build_all();
  std::unique_ptr<measure::Executable> build(const std::string& name, const engine::Schedule&);
  std::vector<ir::Buffer> slot_buffers() const;
  void fill(const std::vector<measure::Arrays*>& sets);
  std::vector<std::size_t> places(std::size_t number) const;
  double launch(std::size_t number, measure::Arrays& slots);
  std::vector<std::vector<float>> launch_all(measure::Arrays& slots);
  std::vector<std::vector<float>> read_outputs(measure::Arrays& slots) const;
  void write_outputs(const std::vector<std::vector<float>>& found) const;
  void time_whole();
  std::vector<ir::torch::Values> sources() const;
  void compare(const std::vector<std::vector<float>>& found);
  std::vector<std::vector<double>> rounding(const std::vector<ir::torch::Values>& expected) const;
  void fill_report();

  const RunOptions& options_;
  Progress& progress_;
  ir::torch::Graph graph_;
  ir::Module module_;
  engine::Plan plan_;
  std::unique_ptr<measure::Device> device_;
  Target target_;
  engine::TunedCache cache_;
  engine::CompiledModule compiled_;
  std::vector<std::unique_ptr<measure::Executable>> executables_;  // of its kernels, and as the next
  std::vector<std::size_t> first_;                                 // the number of the first launch
  RunReport report_;
};

void Runner::build_all() {
  compiled_ = engine::compile(module_, [&](const ir::Program& loop) { return cache_.find(loop); });
  for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
    const ir::Program& loop = module_.kernels[i];
    progress_.status(fmt::format("[{}/{}] {}", i + 1, module_.kernels.size(), loop.name), "building");
    const std::size_t number = compiled_.launches[i].kernel;
    const engine::Schedule& schedule = compiled_.kernels[number];
    if (number == executables_.size()) {
      first_.push_back(i);
      executables_.push_back(build(loop.name, schedule));
    }
    const ir::Work work = ir::work(loop);
    KernelLaunch& row = report_.kernels.emplace_back();
    row.name = loop.name;
    row.first = first_[number];
    row.origin = schedule.origin;
    row.measured_us = schedule.measured_us;
    row.from = schedule.from;
    row.note = schedule.note;
    row.trail = print(schedule.compiled.trail);
    row.flops = work.flops;
    row.bytes = work.bytes;
  }
}

std::unique_ptr<measure::Executable> Runner::build(const std::string& name, const engine::Schedule& schedule) {
  auto built = device_->build(schedule.compiled.code);
  if (!built.ok())
    throw Error(fmt::format("kernel {}: expected it to build on {}, found: {}", name, device_->info().name,
                            built.failure().message),
                Exit::environment);
  return std::move(built.value());
}

std::vector<ir::Buffer> Runner::slot_buffers() const {
  std::vector<ir::Buffer> buffers;
  for (std::size_t i = 0; i < plan_.slots.size(); ++i)
    buffers.push_back({fmt::format("slot{}", i), ir::DType::f32, ir::Role::output, {plan_.slots[i] / 4}, {1}});
  return buffers;
}

void Runner::fill(const std::vector<measure::Arrays*>& sets) {
  // What a kernel reads and none has written shall not look like a result.
  for (measure::Arrays* const slots : sets)
    for (std::size_t i = 0; i < plan_.slots.size(); ++i) slots->poison(i);
  for (const ir::Tensor& tensor : module_.tensors) {
    if (tensor.kind == ir::Tensor::Kind::computed) continue;
    progress_.status(tensor.name, "drawing");
    const std::size_t slot = plan_.placement.at(tensor.name);
    const std::vector<float> values = tensor_values(tensor, options_.seed);
    for (measure::Arrays* const slots : sets) slots->view(std::span(&slot, 1), {buffer_of(tensor)})->write(0, values);
  }
}

/// The slots of a kernel's tensors, in the order of its parameters.
std::vector<std::size_t> Runner::places(std::size_t number) const {
  std::vector<std::size_t> places;
  for (const std::string& tensor : compiled_.launches[number].tensors) places.push_back(plan_.placement.at(tensor));
  return places;
}

double Runner::launch(std::size_t number, measure::Arrays& slots) {
  const std::size_t kernel = compiled_.launches[number].kernel;
  const engine::Schedule& schedule = compiled_.kernels[kernel];
  const auto arrays = slots.view(places(number), schedule.loop.buffers);
  const Result<double> time = executables_[kernel]->launch(*arrays, schedule.compiled.code.source.blocks);
  if (!time.ok())
    throw Error(fmt::format("kernel {}: expected it to run on {}, found: {}", module_.kernels[number].name,
                            device_->info().name, time.failure().message),
                Exit::environment);
  return time.value();
}

std::vector<std::vector<float>> Runner::launch_all(measure::Arrays& slots) {
  for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
    KernelLaunch& row = report_.kernels[i];
    progress_.status(fmt::format("[{}/{}] {}", i + 1, module_.kernels.size(), row.name), "running");
    row.microseconds = launch(i, slots);
  }
  return read_outputs(slots);
}

std::vector<std::vector<float>> Runner::read_outputs(measure::Arrays& slots) const {
  std::vector<std::vector<float>> found;
  for (const std::string& name : module_.outputs) {
    const std::size_t slot = plan_.placement.at(name);
    found.push_back(slots.view(std::span(&slot, 1), {buffer_of(*module_.find(name))})->read(0));
  }
  return found;
}

void Runner::write_outputs(const std::vector<std::vector<float>>& found) const {
  std::error_code error;
  std::filesystem::create_directories(*options_.outputs, error);
  if (error)
    throw Error(fmt::format("--outputs: expected a folder, found that '{}' cannot be made: {}", *options_.outputs,
                            error.message()),
                Exit::environment);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ir::Shape& shape = graph_.nodes[static_cast<std::size_t>(graph_.outputs[i])].type.shape;
    write_file(fmt::format("{}/{}.npy", *options_.outputs, i), measure::npy_bytes(found[i], shape));
  }
}

/// As in a model that runs it: what a kernel leaves in the caches is there for the next, the graph's inputs are not.
void Runner::time_whole() {
  const std::int64_t l2_bytes = device_->info().l2_bytes;
  measure::OperandSets sets(*device_, slot_buffers(),
                            measure::operand_set_count(measure::footprint(slot_buffers()), l2_bytes));
  std::vector<measure::Arrays*> all;
  for (std::size_t i = 0; i < sets.size(); ++i) all.push_back(&sets[i]);
  fill(all);
  const std::vector<std::vector<float>> expected = launch_all(sets[0]);
  for (const ir::Tensor& tensor : module_.tensors)
    if (tensor.kind == ir::Tensor::Kind::computed) sets[0].poison(plan_.placement.at(tensor.name));
  std::vector<measure::ChainLink> links;
  for (std::size_t i = 0; i < module_.kernels.size(); ++i) {
    const engine::Schedule& schedule = compiled_.kernels[compiled_.launches[i].kernel];
    links.push_back({executables_[compiled_.launches[i].kernel].get(), schedule.compiled.code.source.blocks, places(i),
                     schedule.loop.buffers});
  }
  const auto chain = device_->chain(std::move(links));
  progress_.status("the whole graph", "timing");
  measure::Protocol protocol;
  protocol.tolerance = options_.tolerance;
  report_.protocol = protocol.text();
  auto timing = measure::time_alone(*chain, sets, *device_, protocol);
  if (!timing.ok())
    throw Error(
        fmt::format("the graph: expected it to run on {}, found: {}", device_->info().name, timing.failure().message),
        Exit::environment);
  report_.whole = std::move(timing.value());
  const std::vector<std::vector<float>> found = read_outputs(sets[0]);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ir::torch::Node& node = graph_.nodes[static_cast<std::size_t>(graph_.outputs[i])];
    const std::vector<double> one_by_one(expected[i].begin(), expected[i].end());
    report_.outputs.push_back(compare_output(found[i], one_by_one, node.type, options_.tolerance));
    report_.outputs.back().name = node.name;
  }
}

std::vector<ir::torch::Values> Runner::sources() const {
  std::vector<ir::torch::Values> sources(graph_.nodes.size());
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
    const ir::torch::Node& node = graph_.nodes[i];
    if (!has_source(node)) continue;
    const std::vector<float> values = engine::source_values(node.source, node.name, node.type, options_.seed);
    sources[i].assign(values.begin(), values.end());
  }
  return sources;
}

void Runner::compare(const std::vector<std::vector<float>>& found) {
  const std::vector<ir::torch::Values> expected = ir::torch::evaluate(graph_, sources());
  CHECK(expected.size() == found.size());
  const auto check_all = [&](const std::vector<std::vector<double>>& rounding) {
    report_.outputs.clear();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const ir::torch::Node& node = graph_.nodes[static_cast<std::size_t>(graph_.outputs[i])];
      OutputCheck& check = report_.outputs.emplace_back(
          compare_output(found[i], expected[i], node.type, options_.tolerance, rounding[i]));
      check.name = node.name;
    }
  };
  check_all(std::vector<std::vector<double>>(found.size()));
  if (report_.right()) return;
  progress_.status("reference", "what rounding explains");
  check_all(rounding(expected));
}

/// How far each element goes where each value that it comes of is off by as much as rounding in f32 may take it, twice.
std::vector<std::vector<double>> Runner::rounding(const std::vector<ir::torch::Values>& expected) const {
  // Sixteen units of rounding: as many as sums of a thousand terms gather within an operation, which is disturbed as a
  // whole only; and twice what two samples show.
  constexpr double relative = 0x1p-20, margin = 2;
  std::vector<std::vector<double>> most(expected.size());
  for (const std::uint64_t seed : {1, 2}) {
    const auto disturbed = ir::torch::evaluate_disturbed(graph_, sources(), relative, seed);
    for (std::size_t i = 0; i < expected.size(); ++i) raise(most[i], disturbed[i], expected[i]);
  }
  for (std::vector<double>& output : most) {
    raise_to_mean(output);
    for (double& off : output) off *= margin;
  }
  return most;
}

void Runner::fill_report() {
  report_.device = device_->info().name;
  report_.target = target_.name;
  report_.store = cache_.file();
  report_.seed = options_.seed;
  report_.tolerance = options_.tolerance;
  report_.buffer_bytes = plan_.bytes();
  for (const ir::Tensor& tensor : module_.tensors)
    report_.tensor_bytes += static_cast<double>(engine::slot_bytes(tensor.type));
}

}  // namespace

RunReport run_graph(const RunOptions& options, Progress& progress) { return Runner(options, progress).run(); }

}  // namespace deplo::apps
