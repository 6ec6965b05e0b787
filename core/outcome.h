// What became of a candidate: a time or a failure. Failures are data, never exceptions.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/error.h"

namespace deplo {

/// Why a candidate has no valid time; stored by these names. What each means: docs/measurement.md, "Outcomes".
enum class Status {
  ok,
  slow,     // given up on: far from the best known
  invalid,  // the schedule cannot be lowered
  build_error,
  build_timeout,
  build_crash,
  resource,  // more threads, shared memory or registers than the device has
  load_error,
  launch_error,
  illegal_access,
  hang,
  wrong_result,
  guard_hit,         // wrote beside a buffer
  nondeterministic,  // two runs, different bits
  noop,              // a time that is not a positive number
  implausible,       // faster than the device can be
  worker_lost,
  device_lost,
  out_of_memory,
  cancelled,
  timeout,  // of older stores: cancelled
};
std::string_view status_name(Status);
/// Throws Error when the name is unknown.
Status parse_status(std::string_view name);

struct Failure {
  Status status = Status::invalid;
  std::string message;
};

/// A value, or the reason why there is none.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor): returned by value
  Result(Failure failure) : state_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return state_.index() == 0; }
  T& value() {
    CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  /// The value; Error with the failure's message where there is none.
  T value_or_throw() && {
    if (!ok()) throw Error(failure().message);
    return std::move(value());
  }
  const Failure& failure() const {
    CHECK(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Failure> state_;
};

/// What a searcher is told: the median time in microseconds when ok.
struct Outcome {
  Status status = Status::invalid;
  double microseconds = 0;
  std::string message;
  double seconds = 0;  // what it took to find out: build, launches and all overheads; 0: not known
  bool ok() const { return status == Status::ok; }
};

}  // namespace deplo
