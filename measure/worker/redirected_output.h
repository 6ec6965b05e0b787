// Standard output of kernels that print: drivers and the PTX machine write it to this process's own.
#pragma once
#include <functional>
#include <string>

namespace deplo::measure::worker {

/// Standard output goes to an open file as long as this lives, also what libraries write to the descriptor.
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
