#include "apps/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/flags.h"
#include "apps/cli/help.h"
#include "apps/cli/source_flags.h"
#include "apps/cli/write_file.h"
#include "apps/inspect/compile.h"
#include "apps/inspect/devices.h"
#include "core/error.h"
#include "core/text/text.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"
#include "measure/device.h"

namespace deplo::apps {
void print_bytes(const std::string& bytes) {
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (!whole || std::fflush(stdout) != 0) throw Error("cannot write to standard output", Exit::environment);
}

void print_result(const std::string& text) { print_bytes(printable_lines(text)); }

void require(const std::string& value, const char* flag) {
  if (value.empty()) throw Error(fmt::format("expected the flag {}, found none; see --help", flag));
}

void add_device(CLI::App& command, std::string& device) {
  command
      .add_option("--device", device,
                  "Use this device: cuda, cuda:N, opencl, opencl:N or interpreter (see `deplo devices`).")
      ->type_name("DEVICE")
      ->capture_default_str();
}

void add_restrictions(CLI::App& command, std::vector<std::string>& restrictions) {
  command
      .add_option("--restrict", restrictions,
                  "Allow only these values of a knob; if none is legal, use the heuristic's. The word 'heuristic' "
                  "stands for the heuristic's value. A * at the end of KNOB matches all knobs with that beginning, "
                  "such as mark_unroll.*. May be repeated; the last match counts.")
      ->type_name("KNOB=VALUE,…")
      ->take_all()
      ->allow_extra_args(false)
      ->group(seldom);
}

void add_inputs(CLI::App& command, std::string& file) {
  command
      .add_option("--inputs", file,
                  "Take the values of inputs and parameters from a YAML file, by name. A value is uniform(first, end), "
                  "normal(mean, deviation), randint(first, end), constant(value) or a NumPy file, such as x: x.npy.")
      ->type_name("FILE")
      ->group(seldom);
}

void add_tolerance(CLI::App& command, double& tolerance) {
  command
      .add_option("--tolerance", tolerance,
                  "Accept errors up to X, relative to the root mean square of an output or to its rounding error, "
                  "whichever is larger (docs/measurement.md).")
      ->check(between(0.0, 1e30))
      ->type_name("X")
      ->capture_default_str()
      ->group(seldom);
}

engine::Restrictions parse_restrictions(const std::vector<std::string>& texts) {
  engine::Restrictions restrictions;
  for (const std::string& text : texts) restrictions.push_back(engine::parse_restriction(text, "--restrict"));
  return restrictions;
}

namespace {

void run_compile(const CompileOptions& options, const std::string& output) {
  if (options.level == "cubin" && output.empty() && isatty(STDOUT_FILENO) != 0)
    throw Error("--ir cubin: expected --output FILE, found a terminal, which cannot show machine code");
  const std::string text = compile(options);
  if (!output.empty())
    write_file(output, text);
  else if (options.level == "cubin")
    print_bytes(text);  // machine code
  else
    print_result(text);
}

void add_schedule(CLI::App& command, CompileOptions& options) {
  command
      .add_option("--schedule", options.schedule,
                  "Use this schedule for a single kernel: a quoted trail, as printed by `deplo tune` and `deplo db "
                  "best`. The heuristic makes the remaining decisions.")
      ->type_name("TRAIL");
  command
      .add_option("--tuned", options.tuned,
                  "Use schedules from a store written by `deplo tune` [" + engine::default_store() + "].")
      ->expected(0, 1)
      ->type_name("[FILE]")
      ->group(seldom);
  command
      .add_option("--tuned-on", options.tuned_on,
                  "With --tuned: use schedules measured on this device. A part of its name is enough.")
      ->type_name("NAME")
      ->group(seldom);
  command
      .add_flag("--nearest", options.nearest,
                "For an untuned kernel, use the schedule of the nearest tuned sizes if it is legal.")
      ->group(seldom);
}

void add_outputs(CLI::App& command, CompileOptions& options, std::string& output) {
  command
      .add_option(
          "--ir", options.level,
          "Print this level: torch or tensor (graphs only), loop, tile, kernel, opencl, cuda, ptx or cubin [opencl].")
      ->type_name("LEVEL");
  command
      .add_option("--target", options.target,
                  "Compile for this target: a name under configs/targets [sm_90 with --ir cuda, ptx or cubin, --smem "
                  "and --resources; otherwise opencl-cpu].")
      ->type_name("TARGET");
  command.add_flag("--summary", options.summary,
                   "With --ir loop: print a table of the graph's kernels and their work.");
  command
      .add_flag("--smem", options.smem,
                "Instead of a level, draw the layout of staged buffers in the banks of shared memory.")
      ->group(seldom);
  command
      .add_flag(
          "--resources", options.resources,
          "Instead of a level, print registers, spills, stack, shared memory (bytes) and occupancy. CUDA targets only.")
      ->group(seldom);
  command.add_option("-o,--output", output, "Write output to FILE instead of stdout.")->type_name("FILE");
  command.add_flag("-v", options.verbose, "Print a line for each rule; -vv also prints its changes.");
}

}  // namespace

void add_compile(CLI::App& command) {
  auto options = std::make_shared<CompileOptions>();
  auto output = std::make_shared<std::string>();
  auto source = std::make_shared<SourceFlags>();
  auto no_guard = std::make_shared<bool>(false);
  command.description("Print a graph or a kernel at one of the levels of the compiler.");
  add_source_flags(command, *source);
  add_schedule(command, *options);
  add_outputs(command, *options, *output);
  command
      .add_option("--passes", options->passes,
                  "Run only these passes on a graph: d(ecompose), o(ptimise), l(ift), m(erge) [dolm].")
      ->type_name("d|do|dol|dolm")
      ->group(seldom);
  command.add_flag("--no-guard", *no_guard, "Merge kernels regardless of the cost.")->group(seldom);
  command.footer(
      "deplo compile -c \"nn.RMSNorm(2048)(torch.randn(1,32,2048))\" --ir tile -vv\n"
      "deplo compile --model qwen2.5-7b --seq 512 --ir loop --summary\n"
      "deplo compile -k matmul -s M=33 -s N=509 -s K=777 --target sm_90 --ir cuda");
  command.callback([options, source, no_guard, output] {
    options->selection = source->selection();
    options->guard = !*no_guard;
    options->width = output->empty() ? terminal_width(STDOUT_FILENO) : 0;
    run_compile(*options, *output);
  });
}

void add_devices(CLI::App& command) {
  auto measure = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command.description(
      "List the devices for --device, and their limits.\nIf a kind of device cannot be used, the list says why.");
  command.add_flag(
      "--measure", *measure,
      "Measure the peak rates of each device: copying, reading and f32 multiply-adds (half a second each).");
  command.add_flag("--json", *json, "Print one JSON document instead of the list.");
  command.footer("deplo devices --measure");
  command.callback([measure, json] {
    print_result(*json ? devices_json(*measure) : devices_text(*measure, terminal_width(STDOUT_FILENO)));
  });
}

}  // namespace deplo::apps
