#include <unistd.h>

#include <memory>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/cli/write_file.h"
#include "apps/inspect/compile.h"
#include "core/error.h"
#include "engine/compile/tuned.h"

namespace deplo::apps {
namespace {

void run_compile(const CompileOptions& options, const std::string& output) {
  if (options.level == "cubin" && output.empty() && isatty(STDOUT_FILENO) != 0)
    throw Error("--ir cubin: expected --output FILE, found a terminal, which cannot show machine code");
  const std::string text = compile(options);
  if (!output.empty())
    write_file(output, text);
  else if (options.level == "cubin")
    print_bytes(text);  // machine code is not text
  else
    print_result(text);
}

void add_schedule(Command command, CompileOptions& options) {
  command.option("--schedule", options.schedule, "TRAIL",
                 "Use this schedule: a quoted trail, as `deplo db best` prints it. The heuristic makes the remaining "
                 "decisions.");
  command.seldom()
      .option("--tuned", options.tuned, "[FILE]",
              "Use schedules from a store written by `deplo tune`, or from a pack of `deplo db export` [" +
                  engine::default_store() + "].")
      .words(0, 1);
  command.seldom().option("--tuned-on", options.tuned_on, "NAME",
                          "With --tuned: use schedules measured on this device. A part of its name is enough.");
  add_nearest(command, options.nearest);
  command.seldom().flag(
      "--require-tuned", options.require_tuned,
      "With --tuned: if a kernel has no measured schedule, print nothing, name the nearest entry of the store, "
      "and end with exit code 1.");
}

void add_outputs(Command command, CompileOptions& options, std::string& output) {
  command.option("--ir", options.level, "LEVEL",
                 "Print this level: torch or tensor (graphs only), loop, tile, kernel, opencl, cuda, ptx, cubin or "
                 "sass [opencl, or cuda for a CUDA target]; tile-program with --tile.");
  command.option("--target", options.target, "TARGET",
                 "Compile for this target: a name under configs/targets, or auto for the OpenCL device here [sm_90 for "
                 "output that only CUDA has; otherwise opencl-cpu].");
  command.flag("--summary", options.summary, "With --ir loop: list the kernels and their work.");
  command.seldom().flag("--smem", options.smem,
                        "Instead of a level, draw the layout of staged buffers in the banks of shared memory.");
  command.flag("--prove", options.prove, "Prove schedules exactly; with --ir ptx, their CUDA.");
  command.seldom().flag(
      "--resources", options.resources,
      "Instead of a level, print registers, spills, stack, shared memory (bytes) and occupancy. CUDA targets only.");
  command.seldom().flag(
      "--instructions", options.instructions,
      "Instead of a level, count the machine instructions of each loop by class, and show the least cycles per "
      "iteration. CUDA targets only.");
  command.seldom().flag(
      "--tileiras", options.tileiras,
      "With --tile and --instructions: show the code of NVIDIA's own compiler of tile programs, too.");
  command.option("-o,--output", output, "FILE", "Write output to FILE instead of stdout.");
  command.flag("-v", options.verbose,
               "Print a line for each rule, and why kernels are not merged; -vv also prints changes.");
}

void relate_flags(Command command) {
  // These flags exclude each other, because each of them prints something else.
  command.excludes("--smem", {"--ir", "--summary", "--prove", "--resources", "--instructions"});
  command.excludes("--prove", {"--summary", "--resources", "--instructions"});
  command.excludes("--resources", {"--ir", "--summary", "--instructions"});
  command.excludes("--instructions", {"--ir", "--summary"});
  command.needs("--tileiras", "--tile");
  command.needs("--tileiras", "--instructions");
  for (const char* flag : {"--passes", "--no-guard", "--summary"}) command.excludes(flag, {"--kernel", "--tile"});
  command.excludes("--summary", {"--only"});
  command.excludes("--tuned", {"--schedule"});
  for (const char* flag : {"--tuned-on", "--nearest", "--require-tuned"}) command.needs(flag, "--tuned");
  command.excludes("--require-tuned", {"--nearest"});
  command.excludes("--configuration", {"--tuned", "--schedule"});
  for (const char* flag : {"--passes", "--no-guard", "--summary", "--smem", "--prove", "--schedule", "--nearest"})
    command.excludes(flag, {"--space"});
}

}  // namespace

void add_compile(Command command) {
  auto options = std::make_shared<CompileOptions>();
  auto output = std::make_shared<std::string>();
  auto source = std::make_shared<SourceFlags>();
  command.describe("Print a graph or a kernel at a level of the compiler.");
  add_selection_flags(command, *source);
  add_inputs_function(command, *source);
  add_schedule(command, *options);
  add_outputs(command, *options, *output);
  command.seldom().option("--passes", options->passes, "d|do|dol|dolm",
                          "Run only these passes on a graph: d(ecompose), o(ptimise), l(ift), m(erge) [dolm].");
  add_configuration(command, options->configuration);
  command.seldom().flag("--no-guard", options->no_guard, "Merge kernels regardless of the cost.");
  relate_flags(command);
  command.examples(
      "deplo compile -c \"nn.RMSNorm(2048)(torch.randn(1,32,2048))\" --ir tile -vv\n"
      "deplo compile --model qwen2.5-7b --seq 512 --ir loop --summary\n"
      "deplo compile -k matmul -s M=33 -s N=509 -s K=777 --target sm_90 --ir cuda\n"
      "deplo compile --tile experiments/tile/saxpy.tile --ir tile-program\n"
      "deplo compile --space examples/kernel_files/matmul.T1.json --tuned");
  command.run([options, source, output] {
    if (options->level == "tile-program" && source->tile.file.empty()) throw Error("--ir tile-program requires --tile");
    options->selection = source->selection();
    options->width = output->empty() ? window_width() : 0;
    run_compile(*options, *output);
  });
}

}  // namespace deplo::apps
