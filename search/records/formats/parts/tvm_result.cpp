#include "search/records/formats/parts/tvm_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace deplo::search::records {
namespace {

constexpr std::size_t max_launches = 10'000;
constexpr double max_seconds = 1e9;  // 1e9 and 1e10 mean that there is no time

/// Error numbers of both tuners (python/tvm/autotvm/measure/measure.py and auto_scheduler/measure.py, MeasureErrorNo):
/// instantiation, compiling for the host and the device, running, a wrong answer, two timeouts, and unknown errors.
Status status_of(std::int64_t error) {
  constexpr Status statuses[] = {Status::ok,           Status::invalid,      Status::build_error,   Status::build_error,
                                 Status::launch_error, Status::wrong_result, Status::build_timeout, Status::hang};
  return error >= 0 && error < 8 ? statuses[error] : Status::launch_error;
}

}  // namespace

std::vector<double> tvm_launches(const Json& seconds) {
  std::vector<double> launches;
  for (const Json& element : seconds) {
    const double time = number_of(element).value_or(0);
    if (!(time > 0) || time >= max_seconds) return {};
    launches.push_back(time * 1e6);
  }
  return launches;
}

std::optional<TvmResult> tvm_result_of(const Json& result) {
  if (!result.is_array() || result.size() < 3 || !result[0].is_array() || !result[1].is_number_integer() ||
      result[0].size() > max_launches)
    return std::nullopt;
  TvmResult made;
  const auto error = result[1].get<std::int64_t>();
  made.record.run_seconds = std::clamp(number_of(result[2]).value_or(0), 0.0, max_seconds);
  if (error != 0) {
    made.record.outcome = {status_of(error), 0, fmt::format("TVM's error {}", error)};
    return made;
  }
  made.launches = tvm_launches(result[0]);
  const double sum = std::accumulate(made.launches.begin(), made.launches.end(), 0.0);
  made.record.outcome = made.launches.empty()
                            ? Outcome{Status::launch_error, 0, "no time"}
                            : Outcome{Status::ok, sum / static_cast<double>(made.launches.size()), ""};
  return made;
}

std::string tvm_target_name(const Json& target) {
  if (target.is_string()) return target.get<std::string>();
  std::string name;
  for (const char* key : {"kind", "tag", "arch", "mcpu", "model"})
    if (const std::string text = text_of(target, key); !text.empty()) name += (name.empty() ? "" : " ") + text;
  return name;
}

std::string tvm_tensor_text(const Json& extents, std::string_view dtype) {
  std::string text;
  for (const Json& extent : extents) text += (text.empty() ? "" : "x") + compact(extent);
  return dtype.empty() ? text : fmt::format("{}:{}", text, dtype);
}

}  // namespace deplo::search::records
