#include "measure/ptx/cuda_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/number.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/ptx/launch_limits.h"
#include "measure/ptx/text/parser.h"

namespace deplo::measure::ptx {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts = split_at(text, at);
  for (std::string_view& part : parts) part = trimmed(part);
  return parts;
}

class ArgumentReader {
 public:
  Arguments read(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) read(text);
    return std::move(arguments_);
  }

 private:
  void read(const std::string& text) {
    text_ = text;
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      expected("NAME=VALUE, such as x=f32[64,32], n=64, scale=0.5 or m=map(x, 8x64, 128)");
    const std::string name = text.substr(0, equals);
    if (!names_.insert(name).second) expected("a different name for each argument");
    const std::string_view value = std::string_view(text).substr(equals + 1);
    if (value.starts_with("map(") && value.ends_with(")"))
      add(Parameter{Parameter::Kind::map, add_map(name, value.substr(4, value.size() - 5))});
    else if (value.ends_with("]"))
      add(Parameter{Parameter::Kind::array, add_array(name, value)});
    else if (const auto given = Number::parse(value))
      add(*given);
    else
      expected("a number (a double, or 1 or 0 for a bool), an array such as f32[64,32], or map(ARRAY, BOX)", value);
  }

  void add(std::variant<Parameter, Number> value) { arguments_.values.push_back({text_, std::move(value)}); }

  std::size_t add_array(const std::string& name, std::string_view value) {
    const std::size_t open = value.find('[');
    if (open == std::string_view::npos) expected("an array such as f32[64,32]", value);
    const auto dtype = ir::parse_dtype(value.substr(0, open));
    if (!dtype || !ir::is_kernel_type(*dtype)) expected("an array of " + types(), value.substr(0, open));
    ir::Buffer buffer{name, *dtype, ir::Role::output, {}, {}};
    constexpr std::int64_t max_elements = std::int64_t{1} << 30;
    std::int64_t elements = 1;
    const std::string_view extents = value.substr(open + 1, value.size() - open - 2);
    for (const std::string_view part : split(extents, ',')) {
      const auto extent = parse_number<std::int64_t>(part);
      if (!extent || *extent < 1 || *extent > max_elements || (elements *= *extent) > max_elements)
        expected(fmt::format("extents of at least 1, and at most {} elements", max_elements), extents);
      buffer.shape.push_back(*extent);
    }
    buffer.strides = ir::row_major_strides(buffer.shape);
    arguments_.arrays.push_back(std::move(buffer));
    return arguments_.arrays.size() - 1;
  }

  static std::string types() {
    std::vector<std::string> names;
    for (const ir::DType dtype : ir::kernel_dtypes) names.emplace_back(ir::name(dtype));
    const std::string last = names.back();
    names.pop_back();
    return join(names, ", ") + " or " + last;
  }

  // Reads a tensor map: of an earlier array by its name, or of an array that exists only for the map.
  std::size_t add_map(const std::string& name, std::string_view value) {
    std::size_t array = 0;
    const std::size_t close = value.find(']');
    std::vector<std::string_view> parts = split(value.substr(close == std::string_view::npos ? 0 : close + 1), ',');
    if (close != std::string_view::npos) {
      array = add_array(name, trimmed(value.substr(0, close + 1)));
      if (!parts[0].empty()) expected("a comma after the array", parts[0]);
    } else {
      while (array < arguments_.arrays.size() && arguments_.arrays[array].name != parts[0]) ++array;
      if (array == arguments_.arrays.size()) expected("the name of an earlier array, or an array", parts[0]);
    }
    if (parts.size() < 2 || parts.size() > 3) expected("an array, a box and perhaps a swizzle", value);
    const ir::Buffer& buffer = arguments_.arrays[array];
    ir::KernelSource::TensorMap map{array, buffer.shape, buffer.strides, {}};
    constexpr std::size_t max_rank = 5;
    if (map.shape.size() > max_rank)
      expected(fmt::format("an array of at most {} dimensions for a tensor map", max_rank),
               fmt::format("{}", map.shape.size()));
    for (const std::string_view part : split(parts[1], 'x'))
      map.box.push_back(parse_number<std::int64_t>(part).value_or(0));
    if (map.box.size() != map.shape.size() || std::ranges::any_of(map.box, [](std::int64_t n) { return n < 1; }))
      expected(fmt::format("a box of {} extents, such as 8x64", map.shape.size()), parts[1]);
    const auto swizzle = parts.size() == 3 ? parse_number<int>(parts[2]) : 0;
    if (!swizzle || (*swizzle != 0 && *swizzle != 32 && *swizzle != 64 && *swizzle != 128))
      expected("a swizzle of 0, 32, 64 or 128 bytes", parts[2]);
    map.swizzle = *swizzle;
    arguments_.maps.push_back(std::move(map));
    return arguments_.maps.size() - 1;
  }

  [[noreturn]] void expected(const std::string& what) const {
    throw Error(fmt::format("argument {}: expected {}", text_.empty() ? "''" : text_, what));
  }
  [[noreturn]] void expected(const std::string& what, std::string_view found) const {
    expected(fmt::format("{}, found '{}'", what, found));
  }

  Arguments arguments_;
  std::set<std::string, std::less<>> names_;
  std::string text_;
};

cuda::Ptx compile(const CudaLaunch& launch) {
  const cuda::Nvrtc& nvrtc = cuda::Nvrtc::get();
  if (!nvrtc.supports(launch.architecture))
    throw Error(fmt::format("expected an architecture that NVRTC {} knows ({}), found '{}'", nvrtc.version(),
                            join(nvrtc.architectures(), ", "), launch.architecture));
  std::vector<std::string> options = {"--gpu-architecture=compute_" + launch.architecture.substr(3), "--std=c++17",
                                      "-default-device", "--generate-line-info"};
  // NVRTC makes the instance of a template, and says its mangled name.
  const std::string instance = launch.entry.find('<') == std::string::npos ? "" : launch.entry;
  cuda::Nvrtc::Output output = nvrtc.compile(launch.text, options, std::numeric_limits<double>::infinity(), instance);
  if (output.ptx.empty()) throw Error("NVRTC: " + cuda::first_errors(output.log));
  return {std::move(output.ptx), output.lowered.empty() ? launch.entry : output.lowered};
}

std::int64_t product(const std::array<std::int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

LaunchOptions shape_of(const CudaLaunch& launch) {
  return {.blocks = product(launch.grid),
          .threads = product(launch.block),
          .grid_x = launch.grid[0],
          .grid_y = launch.grid[1],
          .block_x = launch.block[0],
          .block_y = launch.block[1],
          .dynamic_shared_bytes = launch.dynamic_shared_bytes};
}

Kernel build(const CudaLaunch& launch, const LaunchOptions& shape) {
  const cuda::Ptx compiled = compile(launch);
  const ir::KernelSource source{.entry = compiled.entry,
                                .text = {},
                                .blocks = shape.blocks,
                                .threads = shape.threads,
                                .shared_bytes = launch.dynamic_shared_bytes,
                                .dynamic_shared = true,
                                .tensor_maps = launch.arguments.maps};
  const Program program = decode(parse(compiled.text), compiled.entry);
  if (const auto exceeded = exceeded_limit(program, shape, launch.architecture)) throw Error(*exceeded);
  return Kernel(compiled.text, source, launch.arguments.arrays, bind_arguments(launch.arguments, program));
}

}  // namespace

Arguments parse_arguments(const std::vector<std::string>& texts) { return ArgumentReader().read(texts); }

std::vector<Parameter> bind_arguments(const Arguments& arguments, const Program& kernel) {
  if (arguments.values.size() != kernel.parameters.size())
    throw Error(fmt::format("--arg: expected {} of '{}', found {}", counted(kernel.parameters.size(), "argument"),
                            kernel.entry, arguments.values.size()));
  std::vector<Parameter> bound;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Argument& argument = arguments.values[i];
    const Variable& parameter = kernel.parameters[i];
    try {
      const bool may_be_pointer = parameter.size == sizeof(std::uint64_t) && !is_float(parameter);
      if (const auto* const given = std::get_if<Number>(&argument.value))
        bound.push_back({Parameter::Kind::bytes, 0, given->bytes(parameter)});
      else if (parameter.is_array || may_be_pointer)
        bound.push_back(std::get<Parameter>(argument.value));
      else
        throw Error(describe(parameter) + ": expected a number");
    } catch (const Error& error) {
      throw Error(
          fmt::format("argument {}: parameter {} of '{}' is {}", argument.text, i + 1, kernel.entry, error.what()));
    }
  }
  return bound;
}

CudaFile::CudaFile(const CudaLaunch& launch) : shape_(shape_of(launch)), kernel_(build(launch, shape_)) {}

LaunchResult CudaFile::launch(const HostArrays& arrays, std::uint64_t seed) const {
  LaunchOptions shape = shape_;
  shape.seed = seed;
  return kernel_.launch(arrays, shape);
}

}  // namespace deplo::measure::ptx
