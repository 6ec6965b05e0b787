#include "measure/worker/step.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace deplo::measure::worker {
namespace {

constexpr std::array<std::string_view, 6> names = {"idle", "prepare", "build", "launch", "sample", "check"};

[[noreturn]] void fail() {
  throw Error(fmt::format("worker: no shared memory: {}", std::strerror(errno)), Exit::environment);
}

}  // namespace

std::string_view name(Step step) { return names.at(static_cast<std::size_t>(step)); }

double monotonic_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct StepPage::Page {
  std::atomic<std::uint64_t> what;  // lower 32 bits: the step; upper: the candidate
  std::atomic<double> since;
};

StepPage StepPage::create() {
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<double>::is_always_lock_free);
  StepPage page(memfd_create("deplo worker", MFD_CLOEXEC));
  if (page.descriptor_ < 0 || ftruncate(page.descriptor_, sizeof(Page)) != 0) fail();
  page.map();
  return page;
}

StepPage StepPage::attach(int descriptor) {
  StepPage page(descriptor);
  page.map();
  close(std::exchange(page.descriptor_, -1));
  return page;
}

void StepPage::map() {
  void* const page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (page == MAP_FAILED) fail();
  page_ = static_cast<Page*>(page);
}

StepPage::StepPage(StepPage&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), page_(std::exchange(other.page_, nullptr)) {}

StepPage::~StepPage() {
  if (page_ != nullptr) munmap(page_, sizeof(Page));
  if (descriptor_ >= 0) close(descriptor_);
}

// The time is stored first: a reader who sees the new step sees a time at least as new, so it never allows the step too
// little time.
void StepPage::enter(Step step, std::size_t candidate) {
  page_->since.store(monotonic_now());
  page_->what.store(static_cast<std::uint64_t>(step) | static_cast<std::uint64_t>(candidate) << 32);
}

StepPage::Now StepPage::read() const {
  const std::uint64_t what = page_->what.load();
  const auto step = static_cast<std::uint32_t>(what);
  return {step < names.size() ? static_cast<Step>(step) : Step::idle, static_cast<std::uint32_t>(what >> 32),
          page_->since.load()};
}

}  // namespace deplo::measure::worker
