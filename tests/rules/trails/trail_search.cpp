#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "rules/trails/trail_case.h"

namespace deplo::rules {
namespace {

constexpr std::array<std::int64_t, 18> extents = {1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33, 61, 64, 96, 100, 128, 257};

bool fails(const TrailCase& c) { return !attempt(c).failure.empty(); }

/// Replaces the case by the simpler one if that still fails. Returns whether it does.
bool take(TrailCase& c, TrailCase simpler) {
  if (!fails(simpler)) return false;
  c = std::move(simpler);
  return true;
}

bool shrink_extents(TrailCase& c) {
  bool shrunk = false;
  for (const auto& [symbol, value] : TrailCase(c).symbols)
    for (const std::int64_t smaller : extents) {
      if (smaller >= value) break;
      TrailCase simpler = c;
      simpler.symbols[symbol] = smaller;
      if (!take(c, std::move(simpler))) continue;
      shrunk = true;
      break;
    }
  return shrunk;
}

bool shrink_choices(TrailCase& c) {
  bool shrunk = false;
  for (std::size_t i = c.wanted.size(); i-- > 0;) {
    TrailCase simpler = c;
    simpler.wanted.erase(simpler.wanted.begin() + static_cast<std::ptrdiff_t>(i));
    shrunk |= take(c, std::move(simpler));
  }
  return shrunk;
}

[[noreturn]] void worker(std::string_view target, std::uint64_t first, std::uint64_t end, std::uint64_t step,
                         std::size_t most, Draw draw, int report) {
  std::size_t found = 0;
  for (std::uint64_t seed = first; seed < end && found < most; seed += step) {
    if (!fails(draw(target, seed))) continue;
    ++found;
    if (write(report, &seed, sizeof seed) != sizeof seed) _exit(1);
  }
  _exit(0);
}

}  // namespace

std::vector<std::uint64_t> failing_seeds(std::string_view target, std::uint64_t first, std::uint64_t count,
                                         std::uint64_t jobs, std::size_t most, Draw draw) {
  std::array<int, 2> ends{};
  CHECK(pipe(ends.data()) == 0);
  std::vector<pid_t> workers;
  for (std::uint64_t job = 0; job < jobs; ++job) {
    workers.push_back(fork());
    CHECK(workers.back() >= 0);
    if (workers.back() == 0) worker(target, first + job, first + count, jobs, most, draw, ends[1]);
  }
  close(ends[1]);
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; read(ends[0], &seed, sizeof seed) == sizeof seed;) seeds.push_back(seed);
  close(ends[0]);
  for (const pid_t pid : workers) {
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  std::ranges::sort(seeds);
  return seeds;
}

TrailCase shrink(TrailCase c) {
  if (c.seed != 0) {
    TrailCase replayed = c;
    replayed.wanted = attempt(c).trail;
    replayed.seed = 0;
    if (!fails(replayed)) return c;  // fails only with this seed's data
    c = std::move(replayed);
  }
  if (c.types != 0) {
    TrailCase simpler = c;
    simpler.types = 0;
    take(c, std::move(simpler));
  }
  if (c.tight != 0) {
    TrailCase simpler = c;
    simpler.tight = 0;
    take(c, std::move(simpler));
  }
  // Fewer choices allow smaller extents, and smaller extents allow fewer choices. Two rounds nearly always suffice.
  for (int round = 0; round < 4; ++round) {
    const bool extents_shrunk = shrink_extents(c), choices_shrunk = shrink_choices(c);
    if (!extents_shrunk && !choices_shrunk) break;
  }
  return c;
}

}  // namespace deplo::rules
