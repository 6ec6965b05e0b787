// The payloads of the frames, as JSON. Each decode function throws Error for any text that its encode does not write.
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

/// A worker's answer to a task.
struct Opened {
  rules::Ceilings ceilings;  // of the worker's device, as measured so far
  Libraries libraries;
};
std::string encode(const Opened&);
Opened decode_opened(std::string_view);

/// The request for a screening, a confirmation or a build.
struct Ask {
  std::vector<KernelCode> candidates;
  double best_us = 0;      // only for a screening; may be infinite
  double effort = 1;       // only for a screening; in (0, 1]
  std::uint64_t seed = 0;  // only for a confirmation
  double seconds = 0;      // only for a confirmation; may be infinite
};
std::string encode(std::span<const KernelCode>, double best_us, double effort, std::uint64_t seed, double seconds);
Ask decode_ask(std::string_view);

std::string encode(std::span<const Reply>);
/// Also throws Error if there are not `count` replies.
std::vector<Reply> decode_replies(std::string_view, std::size_t count);

}  // namespace deplo::measure::worker
