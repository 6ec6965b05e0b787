#include "measure/protocol/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "measure/host_memory.h"
#include "rules/cost/least_work.h"

namespace deplo::measure {
namespace {

std::size_t set_count(const ir::Program& loop, const DeviceInfo& device) {
  return operand_set_count(footprint(loop.buffers), device.l2_bytes);
}

/// Returns `loop`. Throws Error(environment) if the host does not have enough memory, because the system would kill the
/// process without a message. Host memory holds the arrays of a CPU, and the inputs (while the reference is computed)
/// or one output (while it is compared).
const ir::Program& fitting(const ir::Program& loop, const DeviceInfo& device) {
  double inputs = 0, all = 0, largest = 0;
  for (const ir::Buffer& buffer : loop.buffers) {
    // An element of ir::Numbers takes at least 4 bytes.
    const double bytes = static_cast<double>(ir::span(buffer)) *
                         std::max(static_cast<double>(ir::bytes(buffer.dtype)), double{sizeof(float)});
    all += bytes;
    largest = std::max(largest, bytes);
    if (buffer.role == ir::Role::input) inputs += bytes;
  }
  double needed = std::max(inputs, largest) + (device.cpu ? all * static_cast<double>(set_count(loop, device)) : 0);
  if (device.backend == "interpreter") needed += 3 * all;  // copies in double
  if (device.backend == "ptx") needed += all;
  const double free = free_host_memory();
  if (needed > free)
    throw Error(
        fmt::format("kernel {}: expected {:.3g} GB of free memory for its arrays and its check, found {:.3g} GB",
                    loop.name, needed * 1e-9, free * 1e-9),
        Exit::environment);
  return loop;
}

/// Writes the values to a buffer of every set. They are converted to elements only once.
void write_to_all(OperandSets& sets, std::size_t index, const ir::Buffer& buffer, const ir::Numbers& values) {
  write_elements(values, buffer.dtype, [&](const void* elements) {
    const std::span bytes(static_cast<const std::uint8_t*>(elements), size_in_bytes(buffer));
    for (std::size_t set = 0; set < sets.size(); ++set) sets[set].write_bytes(index, bytes);
  });
}

}  // namespace

Problem::Problem(const ir::Program& loop, Device& device, std::uint64_t seed, Probe* probe, double tolerance,
                 const InputFiles& files, Expectation expectation)
    : loop_(with_index_ranges(fitting(loop, device.info()))),
      device_(device),
      probe_(probe),
      sets_(device, loop_.buffers, set_count(loop_, device.info())),
      outputs_(loop_, device, sets_[0], seed, tolerance, files, std::move(expectation)),
      min_work_(
          rules::least_work(loop_, has_matrix_instructions(device_.info().backend, device_.info().architecture))) {
  for (std::size_t i = 0; i < loop_.buffers.size(); ++i) {
    const ir::Buffer& buffer = loop_.buffers[i];
    if (buffer.role == ir::Role::input) {
      write_to_all(sets_, i, buffer, input_values(loop_, i, seed, files));
      continue;
    }
    for (std::size_t set = 0; set < sets_.size(); ++set)
      sets_[set].poison(i);  // so that all pages exist before the timing
    if (!files.contains(buffer.name) && !buffer.fill) continue;
    write_to_all(sets_, i, buffer, input_values(loop_, i, seed, files));
    for (std::size_t set = 0; set < sets_.size(); ++set) sets_[set].save(i);
  }
  outputs_.remember_inputs();
}

Sampler& Problem::screening(double least_clock) {
  if (!screening_) screening_.emplace(device_, least_clock);
  return *screening_;
}

double Problem::least_us(int batch) const {
  return rules::least_us(min_work_, probe_->ceilings(), device_.info().l2_bytes, batch);
}

std::optional<Failure> Problem::implausible(double us, int batch, double plausible) {
  if (probe_ == nullptr) return std::nullopt;
  constexpr int again = 3;  // a disturbance by other programs must not reject a good candidate
  for (int i = 0; us < plausible * least_us(batch) && i < again; ++i) probe_->measure();
  if (us >= plausible * least_us(batch)) return std::nullopt;
  const rules::Ceilings ceilings = probe_->ceilings();
  return Failure{
      Status::implausible,
      fmt::format("{:.4g} µs: {:.3g} FLOPs at {:.4g} GFLOP/s and {:.3g} bytes at {:.4g} GB/s take at least "
                  "{:.4g}",
                  us, min_work_.flops, ceilings.fp32_gflop_s, min_work_.bytes, ceilings.gb_s(), least_us(batch))};
}

}  // namespace deplo::measure
