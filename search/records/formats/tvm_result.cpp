#include "search/records/formats/tvm_result.h"

#include <fmt/format.h>

#include <algorithm>

namespace deplo::search::records {
namespace {

constexpr std::size_t max_launches = 10'000;
constexpr double max_seconds = 1e9;  // 1e9 and 1e10 stand for none

/// Error numbers of both (python/tvm/autotvm/measure/measure.py and auto_scheduler/measure.py, MeasureErrorNo):
/// instantiation, compiling for the host and the device, running, a wrong answer, two timeouts, and the unknown.
Status status_of(std::int64_t error) {
  constexpr Status statuses[] = {Status::ok,           Status::invalid,      Status::build_error,   Status::build_error,
                                 Status::launch_error, Status::wrong_result, Status::build_timeout, Status::hang};
  return error >= 0 && error < 8 ? statuses[error] : Status::launch_error;
}

}  // namespace

std::optional<TvmResult> tvm_result_of(const Json& result) {
  if (!result.is_array() || result.size() < 3 || !result[0].is_array() || !result[1].is_number_integer() ||
      !result[2].is_number() || result[0].size() > max_launches)
    return std::nullopt;
  TvmResult made;
  const auto error = result[1].get<std::int64_t>();
  made.record.run_seconds = std::clamp(result[2].get<double>(), 0.0, max_seconds);
  if (error != 0) {
    made.record.outcome = {status_of(error), 0, fmt::format("TVM's error {}", error)};
    return made;
  }
  double sum = 0;
  for (const Json& seconds : result[0]) {
    if (!seconds.is_number() || !(seconds.get<double>() > 0)) return std::nullopt;
    if (seconds.get<double>() >= max_seconds) {
      made.launches.clear();
      made.record.outcome = {Status::launch_error, 0, "no time"};
      return made;
    }
    sum += made.launches.emplace_back(seconds.get<double>() * 1e6);
  }
  if (made.launches.empty()) return std::nullopt;
  made.record.outcome = {Status::ok, sum / static_cast<double>(made.launches.size()), ""};
  return made;
}

}  // namespace deplo::search::records
