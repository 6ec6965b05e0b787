// `deplo run`.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/run/device_flags.h"
#include "apps/run/run.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "engine/source/tile_program/form.h"
#include "measure/ptx/device.h"

namespace deplo::apps {
namespace {

struct RunFlags {
  RunOptions run;
  SourceFlags source;
  bool as_kernels = false;  // run the kernels of a tile program, not its blocks
  std::optional<double> limit;
  std::string inputs;
  bool is_bench = false;  // only for --help: apps/cli/cli.cpp turns such a command line into `deplo bench`
  bool json = false;
  bool prove = false;
};

/// Runs a tile program block by block, as `deplo check` does.
int run_on_interpreter(const RunFlags& flags, const engine::TileSource& source) {
  const RunOptions& options = flags.run;
  const auto refuse = [](bool given, const char* flag) {
    if (given) throw Error(fmt::format("{} on the interpreter requires --as-kernels", flag));
  };
  refuse(options.tuned.has_value(), "--tuned");
  refuse(options.nearest, "--nearest");
  refuse(options.require_tuned, "--require-tuned");
  refuse(options.whole, "--whole");
  refuse(options.reference.has_value(), "--reference");
  const TileRunReport report =
      run_tile_program({.source = source, .inputs = options.inputs, .seed = options.seed, .outputs = options.outputs});
  print_result(flags.json ? print_json(report) : print_table(report));
  return 0;
}

int run_source(RunFlags& flags) {
  RunOptions& options = flags.run;
  flags.source.take_inputs_function(flags.inputs);
  options.source = flags.source.program();
  read_device_flags(options, flags.inputs);
  if (flags.limit && options.source.tile() == nullptr && options.source.kernel_file() == nullptr)
    throw Error("--limit requires --tile or --space");
  options.limit = flags.limit.value_or(options.limit);
  const bool interpreted = options.device == "interpreter";
  if (flags.as_kernels && !interpreted) throw Error("--as-kernels requires --device interpreter");
  if (!measure::has_times(options.device)) {
    if (options.whole) throw Error("--whole requires a device that measures time, found " + options.device);
    options.no_measure = true;
  }
  if (flags.prove && !options.device.starts_with("ptx:"))
    throw Error("--prove requires a device of the PTX machine, such as ptx:sm_90, found " + options.device);
  const Value* const form = engine::find_fixed(options.source.options, "form");
  if (interpreted && form != nullptr && *form == Value{std::string(engine::by_blocks)})
    throw Error("--form blocks requires a device of OpenCL or CUDA");
  if (const engine::TileSource* tile = options.source.tile(); tile != nullptr && interpreted && !flags.as_kernels)
    return run_on_interpreter(flags, *tile);
  Progress progress(stderr, flags.json);
  if (flags.prove) {
    const ProofReport report = prove_emitted(options, progress);
    progress.end();
    print_result(print_lines(report));
    return report.refuted() ? 1 : 0;
  }
  const RunReport report = run(options, progress);
  progress.end();
  print_result(flags.json ? print_json(report) : print_table(report, window_width()));
  return report.right() ? 0 : 1;
}

void add_tile_flags(Command command, RunFlags& flags) {
  RunOptions& options = flags.run;
  command.seldom().option(
      "--reference", options.reference, "CODE",
      "With --tile: compare with this PyTorch expression of the arrays, such as \"A @ B\", instead of with the "
      "interpreted blocks.");
  command.seldom().flag("--as-kernels", flags.as_kernels,
                        "With --tile on the interpreter: run the kernels that the program becomes, not its blocks.");
  command.seldom()
      .option("--limit", flags.limit, "SECONDS",
              "With --tile or --space: end a program that runs block by block, or a kernel file's kernel, after "
              "SECONDS [60].")
      .between(0.1, 1e6);
  for (const char* flag : {"--reference", "--as-kernels"}) command.needs(flag, "--tile");
}

}  // namespace

void add_run(Command command, int& exit_code) {
  auto flags = std::make_shared<RunFlags>();
  RunOptions& options = flags->run;
  command.describe(
      "Run a graph, a tile program or a kernel file and check its outputs.\nThe outputs are compared with a reference "
      "in double. If one is wrong, the exit code is 1.");
  add_program_flags(command, flags->source);
  add_tile_flags(command, *flags);
  add_device_flags(command, options, flags->inputs, /*without_times=*/true);
  command.seldom().flag("--no-measure", options.no_measure,
                        "Measure no times: run each kernel once and check the outputs.");
  command.seldom().option(
      "--outputs", options.outputs, "FOLDER|FILE",
      "Write the outputs to this folder as NumPy files (float32, bool or integers): 0.npy, 1.npy, …, or "
      "NAME.npy for a tile program or a kernel file. For a FILE.npz, write one archive of these files.");
  command.seldom().flag(
      "--fingerprint", options.fingerprint,
      "Print a digest of each kernel's order of operations. Equal digests mean equal bits (docs/determinism.md).");
  command.seldom().flag(
      "--prove", flags->prove,
      "With --device ptx:ARCHITECTURE: prove in exact arithmetic that the CUDA source of each kernel computes its "
      "Loop IR (docs/proofs.md).");
  command.seldom().flag(
      "--whole", options.whole,
      "Time the graph as a whole, its kernels in sequence. Compare its outputs with those of the kernels "
      "launched one by one, not with the reference.");
  command.excludes("--whole", {"--no-measure"});
  add_configuration(command, options.configuration);
  command.excludes("--configuration", {"--tuned", "--require-tuned"});
  command.excludes("--space", {"--nearest", "--whole", "--fingerprint", "--reference", "--as-kernels"});
  command.flag("--bench", flags->is_bench,
               "Time the kernels instead: another spelling of `deplo bench`, with its flags.");
  command.flag("--json", flags->json, "Print one JSON document instead of the tables.");
  command.excludes("--prove", {"--space", "--whole", "--outputs", "--fingerprint", "--reference", "--bench", "--json"});
  command.examples(
      "deplo run -c \"F.softmax(torch.randn(4, 1000), dim=-1)\"\n"
      "deplo run --space examples/kernel_files/matmul.T1.json --configuration BLOCK_X=32,WPT=2\n"
      "deplo run --tile experiments/tile/hello_grid.tile --grid 2 --device interpreter");
  command.run([flags, &exit_code] { exit_code = run_source(*flags); });
}

}  // namespace deplo::apps
