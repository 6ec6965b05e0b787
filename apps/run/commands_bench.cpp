// `deplo bench`, which is also spelt `deplo run --bench` (apps/cli/cli.cpp).
#include <memory>
#include <mutex>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/run/bench.h"
#include "apps/run/device_flags.h"
#include "core/interrupt.h"

namespace deplo::apps {
namespace {

struct BenchFlags {
  BenchOptions options;
  SourceFlags source;
  std::string inputs;
  bool json = false;
};

void print_report(const BenchReport& report, bool json, Progress& progress) {
  progress.end();
  print_result(json ? print_json(report) : print_table(report, window_width()));
}

int run_bench(BenchFlags& flags) {
  BenchOptions& options = flags.options;
  flags.source.take_inputs_function(flags.inputs);
  if (options.config)
    options.source_options = flags.source.options.read();
  else
    options.selection = flags.source.selection();
  read_device_flags(options, flags.inputs);
  catch_interrupts();
  Progress progress(stderr, flags.json);
  std::mutex mutex;
  BenchReport so_far;
  Deadline deadline([&] {
    const std::lock_guard lock(mutex);
    print_report(so_far, flags.json, progress);
  });
  const BenchReport report = bench_kernels(options, progress, [&](const BenchReport& now) {
    const std::lock_guard lock(mutex);
    so_far = now;
  });
  deadline.lift();
  print_report(report, flags.json, progress);
  if (interrupted() != 0) return 128 + interrupted();
  return report.right() ? 0 : 1;
}

void add_timing_flags(Command command, BenchOptions& options) {
  command.option("--time", options.seconds, "SECONDS", "Time each kernel for SECONDS.")
      .between(0.0, 1e6)
      .show_default();
  command.seldom().option(
      "--store", options.store, "FILE",
      "Take schedules from this store, add the times to it, and show the times of libraries in it (see `deplo "
      "db import`).");
  command.seldom().flag("--in-process", options.in_process,
                        "Run the kernels in this process, for a debugger. If one crashes, so does the process.");
  command.seldom()
      .option("--ab", options.ab, "TRAIL TRAIL",
              "Time two schedules of a single kernel, each a quoted trail. With --space, time two configurations "
              "(NAME=VALUE,…).")
      .words(2, 2);
}

}  // namespace

void add_bench(Command command, int& exit_code) {
  auto flags = std::make_shared<BenchFlags>();
  BenchOptions& options = flags->options;
  command.describe(
      "Time the kernels of a graph, a kernel, a tile program or a kernel file against libraries that have the same "
      "kernels.\nAll contenders run in alternating rounds. If a kernel is wrong, the exit code is 1.");
  add_selection_flags(command, flags->source);
  command.option("--config", options.config, "FILE",
                 "Time the kernels of an experiment, such as experiments/suite84.yaml.");
  command.excludes("--config", {"--code", "--file", "--pt2", "--model", "--kernel", "--tile", "--space", "--only"});
  add_device_flags(command, options, flags->inputs, /*without_times=*/false);
  add_timing_flags(command, options);
  command.excludes("--ab", {"--tuned", "--nearest", "--require-tuned"});
  command.excludes("--space", {"--nearest"});
  command.flag("--json", flags->json, "Print one JSON document instead of the table.");
  command.examples(
      "deplo bench --model tinyllama-1.1b --seq 32\n"
      "deplo bench -k matmul -s M=512 -s N=512 -s K=512 --time 2");
  command.run([flags, &exit_code] { exit_code = run_bench(*flags); });
}

}  // namespace deplo::apps
