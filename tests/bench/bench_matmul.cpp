// Our best matmul schedule of 100 trials against Eigen and oneDNN, alternately in one run, with the same threads.
//   bench_matmul [--schedule="trail"] [--trials=N] [Google Benchmark's flags]
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>

#include "apps/board.h"
#include "apps/kernel.h"
#include "apps/kernel_space.h"
#include "apps/measurer.h"
#include "apps/tune_kernel.h"
#include "core/rng.h"
#include "cpu_libraries.h"
#include "measure/host_memory.h"
#include "rules/lower.h"

namespace {

using namespace deplo;

std::string schedule;  // empty: searched
std::int64_t trials = 100;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

std::string search(const apps::KernelCase& kernel, measure::Device& device, const Target& target) {
  const std::string file = "/tmp/bench_matmul." + std::to_string(getpid()) + ".db";
  measure::Store store = measure::Store::open(file);
  apps::Bench bench{device, store, target, {}, 0, 0, 0};
  bench.device_id = store.add_device(device.info());
  bench.run_id = store.add_run({bench.device_id, "", "", "mcts", 0, ""});
  apps::Experiment experiment;
  experiment.trials = experiment.patience = trials;
  Progress progress(stderr, true);
  apps::Narrator narrator{progress, kernel.name, apps::now() + 600, [](const apps::Row&) {}};
  const apps::Row row = tune_kernel(kernel, experiment, {600, trials}, bench, narrator);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file + suffix);
  return row.trail;
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform(-1, 1));
  return values;
}

measure::HostMemory in_large_pages(const std::vector<float>& values) {
  measure::HostMemory memory = measure::allocate_host_memory(values.size() * sizeof(float));
  CHECK(memory != nullptr);
  std::memcpy(memory.get(), values.data(), values.size() * sizeof(float));
  return memory;
}

float* floats(const measure::HostMemory& memory) { return static_cast<float*>(memory.get()); }

struct Times {
  std::vector<double> ours, eigen, onednn, to_eigen, to_onednn;  // seconds; ratios of the same iteration
};

void report(benchmark::State& state, const Times& times, double work) {
  state.counters = {{"ours_GFLOPS", work / median(times.ours)},
                    {"eigen_GFLOPS", work / median(times.eigen)},
                    {"oneDNN_GFLOPS", work / median(times.onednn)},
                    {"vs_eigen", median(times.to_eigen)},
                    {"vs_oneDNN", median(times.to_onednn)}};
}

void matmul(benchmark::State& state) {
  const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const auto device = measure::open_device("opencl");
  const Target target = measure::target_of(device->info());
  const apps::KernelCase kernel = {"bench", "bench",
                                   apps::load_kernel("matmul", {{"M", m}, {"N", n}, {"K", k}}, "bench")};
  const std::string trail = schedule.empty() ? search(kernel, *device, target) : schedule;
  const auto lowering = rules::follow(kernel.loop, target, parse_trail(trail));
  measure::Candidate candidate{rules::materialize(lowering.program(), target), {}};
  candidate.source = emit(candidate.kernel, target);
  auto built = device->build(candidate);
  if (!built.ok()) return state.SkipWithError(built.failure().message.c_str());
  const auto count = [](std::int64_t x, std::int64_t y) { return static_cast<std::size_t>(x * y); };
  const std::vector<float> a_values = random_values(count(m, k), 1), b_values = random_values(count(k, n), 2);
  const auto arrays = device->allocate(kernel.loop.buffers);
  arrays->write(0, a_values);
  arrays->write(1, b_values);
  // The libraries get memory of the same kind as our arrays.
  const auto a = in_large_pages(a_values), b = in_large_pages(b_values);
  const auto c = in_large_pages(std::vector<float>(count(m, n)));
  Times times;
  // Twice, the second counts: each finds its own operands in the caches, as when it was tuned.
  const auto time = [](auto&& call) {
    call();
    const double start = seconds();
    call();
    return seconds() - start;
  };
  for (auto _ : state) {
    // By the host's clock, as the libraries: our time holds the enqueueing too.
    times.ours.push_back(time([&] { CHECK(built.value()->launch(*arrays, candidate.source.blocks).ok()); }));
    times.eigen.push_back(time([&] { bench::eigen_matmul(floats(a), floats(b), floats(c), m, n, k); }));
    times.onednn.push_back(time([&] { bench::onednn_matmul(floats(a), floats(b), floats(c), m, n, k); }));
    times.to_eigen.push_back(times.eigen.back() / times.ours.back());
    times.to_onednn.push_back(times.onednn.back() / times.ours.back());
    state.SetIterationTime(times.ours.back());
  }
  report(state, times, 2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
  state.SetLabel(trail);
}

BENCHMARK(matmul)
    ->Args({32, 2048, 2048})
    ->Args({512, 512, 3584})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(60);

// libgomp reads its environment before main: its threads must not spin on the cores while ours run.
void sleep_between_regions(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  sleep_between_regions(argv);
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--schedule=", 11) == 0)
      schedule = argv[i] + 11;
    else if (std::strncmp(argv[i], "--trials=", 9) == 0)
      trials = std::atoll(argv[i] + 9);
    else
      argv[kept++] = argv[i];
  }
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 1;
  benchmark::AddCustomContext("threads", std::to_string(bench::library_threads()));
  benchmark::RunSpecifiedBenchmarks();
}
