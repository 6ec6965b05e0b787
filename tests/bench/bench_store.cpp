// Appends to the store. The target is at least 20,000 trials per second in a batch.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "measure/store/store.h"

namespace {

using namespace deplo;
using namespace deplo::measure;

/// A store in a file of its own, with the rows that a trial refers to.
class Fixture {
 public:
  Fixture() {
    remove();
    store_ = std::make_unique<Store>(Store::open(file_));
    RunRecord run;
    run.device = store_->add_device(DeviceInfo());
    TrialRecord trial;
    trial.run = store_->add_run(run);
    trial.kernel = store_->add_kernel({"matmul", "=== loop: matmul ===\n"});
    trial.trail =
        "tileify.apply=yes chunk_matmul_k.bk=64 blockify_launch.bm=96 blockify_launch.bn=256 "
        "register_tile.fm=12 register_tile.fn=32 vectorize.lanes=16 mark_unroll.factor=4";
    trial.digest = "d41d8cd98f00b204e9800998ecf8427e";
    trial.status = Status::ok;
    trial.timing.median_us = 123.4;
    trial.timing.fidelity = 1;
    trial.timing.samples = {123.45, 123.35, 123.4, 125.5, 122.25};
    trial.protocol = "screen 5x200us; confirm 15x1000us";
    trials_.assign(1000, trial);
  }
  ~Fixture() {
    store_.reset();
    remove();
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  Store& store() { return *store_; }
  const std::vector<TrialRecord>& trials() const { return trials_; }

 private:
  void remove() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file_ + suffix);
  }
  std::string file_ = (std::filesystem::temp_directory_path() / "deplo_bench_store.db").string();
  std::unique_ptr<Store> store_;
  std::vector<TrialRecord> trials_;
};

void append_batch(benchmark::State& state) {
  Fixture fixture;
  for (auto _ : state) fixture.store().append(fixture.trials());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(fixture.trials().size()));
}
BENCHMARK(append_batch)->Unit(benchmark::kMillisecond)->UseRealTime();

void append_one(benchmark::State& state) {
  Fixture fixture;
  for (auto _ : state) fixture.store().append(fixture.trials().front());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(append_one)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
