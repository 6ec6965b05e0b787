// `deplo check`.
#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/run/cuda_check.h"
#include "apps/run/file_check.h"
#include "apps/run/tile_run.h"
#include "core/error.h"
#include "engine/source/experiment.h"

namespace deplo::apps {
namespace {

struct CheckFlags {
  TileRunOptions options;
  CudaCheckOptions cuda;
  FileCheckOptions file;
  std::string inputs;
  bool json = false;
};

int check_cuda_file(CheckFlags& flags) {
  CudaCheckOptions& options = flags.cuda;
  const engine::TileSource& source = flags.options.source;
  options.entry = source.entry;
  options.arguments = source.arguments;
  if (!source.grid.empty()) options.grid = source.grid;
  options.seed = flags.options.seed;
  options.tolerance = flags.file.tolerance;
  const CudaCheckReport report = check_cuda(options);
  print_result(flags.json ? print_json(report) : print_table(report));
  return report.finding.empty() ? 0 : 1;
}

int check_kernel_file(CheckFlags& flags) {
  FileCheckOptions& options = flags.file;
  if (!flags.inputs.empty()) options.inputs = engine::load_inputs(flags.inputs);
  options.target = flags.cuda.target;
  options.runs = flags.cuda.runs;
  options.seed = flags.options.seed;
  Progress progress(stderr, flags.json);
  const FileCheckReport report = check_file(options, progress);
  progress.end();
  print_result(flags.json ? print_json(report) : print_table(report));
  return report.right() ? 0 : 1;
}

void check(CheckFlags& flags) {
  if (flags.options.source.file.empty())
    throw Error("expected the flag --tile, --cuda or --space, found none; see --help");
  if (!flags.inputs.empty()) flags.options.inputs = engine::load_inputs(flags.inputs);
  const TileRunReport report = run_tile_program(flags.options);
  print_result(flags.json ? print_json(report) : print_table(report));
}

void add_check_source(Command command, engine::TileSource& source, CudaCheckOptions& cuda) {
  command.option("--tile", source.file, "FILE",
                 "Read a tile program, NVIDIA's Tile IR as bytecode or text (docs/tile_programs.md).");
  command.option("--cuda", cuda.file, "FILE",
                 "Read a CUDA file, and run a kernel of it on the PTX machine (docs/ptx_machine.md).");
  command.excludes("--cuda", {"--tile"});
  command.option("--entry", source.entry, "NAME", "Take this entry [the only one].");
  command
      .option("--arg", source.arguments, "NAME=VALUE",
              "Pass this argument, such as n=64, A=f16[100,64], A=a.npy (--tile) or M=map(A, 8x64, 128) (--cuda). "
              "Repeat in the entry's order.")
      .repeated();
  command.option("--grid", source.grid, "X,Y,Z",
                 "Set the number of blocks in each dimension, such as 64,2, or with --tile cdiv(a[0], 128).");
}

void add_cuda_flags(Command command, CudaCheckOptions& options) {
  command
      .option("--threads", options.threads, "X,Y,Z",
              "With --cuda: set the number of threads per block in each dimension.")
      .show_default();
  command.seldom()
      .option("--shared-bytes", options.shared_bytes, "N",
              "With --cuda: set the dynamic shared memory of a block, in bytes.")
      .between(std::int64_t{0}, std::int64_t{232448});
  command.option("--target", options.target, "ARCHITECTURE", "With --cuda or --space: compile for this architecture.")
      .show_default();
  command
      .option("--runs", options.runs, "N",
              "With --cuda or --space: run the kernel N times, each with another order of the threads.")
      .between(std::int64_t{1}, std::int64_t{1'000'000})
      .show_default();
  command.option("--reference", options.reference, "CODE",
                 "With --cuda: compare with this PyTorch expression, whose inputs are the kernel's arrays, by name "
                 "(docs/ptx_machine.md).");
  for (const char* flag : {"--threads", "--shared-bytes", "--reference"}) command.needs(flag, "--cuda");
  for (const char* flag : {"--target", "--runs"}) command.excludes(flag, {"--tile"});
}

void add_file_flags(Command command, FileCheckOptions& options) {
  add_kernel_file_flags(command, options.file);
  add_configuration(command, options.configuration);
  command.option("--sample", options.sample, "N", "With --space: check N random configurations, drawn from the seed.")
      .between(std::int64_t{1}, engine::max_count);
  command.flag("--all", options.all, "With --space: check all legal configurations.");
  command.excludes("--space", {"--tile", "--cuda", "--entry", "--arg", "--grid"});
  for (const char* flag : {"--sample", "--all"}) command.needs(flag, "--space");
  command.excludes("--configuration", {"--sample", "--all"});
  command.excludes("--sample", {"--all"});
}

}  // namespace

void add_check(Command command, int& exit_code) {
  auto flags = std::make_shared<CheckFlags>();
  TileRunOptions& options = flags->options;
  command.describe(
      "Run a tile program, a CUDA kernel or a kernel file, and find its mistakes, without a GPU.\n"
      "The interpreter of tile programs and the PTX machine find races, deadlocks and accesses outside of arrays, and "
      "show what the program prints and changes. If a kernel is wrong, the exit code is 1.");
  add_check_source(command, options.source, flags->cuda);
  add_cuda_flags(command, flags->cuda);
  add_file_flags(command, flags->file);
  add_seed(command, options.seed, "Draw the arrays' values and the order of the blocks from this seed.");
  add_inputs(command, flags->inputs);
  add_tolerance(command, flags->file.tolerance);
  command.excludes("--tolerance", {"--tile"});
  command.seldom().flag("--poison", options.poison,
                        "With --tile: fill unspecified elements with NaN instead of 0, to reveal their use.");
  command.seldom().option(
      "--outputs", options.outputs, "FOLDER|FILE",
      "With --tile: write the arrays that the program changed to this folder, as NumPy files NAME.npy, or to "
      "the archive FILE.npz.");
  command.flag("--json", flags->json, "Print one JSON document instead of the table.");
  command.excludes("--cuda", {"--inputs", "--poison", "--outputs"});
  command.excludes("--space", {"--poison", "--outputs"});
  command.examples(
      "deplo check --tile experiments/tile/hello_grid.tile --grid 2,2\n"
      "deplo check --cuda reduce.cu --entry reduce --arg x=f32[1024] --arg n=1024 --grid 4\n"
      "deplo check --space matmul.T1.json --kernel-file matmul.cu --sample 20");
  command.run([flags, &exit_code] {
    if (!flags->file.file.space.empty())
      exit_code = check_kernel_file(*flags);
    else if (!flags->cuda.file.empty())
      exit_code = check_cuda_file(*flags);
    else
      check(*flags);
  });
}

}  // namespace deplo::apps
