// `deplo run`, with and without --bench.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench.h"
#include "apps/commands.h"
#include "apps/experiment.h"
#include "apps/flags.h"
#include "apps/run.h"
#include "core/error.h"
#include "core/text.h"

namespace deplo::apps {
namespace {

struct Flags {
  RunOptions run;
  BenchOptions bench;  // what it shares with `run` is taken from there
  std::vector<std::string> symbols;
  bool is_bench = false, json = false;
};

template <class Report>
int show(const Report& report, bool json) {
  print_result(json ? print_json(report) : print_table(report, terminal_width(STDOUT_FILENO)));
  return report.right() ? 0 : 1;
}

int run_bench(Flags& flags) {
  BenchOptions& options = flags.bench;
  options.tuned = flags.run.tuned;
  options.nearest = flags.run.nearest;
  if (!options.ab.empty() && (options.tuned || options.nearest))
    throw Error("--ab: expected it without --tuned and --nearest, found both");
  options.source.symbols = parse_symbols(flags.symbols);
  if (!options.config)
    check_source(options.source);
  else if (!options.source.is_empty())
    throw Error("--config: expected it in place of a graph and of --kernel, found both");
  options.device = flags.run.device;
  options.target = flags.run.target;
  options.seed = flags.run.seed;
  check_device(options.device, "--device");
  check_target(options.target, "--target");
  Progress progress(stderr, flags.json);
  return show(bench_kernels(options, progress), flags.json);
}

int run_graph(Flags& flags) {
  if (!flags.bench.source.kernel.empty() || !flags.symbols.empty() || flags.bench.source.only || flags.bench.config ||
      flags.bench.store || !flags.bench.ab.empty())
    throw Error("--kernel, --symbol, --only, --config, --store, --ab: expected --bench with them, found none");
  RunOptions& options = flags.run;
  options.source = flags.bench.source.graph;
  check_source(options.source);
  check_device(options.device, "--device");
  check_target(options.target, "--target");
  Progress progress(stderr, flags.json);
  return show(run_graph(options, progress), flags.json);
}

void add_bench_flags(CLI::App& command, Flags& flags) {
  command.add_flag("--bench", flags.is_bench,
                   "in place of the graph's outputs: the time of each kernel beside the libraries that have it, in "
                   "alternating rounds");
  command
      .add_option("--config", flags.bench.config,
                  "of --bench: the kernels of an experiment, such as experiments/suite84.yaml; device and target are "
                  "this command's")
      ->type_name("FILE");
  command
      .add_option("--ab", flags.bench.ab,
                  "of --bench: two schedules of one kernel beside each other, each a quoted trail")
      ->expected(2)
      ->type_name("TRAIL TRAIL");
  command
      .add_option("--store", flags.bench.store,
                  "of --bench: the store that gets the times; it gives the schedules that it knows, and what else was "
                  "measured of the kernels (see `deplo db import`)")
      ->type_name("FILE");
  command.add_option("--time", flags.bench.seconds, "of --bench: seconds of rounds for each kernel [10]")
      ->check(between(0.0, 1e6))
      ->type_name("SECONDS");
}

}  // namespace

void add_run(CLI::App& command, int& exit_code) {
  auto flags = std::make_shared<Flags>();
  RunOptions& options = flags->run;
  add_kernel_source(command, flags->bench.source, flags->symbols);
  command.add_option("--device", options.device, "cuda, cuda:N, opencl, opencl:N (see `deplo devices`) or interpreter")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--target", options.target, "a name under configs/targets, or auto: what the device is")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--seed", options.seed, "of the inputs and parameters that have no values of their own")
      ->check(between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--tolerance", options.tolerance,
                  "the largest error of an output, relative to its root mean square, that is right")
      ->check(between(0.0, 1e30))
      ->type_name("X")
      ->capture_default_str();
  command
      .add_option("--tuned", options.tuned,
                  "the store of `deplo tune` whose schedules are used [" + default_store() + ", if it is there]")
      ->type_name("FILE");
  command.add_flag("--nearest", options.nearest,
                   "a kernel that was not tuned gets the schedule of the nearest extents that were, where it is legal");
  add_bench_flags(command, *flags);
  command.add_flag("--json", flags->json, "print one JSON document instead of the tables");
  command.callback([flags, &exit_code] { exit_code = flags->is_bench ? run_bench(*flags) : run_graph(*flags); });
}

}  // namespace deplo::apps
