#include "measure/check/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/indices.h"
#include "core/rng.h"
#include "core/text/text.h"
#include "ir/interpret/interpret.h"
#include "measure/check/elements.h"

namespace deplo::measure {
namespace {

using Points = std::vector<std::vector<std::int64_t>>;

/// Collects distinct points, in order of their addition.
class PointSet {
 public:
  PointSet(std::span<const std::int64_t> extents, std::uint64_t seed) : extents_(extents), rng_(seed) {}

  void add(std::vector<std::int64_t> point) {
    if (seen_.insert(point).second) points_.push_back(std::move(point));
  }

  /// Adds `count` random points. `window(axis, extent)` returns the half-open range from which each coordinate is
  /// drawn.
  template <class Window>
  void add_random(int count, Window window) {
    for (int i = 0; i < count; ++i) {
      std::vector<std::int64_t> point;
      for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
        const auto [low, high] = window(axis, extents_[axis]);
        point.push_back(low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low))));
      }
      add(std::move(point));
    }
  }
  std::size_t size() const { return points_.size(); }
  Points take() { return std::move(points_); }

 private:
  std::span<const std::int64_t> extents_;
  Rng rng_;
  std::set<std::vector<std::int64_t>> seen_;
  Points points_;
};

/// Throws Error if no element is finite, because right and wrong outputs could then not be distinguished.
void require_finite(const ir::Program& loop, const Reference::Output& output) {
  const ir::DType dtype = loop.buffers[output.buffer].dtype;
  const auto finite = [&](const Expected& element) { return is_finite(element, dtype); };
  if (output.elements.empty() || std::any_of(output.elements.begin(), output.elements.end(), finite)) return;
  const Reference::Element& first = output.elements.front();
  std::string inputs;
  for (const ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::input)
      inputs += fmt::format("{}{}: {}", inputs.empty() ? "" : ", ", buffer.name,
                            buffer.fill ? print(*buffer.fill) : usual_input(buffer.dtype));
  throw Error(fmt::format(
      "kernel {}: expected finite results in {}, found none: {} = {:.7g} for {}; choose other "
      "inputs with --inputs FILE",
      loop.name, name(dtype), element_name(loop.buffers[output.buffer], first.offset),
      std::isnan(first.value) ? std::abs(first.value) : first.value, inputs.empty() ? "no inputs" : inputs));
}

/// Returns the rounding error to allow. For floats it is larger than the computed one by a margin, because schedules
/// add in orders that differ from the reference's, and because for long sums the computed bound consists of standard
/// deviations. An integer or a truth value either changes or does not, so it has no margin.
double explained(double rounding, ir::DType dtype) {
  constexpr double margin = 4;
  return ir::is_float(dtype) ? margin * rounding : rounding;
}

/// The inputs of a loop, in the form that evaluate_at() accepts.
using Inputs = std::map<std::string, ir::Numbers, std::less<>>;
Inputs inputs_of(const ir::Program& loop, std::uint64_t seed, const InputFiles& files) {
  Inputs inputs;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (loop.buffers[i].role != ir::Role::output) inputs[loop.buffers[i].name] = input_values(loop, i, seed, files);
  return inputs;
}

/// Computes whole buffers, and returns all elements of every output.
Reference complete(const ir::Program& loop, std::uint64_t seed, const InputFiles& files, bool rounding) {
  ir::Memory memory;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
    const ir::Buffer& buffer = loop.buffers[i];
    std::vector<double>& values = memory[buffer.name];
    if (buffer.role == ir::Role::output)
      values.assign(static_cast<std::size_t>(ir::span(buffer)), std::numeric_limits<double>::quiet_NaN());
    else
      values = input_values(loop, i, seed, files).doubles();
  }
  ir::Memory errors;
  if (rounding)
    errors = ir::interpret_rounding(loop, memory);
  else
    ir::interpret(loop, memory, {}, ir::Outputs::exact);
  Reference reference;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
    if (loop.buffers[i].role != ir::Role::output) continue;
    Reference::Output& output = reference.outputs.emplace_back();
    output.buffer = i;
    const std::vector<double>& values = memory[loop.buffers[i].name];
    const std::vector<double>& error = errors[loop.buffers[i].name];
    for_each_element(loop.buffers[i], [&](std::int64_t offset) {
      const auto at = static_cast<std::size_t>(offset);
      output.elements.push_back({{values[at], rounding ? explained(error[at], loop.buffers[i].dtype) : 0}, offset});
    });
  }
  return reference;
}

Reference sampled(const ir::Program& loop, std::uint64_t seed, const InputFiles& files, bool rounding) {
  std::map<std::string, std::size_t, std::less<>> outputs;  // buffer → index in the reference's outputs
  Reference reference;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
    if (loop.buffers[i].role != ir::Role::output) continue;
    outputs[loop.buffers[i].name] = reference.outputs.size();
    reference.outputs.emplace_back().buffer = i;
  }
  const Inputs inputs = inputs_of(loop, seed, files);
  const auto axes = ir::free_axes(loop);
  std::vector<std::int64_t> extents;
  for (const auto& [name, extent] : axes) extents.push_back(extent);
  for (const auto& point : sample_points(extents, seed)) {
    std::map<std::string, std::int64_t, std::less<>> values;
    for (std::size_t i = 0; i < axes.size(); ++i) values[axes[i].first] = point[i];
    for (const ir::Point& found : ir::evaluate_at(loop, inputs, values, rounding)) {
      Reference::Output& output = reference.outputs[outputs.at(found.buffer)];
      output.elements.push_back(
          {{found.value, explained(found.rounding, loop.buffers[output.buffer].dtype)}, found.offset});
    }
  }
  return reference;
}

}  // namespace

Points sample_points(std::span<const std::int64_t> extents, std::uint64_t seed) {
  // about the size of a register tile; about the part that a shifted block repeats
  constexpr std::int64_t near_by = 16, tail = 32;
  PointSet points(extents, seed);
  const std::size_t corner_axes = std::min<std::size_t>(extents.size(), 5);  // 32 corners; further axes stay at 0
  for (std::size_t corner = 0; corner < std::size_t{1} << corner_axes; ++corner) {
    std::vector<std::int64_t> point(extents.size(), 0);
    for (std::size_t axis = 0; axis < corner_axes; ++axis)
      if ((corner >> axis & 1) != 0) point[axis] = extents[axis] - 1;
    points.add(std::move(point));
  }
  using Window = std::pair<std::int64_t, std::int64_t>;
  points.add_random(8, [&](std::size_t, std::int64_t n) { return Window{0, std::min(n, near_by)}; });
  points.add_random(8, [&](std::size_t, std::int64_t n) { return Window{std::max<std::int64_t>(n - tail, 0), n}; });
  points.add_random(16, [&](std::size_t axis, std::int64_t n) {
    return Window{0, axis == 0 ? std::min(n, near_by) : n};
  });
  // The number of tries is limited, so that the loop also ends for a problem that has fewer points.
  for (int tries = 0; points.size() < 64 && tries < 1000; ++tries)
    points.add_random(1, [](std::size_t, std::int64_t n) { return Window{0, n}; });
  return points.take();
}

double statement_executions(const ir::Body& body) {
  double count = 0;
  for (const ir::Stmt& statement : body) {
    if (const auto* loop = statement.as<ir::Loop>())
      count +=
          static_cast<double>(loop->axis.extent) / static_cast<double>(loop->step) * statement_executions(loop->body);
    else if (const auto* guarded = statement.as<ir::If>())
      count += 1 + statement_executions(guarded->then);
    else
      count += 1;
  }
  return count;
}

Reference make_reference(const ir::Program& loop, std::uint64_t seed, const InputFiles& files, bool rounding) {
  const bool small = statement_executions(loop.body) <= small_problem;
  Reference reference = small ? complete(loop, seed, files, rounding) : sampled(loop, seed, files, rounding);
  for (Reference::Output& output : reference.outputs) {
    require_finite(loop, output);
    Scale scale;
    for (const Reference::Element& element : output.elements) scale.add(element, loop.buffers[output.buffer].dtype);
    output.scale = scale.value();
  }
  return reference;
}

std::optional<Reference::Element> reference_at(const ir::Program& loop, std::uint64_t seed, const InputFiles& files,
                                               std::size_t buffer, std::int64_t offset) {
  const Inputs inputs = inputs_of(loop, seed, files);
  const std::string& name = loop.buffers[buffer].name;
  const ir::ElementFinder finder(loop, name, [&](const auto& at) { return ir::evaluate_at(loop, inputs, at, true); });
  const std::optional<ir::Point> found = finder.find(offset);
  if (!found) return std::nullopt;
  return Reference::Element{{found->value, explained(found->rounding, loop.buffers[buffer].dtype)}, offset};
}

std::string element_name(const ir::Buffer& buffer, std::int64_t offset) {
  std::vector<std::int64_t> index(buffer.shape.size());
  const auto descending = [&](std::size_t dim) { return -buffer.strides[dim]; };
  for (const std::size_t dim : indices_by(buffer.shape.size(), descending)) {
    if (buffer.strides[dim] <= 0) continue;
    index[dim] = offset / buffer.strides[dim];
    offset %= buffer.strides[dim];
  }
  return fmt::format("{}[{}]", buffer.name, join(index, ", "));
}

double error_of_sum(const Sum& found, const Reference::Output& expected, ir::DType dtype) {
  if (found.count == 0) return std::numeric_limits<double>::infinity();
  return error_of(found.value, expected.elements.front(), expected.scale,
                  ir::is_float(dtype) ? ir::DType::f64 : ir::DType::i64);
}

}  // namespace deplo::measure
