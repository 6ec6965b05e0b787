#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/trail.h"
#include "deplo/deplo.h"
#include "engine/compile/compiled_module.h"
#include "engine/compile/plan.h"
#include "engine/source/load.h"
#include "engine/source/tile_program/block_program.h"
#include "engine/source/tile_program/form.h"
#include "engine/tune/adoption.h"
#include "library/errors.h"
#include "library/source.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/opencl/opencl.h"

namespace deplo {
namespace {

DType public_type(ir::DType dtype) {
  constexpr std::array<std::pair<ir::DType, DType>, 17> types = {
      {{ir::DType::f32, DType::f32},
       {ir::DType::f16, DType::f16},
       {ir::DType::bf16, DType::bf16},
       {ir::DType::i32, DType::i32},
       {ir::DType::i64, DType::i64},
       {ir::DType::boolean, DType::boolean},
       {ir::DType::i8, DType::i8},
       {ir::DType::u8, DType::u8},
       {ir::DType::i16, DType::i16},
       {ir::DType::f64, DType::f64},
       {ir::DType::u16, DType::u16},
       {ir::DType::u32, DType::u32},
       {ir::DType::u64, DType::u64},
       {ir::DType::tf32, DType::f32},
       {ir::DType::f8e4m3fn, DType::u8},
       {ir::DType::f8e5m2, DType::u8},
       {ir::DType::f8e8m0fnu, DType::u8}}};  // no array in memory has another type
  const auto* const found = std::ranges::find(types, dtype, &std::pair<ir::DType, DType>::first);
  CHECK(found != types.end());
  return found->second;
}

Tensor::Kind public_kind(ir::Tensor::Kind kind) {
  if (kind == ir::Tensor::Kind::input) return Tensor::Kind::input;
  return kind == ir::Tensor::Kind::parameter ? Tensor::Kind::parameter : Tensor::Kind::computed;
}

Origin public_origin(engine::Origin origin) {
  using enum Origin;
  constexpr std::array<Origin, 6> origins = {tuned, shared, family, foreign, nearest, heuristic};
  return origins.at(static_cast<std::size_t>(origin));
}

Kernel public_kernel(const ir::KernelSource& source, const engine::Provenance& of, const Trail& trail) {
  Kernel kernel;
  kernel.entry = source.entry;
  kernel.source = source.text;
  kernel.grid = source.blocks;
  kernel.block = source.threads;
  kernel.dynamic_shared_bytes = source.dynamic_shared ? source.shared_bytes : 0;
  kernel.zeroed = source.zeroed;
  for (const ir::KernelSource::TensorMap& map : source.tensor_maps)
    kernel.tensor_maps.push_back({map.buffer, map.shape, map.strides, map.box, map.swizzle});
  kernel.origin = public_origin(of.origin);
  kernel.trail = print(trail);
  kernel.measured_us = of.measured_us;
  kernel.from = of.from;
  kernel.note = of.note;
  return kernel;
}

/// The kernel of a kernel file.
Kernel public_kernel(const engine::OpaqueSchedule& schedule, const measure::KernelCode& code) {
  const measure::Launch& launch = code.launch.value();
  Kernel kernel = public_kernel(code.source, schedule, schedule.trail);
  kernel.grid = 1;
  for (const std::int64_t blocks : launch.blocks) kernel.grid *= blocks;
  kernel.grid_extents = launch.blocks;
  kernel.block_extents = launch.threads;
  kernel.updated = code.source.restored;
  if (!launch.options.empty()) kernel.build_options = {launch.options};
  for (const auto& [position, bytes, local_bytes] : launch.scalars)
    kernel.scalars.push_back({position, bytes, local_bytes});
  for (const auto& [buffer, name, is_parameter] : launch.symbols)
    kernel.symbols.push_back({buffer, name, is_parameter});
  return kernel;
}

/// The kernel of a tile program that runs block by block. An array that it writes keeps the elements that no block
/// writes.
Kernel public_kernel(const engine::OpaqueSchedule& schedule, const rules::BlockKernel& blocks) {
  Kernel kernel = public_kernel(blocks.source, schedule, schedule.trail);
  for (std::size_t i = 0; i < blocks.written.size(); ++i)
    if (blocks.written[i]) kernel.updated.push_back(i);
  for (const auto& [buffer, bytes] : blocks.initial) kernel.initial.push_back({buffer, bytes});
  kernel.assertions = blocks.assertions;
  if (blocks.assertion_buffer >= 0) kernel.assertion_argument = static_cast<std::size_t>(blocks.assertion_buffer);
  return kernel;
}

/// Returns the buffers of a launch that runs block by block: its arrays with their own names, types and shapes, then
/// memory of the kernel's own.
std::vector<ir::Buffer> buffers_of(const engine::BlockProgram& program) {
  std::vector<ir::Buffer> buffers = program.signature().buffers;
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    ir::Buffer& buffer = buffers[i];
    if (i < program.launch().arrays.size()) {
      const engine::TileLaunch::Array& array = program.launch().arrays[i];
      buffer = {array.name, array.element, buffer.role, array.shape, ir::row_major_strides(array.shape)};
    }
    while (!names.insert(buffer.name).second) buffer.name += "_";
  }
  return buffers;
}

/// Adds the graph's outputs without elements, which no kernel computes, at their places.
void add_empty_outputs(const ir::torch::Graph& graph, ir::Module& module) {
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ir::torch::Node& node = graph.nodes[static_cast<std::size_t>(graph.outputs[i])];
    if (ir::element_count(node.type.shape) != 0) continue;
    if (module.find(node.name) == nullptr) {
      ir::Tensor& tensor = module.tensors.emplace_back();
      tensor.name = node.name;
      tensor.type = node.type;
    }
    module.outputs.insert(module.outputs.begin() + static_cast<std::ptrdiff_t>(i), node.name);
  }
}

class Compiler {
 public:
  Compiler(const Source& source, const CompileOptions& options)
      : source_(source), options_(options), own_source_(source_of(source, "Source")) {}

  Program run() {
    choose_target();
    read_module();
    add_tensors();
    if (opaque_)
      add_opaque();
    else
      add_kernels();
    for (const std::string& output : module_.outputs) program_.outputs.push_back(tensors_.at(output));
    return std::move(program_);
  }

 private:
  void choose_target() {
    if (options_.device.empty() == options_.target.empty())
      throw Error(fmt::format("CompileOptions: expected a device or a target, found {}",
                              options_.device.empty() ? "neither" : "both"));
    if (options_.require_tuned && !options_.store) throw Error("CompileOptions: require_tuned requires a store");
    if (options_.require_tuned && options_.nearest)
      throw Error("CompileOptions: require_tuned cannot be combined with nearest");
    std::optional<measure::DeviceInfo> device;
    if (!options_.device.empty()) device = measure::find_device(options_.device);
    target_ = device ? measure::target_of(*device) : load_target(options_.target);
    if (options_.store) open_store(device);
    program_.target = target_.name;
    switch (target_.dialect) {
      case Dialect::opencl:
        program_.language = Program::Language::opencl_c;
        program_.build_options = {measure::opencl_build_options};
        break;
      case Dialect::cuda:
        program_.language = Program::Language::cuda_cpp;
        architecture_ = device ? device->architecture : target_.name;
        program_.build_options = measure::cuda::Nvrtc::code_options(architecture_);
        break;
    }
  }

  /// Sets the options for the variant of the architecture that the kernel needs, such as sm_90a for wgmma. All kernels
  /// of the program can be compiled for it.
  void choose_variant(const ir::KernelSource& source) {
    if (source.architecture_specific)
      program_.build_options =
          measure::cuda::Nvrtc::code_options(measure::cuda::architecture_of(source, architecture_));
  }

  /// Opens the store for lookups. The user's own store may not exist yet. Without a device, finds it in the store.
  void open_store(std::optional<measure::DeviceInfo>& device) {
    const bool is_own = options_.store->empty();
    const std::string file = is_own ? default_store() : *options_.store;
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      if (!is_own || (!device && options_.require_tuned))
        throw Error(fmt::format("CompileOptions: store: expected a store or a pack, found no file '{}'", file));
      if (!device) return;
    }
    if (!device) device = engine::device_for(file, target_, "", {"CompileOptions: store", "or set `device`"});
    target_ = measure::target_of(*device);
    cache_.emplace(is_own ? std::nullopt : options_.store, *device, target_, options_.nearest);
    program_.device = device->name;
    if (!options_.device.empty() && options_.time_foreign) {
      adoption_.emplace(engine::Adoption::Options{options_.device, *device, target_});
      cache_->decide_foreign([this](const ir::Program& kernel, const engine::Schedule& foreign) {
        return adoption_->decide(kernel, foreign);
      });
    }
  }

  /// Takes the decisions about the source as a whole that tuning chose.
  void follow_store(const Target& for_fusion) {
    if (!cache_ || !engine::Alternatives::exist_for(own_source_)) return;
    engine::GraphSchedule schedule = cache_->find_graph({own_source_, for_fusion});
    own_source_.decisions = schedule.trail;
    program_.graph_trail = print(schedule.trail);
    program_.graph_note = std::move(schedule.note);
  }

  void read_module() {
    const Target for_fusion = engine::fusion_target(options_.target, options_.device);
    follow_store(for_fusion);
    if (own_source_.kernel_file() != nullptr)
      read_file();
    else if (const engine::TileSource* tile = own_source_.tile())
      read_launch(engine::read_launch(*tile));
    else if (own_source_.is_graph())
      read_graph(for_fusion);
    else
      module_ = engine::read_module(own_source_);
    plan_ = engine::plan_buffers(module_);
  }

  void read_graph(const Target& for_fusion) {
    const ir::torch::Graph graph = engine::read_graph(own_source_);
    const engine::Passes passes = engine::passes_of(own_source_.options, for_fusion);
    module_ = engine::lower_by_trail(graph, passes, own_source_.decisions).value_or_throw().module;
    add_empty_outputs(graph, module_);
  }

  void read_file() {
    const auto file = engine::load({own_source_, {}}, target_).front().opaque;
    if (file->language() != target_.dialect)
      throw Error(fmt::format("{}: expected a device or a target of {} for this kernel, found {}", source_.space,
                              name(file->language()), target_.name));
    const engine::OpaqueSchedule schedule = schedule_of(*file);
    take_opaque(public_kernel(schedule, file->code(*file->space().find(schedule.trail))), file->signature());
  }

  void read_launch(engine::TileLaunch launch) {
    engine::LaunchForm form = engine::choose_form(launch, own_source_.options, own_source_.decisions);
    program_.why_blocks = form.why_blocks;
    if (!form.module) return read_blocks(std::move(launch));
    module_ = std::move(*form.module);
    std::ranges::stable_sort(module_.outputs, {}, [&](const std::string& output) { return array_of(launch, output); });
  }

  void read_blocks(engine::TileLaunch launch) {
    const engine::BlockProgram program(std::move(launch), target_);
    const engine::OpaqueSchedule schedule = schedule_of(program);
    ir::Program signature = program.signature();
    signature.buffers = buffers_of(program);
    take_opaque(public_kernel(schedule, program.lower(program.schedule(schedule.trail).value_or_throw())),
                std::move(signature));
    // The other buffers that the kernel writes are its own memory.
    module_.outputs.clear();
    for (const std::size_t written : opaque_->updated)
      module_.outputs.push_back(module_.kernels.front().buffers[written].name);
  }

  /// Returns the best known decisions of a kernel that Loop IR does not express.
  engine::OpaqueSchedule schedule_of(const engine::OpaqueKernel& kernel) {
    if (!cache_) return {{}, search::heuristic(kernel.space())->trail()};
    engine::OpaqueSchedule schedule = cache_->find(kernel);
    if (options_.require_tuned) cache_->require_tuned("CompileOptions::require_tuned");
    return schedule;
  }

  /// Makes `kernel` the only kernel. An array that is read and written is an input, which the caller fills.
  void take_opaque(Kernel kernel, ir::Program signature) {
    module_ = engine::module_of(signature);
    for (ir::Tensor& tensor : module_.tensors)
      if (std::ranges::any_of(kernel.updated, [&](std::size_t i) { return signature.buffers[i].name == tensor.name; }))
        tensor.kind = ir::Tensor::Kind::input;
    std::ranges::stable_partition(module_.tensors,
                                  [](const ir::Tensor& tensor) { return tensor.kind == ir::Tensor::Kind::input; });
    opaque_ = std::move(kernel);
    opaque_->name = source_.name;
  }

  void add_opaque() {
    Launch& launch = program_.launches.emplace_back();
    for (const ir::Buffer& buffer : module_.kernels.front().buffers)
      launch.arguments.push_back(tensors_.at(buffer.name));
    program_.kernels.push_back(std::move(*opaque_));
  }

  void add_tensors() {
    program_.slots = plan_.slots;
    for (const ir::Tensor& tensor : module_.tensors) {
      tensors_.emplace(tensor.name, program_.tensors.size());
      Tensor& made = program_.tensors.emplace_back();
      made.kind = public_kind(tensor.kind);
      made.name = tensor.name;
      made.dtype = public_type(tensor.type.dtype);
      made.shape = tensor.type.shape;
      made.strides = ir::row_major_strides(tensor.type.shape);
      made.slot = plan_.placement.at(tensor.name).buffer;
      made.offset = plan_.placement.at(tensor.name).offset;
      made.of = tensor.of;
      made.permutation = tensor.permutation;
      if (const auto& values = tensor.source.values; values && ir::is_integer(tensor.type.dtype))
        made.integers = std::make_shared<const std::vector<std::int64_t>>(values->as(ir::DType::i64).integers());
      else if (values)
        made.values = {values, &values->floats()};  // the floats live as long as `values`
    }
  }

  void add_kernels() {
    if (options_.require_tuned) cache_->require_tuned_or_foreign(module_.kernels, "CompileOptions::require_tuned");
    const engine::CompiledModule compiled = engine::compile(module_, [&](const ir::Program& loop) {
      return cache_ ? cache_->find(loop) : engine::heuristic_schedule(loop, target_);
    });
    if (options_.require_tuned) cache_->require_tuned("CompileOptions::require_tuned");
    for (const engine::Schedule& schedule : compiled.kernels) {
      choose_variant(schedule.compiled.code.source);
      program_.kernels.push_back(public_kernel(schedule.compiled.code.source, schedule, schedule.compiled.trail));
    }
    // backwards, so that the first of equal kernels gives the name
    for (std::size_t i = compiled.launches.size(); i-- > 0;)
      program_.kernels[compiled.launches[i].kernel].name =
          module_.kernels.size() == 1 ? source_.name : source_.name + "." + module_.kernels[i].name;
    for (const auto& [kernel, tensors] : compiled.launches) {
      Launch& launch = program_.launches.emplace_back();
      launch.kernel = kernel;
      for (const std::string& tensor : tensors) launch.arguments.push_back(tensors_.at(tensor));
    }
  }

  const Source& source_;
  const CompileOptions& options_;
  engine::Source own_source_;
  std::optional<Kernel> opaque_;  // the only kernel, if Loop IR does not express it
  ir::Module module_;
  engine::Plan plan_;
  Target target_;
  std::string architecture_;  // CUDA: of the device or, without a device, of the target
  std::optional<engine::TunedCache> cache_;
  std::optional<engine::Adoption> adoption_;
  std::map<std::string, std::size_t, std::less<>> tensors_;  // by the tensor's name
  Program program_;
};

}  // namespace

Program compile(const Source& source, const CompileOptions& options) {
  return with_standard_errors([&] { return Compiler(source, options).run(); });
}

std::vector<Device> devices() {
  return with_standard_errors([] {
    std::vector<Device> result;
    for (const auto& [id, info] : measure::list_devices()) {
      Device& device = result.emplace_back();
      device.id = id;
      device.name = info.name;
      try {
        device.target = measure::target_of(info).name;
      } catch (const Error&) {
        // The GPU is older than every target.
      }
    }
    return result;
  });
}

std::string default_store() { return engine::default_store(); }

}  // namespace deplo
