// The exception that a failing check throws. Private to ir/verify.
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

namespace deplo::ir::verifier {

/// Thrown by the checks. verify() catches it and adds the place in the program.
struct Violation {
  std::string message;
};

template <class... T>
[[noreturn]] void fail(fmt::format_string<T...> message, T&&... values) {
  throw Violation{fmt::format(message, std::forward<T>(values)...)};
}

}  // namespace deplo::ir::verifier
