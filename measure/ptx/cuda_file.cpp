#include "measure/ptx/cuda_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "core/text/characters.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/headers.h"
#include "measure/cuda/compiler/nvrtc.h"
#include "measure/opencl/opencl.h"
#include "measure/ptx/text/parser.h"

namespace deplo::measure::ptx {
namespace {

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
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
    if (equals == 0 || equals == std::string::npos) fail();
    const std::string name = text.substr(0, equals);
    const std::string_view value = std::string_view(text).substr(equals + 1);
    if (value.starts_with("map(") && value.ends_with(")")) return map(name, value.substr(4, value.size() - 5));
    if (value.ends_with("]")) {
      arguments_.parameters.push_back({Parameter::Kind::array, add_array(name, value), 0, 0});
      return;
    }
    if (const auto integer = number<std::int64_t>(value))
      arguments_.parameters.push_back({Parameter::Kind::integer, 0, *integer, 0});
    else if (const auto real = number<double>(value))
      arguments_.parameters.push_back({Parameter::Kind::real, 0, 0, *real});
    else
      fail();
  }

  std::size_t add_array(const std::string& name, std::string_view value) {
    const std::size_t open = value.find('[');
    const auto dtype = open == std::string_view::npos ? std::nullopt : ir::parse_dtype(value.substr(0, open));
    if (!dtype || !ir::is_kernel_type(*dtype)) fail();
    ir::Buffer buffer{name, *dtype, ir::Role::output, {}, {}};
    std::int64_t elements = 1;
    for (const std::string_view part : split(value.substr(open + 1, value.size() - open - 2), ',')) {
      const auto extent = number<std::int64_t>(part);
      constexpr std::int64_t max_elements = std::int64_t{1} << 30;
      if (!extent || *extent < 1 || *extent > max_elements || (elements *= *extent) > max_elements) fail();
      buffer.shape.push_back(*extent);
    }
    buffer.strides = ir::row_major_strides(buffer.shape);
    arguments_.arrays.push_back(std::move(buffer));
    return arguments_.arrays.size() - 1;
  }

  // Reads a tensor map: of an earlier array by its name, or of an array that exists only for the map.
  void map(const std::string& name, std::string_view value) {
    std::size_t array = 0;
    const std::size_t close = value.find(']');
    std::vector<std::string_view> parts = split(value.substr(close == std::string_view::npos ? 0 : close + 1), ',');
    if (close != std::string_view::npos) {
      array = add_array(name, value.substr(0, close + 1));
    } else {
      while (array < arguments_.arrays.size() && arguments_.arrays[array].name != parts[0]) ++array;
    }
    if (parts.size() < 2 || parts.size() > 3 || array == arguments_.arrays.size()) fail();
    const ir::Buffer& buffer = arguments_.arrays[array];
    ir::KernelSource::TensorMap map{array, buffer.shape, buffer.strides, {}};
    for (const std::string_view part : split(parts[1], 'x')) {
      const auto extent = number<std::int64_t>(part);
      if (!extent) fail();
      map.box.push_back(*extent);
    }
    const auto swizzle = parts.size() == 3 ? number<int>(parts[2]) : 0;
    constexpr std::size_t max_rank = 5;
    const bool is_swizzle = swizzle && (*swizzle == 0 || *swizzle == 32 || *swizzle == 64 || *swizzle == 128);
    if (map.box.size() != map.shape.size() || map.box.size() > max_rank || !is_swizzle) fail();
    map.swizzle = *swizzle;
    arguments_.parameters.push_back({Parameter::Kind::map, arguments_.maps.size(), 0, 0});
    arguments_.maps.push_back(std::move(map));
  }

  [[noreturn]] void fail() const {
    throw Error(fmt::format(
        "expected an argument such as x=f32[64,32], n=64, scale=0.5 or m=map(x, 8x64, 128), found '{}'", text_));
  }

  Arguments arguments_;
  std::string text_;
};

std::string compile(const CudaLaunch& launch) {
  const cuda::Nvrtc& nvrtc = cuda::Nvrtc::get();
  if (!nvrtc.supports(launch.architecture))
    throw Error(fmt::format("expected an architecture that NVRTC {} knows ({}), found '{}'", nvrtc.version(),
                            join(nvrtc.architectures(), ", "), launch.architecture));
  std::vector<std::string> options = {"--gpu-architecture=compute_" + launch.architecture.substr(3), "--std=c++17",
                                      "-default-device", "--generate-line-info"};
  const cuda::Nvrtc::Output output = nvrtc.compile(launch.text, options);
  if (output.ptx.empty()) {
    const std::size_t error = output.log.find("error");
    const std::size_t line = error == std::string::npos ? 0 : output.log.rfind('\n', error) + 1;
    const auto advice = cuda::advice_on_header(output.log);
    throw Error("NVRTC: " + first_lines(output.log.substr(line)) + (advice ? "; " + *advice : ""));
  }
  return output.ptx;
}

std::int64_t product(const std::array<std::int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

Kernel build(const CudaLaunch& launch, std::int64_t threads) {
  constexpr std::int64_t max_threads = 1024;
  if (threads > max_threads)
    throw Error(fmt::format("expected at most {} threads per block, found {}", max_threads, threads));
  ir::KernelSource source{.entry = launch.entry,
                          .text = {},
                          .blocks = product(launch.grid),
                          .threads = threads,
                          .shared_bytes = launch.dynamic_shared_bytes,
                          .dynamic_shared = true,
                          .tensor_maps = launch.arguments.maps};
  const std::string ptx = compile(launch);
  source.cluster = decode(parse(ptx), launch.entry).cluster;
  if (launch.grid[0] % source.cluster != 0)
    throw Error(fmt::format("expected a grid that is a multiple of the cluster of {} blocks, found {}", source.cluster,
                            launch.grid[0]));
  return Kernel(ptx, source, launch.arguments.arrays, launch.arguments.parameters);
}

}  // namespace

Arguments parse_arguments(const std::vector<std::string>& texts) { return ArgumentReader().read(texts); }

CudaFile::CudaFile(const CudaLaunch& launch)
    : shape_{.blocks = product(launch.grid),
             .threads = product(launch.block),
             .grid_x = launch.grid[0],
             .grid_y = launch.grid[1],
             .block_x = launch.block[0],
             .block_y = launch.block[1]},
      kernel_(build(launch, shape_.threads)) {}

LaunchResult CudaFile::launch(const HostArrays& arrays, std::uint64_t seed) const {
  LaunchOptions shape = shape_;
  shape.seed = seed;
  return kernel_.launch(arrays, shape);
}

}  // namespace deplo::measure::ptx
