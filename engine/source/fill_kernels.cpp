#include "engine/source/fill_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/rng.h"
#include "ir/canonical/canonical.h"
#include "ir/interpret/interpret.h"
#include "measure/check/reference.h"

namespace deplo::engine {
namespace {

using Draw = ir::Fill::Draw;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!(std::abs(value) <= std::numeric_limits<float>::max())) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Returns the range of the finite numbers.
Range range_of(const ir::Numbers& numbers) {
  Range range;
  for (std::size_t i = 0; i < numbers.size(); ++i) range.add(numbers[i]);
  return range;
}

/// Returns the distribution of a tensor that the graph reads, for its kernels. Returns nullopt for the default
/// distribution.
std::optional<ir::Fill> said(const ir::Tensor& tensor) {
  const ir::ValueSource& source = tensor.source;
  const bool real = ir::is_float(tensor.type.dtype);
  if (source.given && source.values) return std::nullopt;  // the kernels read the file itself
  if (source.values) {                                     // use the values' range if all have the same sign
    if (!real || source.values->empty()) return std::nullopt;
    const Range range = range_of(*source.values);
    if (range.low >= range.high || (range.low < 0 && range.high > 0)) return std::nullopt;
    return ir::Fill{Draw::uniform, range.low, range.high};
  }
  const ir::Fill& fill = source.fill;
  if (source.given) return fill;
  // A range around the constant: if all elements were equal, a wrong index would go unnoticed.
  if (fill.draw == Draw::constant) {
    if (!real || fill.a == 0) return std::nullopt;
    return ir::Fill{Draw::uniform, std::min(0.5 * fill.a, 1.5 * fill.a), std::max(0.5 * fill.a, 1.5 * fill.a)};
  }
  const bool usual = fill == ir::Fill{Draw::uniform, -1, 1};
  if (usual || !ir::fault(fill, tensor.type.dtype).empty()) return std::nullopt;
  return fill;
}

/// Rounds to three digits, without leaving the range. Math libraries agree on that many digits.
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

using Fills = std::map<std::string, ir::Fill>;  // by the tensor's name

class Filler {
 public:
  explicit Filler(ir::Module& module) : module_(module) {
    for (const ir::Tensor& tensor : module.tensors) {
      if (!tensor.part_of.empty()) whole_[tensor.name] = tensor.part_of;
      if (tensor.kind == ir::Tensor::Kind::computed) continue;
      if (const auto fill = said(tensor)) drawn_[tensor.name] = seen_[tensor.name] = *fill;
      if (tensor.source.given && tensor.source.values) see_file(tensor);
    }
    for (std::size_t k = 0; k < module.kernels.size(); ++k)
      for (const ir::Buffer& buffer : module.kernels[k].buffers)
        if (buffer.role == ir::Role::input) last_read_[whole(buffer.name)] = k;
  }

  void run() {
    for (std::size_t k = 0; k < module_.kernels.size(); ++k) {
      for (ir::Buffer& buffer : module_.kernels[k].buffers)
        if (const auto fill = drawn_.find(whole(buffer.name)); buffer.role == ir::Role::input && fill != drawn_.end())
          buffer.fill = fill->second;
      if (!is_read_after(k)) continue;
      const ir::Program& kernel = module_.kernels[k];
      for (const auto& [name, fill] : whole_.empty() ? observe(kernel) : observe_step(kernel)) take(name, fill);
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

  /// Returns the tensor that `tensor` is a part of, or `tensor` itself if it is not a part.
  const std::string& whole(const std::string& tensor) const {
    const auto found = whole_.find(tensor);
    return found == whole_.end() ? tensor : whole(found->second);
  }

  bool is_read_after(std::size_t k) const {
    return std::ranges::any_of(module_.kernels[k].buffers, [&](const ir::Buffer& buffer) {
      const auto last = last_read_.find(whole(buffer.name));
      return buffer.role == ir::Role::output && last != last_read_.end() && last->second > k;
    });
  }

  double element(const ir::Buffer& buffer, std::int64_t offset) const {
    const std::string& name_of_whole = whole(buffer.name);
    const std::uint64_t name = checksum(name_of_whole);
    Rng rng(Rng(name + static_cast<std::uint64_t>(offset)).next());
    const auto fill = seen_.find(name_of_whole);
    const bool real = buffer.dtype == ir::DType::f32;
    const ir::Fill usual{real ? Draw::uniform : Draw::integers, real ? -1.0 : 0, real ? 1.0 : 2};
    return ir::draw(fill == seen_.end() ? usual : fill->second, buffer.dtype, rng);
  }

  /// Returns the distributions of a kernel's outputs, by evaluating sample points until `max_executions` is reached.
  /// Returns none if a single point exceeds this limit.
  Fills observe(const ir::Program& kernel) const {
    // This takes the interpreter about a second. For a matmul of up to 150,000 terms, all sample points are evaluated.
    constexpr double max_executions = 2e7;
    std::vector<std::int64_t> extents;
    const auto axes = ir::free_axes(kernel);
    for (const auto& [name, extent] : axes) extents.push_back(extent);
    double executions_per_point = measure::statement_executions(kernel.body);
    for (const std::int64_t extent : extents) executions_per_point /= static_cast<double>(extent);
    std::map<std::string, Range> ranges;
    double executions = 0;
    for (const auto& point : measure::sample_points(extents, 0)) {
      executions += executions_per_point;
      if (executions > max_executions) break;
      std::map<std::string, std::int64_t, std::less<>> at;
      for (std::size_t i = 0; i < axes.size(); ++i) at[axes[i].first] = point[i];
      const auto read = [this](const ir::Buffer& buffer, std::int64_t offset) { return element(buffer, offset); };
      for (const ir::Point& found : ir::evaluate_at(kernel, read, at)) ranges[found.buffer].add(found.value);
    }
    Fills fills;
    for (const auto& [name, range] : ranges)
      if (const auto fill = fill_of(range, kernel.find(name)->dtype)) fills.emplace(name, *fill);
    return fills;
  }

  void take(const std::string& tensor, const ir::Fill& fill) {
    seen_[whole(tensor)] = fill;
    if (!holds_the_usual(fill)) drawn_[whole(tensor)] = fill;
  }

  /// A recurrence has thousands of equal kernels, one per step. The distributions of the first step are used for all.
  Fills observe_step(const ir::Program& kernel) {
    const ir::Canonical form = ir::canonical(kernel);
    const auto [known, is_new] = steps_.try_emplace(print(form.program));
    if (is_new) {
      const Fills fills = observe(kernel);
      for (const std::size_t buffer : form.buffers) {
        const auto fill = fills.find(kernel.buffers[buffer].name);
        known->second.push_back(fill == fills.end() ? std::nullopt : std::optional(fill->second));
      }
    }
    Fills fills;
    for (std::size_t i = 0; i < form.buffers.size(); ++i)
      if (const auto& fill = known->second[i]) fills.emplace(kernel.buffers[form.buffers[i]].name, *fill);
    return fills;
  }

  ir::Module& module_;
  std::map<std::string, std::string> whole_;      // part → the tensor that contains it
  std::map<std::string, std::size_t> last_read_;  // tensor → the last kernel that reads it or a part of it
  Fills drawn_, seen_;  // by tensor: the distribution in kernels; the known distribution in the graph
  // canonical text of a kernel → the distributions of its buffers
  std::map<std::string, std::vector<std::optional<ir::Fill>>> steps_;
};

}  // namespace

void fill_kernels(ir::Module& module) { Filler(module).run(); }

}  // namespace deplo::engine
