#include "measure/ptx/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "measure/ptx/finding.h"
#include "measure/ptx/warp/place.h"
#include "measure/ptx/warp/warp.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::int64_t max_resident_blocks = 1024;  // further blocks begin when one has ended
constexpr std::int64_t instructions_before_another_block = 300'000;
constexpr int max_idle_rounds = 16;

}  // namespace

Machine::Machine(const Program& program, GlobalMemory& memory, const std::vector<std::byte>& parameters,
                 const std::vector<TensorMap>& maps, const LaunchOptions& options, GlobalOrder::Tracked tracked)
    : program_(program),
      memory_(memory),
      order_(program.granule, program.cluster, std::move(tracked)),
      parameters_(parameters),
      maps_(maps),
      options_(options),
      shared_bytes_(aligned(program.shared_bytes, 16) + static_cast<std::uint64_t>(options.dynamic_shared_bytes)),
      rng_(options.seed),
      timing_(static_cast<Timing>(rng_.below(3))),
      quantum_(std::int64_t{1} << rng_.below(12)) {
  CHECK(options.blocks >= 1 && options.threads >= 1 && options.blocks % program.cluster == 0);
  for (const Variable& v : program.globals) {
    auto& bytes = module_memory_.emplace_back(v.initial);
    bytes.resize(v.size);
    memory_.add(first_module_variable + module_memory_.size() - 1, v.name, std::as_writable_bytes(std::span(bytes)));
  }
}

LaunchResult Machine::run() {
  try {
    run_grid();
  } catch (Finding& finding) {
    finding.set_printed(printed_);
    throw;
  }
  return {thread_instructions_, std::move(printed_)};
}

void Machine::run_grid() {
  admit();
  while (!resident_.empty()) {
    const bool active = sweep();
    retire();
    if (active) {
      if (executed_ - last_admission_ > instructions_before_another_block && !run_deferred()) admit();
      if (executed_ - last_progress_ > options_.max_instructions)
        throw Finding(fmt::format("hang: no thread ended and no memory changed in {} instructions of warps; {}",
                                  executed_ - last_progress_, waiting_warps()));
    } else if (!resident_.empty()) {
      step_idle();
    }
  }
  CHECK(deferred_.empty());
}

// Every warp waits. First, a deferred copy is done, if there is one. Otherwise another block begins, since the warps
// may be waiting for it. Otherwise waits that may time out end early.
void Machine::step_idle() {
  if (run_deferred() || admit()) return;
  if (std::exchange(idle_progress_, progress_) != progress_) idle_rounds_ = 0;
  if (++idle_rounds_ > max_idle_rounds) report_deadlock();
  waits_time_out_ = true;
  sweep();
  waits_time_out_ = false;
  retire();
}

bool Machine::admit() {
  last_admission_ = executed_;
  const std::int64_t clusters = options_.blocks / program_.cluster;
  const std::int64_t max_clusters = std::max<std::int64_t>(1, max_resident_blocks / program_.cluster);
  if (begun_ == clusters || static_cast<std::int64_t>(resident_.size()) >= max_clusters) return false;
  resident_.push_back(std::make_unique<Cluster>(*this, begun_++));
  return true;
}

// Gives each warp a turn. In each block, a randomly drawn warp starts.
bool Machine::sweep() {
  is_lively_ = std::exchange(swept_progress_, progress_) != progress_;
  std::int64_t executed = 0;
  for (const auto& cluster : resident_) {
    for (const auto& block : cluster->blocks()) {
      auto& warps = block->warps();
      const std::size_t first = rng_.below(warps.size());
      for (std::size_t i = 0; i < warps.size(); ++i) {
        Warp& warp = *warps[(first + i) % warps.size()];
        if (warp.has_ended()) continue;
        executed += warp.run(1 + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(quantum_))));
        thread_instructions_ += warp.take_thread_instructions();
      }
    }
  }
  if (timing_ == Timing::random && !deferred_.empty() && rng_.below(4) == 0) run_deferred();
  executed_ += executed;
  return executed > 0;
}

void Machine::retire() {
  for (std::size_t i = 0; i < resident_.size();) {
    if (!resident_[i]->has_ended()) {
      ++i;
      continue;
    }
    for (const DeferredWork& work : deferred_)
      if (&work.warp->block().cluster() == resident_[i].get())
        throw placed(Finding("the block ends before this copy is done"), *work.warp, work.at);
    for (const auto& block : resident_[i]->blocks()) block->check_end();
    resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
    if (resident_.empty()) admit();
  }
}

void Machine::defer(const Warp& warp, std::uint32_t at, std::function<void()> work) {
  if (timing_ == Timing::early)
    do_placed(work, warp, at);
  else
    deferred_.push_back({&warp, at, std::move(work)});
}

bool Machine::run_deferred() {
  if (deferred_.empty()) return false;
  const auto which = deferred_.begin() + static_cast<std::ptrdiff_t>(rng_.below(deferred_.size()));
  const DeferredWork done = std::move(*which);
  deferred_.erase(which);
  do_placed(done.work, *done.warp, done.at);
  note_progress();
  return true;
}

void Machine::note_uninitialized(const Finding& finding, const Warp& warp) {
  if (!uninitialized_) uninitialized_ = placed(finding, warp, warp.at());
}

const TensorMap& Machine::map_of(std::uint64_t address) const {
  const std::uint64_t offset = (address & ~window_mask) - param_start;
  constexpr std::uint64_t map_bytes = 128;
  std::uint64_t number = 0;
  if ((address & window_mask) != param_window || offset % 64 != 0 || offset > parameters_.size() ||
      map_bytes > parameters_.size() - offset)
    throw Finding(fmt::format("{:#x} is not the address of a tensor map", address));
  std::memcpy(&number, parameters_.data() + offset, sizeof number);
  if (number >= maps_.size()) throw Finding(fmt::format("the parameter at byte {} is not a tensor map", offset));
  return maps_[number];
}

std::string Machine::waiting_warps() const {
  constexpr int max_warps = 6;
  std::string text;
  int count = 0;
  for (const auto& cluster : resident_) {
    for (const auto& block : cluster->blocks()) {
      for (const auto& warp : block->warps()) {
        if (warp->has_ended() || ++count > max_warps) continue;
        text += fmt::format("{}block {}, {}", text.empty() ? "" : "; ", block->index(), warp->whereabouts());
      }
    }
  }
  return count > max_warps ? text + fmt::format("; and {} more", count - max_warps) : text;
}

void Machine::report_deadlock() const {
  for (const auto& cluster : resident_)
    for (const auto& block : cluster->blocks())
      for (const auto& warp : block->warps())
        if (const std::string parted = warp->parted_lanes(); !parted.empty())
          throw Finding(fmt::format("{}; block {}", parted, block->index()));
  throw Finding(fmt::format("deadlock: every warp waits: {}", waiting_warps()));
}

}  // namespace deplo::measure::ptx
