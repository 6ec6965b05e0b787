// `deplo run`, with and without --bench.
#include <unistd.h>

#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/run/bench.h"
#include "apps/run/run.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/text/text.h"
#include "engine/source/experiment.h"

namespace deplo::apps {
namespace {

struct Flags {
  RunOptions run;
  BenchOptions bench;  // what it shares with `run` is taken from there
  SourceFlags source;
  bool poison = false, as_kernels = false;  // of a tile program
  std::string inputs;
  bool is_bench = false, json = false;
};

template <class Report>
void print_report(const Report& report, bool json, Progress& progress) {
  progress.end();
  print_result(json ? print_json(report) : print_table(report, terminal_width(STDOUT_FILENO)));
}

/// What was timed so far, for whoever has to report it. Thread-safe.
class BenchBoard {
 public:
  void set(const BenchReport& report) {
    const std::lock_guard lock(mutex_);
    report_ = report;
  }
  BenchReport read() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  mutable std::mutex mutex_;
  BenchReport report_;
};

void check_schedules(const RunOptions& options) {
  if (options.require_tuned && options.nearest)
    throw Error("--require-tuned: expected no --nearest with it, found both");
}

int run_bench(Flags& flags) {
  if (flags.run.whole || flags.run.outputs) throw Error("--whole, --outputs: expected no --bench with them, found one");
  if (flags.poison || flags.as_kernels || flags.run.reference || flags.run.blocks)
    throw Error("--poison, --as-kernels, --reference, --blocks: expected no --bench with them, found one");
  BenchOptions& options = flags.bench;
  options.tuned = flags.run.tuned;
  options.nearest = flags.run.nearest;
  options.require_tuned = flags.run.require_tuned;
  if (!options.ab.empty() && (options.tuned || options.nearest || options.require_tuned))
    throw Error("--ab: expected no --tuned, --nearest and --require-tuned with it, found one");
  if (flags.run.no_measure) throw Error("--no-measure: expected no --bench with it, found both");
  if (!options.config)
    options.selection = flags.source.selection();
  else if (!flags.source.is_empty())
    throw Error("--config: expected no graph and no --kernel with it, found one");
  else
    options.source_options = flags.source.options.read();
  options.device = flags.run.device;
  options.target = flags.run.target;
  options.seed = flags.run.seed;
  options.tolerance = flags.run.tolerance;
  if (!flags.inputs.empty()) options.inputs = engine::load_inputs(flags.inputs);
  engine::check_device(options.device, "--device");
  engine::check_target(options.target, "--target");
  catch_interrupts();
  Progress progress(stderr, flags.json);
  BenchBoard board;
  Deadline deadline([&] { print_report(board.read(), flags.json, progress); });
  const BenchReport report = bench_kernels(options, progress, [&](const BenchReport& now) { board.set(now); });
  deadline.lift();
  print_report(report, flags.json, progress);
  if (interrupted() != 0) return 128 + interrupted();
  return report.right() ? 0 : 1;
}

void check_run(const Flags& flags) {
  const SourceFlags& source = flags.source;
  if (!source.kernel.empty() || !source.symbols.empty() || source.only || flags.bench.config || flags.bench.store ||
      !flags.bench.ab.empty() || flags.bench.in_process)
    throw Error(
        "--kernel, --symbol, --only, --config, --store, --in-process, --ab: expected --bench with them, found none");
  const bool interpreted = !source.tile.file.empty() && flags.run.device == "interpreter";
  if ((flags.poison || flags.as_kernels) && !interpreted)
    throw Error("--poison, --as-kernels: expected --tile FILE --device interpreter with them, found none");
  if (flags.run.reference && (source.tile.file.empty() || (interpreted && !flags.as_kernels)))
    throw Error("--reference: expected --tile FILE and its kernels with it, found none");
  if (flags.run.blocks && (source.tile.file.empty() || flags.run.device == "interpreter"))
    throw Error("--blocks: expected --tile FILE and a device of OpenCL or CUDA with it, found none");
  if (flags.run.no_measure && flags.run.whole) throw Error("--no-measure: expected no --whole with it, found both");
  if (flags.poison && flags.as_kernels) throw Error("--poison: expected no --as-kernels with it, found both");
}

/// Block by block, which says more than its outputs: what it prints, races, deadlocks.
int run_on_interpreter(const Flags& flags, const engine::TileSource& source) {
  if (flags.run.tuned || flags.run.nearest || flags.run.whole)
    throw Error("--tuned, --nearest, --whole: expected --as-kernels with them on the interpreter, found none");
  if (flags.run.require_tuned)
    throw Error("--require-tuned: expected --as-kernels with it on the interpreter, found none");
  const TileRunReport report = run_tile_program({.source = source,
                                                 .inputs = flags.run.inputs,
                                                 .seed = flags.run.seed,
                                                 .poison = flags.poison,
                                                 .outputs = flags.run.outputs});
  print_result(flags.json ? print_json(report) : print_table(report, terminal_width(STDOUT_FILENO)));
  return 0;
}

int run_source(Flags& flags) {
  check_run(flags);
  RunOptions& options = flags.run;
  if (!flags.inputs.empty()) options.inputs = engine::load_inputs(flags.inputs);
  engine::check_device(options.device, "--device");
  engine::check_target(options.target, "--target");
  if (flags.source.tile.file.empty()) {
    options.source = flags.source.graph();
  } else {
    const engine::Source source = flags.source.selection().source;
    if (options.device == "interpreter" && !flags.as_kernels) return run_on_interpreter(flags, *source.tile());
    options.source = source;
  }
  Progress progress(stderr, flags.json);
  const RunReport report = run(options, progress);
  print_report(report, flags.json, progress);
  return report.right() ? 0 : 1;
}

void add_tile_flags(Command command, Flags& flags) {
  command
      .option(
          "--reference", flags.run.reference, "CODE",
          "With --tile: compare with this PyTorch expression of the arrays, such as \"A @ B\", not with the blocks.")
      .seldom();
  command
      .flag("--poison", flags.poison,
            "With --tile on the interpreter: elements that the program leaves open are NaN in place of 0, which shows "
            "if it uses them.")
      .seldom();
  command
      .flag("--as-kernels", flags.as_kernels,
            "With --tile on the interpreter: run the kernels that the program becomes, not its blocks.")
      .seldom();
}

void add_blocks_flags(Command command, RunOptions& options) {
  command
      .flag("--blocks", options.blocks,
            "With --tile: lower block by block, as the program says, not element by element.")
      .seldom();
  command
      .option("--limit", options.limit, "SECONDS", "With --tile: end a program that runs block by block after SECONDS.")
      .between(0.1, 1e6)
      .show_default()
      .seldom();
}

void add_bench_flags(Command command, Flags& flags) {
  command.flag("--bench", flags.is_bench,
               "Instead of checking outputs, time each kernel and the libraries that have it, in alternating rounds.");
  command.option("--config", flags.bench.config, "FILE",
                 "With --bench: time the kernels of an experiment, such as experiments/suite84.yaml.");
  command.option("--time", flags.bench.seconds, "SECONDS", "With --bench: time each kernel for SECONDS [10].")
      .between(0.0, 1e6);
  command
      .option("--store", flags.bench.store, "FILE",
              "With --bench: take schedules from this store, add the times to it, and show its other times of the "
              "kernels (see `deplo db import`).")
      .seldom();
  command
      .flag("--in-process", flags.bench.in_process,
            "With --bench: run the kernels in this process, for a debugger: a crash is the end of all.")
      .seldom();
  command
      .option("--ab", flags.bench.ab, "TRAIL TRAIL",
              "With --bench: time two schedules of a single kernel, each a quoted trail.")
      .words(2, 2)
      .seldom();
}

}  // namespace

void add_run(Command command, int& exit_code) {
  auto flags = std::make_shared<Flags>();
  RunOptions& options = flags->run;
  command.describe(
      "Run a graph or a tile program and check its outputs, or time its kernels (--bench).\nA reference in double "
      "tells whether the "
      "outputs are right. If one is wrong, the exit code is 1.");
  add_source_flags(command, flags->source);
  add_tile_flags(command, *flags);
  add_blocks_flags(command, options);
  add_device(command, options.device);
  command
      .option("--target", options.target, "TARGET",
              "Compile for this target: a name under configs/targets, or auto (that of the device).")
      .show_default()
      .seldom();
  command.option("--seed", options.seed, "N", "Draw random inputs and parameters from this seed.")
      .between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())
      .show_default()
      .seldom();
  add_tolerance(command, options.tolerance);
  add_inputs(command, flags->inputs);
  command.option("--tuned", options.tuned, "FILE",
                 "Use schedules from a store written by `deplo tune` [" + engine::default_store() + ", if it exists].");
  command
      .flag("--nearest", options.nearest,
            "For an untuned kernel, use the schedule of the nearest tuned sizes if it is legal.")
      .seldom();
  command
      .flag("--require-tuned", options.require_tuned,
            "If a kernel has no measured schedule, run nothing, name the nearest entry of the store, and end with exit "
            "code 1.")
      .seldom();
  command.flag("--no-measure", options.no_measure, "Time nothing: run each kernel once and check the outputs.")
      .seldom();
  command
      .option(
          "--outputs", options.outputs, "FOLDER",
          "Write the outputs to this folder, as NumPy files of float32, int32, int64 or bool: 0.npy, 1.npy, …; of a "
          "tile program NAME.npy.")
      .seldom();
  command
      .flag("--whole", options.whole,
            "Time the graph as a whole, its kernels one after the other, and compare with these one by one instead of "
            "with the reference.")
      .seldom();
  add_bench_flags(command, *flags);
  command.flag("--json", flags->json, "Print one JSON document instead of the tables.");
  command.examples(
      "deplo run -c \"F.softmax(torch.randn(4, 1000), dim=-1)\"\n"
      "deplo run --bench --model tinyllama-1.1b --seq 32\n"
      "deplo run --tile experiments/tile/hello_grid.tile --grid 2 --device interpreter");
  command.run([flags, &exit_code] {
    check_schedules(flags->run);
    exit_code = flags->is_bench ? run_bench(*flags) : run_source(*flags);
  });
}

}  // namespace deplo::apps
