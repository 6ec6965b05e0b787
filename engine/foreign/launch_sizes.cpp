#include "engine/foreign/launch_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/mapped.h"
#include "core/text/text.h"
#include "core/trail.h"

namespace deplo::engine::foreign {

std::vector<Operand> LaunchSizes::operands(const Expression& expression,
                                           const std::vector<Scalar>& configuration) const {
  std::vector<Operand> values;
  for (const std::string& name : expression.names()) {
    const auto& all = space->parameters();
    const auto found = std::ranges::find(all, name, &Parameter::name);
    if (name == "ProblemSize")
      values.emplace_back(List(problem.begin(), problem.end()));
    else if (found != all.end())
      values.emplace_back(configuration[static_cast<std::size_t>(found - all.begin())]);
    else  // gemm_milo of the benchmark hub names a parameter that it lacks; its space can be read all the same
      throw Error(fmt::format("{}: expected ProblemSize or a parameter, found '{}'", expression.place(), name));
  }
  return values;
}

/// Enumerates only the parameters that the expression contains. Values are rounded up.
std::int64_t LaunchSizes::largest(const Expression& expression) const {
  const std::vector<Parameter>& parameters = space->parameters();
  std::vector<std::vector<Scalar>> configurations(1);
  for (const Parameter& parameter : parameters) configurations[0].push_back(parameter.values[parameter.fallback]);
  for (const ParameterSpace::Group& group : space->groups()) {
    std::vector<std::size_t> columns;  // columns of the parameters that the expression contains
    for (std::size_t i = 0; i < group.parameters.size(); ++i)
      if (std::ranges::find(expression.names(), parameters[group.parameters[i]].name) != expression.names().end())
        columns.push_back(i);
    if (columns.empty()) continue;
    std::set<std::vector<std::uint16_t>> choices;
    for (std::size_t row = 0; row < group.size(); ++row) {
      std::vector<std::uint16_t> choice;
      for (const std::size_t column : columns) choice.push_back(group.rows[row * group.parameters.size() + column]);
      choices.insert(std::move(choice));
    }
    constexpr std::size_t max_configurations = 1'000'000;
    if (choices.size() * configurations.size() > max_configurations)
      throw Error(
          fmt::format("{}: expected an array whose size depends on at most {} configurations, found more in '{}'",
                      expression.place(), max_configurations, expression.text()));
    std::vector<std::vector<Scalar>> extended;
    for (const std::vector<Scalar>& configuration : configurations)
      for (const std::vector<std::uint16_t>& choice : choices) {
        extended.push_back(configuration);
        for (std::size_t i = 0; i < columns.size(); ++i) {
          const std::size_t parameter = group.parameters[columns[i]];
          extended.back()[parameter] = parameters[parameter].values[choice[i]];
        }
      }
    configurations = std::move(extended);
  }
  std::int64_t max_size = 0;
  for (const std::vector<Scalar>& configuration : configurations)
    max_size = std::max(max_size, size(expression, configuration, "an array size"));
  return max_size;
}

/// Returns a text for messages that names the configuration; "" for an empty one, on which nothing depends.
std::string LaunchSizes::in(const std::vector<Scalar>& configuration) const {
  Trail trail;
  for (std::size_t i = 0; i < configuration.size(); ++i)
    trail.push_back({space->parameters()[i].name, value_of(configuration[i])});
  return trail.empty() ? "" : " in the configuration " + deplo::print(trail);
}

/// Rounds fractions up, as Kernel Tuner does.
std::int64_t LaunchSizes::size(const Expression& expression, const std::vector<Scalar>& configuration, const char* what,
                               std::int64_t least) const {
  const Scalar value = expression.scalar(operands(expression, configuration));
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const double number = integer != nullptr ? static_cast<double>(*integer) : real != nullptr ? std::ceil(*real) : -1;
  if (!(number >= static_cast<double>(least) && number <= 0x1p31))
    throw Error(fmt::format("{}: expected {} from {} to 2^31, found {} from '{}'{}", expression.place(), what, least,
                            foreign::print(value), expression.text(), in(configuration)));
  return static_cast<std::int64_t>(number);
}

std::vector<std::int64_t> LaunchSizes::threads(const std::vector<Scalar>& configuration) const {
  return mapped(block, [&](const Expression& expression) { return size(expression, configuration, "a block size"); });
}

std::vector<std::int64_t> LaunchSizes::blocks(const std::vector<Scalar>& configuration,
                                              const std::vector<std::int64_t>& each_block) const {
  const bool divided = std::ranges::any_of(divisors, [](const auto& axis) { return !axis.empty(); });
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < divisors.size(); ++axis) {
    const std::int64_t threads = axis < each_block.size() ? each_block[axis] : 1;
    // Without divisors, the problem size is divided by the block size, as Kernel Tuner does.
    if (axis < problem.size() && (divided || global.empty())) {
      std::int64_t divisor = divisors[axis].empty() && !divided ? threads : 1;
      for (const Expression& expression : divisors[axis]) {
        const std::int64_t factor = size(expression, configuration, "a grid divisor");
        divisor = divisor > problem[axis] / factor ? std::max(divisor, problem[axis]) : divisor * factor;
      }
      extents.push_back((problem[axis] - 1) / divisor + 1);
    } else if (axis < global.size() && !divided) {
      const std::int64_t all = size(global[axis], configuration, "a global size");
      extents.push_back(in_blocks ? all : (all + threads - 1) / threads);
    } else {
      extents.push_back(1);
    }
  }
  // A grid may have more dimensions than its blocks.
  while (extents.size() > each_block.size() && extents.back() == 1) extents.pop_back();
  constexpr std::int64_t max_blocks = 0x7fffffff;  // CUDA's largest grid; an OpenCL device would take days for more
  std::int64_t left = max_blocks;
  for (const std::int64_t extent : extents) left /= extent;
  if (left < 1)
    throw Error(fmt::format("{}: expected a grid of at most 2^31 - 1 blocks, found {}{}", place, join(extents, "x"),
                            in(configuration)));
  return extents;
}

bool LaunchSizes::use(const std::string& parameter) const {
  const auto has = [&](const Expression& e) { return std::ranges::find(e.names(), parameter) != e.names().end(); };
  return std::ranges::any_of(block, has) || std::ranges::any_of(global, has) || (shared && has(*shared)) ||
         std::ranges::any_of(divisors, [&](const auto& axis) { return std::ranges::any_of(axis, has); });
}

}  // namespace deplo::engine::foreign
