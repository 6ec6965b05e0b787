#include "engine/source/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/rng.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "engine/source/tile_launch.h"
#include "ir/interpret/interpret.h"
#include "ir/torch/ranges.h"
#include "measure/check/npy.h"
#include "measure/check/reference.h"

namespace deplo::engine {
namespace {

using Draw = ir::Fill::Draw;

constexpr const char* forms =
    "uniform(a, b), normal(mean, deviation), randint(first, end), distinct(first, end), constant(value) or a .npy "
    "file";

/// From the words that an expression uses for them.
struct Form {
  std::string_view name;
  Draw draw;
  std::size_t numbers;
};
constexpr std::array all_forms = {Form{"uniform", Draw::uniform, 2}, Form{"normal", Draw::normal, 2},
                                  Form{"randint", Draw::integers, 2}, Form{"constant", Draw::constant, 1},
                                  Form{"distinct", Draw::distinct, 2}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<ir::Fill> read_fill(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') return std::nullopt;
  const auto* const form = std::ranges::find(all_forms, trimmed(text.substr(0, open)), &Form::name);
  if (form == all_forms.end()) return std::nullopt;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  std::vector<double> numbers;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view word = trimmed(rest.substr(0, comma));
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    numbers.push_back(value);
    if (more) rest.remove_prefix(comma + 1);
  }
  if (numbers.size() != form->numbers) return std::nullopt;
  return ir::Fill{form->draw, numbers[0], form->numbers == 2 ? numbers[1] : 0};
}

void check_type(const Inputs::One& one, const std::string& name, ir::DType dtype, std::int64_t elements) {
  if (const std::string fault = ir::fault(one.fill, dtype, elements); !fault.empty())
    throw Error(fmt::format("{}: {} ({}): {}", one.place, name, ir::name(dtype), fault));
}

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!(std::abs(value) <= std::numeric_limits<float>::max())) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Of the finite numbers.
Range range_of(const ir::Numbers& numbers) {
  Range range;
  for (std::size_t i = 0; i < numbers.size(); ++i) range.add(numbers[i]);
  return range;
}

/// What a tensor that the graph reads is drawn from in its kernels; nullopt: as where nothing is said.
std::optional<ir::Fill> said(const ir::Tensor& tensor) {
  const ir::ValueSource& source = tensor.source;
  const bool real = ir::is_float(tensor.type.dtype);
  if (source.given && source.values) return std::nullopt;  // the file itself is read
  if (source.values) {                                     // theirs is the range, where that has one sign
    if (!real || source.values->empty()) return std::nullopt;
    const Range range = range_of(*source.values);
    if (range.low >= range.high || (range.low < 0 && range.high > 0)) return std::nullopt;
    return ir::Fill{Draw::uniform, range.low, range.high};
  }
  const ir::Fill& fill = source.fill;
  if (source.given) return fill;
  // Around a constant: a wrong index would not show where all elements are alike.
  if (fill.draw == Draw::constant) {
    if (!real || fill.a == 0) return std::nullopt;
    return ir::Fill{Draw::uniform, std::min(0.5 * fill.a, 1.5 * fill.a), std::max(0.5 * fill.a, 1.5 * fill.a)};
  }
  const bool usual = fill == ir::Fill{Draw::uniform, -1, 1};
  if (usual || !ir::fault(fill, tensor.type.dtype).empty()) return std::nullopt;
  return fill;
}

/// To three digits, which libraries of mathematics agree on, and not out of the range.
double rounded(double value, double low, double high) {
  for (const double nudge : {0.0, 1e-2, -1e-2}) {
    const double near = std::stod(fmt::format("{:.2e}", value * (1 + nudge)));
    if (near >= low && near <= high) return near;
  }
  return value;
}

std::optional<ir::Fill> fill_of(const Range& seen, ir::DType dtype) {
  if (seen.low > seen.high || dtype == ir::DType::boolean) return std::nullopt;
  if (ir::is_integer(dtype)) return ir::Fill{Draw::integers, seen.low, seen.high + 1};
  if (seen.low == seen.high) {
    if (seen.low == 0) return std::nullopt;
    return ir::Fill{Draw::constant, seen.low, 0};
  }
  const double low = rounded(seen.low, seen.low, seen.high), high = rounded(seen.high, low, seen.high);
  return low < high ? ir::Fill{Draw::uniform, low, high} : ir::Fill{Draw::uniform, seen.low, seen.high};
}

bool holds_the_usual(const ir::Fill& fill) { return fill.draw == Draw::uniform && fill.a <= -1 && fill.b >= 1; }

class Filler {
 public:
  explicit Filler(ir::Module& module) : module_(module) {
    for (const ir::Tensor& tensor : module.tensors) {
      if (tensor.kind == ir::Tensor::Kind::computed) continue;
      if (const auto fill = said(tensor)) drawn_[tensor.name] = seen_[tensor.name] = *fill;
      if (tensor.source.given && tensor.source.values) see_file(tensor);
    }
  }

  void run() {
    for (std::size_t k = 0; k < module_.kernels.size(); ++k) {
      for (ir::Buffer& buffer : module_.kernels[k].buffers)
        if (const auto fill = drawn_.find(buffer.name); buffer.role == ir::Role::input && fill != drawn_.end())
          buffer.fill = fill->second;
      if (is_read_after(k)) observe(module_.kernels[k]);
    }
  }

 private:
  void see_file(const ir::Tensor& tensor) {
    if (!tensor.permutation.empty())
      throw Error(
          fmt::format("{}: expected a distribution, found a file; the kernels read this tensor with its dimensions in "
                      "another order",
                      tensor.of));
    if (const auto fill = fill_of(range_of(*tensor.source.values), tensor.type.dtype)) seen_[tensor.name] = *fill;
  }

  bool is_read_after(std::size_t k) const {
    const auto written = [&](const ir::Buffer& buffer) {
      if (buffer.role != ir::Role::input) return false;
      const ir::Buffer* const made = module_.kernels[k].find(buffer.name);
      return made != nullptr && made->role == ir::Role::output;
    };
    for (std::size_t i = k + 1; i < module_.kernels.size(); ++i)
      if (std::ranges::any_of(module_.kernels[i].buffers, written)) return true;
    return false;
  }

  double element(const ir::Buffer& buffer, std::int64_t offset) const {
    const std::uint64_t name = checksum(buffer.name);
    Rng rng(Rng(name + static_cast<std::uint64_t>(offset)).next());
    const auto fill = seen_.find(buffer.name);
    const bool real = buffer.dtype == ir::DType::f32;
    const ir::Fill usual{real ? Draw::uniform : Draw::integers, real ? -1.0 : 0, real ? 1.0 : 2};
    return ir::draw(fill == seen_.end() ? usual : fill->second, buffer.dtype, rng);
  }

  /// Of the sample points as many as `most_executions` allows; none where one element alone takes more.
  void observe(const ir::Program& kernel) {
    // About a second of the interpreter: a matmul of up to 150,000 terms is observed at all of its points.
    constexpr double most_executions = 2e7;
    std::vector<std::int64_t> extents;
    const auto axes = ir::free_axes(kernel);
    for (const auto& [name, extent] : axes) extents.push_back(extent);
    double executions_per_point = measure::statement_executions(kernel.body);
    for (const std::int64_t extent : extents) executions_per_point /= static_cast<double>(extent);
    std::map<std::string, Range> ranges;
    double executions = 0;
    for (const auto& point : measure::sample_points(extents, 0)) {
      executions += executions_per_point;
      if (executions > most_executions) break;
      std::map<std::string, std::int64_t, std::less<>> at;
      for (std::size_t i = 0; i < axes.size(); ++i) at[axes[i].first] = point[i];
      const auto read = [this](const ir::Buffer& buffer, std::int64_t offset) { return element(buffer, offset); };
      for (const ir::Point& found : ir::evaluate_at(kernel, read, at)) ranges[found.buffer].add(found.value);
    }
    for (const auto& [name, range] : ranges) {
      const auto fill = fill_of(range, kernel.find(name)->dtype);
      if (!fill) continue;
      seen_[name] = *fill;
      if (!holds_the_usual(*fill)) drawn_[name] = *fill;
    }
  }

  ir::Module& module_;
  std::map<std::string, ir::Fill> drawn_, seen_;  // of tensors: in a kernel; in the graph, as far as is known
};

}  // namespace

ir::Fill parse_fill(std::string_view text, std::string_view place) {
  const auto fill = read_fill(trimmed(text));
  if (!fill) throw Error(fmt::format("{}: expected {}, found '{}'", place, forms, text));
  return *fill;
}

Inputs read_inputs(const Config& config, const std::filesystem::path& folder) {
  Inputs inputs;
  for (const auto& [name, value] : config.entries()) {
    const std::string text = value.text();
    if (!text.ends_with(".npy")) {
      inputs.by_name[name] = {parse_fill(text, value.place()), value.place()};
      continue;
    }
    std::error_code error;
    const bool here = std::filesystem::exists(text, error);
    const std::filesystem::path file = here ? std::filesystem::path(text) : folder / text;
    inputs.by_name[name] = {{}, value.place(), std::filesystem::absolute(file).string()};
  }
  return inputs;
}

Inputs load_inputs(const std::string& file) {
  const std::filesystem::path path = find_data(file);
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
      auto values = std::make_shared<const ir::Numbers>(measure::read_npy(file, {dtype, node.type.shape}));
      node.source = {{}, std::move(values), true};
      continue;
    }
    check_type(found->second, node.name, dtype, ir::element_count(node.type.shape));
    node.source = {found->second.fill, nullptr, true};
  }
  ir::torch::fit_integers(graph);  // under what is known now of their values
}

void give(Inputs& inputs, ir::Program& loop) {
  for (ir::Buffer& buffer : loop.buffers) {
    if (buffer.role != ir::Role::input) continue;
    inputs.met.insert(buffer.name);
    const auto found = inputs.by_name.find(buffer.name);
    if (found == inputs.by_name.end()) continue;
    if (const std::string& file = found->second.file; !file.empty()) {
      measure::read_npy(file, {buffer.dtype, buffer.shape});  // to say now what is wrong with it
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

void fill_kernels(ir::Module& module) { Filler(module).run(); }

}  // namespace deplo::engine
