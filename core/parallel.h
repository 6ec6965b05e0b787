// Splits work among the machine's cores.
#pragma once
#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace deplo {

/// Returns the number of threads that some work is worth: one for each `per_thread` units of the work, at most one per
/// core. `per_thread` units should take some milliseconds, because starting a thread takes 0.05 ms.
inline std::size_t threads_for(double units, double per_thread) {
  constexpr unsigned max_threads = 32;  // more threads would wait for the memory
  const double cores = std::clamp(std::thread::hardware_concurrency(), 1U, max_threads);
  return static_cast<std::size_t>(std::clamp(units / per_thread, 1.0, cores));
}

/// Calls part(first, end) for each of `threads` parts of 0 … count, all at the same time. A part must not throw.
template <class Part>
void in_parts(std::size_t count, std::size_t threads, const Part& part) {
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i)
    others.emplace_back([=, &part] { part(count * i / threads, count * (i + 1) / threads); });
  part(std::size_t{0}, count / threads);
}

}  // namespace deplo
