// What became of a candidate: a time or a failure. Failures are data, never exceptions.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/error.h"

namespace deplo {

/// Why a candidate has no valid time; stored by these names. The full list of the protocol is in docs/measurement.md.
enum class Status { ok, invalid, build_error, launch_error, wrong_result, timeout, implausible };
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
  bool ok() const { return status == Status::ok; }
};

}  // namespace deplo
