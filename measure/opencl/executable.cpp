#include "measure/opencl/executable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "measure/opencl/opencl.h"

namespace deplo::measure::opencl {
namespace {

/// The start and end of a finished command, in nanoseconds of the device's clock.
struct Interval {
  double start = 0, end = 0;
};

std::optional<Interval> profile(const Event& event, cl_int& code) {
  cl_ulong start = 0, end = 0;
  code = clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
  if (code == CL_SUCCESS)
    code = clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  if (code != CL_SUCCESS) return std::nullopt;
  return Interval{static_cast<double>(start), static_cast<double>(end)};
}

Status status_of(cl_int code) {
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY) return Status::out_of_memory;
  return Status::launch_error;
}

}  // namespace

OpenclExecutable::OpenclExecutable(cl_command_queue queue, PoclFiles files, Program program, Kernel kernel,
                                   const KernelCode& candidate, Resources resources)
    : queue_(queue),
      files_(std::move(files)),
      program_(std::move(program)),
      kernel_(std::move(kernel)),
      blocks_(candidate.source.blocks),
      threads_(static_cast<std::size_t>(candidate.source.threads)),
      zeroed_(candidate.source.zeroed),
      restored_(candidate.source.restored),
      launch_(candidate.launch),
      entry_(candidate.source.entry),
      resources_(std::move(resources)) {}

Result<double> OpenclExecutable::launch(Arrays& arrays, std::int64_t blocks) {
  Arrays* const set = &arrays;
  const auto one = sample({&set, 1}, blocks, 1);
  if (!one.ok()) return one.failure();
  return one.value().us;
}

Result<Sample> OpenclExecutable::sample(std::span<Arrays* const> sets, std::int64_t blocks, int batch) {
  CHECK(blocks >= 1 && blocks <= blocks_ && batch >= 1 && !sets.empty());
  Commands commands;
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < batch && code == CL_SUCCESS; ++i) {
    const auto& memory = static_cast<const OpenclArrays&>(*sets[static_cast<std::size_t>(i) % sets.size()]);
    code = enqueue_preparation(memory, commands);
    if (code == CL_SUCCESS) code = enqueue_kernel(memory, blocks, commands);
  }
  if (const auto failed = finish(code)) return *failed;
  const auto us = span_of(commands, blocks);
  if (!us.ok()) return us.failure();
  return Sample{us.value() / batch, 0};
}

std::optional<Failure> OpenclExecutable::execute(Arrays& arrays, std::int64_t blocks) {
  CHECK(blocks >= 1 && blocks <= blocks_);
  const auto& memory = static_cast<const OpenclArrays&>(arrays);
  Commands commands;
  cl_int code = enqueue_preparation(memory, commands);
  if (code == CL_SUCCESS) code = enqueue_kernel(memory, blocks, commands);
  return finish(code);
}

std::optional<Failure> OpenclExecutable::run(const OpenclArrays& memory, std::int64_t blocks) {
  Commands commands;
  return finish(enqueue_kernel(memory, blocks, commands));
}

// Waits even if enqueueing failed: what runs must be done before the events and the arrays are freed.
std::optional<Failure> OpenclExecutable::finish(cl_int enqueued) {
  const cl_int finished = clFinish(queue_);
  if (enqueued != CL_SUCCESS) return failure(enqueued);
  if (finished != CL_SUCCESS) return failure(finished);
  if (!std::exchange(launched_, true) && resources_.code_bytes < 0)
    resources_.code_bytes = files_.code_bytes(entry_).value_or(-1);
  return std::nullopt;
}

cl_int OpenclExecutable::enqueue_preparation(const OpenclArrays& memory, Commands& commands) const {
  for (const std::size_t buffer : restored_) {
    cl_event raw = nullptr;
    if (const cl_int code = memory.restore(buffer, &raw); code != CL_SUCCESS) return code;
    commands.copies.emplace_back(raw);
  }
  for (const std::size_t buffer : zeroed_) {
    cl_event raw = nullptr;
    if (const cl_int code = memory.fill(buffer, 0, &raw); code != CL_SUCCESS) return code;
    commands.fills.emplace_back(raw);
  }
  return CL_SUCCESS;
}

/// Sets the kernel's arguments: the buffers in order, with the scalars at their positions among them.
cl_int OpenclExecutable::set_arguments(const OpenclArrays& memory) {
  const std::size_t scalars = launch_ ? launch_->scalars.size() : 0;
  std::size_t scalar = 0, buffer = 0;
  for (std::size_t i = 0; i < memory.count() + scalars; ++i) {
    const bool by_value = scalar < scalars && launch_->scalars[scalar].position == i;
    cl_mem argument = by_value ? nullptr : memory.get(buffer++);
    const void* const value = by_value ? static_cast<const void*>(launch_->scalars[scalar].bytes.data()) : &argument;
    const bool is_local = by_value && launch_->scalars[scalar].bytes.empty();
    const std::size_t size = is_local   ? launch_->scalars[scalar].local_bytes
                             : by_value ? launch_->scalars[scalar].bytes.size()
                                        : sizeof argument;
    scalar += by_value ? 1 : 0;
    if (const cl_int code = clSetKernelArg(kernel_.get(), static_cast<cl_uint>(i), size, is_local ? nullptr : value);
        code != CL_SUCCESS) {
      refused_argument_ = static_cast<int>(i);
      return code;
    }
  }
  return CL_SUCCESS;
}

cl_int OpenclExecutable::enqueue_kernel(const OpenclArrays& memory, std::int64_t blocks, Commands& commands) {
  if (const cl_int code = set_arguments(memory); code != CL_SUCCESS) return code;
  std::vector<std::size_t> global{static_cast<std::size_t>(blocks) * threads_}, local{threads_};
  if (launch_) {
    local.assign(launch_->threads.begin(), launch_->threads.end());
    global.clear();
    for (std::size_t i = 0; i < local.size(); ++i)
      global.push_back(static_cast<std::size_t>(launch_->blocks[i]) * local[i]);
  }
  cl_event raw = nullptr;
  const cl_int code = clEnqueueNDRangeKernel(queue_, kernel_.get(), static_cast<cl_uint>(global.size()), nullptr,
                                             global.data(), local.data(), 0, nullptr, &raw);
  if (code == CL_SUCCESS) commands.kernels.emplace_back(raw);
  return code;
}

// Returns the microseconds from the first start to the last end. The time between launches counts; copies do not. A
// fill always covers the whole buffer, even if only some of the blocks run, so only these blocks' share of its time
// counts.
Result<double> OpenclExecutable::span_of(const Commands& commands, std::int64_t blocks) const {
  cl_int code = CL_SUCCESS;
  double first = std::numeric_limits<double>::infinity(), last = -first, fills = 0, copies = 0;
  for (const std::vector<Event>* const list : {&commands.copies, &commands.fills, &commands.kernels})
    for (const Event& event : *list) {
      const auto interval = profile(event, code);
      if (!interval) return failure(code);
      first = std::min(first, interval->start);
      last = std::max(last, interval->end);
      if (list == &commands.fills) fills += interval->end - interval->start;
      if (list == &commands.copies) copies += interval->end - interval->start;
    }
  const double part = static_cast<double>(blocks) / static_cast<double>(blocks_);
  return (last - first - copies - fills * (1 - part)) * 1e-3;
}

/// Returns the work-group size that the kernel requires, as text for a message: "; the kernel requires 32 x 1 x 1
/// (reqd_work_group_size)". Returns "" if the kernel requires no size.
std::string OpenclExecutable::required_block() const {
  cl_device_id device = nullptr;
  std::array<std::size_t, 3> size{};
  if (clGetCommandQueueInfo(queue_, CL_QUEUE_DEVICE, sizeof device, &device, nullptr) != CL_SUCCESS ||
      clGetKernelWorkGroupInfo(kernel_.get(), device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size.data(),
                               nullptr) != CL_SUCCESS ||
      size[0] == 0)
    return "";
  return fmt::format("; the kernel requires {} (reqd_work_group_size)", fmt::join(size, " x "));
}

Failure OpenclExecutable::failure(cl_int code) const {
  if (refused_argument_ >= 0)
    return {status_of(code), fmt::format("{} for argument {} of the kernel, counted from 0", opencl_error_name(code),
                                         refused_argument_)};
  const std::string threads =
      launch_ ? fmt::format("{}", fmt::join(launch_->threads, " x ")) : std::to_string(threads_);
  return {status_of(code), fmt::format("{} with {} threads a block{}", opencl_error_name(code), threads,
                                       code == CL_INVALID_WORK_GROUP_SIZE ? required_block() : "")};
}

}  // namespace deplo::measure::opencl
