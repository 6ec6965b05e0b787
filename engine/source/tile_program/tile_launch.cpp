#include "engine/source/tile_program/tile_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "core/text/characters.h"
#include "core/text/number.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "engine/loop/kernel.h"
#include "engine/source/fill_kernels.h"
#include "engine/source/tile_program/tile_grid.h"
#include "ir/emit/reserved.h"
#include "ir/tile_program/text/text.h"
#include "measure/check/npy.h"
#include "rules/raise/raise.h"

namespace deplo::engine {
namespace {

namespace tiles = ir::tile_program;
using ir::DType;

constexpr const char* argument_forms =
    "an array such as A=f16[100,64], an array from a file such as A=a.npy, or a number such as n=64";

/// Reads whole numbers separated by commas; nullopt if the text is anything else.
std::optional<tiles::Extents> read_numbers(std::string_view text) {
  tiles::Extents numbers;
  for (const std::string_view word : split_at(text, ',')) {
    const auto value = parse_number<std::int64_t>(word);
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

/// Returns true if the text can be the name of a kernel's parameter.
bool is_name(const std::string& text) { return is_identifier(text) && !ir::is_reserved(text); }

/// An argument as the user gives it: an array or a number.
using Given = std::variant<TileLaunch::Array, std::int64_t, double>;

class Reader {
 public:
  explicit Reader(const TileSource& source) : Reader(source, read_file(find_data(source.file))) {}

  TileLaunch read() {
    std::vector<Given> all;
    GridNames names;
    for (const std::string& text : source_.arguments) {
      all.push_back(read_argument(text, all.size() + 1));
      if (const auto* array = std::get_if<TileLaunch::Array>(&all.back())) names.shapes[array->name] = array->shape;
      const std::string name = name_of(text);
      if (const auto* number = std::get_if<std::int64_t>(&all.back()); number != nullptr && !name.empty())
        names.numbers[name] = *number;
    }
    const bool expand = expands(all);
    for (Given& given : all) {
      ++number_;
      if (auto* array = std::get_if<TileLaunch::Array>(&given))
        add_array(std::move(*array), expand);
      else if (const auto* whole = std::get_if<std::int64_t>(&given))
        add_number(*whole);
      else
        add_number(std::get<double>(given));
    }
    launch_.grid = read_grid(source_.grid, names, source_.file);
    return std::move(launch_);
  }

 private:
  /// Returns the text before the `=`; "" if there is no `=`.
  static std::string name_of(const std::string& text) {
    const std::size_t equals = text.find('=');
    return equals == std::string::npos ? "" : text.substr(0, equals);
  }

  Reader(const TileSource& source, const std::string& bytes)
      : source_(source),
        launch_{.program = tiles::read_program(bytes, source.file),
                .bytecode = {},
                .entry = {},
                .arrays = {},
                .arguments = {}},
        entry_(find_entry(launch_.program, source.entry)) {
    launch_.entry = entry_.name;
    if (launch_.program.is_bytecode) launch_.bytecode.assign(bytes.begin(), bytes.end());
  }

  Given read_argument(const std::string& text, std::size_t number) const {
    const auto fail = [&](std::string_view expected) {
      throw Error(fmt::format("{}: argument {}: expected {}, found '{}'", source_.file, number, expected, text));
    };
    const std::size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? text : text.substr(equals + 1);
    const std::size_t bracket = value.find('[');
    const bool file = value.ends_with(".npy");
    if (!file && bracket == std::string::npos) {
      if (const auto read = read_number(value)) return *read;
      fail(argument_forms);
    }
    TileLaunch::Array array;
    array.name = name_of(text);
    if (!is_name(array.name)) fail("a name of letters, digits and _ before =, not reserved in OpenCL C or CUDA C++");
    if (file) {
      const measure::NpyHeader header = measure::read_npy_header(value);
      const std::optional<DType> element = ir::numpy_dtype(header.type);
      if (!element) fail("a file of real numbers, whole numbers or bool, each of at most 64 bits");
      array.element = *element;
      array.shape = header.shape;
      array.file = value;
    } else {
      const std::optional<DType> element = ir::parse_tile_dtype(value.substr(0, bracket));
      const auto shape = value.ends_with(']')
                             ? read_numbers(std::string_view(value).substr(bracket + 1, value.size() - bracket - 2))
                             : std::nullopt;
      if (!element || !shape) fail(argument_forms);
      array.element = *element;
      array.shape = *shape;
    }
    if (!is_sound(array.shape)) fail("an array with one to 16 dimensions, each at least 1, and at most 2^36 elements");
    return array;
  }

  static std::optional<Given> read_number(std::string_view text) {
    if (const auto whole = parse_number<std::int64_t>(text)) return *whole;
    if (const auto real = parse_number<double>(text)) return *real;
    return std::nullopt;
  }

  static bool is_sound(const tiles::Extents& shape) {
    std::int64_t left = std::int64_t{1} << 36;  // more elements than any device can hold
    for (const std::int64_t extent : shape) {
      if (extent < 1 || extent > left) return false;
      left /= extent;
    }
    return !shape.empty() && shape.size() <= tiles::max_rank;
  }

  const tiles::Type& parameter(std::size_t number) const { return *entry_.values[entry_.parameters[number]].type; }

  /// Returns true if the entry also has the arrays' extents and strides as parameters. Throws Error if the number of
  /// arguments does not fit the entry.
  bool expands(const std::vector<Given>& all) const {
    std::size_t expanded = 0;
    for (const Given& given : all) {
      const auto* array = std::get_if<TileLaunch::Array>(&given);
      expanded += array == nullptr ? 1 : 1 + 2 * array->shape.size();
    }
    const std::size_t expected = entry_.parameters.size();
    if (all.size() == expected) return false;
    if (expanded == expected) return true;
    std::string types;
    for (std::size_t i = 0; i < expected; ++i) {
      const std::string& name = entry_.values[entry_.parameters[i]].name;
      types += fmt::format("{}{}{}", i == 0 ? "" : ", ", name.empty() ? "" : name + ": ", tiles::print(parameter(i)));
    }
    const std::string also =
        expanded == all.size() ? "" : fmt::format(", {} with the extents and strides of arrays", expanded);
    throw Error(fmt::format("{}: entry {}: expected {} arguments ({}), found {}{}", source_.file, entry_.name, expected,
                            types, all.size(), also));
  }

  [[noreturn]] void mismatch(std::string_view expected, const std::string& found) const {
    throw Error(fmt::format("{}: entry {}: argument {}: expected {}, found {}", source_.file, entry_.name, number_,
                            expected, found));
  }

  void add_array(TileLaunch::Array array, bool expand) {
    const tiles::Type& type = parameter(launch_.arguments.size());
    if (!type.pointer) mismatch("a number of " + std::string(ir::tile_name(type.element)), "the array " + array.name);
    if (!array.file.empty() && array.element == DType::f32 && !ir::has_numpy(type.element))
      array.element = type.element;
    if (array.element != type.element)
      mismatch(fmt::format("an array of {}", ir::tile_name(type.element)),
               fmt::format("an array of {} ({})", ir::tile_name(array.element),
                           array.file.empty() ? array.name : array.file));
    if (std::ranges::find(launch_.arrays, array.name, &TileLaunch::Array::name) != launch_.arrays.end())
      mismatch("a different name for each array", "'" + array.name + "' again");
    launch_.arguments.emplace_back(tiles::ArrayArgument{launch_.arrays.size()});
    if (expand) {
      for (const std::int64_t extent : array.shape) add_number(extent);
      for (const std::int64_t stride : ir::row_major_strides(array.shape)) add_number(stride);
    }
    launch_.arrays.push_back(std::move(array));
  }

  template <class Number>
  void add_number(Number number) {
    if (const tiles::Type& type = parameter(launch_.arguments.size()); type.pointer)
      mismatch(fmt::format("an array of {}", ir::tile_name(type.element)), fmt::format("the number {}", number));
    launch_.arguments.emplace_back(number);
  }

  const TileSource& source_;
  TileLaunch launch_;
  const tiles::Entry& entry_;
  std::size_t number_ = 0;  // number of the user's argument that is being added, counted from 1
};

double draw(const TileLaunch::Array& array, Rng& rng) {
  if (ir::is_integral(array.element))
    return array.fill ? std::trunc(ir::draw(*array.fill, ir::DType::i32, rng))
                      : static_cast<double>(rng.below(array.element == DType::boolean ? 2 : 100));
  const double value = array.fill ? ir::draw(*array.fill, ir::DType::f32, rng) : rng.uniform(-1, 1);
  return ir::round_to(value, array.element);
}

tiles::Array make_array(const TileLaunch::Array& given, Rng& rng) {
  const std::int64_t elements = elements_of(given);
  tiles::Array array = tiles::make_array(given.name, given.element, elements);
  if (given.file.empty()) {
    for (std::int64_t i = 0; i < elements; ++i) array.set(i, draw(given, rng));
  } else if (ir::has_numpy(given.element)) {
    array.bytes = measure::read_npy_elements(given.file, array.bytes.size());
  } else {
    const ir::Numbers values = measure::read_npy(given.file, {ir::DType::f32, given.shape});
    for (std::int64_t i = 0; i < elements; ++i)
      array.set(i, ir::round_to(values[static_cast<std::size_t>(i)], given.element));
  }
  return array;
}

/// Returns the number as the bytes of a kernel's parameter of type `element`.
std::vector<std::uint8_t> number_bytes(const tiles::Argument& number, DType element) {
  if (const auto* whole = std::get_if<std::int64_t>(&number); whole != nullptr && ir::is_integral(element)) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(ir::bytes(element)));
    std::memcpy(bytes.data(), whole, bytes.size());  // the host is little-endian, like the device
    return bytes;
  }
  tiles::Array one = tiles::make_array("", element, 1);
  one.set(0, std::holds_alternative<double>(number) ? std::get<double>(number)
                                                    : static_cast<double>(std::get<std::int64_t>(number)));
  return one.bytes;
}

/// Returns the name of the tensor that stands for an array of the launch. Throws Error if no tensor does, or if two do,
/// because the program both reads and writes the array.
std::string tensor_of(const TileLaunch& launch, std::size_t array, const ir::Module& module) {
  const std::string& name = launch.arrays[array].name;
  const ir::Tensor* const tensor = module.find(name);
  if (tensor == nullptr) throw Error("expected arrays that the program reads or writes, found the unused " + name);
  for (const std::string& output : module.outputs)
    if (output != name && array_of(launch, output) == array)
      throw Error(
          fmt::format("expected arrays that are either read or written, found {}, which is both: its cubin "
                      "would change its own inputs",
                      name));
  return name;
}

/// Sets the source of the tensor's values: the file or the distribution that the user gave for the array. By default,
/// floats are drawn from uniform(-1, 1); a tensor of any other type keeps its source.
void give_source(const TileLaunch::Array& array, ir::Tensor& tensor) {
  if (!array.file.empty())
    tensor.source = {{}, std::make_shared<const ir::Numbers>(measure::read_npy(array.file, tensor.type)), true};
  else if (array.fill)
    tensor.source = {*array.fill, nullptr, true};
  else if (ir::is_float(tensor.type.dtype))
    tensor.source.fill = {ir::Fill::Draw::uniform, -1, 1};
}

}  // namespace

std::int64_t elements_of(const TileLaunch::Array& array) {
  constexpr std::int64_t element_limit = 1 << 28;
  const std::int64_t elements = ir::element_count(array.shape);
  if (elements > element_limit)
    throw Error(fmt::format("array {}: expected at most {} elements to run with, found {}", array.name, element_limit,
                            elements));
  return elements;
}

TileLaunch read_launch(const TileSource& source) { return Reader(source).read(); }

void set_file(TileLaunch::Array& array, const std::string& file) {
  const measure::NpyHeader header = measure::read_npy_header(file);
  if (header.shape != array.shape)
    throw Error(
        fmt::format("{}: expected the shape {}, found {}", file, ir::print(array.shape), ir::print(header.shape)));
  const DType expected = ir::has_numpy(array.element) ? array.element : DType::f32;
  if (ir::numpy_dtype(header.type) != expected)
    throw Error(fmt::format("{}: expected elements of {}, found '{}'", file, ir::tile_name(expected), header.type));
  array.file = file;
}

std::vector<tiles::Array> make_arrays(const TileLaunch& launch, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<tiles::Array> arrays;
  for (const TileLaunch::Array& array : launch.arrays) arrays.push_back(make_array(array, rng));
  return arrays;
}

tiles::Launch launch_of(const TileLaunch& launch, std::uint64_t seed) {
  return {.entry = launch.entry, .arguments = launch.arguments, .grid = launch.grid, .seed = seed};
}

std::string identity(const TileLaunch& launch) {
  std::string text =
      fmt::format("entry {}, {} x {} x {} blocks\n", launch.entry, launch.grid[0], launch.grid[1], launch.grid[2]);
  for (const tiles::Argument& argument : launch.arguments) {
    if (const auto* array = std::get_if<tiles::ArrayArgument>(&argument)) {
      const TileLaunch::Array& given = launch.arrays[array->array];
      text += fmt::format("array {} {}{}\n", given.name, ir::tile_name(given.element), ir::print(given.shape));
    } else if (const auto* whole = std::get_if<std::int64_t>(&argument)) {
      text += fmt::format("number {}\n", *whole);
    } else {
      text += fmt::format("number {}\n", std::get<double>(argument));
    }
  }
  return text + tiles::print(launch.program);
}

std::variant<ir::Module, rules::NotRaised> try_raise(const TileLaunch& launch) {
  rules::TileLaunch raised{.entry = launch.entry, .arguments = {}, .grid = launch.grid};
  for (const tiles::Argument& argument : launch.arguments) {
    if (const auto* array = std::get_if<tiles::ArrayArgument>(&argument)) {
      const TileLaunch::Array& given = launch.arrays[array->array];
      raised.arguments.emplace_back(rules::TileArray{given.name, given.shape, ir::row_major_strides(given.shape)});
    } else if (const auto* whole = std::get_if<std::int64_t>(&argument)) {
      raised.arguments.emplace_back(*whole);
    } else {
      raised.arguments.emplace_back(std::get<double>(argument));
    }
  }
  auto result = rules::try_raise(launch.program, raised);
  if (const auto* module = std::get_if<ir::Module>(&result))
    for (const ir::Program& kernel : module->kernels) check_size(kernel, launch.program.where);
  return result;
}

std::size_t array_of(const TileLaunch& launch, std::string tensor) {
  for (;;) {
    const auto found = std::ranges::find(launch.arrays, tensor, &TileLaunch::Array::name);
    if (found != launch.arrays.end()) return static_cast<std::size_t>(found - launch.arrays.begin());
    CHECK(tensor.ends_with("_out"));
    tensor.resize(tensor.size() - 4);
  }
}

measure::TileCall tile_call(const TileLaunch& launch, const ir::Module& module) {
  if (launch.bytecode.empty()) return {.problem = "expected bytecode, the only form that it reads, found a text"};
  measure::TileCall call{.bytecode = launch.bytecode, .entry = launch.entry, .grid = launch.grid};
  const tiles::Entry& entry = find_entry(launch.program, launch.entry);
  try {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const DType element = entry.values[entry.parameters[i]].type->element;
      if (const auto* array = std::get_if<tiles::ArrayArgument>(&launch.arguments[i]))
        call.arguments.push_back({.buffer = tensor_of(launch, array->array, module)});
      else
        call.arguments.push_back({.bytes = number_bytes(launch.arguments[i], element)});
    }
  } catch (const Error& error) {
    return {.problem = error.what()};
  }
  return call;
}

measure::TileCall kernel_tile_call(const TileLaunch& launch, const ir::Module& module) {
  if (module.kernels.size() == 1) return tile_call(launch, module);
  return {.problem = fmt::format("its kernel corresponds to {} of deplo: `deplo run --whole` compares them",
                                 counted(std::ssize(module.kernels), "kernel"))};
}

void give_inputs(const TileLaunch& launch, ir::Module& module) {
  for (const TileLaunch::Array& array : launch.arrays)
    for (ir::Tensor& tensor : module.tensors)
      if (tensor.name == array.name && tensor.kind == ir::Tensor::Kind::input) give_source(array, tensor);
  fill_kernels(module);
}

}  // namespace deplo::engine
