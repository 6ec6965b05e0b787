// The one exception and the one assertion of the project.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace deplo {

/// Process exit codes: what `main` returns when an Error reaches it.
enum class Exit : int { done = 0, user = 1, environment = 2 };

/// A mistake of the user or a problem of the environment. The message states in one line what was expected, what was
/// found and where. An Error that nothing catches reaches `main`, which reports it and exits with its code.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Exit exit = Exit::user) : std::runtime_error(message), exit_(exit) {}
  Exit exit() const { return exit_; }

 private:
  Exit exit_;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "deplo: internal error: %s is false at %s:%d; please report this\n", condition, file, line);
  std::abort();
}

}  // namespace deplo

/// Checks an invariant, and aborts if it is broken, which is a bug. Always enabled. User input must never break one.
#define CHECK(condition) (static_cast<bool>(condition) ? void() : ::deplo::check_failed(#condition, __FILE__, __LINE__))
