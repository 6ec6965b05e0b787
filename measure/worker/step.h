// What a worker is doing right now, in a page of memory that it shares with the tuner. Saying so is two stores: it
// wakes nobody, so that not even a sample of a microsecond on a CPU device is disturbed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deplo::measure::worker {

/// In the order in which a candidate meets them. `prepare` is no candidate's: the inputs and the reference are made.
enum class Step : std::uint32_t { idle, prepare, build, launch, sample, check };
std::string_view name(Step);

/// One writer (the worker), one reader (the tuner).
class StepPage {
 public:
  struct Now {
    Step step = Step::idle;
    std::uint32_t candidate = 0;  // its number in the request
    double since = 0;             // of now() below
  };

  /// A new page, in a file that has no name. Throws Error(environment).
  static StepPage create();
  /// The page behind a descriptor that was inherited, which it closes. Throws Error(environment).
  static StepPage attach(int descriptor);
  ~StepPage();
  StepPage(StepPage&&) noexcept;
  StepPage& operator=(StepPage&&) = delete;

  void enter(Step step, std::size_t candidate = 0);
  /// Whatever the writer left there: a step that does not exist reads as idle.
  Now read() const;
  int descriptor() const { return descriptor_; }  // -1 after attach()

 private:
  struct Page;
  explicit StepPage(int descriptor) : descriptor_(descriptor) {}
  void map();
  int descriptor_;
  Page* page_ = nullptr;
};

/// Seconds of the clock that all processes share (CLOCK_MONOTONIC).
double monotonic_now();

}  // namespace deplo::measure::worker
