#include "measure/ptx/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "core/target.h"
#include "core/text/number.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/cuda.h"
#include "measure/host_arrays.h"
#include "measure/ptx/kernel.h"
#include "measure/ptx/launch_limits.h"

namespace deplo::measure {
namespace ptx {
namespace {

/// The parameters of a user's kernel: the buffers that are parameters, in order, with the scalars at their own
/// positions among them.
std::vector<Parameter> parameters_of(const KernelCode& code) {
  std::vector<std::size_t> arrays;
  for (std::size_t buffer = 0; buffer < code.kernel.buffers.size(); ++buffer)
    if (code.launch->is_parameter(buffer)) arrays.push_back(buffer);
  std::vector<Parameter> parameters;
  auto scalar = code.launch->scalars.begin();
  for (auto array = arrays.begin(); array != arrays.end() || scalar != code.launch->scalars.end();) {
    if (scalar != code.launch->scalars.end() && scalar->position == parameters.size())
      parameters.push_back({Parameter::Kind::bytes, 0, (scalar++)->bytes});
    else
      parameters.push_back({Parameter::Kind::array, *array++});
  }
  return parameters;
}

LaunchOptions shape_of(const KernelCode& code) {
  const Launch& launch = *code.launch;
  const auto extent = [](const std::vector<std::int64_t>& extents, std::size_t axis) {
    return axis < extents.size() ? extents[axis] : 1;
  };
  LaunchOptions shape{.grid_x = extent(launch.blocks, 0),
                      .grid_y = extent(launch.blocks, 1),
                      .block_x = extent(launch.threads, 0),
                      .block_y = extent(launch.threads, 1)};
  shape.blocks = shape.grid_x * shape.grid_y * extent(launch.blocks, 2);
  shape.threads = shape.block_x * shape.block_y * extent(launch.threads, 2);
  shape.dynamic_shared_bytes = code.source.dynamic_shared ? code.source.shared_bytes : 0;
  return shape;
}

class PtxExecutable final : public Executable {
 public:
  PtxExecutable(Kernel kernel, const KernelCode& code, const PtxName& device)
      : kernel_(std::move(kernel)),
        zeroed_(code.source.zeroed),
        restored_(code.source.restored),
        is_users_(code.launch.has_value()),
        options_(code.launch ? shape_of(code) : LaunchOptions{.threads = code.source.threads}) {
    options_.seed = device.seed;
    options_.truncates = device.truncates;
  }

  Result<double> launch(Arrays& arrays, std::int64_t blocks) override {
    if (auto failed = execute(arrays, blocks)) return *failed;
    return 0.0;  // the machine has no clock
  }

  std::optional<Failure> execute(Arrays& arrays, std::int64_t blocks) override {
    auto& host = static_cast<HostArrays&>(arrays);
    for (const std::size_t buffer : restored_) host.restore(buffer);
    for (const std::size_t buffer : zeroed_) std::ranges::fill(host.bytes(buffer), std::byte{0});
    try {
      LaunchOptions options = options_;
      if (!is_users_) options.blocks = blocks;
      show(kernel_.launch(host, options).printed);
    } catch (const Finding& finding) {  // a failure of this candidate, not a mistake of the user
      show(finding.printed());
      return Failure{Status::launch_error, finding.what()};
    } catch (const Error& error) {
      return Failure{Status::launch_error, error.what()};
    }
    return std::nullopt;
  }

 private:
  static void show(const std::string& printed) { std::fwrite(printed.data(), 1, printed.size(), stdout); }

  Kernel kernel_;
  std::vector<std::size_t> zeroed_, restored_;
  bool is_users_;  // a user's kernel; it always runs with its whole grid
  LaunchOptions options_;
};

class PtxDevice final : public Device {
 public:
  explicit PtxDevice(PtxName name) : name_(std::move(name)) {
    const std::string& architecture = name_.architecture;
    // First, because NVRTC knows architectures that are too old.
    const Target target = architecture_target(architecture);
    const cuda::Nvrtc& nvrtc = cuda::Nvrtc::get();
    if (!nvrtc.supports(architecture))
      throw Error(fmt::format("ptx:{}: expected an architecture that NVRTC {} knows ({})", architecture,
                              nvrtc.version(), join(nvrtc.architectures(), ", ")),
                  Exit::environment);
    info_ = {.backend = "ptx",
             .name = fmt::format("PTX machine of {}{}", architecture, name_.truncates ? ", truncated sums" : ""),
             .vendor = "deplo",
             .driver = "1",
             .platform = fmt::format("host, NVRTC {}", nvrtc.version()),
             .units = target.units,
             .shared_bytes = target.shared_bytes,
             .max_threads = target.max_threads,
             .architecture = architecture};
  }

  const DeviceInfo& info() const override { return info_; }
  Dialect dialect() const override { return Dialect::cuda; }
  std::unique_ptr<Arrays> allocate(const std::vector<ir::Buffer>& buffers) override {
    return std::make_unique<HostArrays>(buffers);
  }
  Result<std::unique_ptr<Executable>> build(const KernelCode& candidate) override {
    cuda::CompileOptions options{.lines = true};
    if (candidate.launch) options.more = candidate.launch->options;
    const auto ptx = cuda::compile_ptx_entry(candidate.source, name_.architecture, options);
    if (!ptx.ok()) return ptx.failure();
    const std::string& text = ptx.value().text;
    ir::KernelSource source = candidate.source;
    source.entry = ptx.value().entry;
    const std::vector<ir::Buffer>& buffers = candidate.kernel.buffers;
    try {
      Kernel kernel = candidate.launch
                          ? Kernel(text, source, buffers, parameters_of(candidate), candidate.launch->symbols)
                          : Kernel(text, source, buffers);
      if (candidate.launch)
        if (auto exceeded = exceeded_limit(kernel.program(), shape_of(candidate), name_.architecture))
          return Failure{Status::resource, *std::move(exceeded)};
      return std::unique_ptr<Executable>(std::make_unique<PtxExecutable>(std::move(kernel), candidate, name_));
    } catch (const Error& error) {  // an instruction that the machine does not execute
      return Failure{Status::build_error, error.what()};
    }
  }

 private:
  PtxName name_;
  DeviceInfo info_;
};

}  // namespace
}  // namespace ptx

PtxName parse_ptx_name(std::string_view name) {
  const auto fail = [&] {
    throw Error(fmt::format("expected ptx:ARCHITECTURE[:SEED][:truncated], such as ptx:sm_90, found '{}'", name));
  };
  constexpr std::string_view backend = "ptx:", truncated = ":truncated";
  if (!name.starts_with(backend)) fail();
  std::string_view rest = name.substr(backend.size());
  PtxName parts;
  parts.truncates = rest.ends_with(truncated);
  if (parts.truncates) rest.remove_suffix(truncated.size());
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const auto seed = parse_number<decltype(parts.seed)>(rest.substr(colon + 1));
    if (!seed) fail();
    parts.seed = *seed;
    rest = rest.substr(0, colon);
  }
  if (!rest.starts_with("sm_")) fail();
  parts.architecture = rest;
  return parts;
}

std::unique_ptr<Device> open_ptx(std::string_view name) {
  return std::make_unique<ptx::PtxDevice>(parse_ptx_name(name));
}

}  // namespace deplo::measure
