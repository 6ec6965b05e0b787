// The outcome of a candidate: a time or a failure. Failures are data, never exceptions.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/error.h"

namespace deplo {

/// Why a candidate has no valid time. Stores use these names. docs/measurement.md, "Outcomes", explains each.
enum class Status {
  ok,
  slow,     // abandoned: much slower than the best known
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
  guard_hit,         // wrote outside of a buffer
  nondeterministic,  // two runs gave different bits
  noop,              // a time that is not a positive number
  implausible,       // faster than the device can be
  no_energy,         // the device did not report the energy, which is an objective
  worker_lost,
  device_lost,
  out_of_memory,
  cancelled,
  timeout,  // older stores use it for cancelled
};
std::string_view status_name(Status);
/// nullopt: the name is unknown.
std::optional<Status> find_status(std::string_view name);
/// Throws Error if the name is unknown.
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
  /// Returns the value. Throws Error with the failure's message if there is none.
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

/// The result that a searcher is told. `microseconds`: the median time if ok.
struct Outcome {
  Status status = Status::invalid;
  double microseconds = 0;
  std::string message;
  double seconds = 0;           // cost of the measurement: build, launches and all overheads; 0: unknown
  double launch_seconds = 0;    // the part of `seconds` that less effort reduces; 0: none, or unknown
  double left_out_seconds = 0;  // cost of the launches that were left out, because less effort was asked for
  bool ok() const { return status == Status::ok; }
};

}  // namespace deplo
