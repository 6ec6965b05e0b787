// What every function of the library does first, and the one state behind them.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "fake_cuda/fake_cuda.h"

namespace deplo::measure::cuda {

extern FakeCuda state;

/// What a call returns first of all: an error of before, or the one that the test asked for.
int begin(const std::string& call, const char* function);
/// Runs it, or keeps it for the graph that is being captured.
void enqueue(std::function<void()> run);
/// Are all the bytes in one allocation?
bool inside(const void* at, std::size_t bytes);

}  // namespace deplo::measure::cuda

#define BEGIN(...) \
  if (const int code = begin(fmt::format(__VA_ARGS__), __func__); code != 0) return code
