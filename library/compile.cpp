#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "core/trail.h"
#include "deplo/deplo.h"
#include "engine/compile/compiled_module.h"
#include "engine/compile/plan.h"
#include "engine/source/load.h"
#include "engine/tune/adoption.h"
#include "library/errors.h"
#include "library/source.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/opencl/opencl.h"

namespace deplo {
namespace {

DType public_type(ir::DType dtype) {
  constexpr std::array<std::pair<ir::DType, DType>, 13> types = {
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
       {ir::DType::u64, DType::u64}}};  // no kernel has another type
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

class Compiler {
 public:
  Compiler(const Source& source, const CompileOptions& options)
      : source_(source), options_(options), own_source_(source_of(source, "Source")) {}

  Program run() {
    choose_target();
    read_module();
    add_tensors();
    if (file_)
      add_file();
    else
      add_kernels();
    for (const std::string& output : module_.outputs) program_.outputs.push_back(tensors_.at(output));
    return std::move(program_);
  }

 private:
  void choose_target();
  void open_store(std::optional<measure::DeviceInfo>& device);
  void read_module();
  void add_tensors();
  void add_kernels();
  void read_file();
  void add_file();

  const Source& source_;
  const CompileOptions& options_;
  engine::Source own_source_;
  std::shared_ptr<const engine::OpaqueKernel> file_;  // set if the source is a kernel file
  ir::Module module_;
  engine::Plan plan_;
  Target target_;
  std::optional<engine::TunedCache> cache_;
  std::optional<engine::Adoption> adoption_;
  std::map<std::string, std::size_t, std::less<>> tensors_;  // by the tensor's name
  Program program_;
};

void Compiler::choose_target() {
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
      program_.build_options = measure::cuda::Nvrtc::code_options(device ? device->architecture : target_.name);
      break;
  }
}

/// Opens the store for lookups. The user's own store may not exist yet. Without a device, finds it in the store.
void Compiler::open_store(std::optional<measure::DeviceInfo>& device) {
  const bool is_own = options_.store->empty();
  const std::string file = is_own ? default_store() : *options_.store;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    if (!is_own || (!device && options_.require_tuned))
      throw Error(fmt::format("CompileOptions: store: expected a store or a pack, found no file '{}'", file));
    if (!device) return;
  }
  if (!device) device = engine::device_for(file, target_, "");
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

void Compiler::read_module() {
  const Target for_fusion = engine::fusion_target(options_.target, options_.device);
  if (own_source_.kernel_file() != nullptr) return read_file();
  if (cache_ && own_source_.is_graph()) {
    engine::GraphSchedule schedule = cache_->find_graph({own_source_, for_fusion});
    own_source_.decisions = schedule.trail;
    program_.graph_trail = print(schedule.trail);
    program_.graph_note = std::move(schedule.note);
  }
  module_ = engine::read_module(own_source_, for_fusion);
  plan_ = engine::plan_buffers(module_);
}

void Compiler::read_file() {
  file_ = engine::load({own_source_, {}}, target_).front().opaque;
  if (file_->language() != target_.dialect)
    throw Error(fmt::format("{}: expected a device or a target of {} for this kernel, found {}", source_.space,
                            name(file_->language()), target_.name));
  module_ = engine::module_of(file_->signature());
  plan_ = engine::plan_buffers(module_);
}

/// Adds the one launch of a kernel file. An array that is read and written is an input, which the caller fills.
void Compiler::add_file() {
  engine::OpaqueSchedule schedule;
  if (cache_)
    schedule = cache_->find(*file_);
  else
    schedule.trail = search::heuristic(file_->space())->trail();
  if (options_.require_tuned) cache_->require_tuned("CompileOptions::require_tuned");
  Kernel kernel = public_kernel(schedule, file_->code(*file_->space().find(schedule.trail)));
  kernel.name = source_.name;
  Launch& launch = program_.launches.emplace_back();
  for (const ir::Buffer& buffer : file_->signature().buffers) launch.arguments.push_back(tensors_.at(buffer.name));
  for (const std::size_t argument : kernel.updated)
    program_.tensors[launch.arguments[argument]].kind = Tensor::Kind::input;
  program_.kernels.push_back(std::move(kernel));
}

void Compiler::add_tensors() {
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

void Compiler::add_kernels() {
  if (options_.require_tuned) cache_->require_tuned_or_foreign(module_.kernels, "CompileOptions::require_tuned");
  const engine::CompiledModule compiled = engine::compile(module_, [&](const ir::Program& loop) {
    return cache_ ? cache_->find(loop) : engine::heuristic_schedule(loop, target_);
  });
  if (options_.require_tuned) cache_->require_tuned("CompileOptions::require_tuned");
  for (const engine::Schedule& schedule : compiled.kernels)
    program_.kernels.push_back(public_kernel(schedule.compiled.code.source, schedule, schedule.compiled.trail));
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
