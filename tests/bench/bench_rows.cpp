// Memory-bound kernels against a copy of a large array by as many threads, alternately in one run.
//   bench_rows [--schedule="trail"] [--trials=N] [--search=NAME] [Google Benchmark's flags]
// Only compulsory bytes count: each buffer once. The copy reads and writes 64 MiB, far more than the caches hold.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "bench/tuned.h"
#include "core/error.h"
#include "engine/loop/kernel.h"
#include "measure/host_memory.h"

namespace {

using namespace deplo;
using bench::time_warm;

bench::SearchFlags flags;

class Copy {
 public:
  Copy() : from_(measure::allocate_host_memory(bytes)), to_(measure::allocate_host_memory(bytes)) {
    CHECK(from_ != nullptr && to_ != nullptr);
    std::memset(from_.get(), 1, bytes);
    std::memset(to_.get(), 2, bytes);
  }
  void run() const {
    const std::size_t threads = std::max(1U, std::thread::hardware_concurrency()), share = bytes / threads;
    std::vector<std::jthread> pool;
    for (std::size_t t = 1; t < threads; ++t) pool.emplace_back([this, t, share] { part(t * share, share); });
    part(0, share);
  }
  static constexpr std::size_t bytes = std::size_t{64} << 20;

 private:
  void part(std::size_t at, std::size_t count) const {
    std::memcpy(static_cast<char*>(to_.get()) + at, static_cast<const char*>(from_.get()) + at, count);
  }
  measure::HostMemory from_, to_;
};

void rows(benchmark::State& state, const std::string& name, const ir::Symbols& symbols) {
  const ir::Program loop = engine::load_kernel(name, symbols, "bench");
  bench::Tuned ours({name, "bench", loop, {}}, flags);
  const Copy copy;
  const double bytes = ir::work(loop).bytes, copied = 2.0 * Copy::bytes;
  std::vector<double> times, copies, ratios;
  for (auto _ : state) {
    times.push_back(time_warm([&] { ours.launch(); }));
    copies.push_back(time_warm([&] { copy.run(); }));
    ratios.push_back(bytes / times.back() / (copied / copies.back()));
    state.SetIterationTime(times.back());
  }
  state.counters = {{"ours_GBps", 1e-9 * bytes / bench::median(times)},
                    {"copy_GBps", 1e-9 * copied / bench::median(copies)},
                    {"of_copy", bench::median(ratios)}};
  state.SetLabel(ours.trail());
}

void add(const std::string& name, const ir::Symbols& symbols) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { rows(state, name, symbols); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(60);
}

}  // namespace

int main(int argc, char** argv) {
  flags = bench::take_search_flags(argc, argv);
  // The buffers of each kernel take 74 to 128 MiB, more than the caches hold.
  add("softmax", {{"M", 16384}, {"N", 1024}});
  add("rmsnorm", {{"M", 8192}, {"D", 2048}});
  add("gelu", {{"M", 512}, {"N", 18944}});
  add("silu_mul", {{"M", 512}, {"N", 18944}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
