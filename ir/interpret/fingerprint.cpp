#include "ir/interpret/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "ir/interpret/arithmetic/order.h"
#include "ir/interpret/executions.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

constexpr std::uint64_t first_input = std::uint64_t{1} << 40;

/// Floats that are all different, and the numbers of the other inputs.
Memory distinct_inputs(const Program& program, const Memory& inputs) {
  Memory memory;
  std::uint64_t number = first_input;
  for (const Buffer& buffer : program.buffers) {
    std::vector<double>& elements = memory[buffer.name];
    elements.assign(static_cast<std::size_t>(span(buffer)), std::numeric_limits<double>::quiet_NaN());
    if (buffer.role == Role::output) continue;
    if (!is_float(buffer.dtype)) elements = inputs.at(buffer.name);
    if (is_float(buffer.dtype))
      for (double& x : elements) x = Order::element(++number);
  }
  return memory;
}

std::uint64_t mixed(std::uint64_t digest, double value) {
  const double canonical = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
  return Rng(digest ^ std::bit_cast<std::uint64_t>(canonical)).next();
}

/// The first and the last element.
std::vector<std::size_t> corners(const Buffer& buffer) { return {0, static_cast<std::size_t>(span(buffer) - 1)}; }

}  // namespace

std::string print(const Fingerprint& fingerprint) {
  return fingerprint.is_known() ? fmt::format("{:016x}", fingerprint.digest) : "unknown: " + fingerprint.unknown;
}

std::string order_dependence(const Program& schedule) {
  std::string found;
  for_each(schedule.body, [&](const Stmt& stmt) {
    const auto* write = stmt.as<Write>();
    if (write == nullptr || !adds(write->mode)) return;
    const Buffer* buffer = schedule.find(write->buffer);
    if (buffer != nullptr && is_float(buffer->dtype))
      found = fmt::format("its blocks add to {} in any order", write->buffer);
  });
  return found;
}

Fingerprint fingerprint(const Program& loop, const Program& schedule, const Memory& inputs) {
  if (std::string why = order_dependence(schedule); !why.empty()) return {0, std::move(why)};
  const bool whole = executions(loop.body) <= most_executions;
  Limits limits;
  if (!whole) {
    const std::int64_t blocks = count_of(schedule.body, Bind::block);
    limits.clusters = {0};
    if (blocks > 1) limits.clusters.push_back(blocks - 1);
    if (2 * executions(schedule.body) / static_cast<double>(blocks) > most_executions)
      return {0, "its blocks take too long to execute"};
  }
  Memory memory = distinct_inputs(schedule, inputs);
  try {
    interpret(schedule, memory, Order(), limits);
  } catch (const Error& error) {
    return {0, error.what()};
  }
  std::uint64_t digest = 0;
  for (const Buffer& buffer : loop.buffers) {
    if (buffer.role != Role::output) continue;
    const std::vector<double>& elements = memory.find(buffer.name)->second;
    if (whole)
      for (const double x : elements) digest = mixed(digest, x);
    for (const std::size_t i : whole ? std::vector<std::size_t>() : corners(buffer)) {
      if (std::isnan(elements[i])) return {0, "its first and last block do not write the first and last element"};
      digest = mixed(digest, elements[i]);
    }
  }
  return {digest, ""};
}

}  // namespace deplo::ir
