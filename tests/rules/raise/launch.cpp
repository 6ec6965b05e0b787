#include "rules/raise/launch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace deplo::rules {

namespace tp = ir::tile_program;

namespace {

TileArray tile_array(const std::string& name, const ir::Shape& shape, std::int64_t rows_apart) {
  TileArray array{name, shape, ir::row_major_strides(shape)};
  for (std::size_t d = 0; d + 1 < shape.size() && rows_apart != 0; ++d)
    array.strides[d] = array.strides[d] / shape.back() * rows_apart;
  return array;
}

}  // namespace

tp::Program own(const std::string& name) {
  return tp::read_file_program(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments/tile/exported" /
                               (name + ".tileirbc"));
}

void run_loops(const ir::Program& kernel, ir::Memory& memory) { ir::interpret(kernel, memory); }

Launch& Launch::array(const std::string& name, ir::DType element, const ir::Shape& shape, std::int64_t rows_apart) {
  launcher.add(name, element, shape, rows_apart);
  const TileArray array = tile_array(name, shape, rows_apart);
  raised.arguments.emplace_back(array);
  for (const std::int64_t extent : array.shape) raised.arguments.emplace_back(extent);
  for (const std::int64_t stride : array.strides) raised.arguments.emplace_back(stride);
  return *this;
}

Launch& Launch::numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  launcher.add(name, values);
  const std::int64_t count = std::ssize(values);
  raised.arguments.insert(raised.arguments.end(), {tile_array(name, {count}, 0), count, std::int64_t{1}});
  return *this;
}

Launch& Launch::numbers_only(const std::string& name, const std::vector<std::int64_t>& values) {
  const std::size_t array = launcher.add_pointer(name, ir::DType::i32, std::ssize(values));
  for (std::size_t i = 0; i < values.size(); ++i)
    launcher.arrays[array].set(static_cast<std::int64_t>(i), static_cast<double>(values[i]));
  raised.arguments.emplace_back(tile_array(name, {std::ssize(values)}, 0));
  return *this;
}

Launch& Launch::pointer(const std::string& name, ir::DType element, const ir::Shape& shape) {
  launcher.add_pointer(name, element, ir::element_count(shape));
  raised.arguments.emplace_back(tile_array(name, shape, 0));
  return *this;
}

std::string Launch::refusal(const tp::Program& program) const {
  try {
    (void)raise(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

double Launch::difference(const tp::Program& program, const Runner& runner) {
  const ir::Module module = raise(program);
  ir::Memory values;
  for (const tp::Array& array : launcher.arrays)
    for (std::int64_t i = 0; i < array.elements(); ++i) values[array.name].push_back(array.number(i));
  for (const std::string& output : module.outputs) values[output] = {};
  for (const ir::Program& kernel : module.kernels) {
    ir::Memory memory;
    for (const ir::Buffer& buffer : kernel.buffers) {
      memory[buffer.name] = values[buffer.name];
      memory[buffer.name].resize(static_cast<std::size_t>(ir::span(buffer)), std::numeric_limits<double>::quiet_NaN());
    }
    runner(kernel, memory);
    for (const ir::Buffer& buffer : kernel.buffers)
      if (buffer.role == ir::Role::output) values[buffer.name] = memory[buffer.name];
  }
  launcher.run(program, raised.grid);
  double most = 0;
  for (const std::string& output : module.outputs) most = std::max(most, compare(module, output, values[output]));
  return most;
}

double Launch::compare(const ir::Module& module, const std::string& output, const std::vector<double>& found) const {
  const auto named = [&](const std::string& name) {
    return std::ranges::find(launcher.arrays, name, &tp::Array::name);
  };
  auto array = named(output);
  if (array == launcher.arrays.end()) array = named(output.substr(0, output.size() - 4));  // output Y_out is array Y
  const ir::Buffer* buffer = nullptr;
  for (const ir::Program& kernel : module.kernels)
    if (kernel.find(output) != nullptr && buffer == nullptr) buffer = kernel.find(output);
  double most = 0, greatest = 1e-30;
  for (std::int64_t number = 0; number < ir::element_count(*buffer); ++number) {
    std::int64_t rest = number, at = 0;
    for (std::size_t d = buffer->shape.size(); d > 0; --d) {
      at += rest % buffer->shape[d - 1] * buffer->strides[d - 1];
      rest /= buffer->shape[d - 1];
    }
    const double expected = array->number(at), value = found[static_cast<std::size_t>(at)];
    if (std::isfinite(expected)) greatest = std::max(greatest, std::fabs(expected));
    if (value == expected || (std::isnan(value) && std::isnan(expected))) continue;
    const double difference = std::fabs(expected - value);
    most = std::isnan(difference) ? HUGE_VAL : std::max(most, difference);
  }
  return most / greatest;
}

}  // namespace deplo::rules
