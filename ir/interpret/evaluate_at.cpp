// Sampled evaluation of Loop IR: computes one output point without the others.
#include <algorithm>

#include "core/error.h"
#include "ir/interpret/machine.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

using Axes = std::vector<std::pair<std::string, std::int64_t>>;

void collect_free(const Body& body, Axes& axes) {
  for (const Stmt& stmt : body) {
    if (const auto* loop = stmt.as<Loop>(); loop != nullptr && loop->axis.bind != Bind::reduce) {
      const auto same = [&](const auto& axis) { return axis.first == loop->axis.name; };
      const auto found = std::find_if(axes.begin(), axes.end(), same);
      if (found == axes.end())
        axes.emplace_back(loop->axis.name, loop->axis.extent);
      else  // Sibling loops may share a name; the shorter loop is skipped if the value is beyond its extent.
        found->second = std::max(found->second, loop->axis.extent);
    }
    if (const Body* inner = inner_body(stmt)) collect_free(*inner, axes);
  }
}

}  // namespace

Axes free_axes(const Program& loop) {
  Axes axes;
  collect_free(loop.body, axes);
  return axes;
}

namespace {

using exec::FreeValues;

void check_free(const Program& loop, const FreeValues& free_values) {
  if (loop.level != Level::loop)
    throw Error("evaluate_at: expected Loop IR, found " + std::string(name(loop.level)) + " IR");
  for (const auto& [axis, extent] : free_axes(loop)) {
    const auto value = free_values.find(axis);
    if (value == free_values.end())
      throw Error("evaluate_at: expected a value of the free axis " + axis + ", found none");
    if (value->second < 0 || value->second >= extent)
      throw Error("evaluate_at: expected " + axis + " below " + std::to_string(extent) + ", found " +
                  std::to_string(value->second));
  }
}

}  // namespace

std::vector<Point> evaluate_at(const Program& loop, const std::map<std::string, Numbers, std::less<>>& inputs,
                               const FreeValues& free_values, bool rounding) {
  check_free(loop, free_values);
  exec::Machine machine(loop, &free_values);
  std::vector<Point> points;
  machine.global.points = &points;
  if (rounding) machine.roundings.start(machine.lanes);
  for (std::size_t i = 0; i < loop.buffers.size(); ++i) {
    const Buffer& buffer = loop.buffers[i];
    if (buffer.role == Role::output) continue;
    const auto input = inputs.find(buffer.name);
    if (input == inputs.end())
      throw Error("evaluate_at: expected elements of the input " + buffer.name + ", found none");
    if (static_cast<std::int64_t>(input->second.size()) < span(buffer))
      throw Error("evaluate_at: expected " + std::to_string(span(buffer)) + " elements of the input " + buffer.name +
                  ", found " + std::to_string(input->second.size()));
    machine.global.buffers[i].numbers = &input->second;
  }
  machine.run();
  return points;
}

std::vector<Point> evaluate_at(const Program& loop, const ReadInput& read, const FreeValues& free_values) {
  return evaluate_at(loop, read, free_values, reals());
}

std::vector<Point> evaluate_at(const Program& loop, const ReadInput& read, const FreeValues& free_values,
                               const Arithmetic& arithmetic) {
  check_free(loop, free_values);
  exec::Machine machine(loop, &free_values, {}, arithmetic);
  std::vector<Point> points;
  machine.global.points = &points;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (const Buffer& buffer = loop.buffers[i]; buffer.role == Role::input)
      machine.global.buffers[i].element = [&read, &buffer](std::int64_t offset) { return read(buffer, offset); };
  machine.run();
  return points;
}

ElementFinder::ElementFinder(const Program& loop, std::string buffer, Evaluate evaluate)
    : buffer_(std::move(buffer)), evaluate_(std::move(evaluate)) {
  const Axes axes = free_axes(loop);
  for (const auto& [axis, extent] : axes) zero_[axis] = 0;
  const std::optional<Point> origin = at(zero_);
  if (!origin) return;
  for (const auto& [axis, extent] : axes) {
    if (extent == 1) continue;
    FreeValues values = zero_;
    values[axis] = 1;
    const std::optional<Point> next = at(values);
    if (!next) return;
    if (next->offset > origin->offset) steps_.push_back({axis, extent, next->offset - origin->offset});
  }
  std::ranges::stable_sort(steps_, std::ranges::greater(), &Step::offset);
  origin_ = origin->offset;
}

std::optional<Point> ElementFinder::at(const FreeValues& values) const {
  std::optional<Point> last;  // a scan also computes the points before it
  for (Point& point : evaluate_(values))
    if (point.buffer == buffer_) last = std::move(point);
  return last;
}

std::optional<Point> ElementFinder::find(std::int64_t offset) const {
  if (!origin_) return std::nullopt;
  FreeValues values = zero_;
  std::int64_t rest = offset - *origin_;
  for (const Step& step : steps_) {
    std::int64_t& value = values[step.axis] = std::clamp<std::int64_t>(rest / step.offset, 0, step.extent - 1);
    rest -= value * step.offset;
  }
  std::optional<Point> found = at(values);
  return found && found->offset == offset ? found : std::nullopt;
}

}  // namespace deplo::ir
