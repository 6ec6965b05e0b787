// The start of every function of the fake libraries, and the one state that they share.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "fake_cuda/fake_cuda.h"

namespace deplo::measure::cuda {

extern FakeCuda state;

/// Records the call, and returns its error code: a sticky error of an earlier call, or the error that the test asked
/// for; 0 if there is none.
int begin(const std::string& call, const char* function);
/// Runs the function, or keeps it for the graph that is being captured.
void enqueue(std::function<void()> run);
/// Returns whether all the bytes are in one allocation or variable.
bool inside(const void* at, std::size_t bytes);

}  // namespace deplo::measure::cuda

#define BEGIN(...) \
  if (const int code = begin(fmt::format(__VA_ARGS__), __func__); code != 0) return code
