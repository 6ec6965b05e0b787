// The current step of a worker, in a page of memory that it shares with the tuner. Entering a step takes two stores and
// wakes no process, so that not even a sample of a microsecond on a CPU device is disturbed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deplo::measure::worker {

/// The steps of a worker, in the order in which a candidate goes through them. `prepare` belongs to no candidate: it
/// computes the inputs and the reference.
enum class Step : std::uint32_t { idle, prepare, build, launch, sample, check };
std::string_view name(Step);

/// The shared page. It has one writer (the worker) and one reader (the tuner).
class StepPage {
 public:
  struct Now {
    Step step = Step::idle;
    std::uint32_t candidate = 0;  // index in the request
    double since = 0;             // by monotonic_now()
  };

  /// Creates a page in a file without a name. Throws Error(environment).
  static StepPage create();
  /// Maps the page of an inherited descriptor, and closes the descriptor. Throws Error(environment).
  static StepPage attach(int descriptor);
  ~StepPage();
  StepPage(StepPage&&) noexcept;
  StepPage& operator=(StepPage&&) = delete;

  void enter(Step step, std::size_t candidate = 0);
  /// Returns what the writer left in the page. A step that does not exist reads as idle.
  Now read() const;
  int descriptor() const { return descriptor_; }  // -1 after attach()

 private:
  struct Page;
  explicit StepPage(int descriptor) : descriptor_(descriptor) {}
  void map();
  int descriptor_;
  Page* page_ = nullptr;
};

/// Returns the seconds of the clock that all processes share (CLOCK_MONOTONIC).
double monotonic_now();

}  // namespace deplo::measure::worker
