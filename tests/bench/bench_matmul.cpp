// Our best matmul schedule against Eigen and oneDNN, alternately in one run, with the same number of threads.
//   bench_matmul [--schedule="trail"] [--trials=N] [--search=NAME] [Google Benchmark's flags]
// `--benchmark_filter=tinyllama` runs the matmuls of a TinyLlama block. The geometric mean of the ratios to oneDNN
// follows at the end.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "bench/cpu_libraries.h"
#include "bench/tuned.h"
#include "core/error.h"
#include "engine/loop/kernel.h"
#include "measure/host_memory.h"

namespace {

using namespace deplo;
using bench::time_warm;

bench::SearchFlags flags;
std::vector<double> vs_onednn;  // one entry per shape that was run

measure::HostMemory in_large_pages(const std::vector<float>& values) {
  measure::HostMemory memory = measure::allocate_host_memory(values.size() * sizeof(float));
  CHECK(memory != nullptr);
  std::memcpy(memory.get(), values.data(), values.size() * sizeof(float));
  return memory;
}

float* floats(const measure::HostMemory& memory) { return static_cast<float*>(memory.get()); }

struct Times {
  std::vector<double> ours, eigen, onednn, to_eigen, to_onednn;  // seconds; the last two are ratios within an iteration
};

void report(benchmark::State& state, const Times& times, double work) {
  using bench::median;
  state.counters = {{"ours_GFLOPS", work / median(times.ours)},
                    {"eigen_GFLOPS", work / median(times.eigen)},
                    {"oneDNN_GFLOPS", work / median(times.onednn)},
                    {"vs_eigen", median(times.to_eigen)},
                    {"vs_oneDNN", median(times.to_onednn)}};
  vs_onednn.push_back(median(times.to_onednn));
}

void matmul(benchmark::State& state) {
  const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  bench::Tuned ours({"bench", "bench", engine::load_kernel("matmul", {{"M", m}, {"N", n}, {"K", k}}, "bench"), {}},
                    flags);
  // The libraries get memory of the same kind as our arrays.
  const auto a = in_large_pages(ours.input(0)), b = in_large_pages(ours.input(1));
  const auto c = in_large_pages(std::vector<float>(static_cast<std::size_t>(m * n)));
  Times times;
  for (auto _ : state) {
    // The host's clock, as for the libraries: our time includes the enqueueing.
    times.ours.push_back(time_warm([&] { ours.launch(); }));
    times.eigen.push_back(time_warm([&] { bench::eigen_matmul(floats(a), floats(b), floats(c), m, n, k); }));
    times.onednn.push_back(time_warm([&] { bench::onednn_matmul(floats(a), floats(b), floats(c), m, n, k); }));
    times.to_eigen.push_back(times.eigen.back() / times.ours.back());
    times.to_onednn.push_back(times.onednn.back() / times.ours.back());
    state.SetIterationTime(times.ours.back());
  }
  report(state, times, 2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  state.SetLabel(ours.trail());
}

void add(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k) {
  benchmark::RegisterBenchmark(name.c_str(), matmul)
      ->Args({m, n, k})
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(60);
}

// Adds two other shapes, then M, N, K of a TinyLlama-1.1B block (facts/kernel_suite_84.tsv): q and o, k and v, gate and
// up, down.
void add_all() {
  add("matmul", 32, 2048, 2048);
  add("matmul", 512, 512, 3584);
  for (const std::int64_t s : {32, 128}) {
    add("tinyllama_q_o", s, 2048, 2048);
    add("tinyllama_k_v", s, 256, 2048);
    add("tinyllama_gate_up", s, 5632, 2048);
    add("tinyllama_down", s, 2048, 5632);
  }
}

// Restarts the program with OMP_WAIT_POLICY=passive, since libgomp reads its environment before main. The threads of
// libgomp must not spin on the cores while ours run.
void sleep_between_regions(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  sleep_between_regions(argv);
  flags = bench::take_search_flags(argc, argv);
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::AddCustomContext("threads", std::to_string(bench::library_threads()));
  benchmark::RunSpecifiedBenchmarks();
  double logs = 0;
  for (const double ratio : vs_onednn) logs += std::log(ratio);
  if (!vs_onednn.empty())
    std::printf("geometric mean of vs_oneDNN over %zu shapes: %.2f\n", vs_onednn.size(),
                std::exp(logs / static_cast<double>(vs_onednn.size())));
}
