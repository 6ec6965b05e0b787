#include "measure/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "measure/elements.h"
#include "measure/host_memory.h"
#include "measure/reference.h"

namespace deplo::measure {
namespace {

/// Every element of the output that is no number, and that a prefix of the grid does not excuse. Of bool: neither 0
/// nor 1. An i32 may be anything.
std::optional<Failure> find_nan(const ir::Buffer& buffer, const std::vector<float>& found, Coverage coverage) {
  std::int64_t first = -1, count = 0;
  for_each_element(buffer, [&](std::int64_t offset) {
    const float value = found[static_cast<std::size_t>(offset)];
    const bool number = buffer.dtype == ir::DType::boolean ? value <= 1 : !std::isnan(value);
    if (number || (coverage == Coverage::prefix && is_poison(value, buffer.dtype))) return;
    if (count++ == 0) first = offset;
  });
  if (count == 0) return std::nullopt;
  const float value = found[static_cast<std::size_t>(first)];
  const std::string what = is_poison(value, buffer.dtype)       ? "not written"
                           : buffer.dtype == ir::DType::boolean ? fmt::format("is {}, not a truth value", value)
                                                                : "is NaN";
  return Failure{Status::wrong_result, fmt::format("{}: {} ({} of {} elements)", element_name(buffer, first), what,
                                                   count, ir::element_count(buffer))};
}

/// Of the output's scale; infinite where only the very value will do: an integer, a truth value, an infinity.
double error_of(float found, double expected, double scale, ir::DType dtype) {
  if (dtype == ir::DType::f32 && std::isfinite(expected))
    return std::abs(static_cast<double>(found) - expected) / scale;
  return found == static_cast<float>(expected) ? 0 : std::numeric_limits<double>::infinity();
}

std::optional<Failure> compare(const ir::Buffer& buffer, const Reference::Output& expected,
                               const std::vector<float>& found, Coverage coverage) {
  std::int64_t covered = 0, wrong = 0;
  double worst_error = 0;
  const Reference::Element* worst = nullptr;
  for (const Reference::Element& element : expected.elements) {
    const float value = found[static_cast<std::size_t>(element.offset)];
    if (coverage == Coverage::prefix && is_poison(value, buffer.dtype)) continue;
    ++covered;
    const double error = error_of(value, element.value, expected.scale, buffer.dtype);
    if (error <= tolerance) continue;
    ++wrong;
    if (worst == nullptr || error > worst_error) worst = &element, worst_error = error;
  }
  // Of i32 a whole output of -1 looks like none.
  if (covered == 0 && !expected.elements.empty() && buffer.dtype != ir::DType::i32)
    return Failure{Status::wrong_result, fmt::format("{}: none of the compared elements was written", buffer.name)};
  if (worst == nullptr) return std::nullopt;
  return Failure{
      Status::wrong_result,
      fmt::format("{}: expected {:.7g}, found {:.7g}, error {:.2g} of the scale {:.3g} ({} of {} compared are "
                  "wrong)",
                  element_name(buffer, worst->offset), worst->value, found[static_cast<std::size_t>(worst->offset)],
                  worst_error, expected.scale, wrong, covered)};
}

/// Before the system ends the process for it, without a word. On the host are a CPU's arrays, and while the reference
/// is made the inputs, or while it is compared an output.
const ir::Program& fitting(const ir::Program& loop, const DeviceInfo& device) {
  double inputs = 0, all = 0, largest = 0;
  for (const ir::Buffer& buffer : loop.buffers) {
    if (buffer.dtype == ir::DType::f16 || buffer.dtype == ir::DType::bf16)
      throw Error(fmt::format("kernel {}: buffer {}: expected f32, i32 or bool, which can run, found {}", loop.name,
                              buffer.name, name(buffer.dtype)));
    const double bytes = static_cast<double>(ir::span(buffer)) * sizeof(float);  // on the host as f32
    all += bytes;
    largest = std::max(largest, bytes);
    if (buffer.role == ir::Role::input) inputs += bytes;
  }
  double needed = std::max(inputs, largest) + (device.cpu ? all : 0);
  if (device.backend == "interpreter") needed += 3 * all;  // and a copy in double
  const double free = free_host_memory();
  if (needed > free)
    throw Error(
        fmt::format("kernel {}: expected {:.3g} GB of free memory for its arrays and its check, found {:.3g} GB",
                    loop.name, needed * 1e-9, free * 1e-9),
        Exit::environment);
  return loop;
}

}  // namespace

Problem::Problem(const ir::Program& loop, Device& device, std::uint64_t seed)
    : loop_(fitting(loop, device.info())), arrays_(device.allocate(loop_.buffers)), seed_(seed) {
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i) {
    if (loop_.buffers[i].role == ir::Role::input) arrays_->write(i, random_input(loop_.buffers[i], i, seed_));
  }
}

void Problem::poison_outputs() {
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i)
    if (loop_.buffers[i].role == ir::Role::output) arrays_->poison(i);
}

// The inputs are drawn again rather than kept: they may be hundreds of megabytes, and the reference is made once.
const Reference& Problem::reference() {
  if (!reference_) reference_ = make_reference(loop_, seed_);
  return *reference_;
}

std::optional<Failure> Problem::check(Coverage coverage) {
  for (const Reference::Output& expected : reference().outputs) {
    const ir::Buffer& buffer = loop_.buffers[expected.buffer];
    const std::vector<float> found = arrays_->read(expected.buffer);
    if (auto failure = find_nan(buffer, found, coverage)) return failure;
    if (coverage == Coverage::partial_sums) continue;
    if (auto failure = compare(buffer, expected, found, coverage)) return failure;
  }
  return std::nullopt;
}

}  // namespace deplo::measure
