// The payloads of the frames, as JSON. Reading throws Error for whatever is not what the writer makes.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "measure/worker/runner.h"

namespace deplo::measure::worker {

struct Hello {
  DeviceInfo info;
  Dialect dialect = Dialect::opencl;
};
std::string encode(const Hello&);
Hello decode_hello(std::string_view);

std::string encode(const Error&);
Error decode_error(std::string_view);

std::string encode(const Task&);
Task decode_task(std::string_view);

/// What a worker says of a task that it has.
struct Opened {
  rules::Ceilings ceilings;  // of its device, so far
  Libraries libraries;
};
std::string encode(const Opened&);
Opened decode_opened(std::string_view);

/// Of a screening, a confirmation or a build; the latter have no use for `best_us` and `effort`.
struct Ask {
  std::vector<KernelCode> candidates;
  double best_us = 0;      // may be infinite
  double effort = 1;       // in (0, 1]
  std::uint64_t seed = 0;  // of a confirmation, as the next
  double seconds = 0;      // may be infinite
};
std::string encode(std::span<const KernelCode>, double best_us, double effort, std::uint64_t seed, double seconds);
Ask decode_ask(std::string_view);

/// One for each candidate.
std::string encode(std::span<const Reply>);
/// Throws Error too when they are not `count`.
std::vector<Reply> decode_replies(std::string_view, std::size_t count);

}  // namespace deplo::measure::worker
