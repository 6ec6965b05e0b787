// Redirects what kernels print: drivers and the PTX machine write it to this process's standard output.
#pragma once
#include <functional>
#include <string>

namespace deplo::measure::worker {

/// Redirects standard output to an open file as long as this object lives, including what libraries write to the
/// descriptor.
class RedirectedOutput {
 public:
  explicit RedirectedOutput(int descriptor);
  ~RedirectedOutput();
  RedirectedOutput(const RedirectedOutput&) = delete;
  RedirectedOutput& operator=(const RedirectedOutput&) = delete;

 private:
  int old_;
};

/// Returns what is written to standard output while `work` runs.
std::string printed_by(const std::function<void()>& work);

}  // namespace deplo::measure::worker
