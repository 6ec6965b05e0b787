#include "engine/source/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/text/characters.h"
#include "core/text/nearest.h"
#include "core/text/number.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "engine/source/tile_program/tile_launch.h"
#include "ir/torch/pt2/zip.h"
#include "ir/torch/ranges.h"
#include "measure/check/npy.h"

namespace deplo::engine {
namespace {

using Draw = ir::Fill::Draw;

constexpr const char* forms =
    "uniform(a, b), normal(mean, deviation), randint(first, end), distinct(first, end), constant(value) or a .npy "
    "file";

/// Returns true if the text begins like a number or a list of numbers.
bool is_scalar(std::string_view text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 || text[0] == '[' ||
                           ((text[0] == '-' || text[0] == '+' || text[0] == '.') && text.size() > 1));
}

/// Writes the array to a .npy file in the inputs' folder, and returns its path.
std::string extract(Inputs& inputs, const ir::torch::Zip& zip, const std::string& array) {
  const std::string bytes = zip.read_array(array);
  if (!inputs.folder) inputs.folder = std::make_shared<const measure::WorkFolder>();
  return inputs.folder->write(fmt::format("{}.npy", inputs.by_name.size()), bytes, zip.where());
}

/// A distribution, by its name in expressions.
struct Form {
  std::string_view name;
  Draw draw;
  std::size_t numbers;
};
constexpr std::array all_forms = {Form{"uniform", Draw::uniform, 2}, Form{"normal", Draw::normal, 2},
                                  Form{"randint", Draw::integers, 2}, Form{"constant", Draw::constant, 1},
                                  Form{"distinct", Draw::distinct, 2}};

std::optional<ir::Fill> read_fill(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return std::nullopt;
  const auto* const form = std::ranges::find(all_forms, trimmed(text.substr(0, open)), &Form::name);
  if (form == all_forms.end()) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string_view word : split_at(text.substr(open + 1, text.size() - open - 2), ',')) {
    const auto value = parse_number<double>(trimmed(word));
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  if (numbers.size() != form->numbers) return std::nullopt;
  return ir::Fill{form->draw, numbers[0], form->numbers == 2 ? numbers[1] : 0};
}

/// Reads the values of a graph's input. A message names the place instead of a file that was extracted, and says what
/// the graph says of itself, such as which sizes it has.
ir::Numbers read_values(const Inputs& inputs, const Inputs::One& one, const ir::TensorType& type,
                        const ir::torch::Graph& graph) {
  try {
    return measure::read_npy(one.file, type);
  } catch (const Error& e) {
    std::string message = e.what();
    if (inputs.folder && one.file.starts_with(inputs.folder->path().string()) && message.starts_with(one.file))
      message = one.place + message.substr(one.file.size());
    throw Error(message + (graph.note.empty() ? "" : fmt::format(" ({})", graph.note)), e.exit());
  }
}

void check_type(const Inputs::One& one, const std::string& name, ir::DType dtype, std::int64_t elements) {
  if (!one.values.empty()) throw Error(fmt::format("{}: expected {}, found '{}'", one.place, forms, one.values));
  if (const std::string fault = ir::fault(one.fill, dtype, elements); !fault.empty())
    throw Error(fmt::format("{}: {} ({}): {}", one.place, name, ir::name(dtype), fault));
}

}  // namespace

ir::Fill parse_fill(std::string_view text, std::string_view place) {
  const auto fill = read_fill(trimmed(text));
  if (!fill) throw Error(fmt::format("{}: expected {}, found '{}'", place, forms, text));
  return *fill;
}

Inputs read_inputs(const Config& config, const std::filesystem::path& folder) {
  Inputs inputs;
  const auto path_of = [&](const std::string& text) {
    std::error_code error;
    const bool here = std::filesystem::exists(text, error);
    return std::filesystem::absolute(here ? std::filesystem::path(text) : folder / text);
  };
  for (const auto& [name, value] : config.entries()) {
    if (value.is_list()) {
      inputs.by_name[name] = {{}, value.place(), {}, fmt::format("[{}]", join(value.items(), ", ", &Config::text))};
      continue;
    }
    const std::string text = value.text();
    const std::size_t archive = text.find(".npz");
    if (text.ends_with(".npy"))
      inputs.by_name[name] = {{}, value.place(), path_of(text).string()};
    else if (archive != std::string::npos && (text.size() == archive + 4 || text[archive + 4] == ':'))
      inputs.by_name[name] = {{},
                              value.place(),
                              extract(inputs, ir::torch::Zip(path_of(text.substr(0, archive + 4))),
                                      text.size() > archive + 5 ? text.substr(archive + 5) : name)};
    else if (is_scalar(text))
      inputs.by_name[name] = {{}, value.place(), {}, text};
    else
      inputs.by_name[name] = {parse_fill(text, value.place()), value.place()};
  }
  return inputs;
}

Inputs load_inputs(const std::string& file) {
  const std::filesystem::path path = find_data(file);
  if (file.ends_with(".npz")) {
    Inputs inputs;
    const ir::torch::Zip zip{path};
    for (const std::string& entry : zip.names())
      if (entry.ends_with(".npy")) {
        const std::string name = entry.substr(0, entry.size() - 4);
        inputs.by_name[name] = {{}, fmt::format("{}: {}", file, name), extract(inputs, zip, name)};
      }
    return inputs;
  }
  return read_inputs(Config::load(path), path.parent_path());
}

void give(Inputs& inputs, ir::torch::Graph& graph) {
  for (ir::torch::Node& node : graph.nodes) {
    if (node.kind != ir::torch::Node::Kind::input && node.kind != ir::torch::Node::Kind::parameter) continue;
    inputs.met.insert(node.name);
    const auto found = inputs.by_name.find(node.name);
    if (found == inputs.by_name.end()) continue;
    const ir::DType dtype = node.wide ? ir::DType::i64 : node.type.dtype;
    if (const std::string& file = found->second.file; !file.empty()) {
      auto values =
          std::make_shared<const ir::Numbers>(read_values(inputs, found->second, {dtype, node.type.shape}, graph));
      node.source = {{}, std::move(values), true};
      continue;
    }
    check_type(found->second, node.name, dtype, ir::element_count(node.type.shape));
    node.source = {found->second.fill, nullptr, true};
  }
  ir::torch::fit_integers(graph);  // now that more is known about the values
}

void give(Inputs& inputs, ir::Program& loop) {
  for (ir::Buffer& buffer : loop.buffers) {
    if (buffer.role != ir::Role::input) continue;
    inputs.met.insert(buffer.name);
    const auto found = inputs.by_name.find(buffer.name);
    if (found == inputs.by_name.end()) continue;
    if (const std::string& file = found->second.file; !file.empty()) {
      measure::read_npy(file, {buffer.dtype, buffer.shape});  // reports errors in the file now
      continue;
    }
    check_type(found->second, buffer.name, buffer.dtype, ir::span(buffer));
    buffer.fill = found->second.fill;
  }
}

void give(Inputs& inputs, TileLaunch& launch) {
  for (TileLaunch::Array& array : launch.arrays) {
    inputs.met.insert(array.name);
    const auto found = inputs.by_name.find(array.name);
    if (found == inputs.by_name.end()) continue;
    if (const std::string& file = found->second.file; !file.empty()) {
      set_file(array, file);
      continue;
    }
    const bool whole = ir::is_integral(array.element);
    check_type(found->second, array.name, whole ? ir::DType::i32 : ir::DType::f32, ir::element_count(array.shape));
    array.file.clear();
    array.fill = found->second.fill;
  }
}

foreign::GivenArguments given_arguments(std::span<Inputs* const> inputs) {
  foreign::GivenArguments given;
  for (const Inputs* const one : inputs)
    for (const auto& [name, said] : one->by_name) {
      foreign::Given& argument = given[name] = {said.place, said.file, {}, said.values};
      if (said.file.empty() && said.values.empty()) argument.fill = said.fill;
    }
  return given;
}

void add_files(const TileLaunch& launch, Inputs& inputs) {
  for (const TileLaunch::Array& array : launch.arrays)
    if (!array.file.empty()) inputs.by_name.try_emplace(array.name, Inputs::One{{}, launch.program.where, array.file});
}

measure::InputFiles files_of(const Inputs& inputs, const ir::Program& loop) {
  measure::InputFiles files;
  for (const ir::Buffer& buffer : loop.buffers)
    if (const auto found = inputs.by_name.find(buffer.name);
        buffer.role == ir::Role::input && found != inputs.by_name.end() && !found->second.file.empty())
      files[buffer.name] = found->second.file;
  return files;
}

void check_met(const Inputs& inputs) {
  for (const auto& [name, one] : inputs.by_name) {
    if (inputs.met.contains(name)) continue;
    const std::vector<std::string> names(inputs.met.begin(), inputs.met.end());
    throw Error(fmt::format("{}: expected an input or a parameter ({}), found '{}'{}", one.place,
                            names.empty() ? "there is none" : join(names, ", "), name, did_you_mean(name, names)));
  }
}

}  // namespace deplo::engine
