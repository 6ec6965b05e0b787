#include "apps/cli/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/flags.h"
#include "apps/cli/help.h"
#include "apps/cli/write_file.h"
#include "apps/inspect/compile.h"
#include "apps/inspect/devices.h"
#include "core/error.h"
#include "core/text/text.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"
#include "measure/device.h"

namespace deplo::apps {
namespace {

// "M=33" → {"M", 33}
std::pair<std::string, std::int64_t> parse_symbol(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t value = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && stop == end && value >= 1 && value <= engine::most_extent)
      return {text.substr(0, equals), value};
  }
  throw Error(
      fmt::format("--symbol: expected NAME=SIZE with a size between 1 and {}, found '{}'", engine::most_extent, text));
}

}  // namespace

void print_bytes(const std::string& bytes) {
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (!whole || std::fflush(stdout) != 0) throw Error("cannot write to standard output", Exit::environment);
}

void print_result(const std::string& text) { print_bytes(printable_lines(text)); }

void require(const std::string& value, const char* flag) {
  if (value.empty()) throw Error(fmt::format("expected the flag {}, found none; see --help", flag));
}

void add_graph_source(CLI::App& command, engine::GraphSource& source) {
  command.add_option("-c,--code", source.code, "Read this expression of PyTorch, such as \"F.relu(torch.randn(8))\".")
      ->type_name("CODE");
  command.add_option("--file", source.file, "Read the expression from FILE.")->type_name("FILE")->group(seldom);
  command.add_option("--pt2", source.pt2, "Read the program that torch.export.save wrote to FILE.")->type_name("FILE");
  command
      .add_option("--model", source.model, "Build a block of this model: a name under configs/models, or a .yaml file.")
      ->type_name("MODEL");
  command.add_option("--layer", source.layer, "Build block N of the model [0].")
      ->check(between(std::int64_t{0}, engine::most_extent))
      ->type_name("N")
      ->group(seldom);
  command.add_option("--seq", source.seq, "Let the block see a sequence of length N.")
      ->check(between(std::int64_t{1}, engine::most_extent))
      ->type_name("N");
}

ir::Symbols parse_symbols(const std::vector<std::string>& texts) {
  ir::Symbols symbols;
  for (const std::string& text : texts) {
    const auto [name, value] = parse_symbol(text);
    if (!symbols.emplace(name, value).second)
      throw Error(fmt::format("--symbol: expected each symbol once, found {} twice", name));
  }
  return symbols;
}

void add_device(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "Use cuda, cuda:N, opencl, opencl:N (see `deplo devices`) or interpreter.")
      ->type_name("DEVICE")
      ->capture_default_str();
}

void add_restrictions(CLI::App& command, std::vector<std::string>& restrictions) {
  command
      .add_option(
          "--restrict", restrictions,
          "Allow only these values of a knob; if none is legal, use the heuristic's. 'heuristic' stands for the "
          "heuristic's value, mark_unroll.* for every knob that begins so. May be repeated; the last that matches "
          "counts.")
      ->type_name("KNOB=VALUE,…")
      ->take_all()
      ->allow_extra_args(false)
      ->group(seldom);
}

void add_inputs(CLI::App& command, std::string& file) {
  command
      .add_option("--inputs", file,
                  "Draw inputs and parameters as this YAML file says, by name: x: uniform(0.1, 1), normal(mean, "
                  "deviation), randint(first, end), constant(value), or x.npy with the values (NumPy).")
      ->type_name("FILE")
      ->group(seldom);
}

void add_tolerance(CLI::App& command, double& tolerance) {
  command
      .add_option("--tolerance", tolerance,
                  "Accept this error, relative to the root mean square of an output or, where that is more, to what "
                  "rounding explains (docs/measurement.md).")
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

void add_kernel_selection(CLI::App& command, engine::KernelSelection& source, std::vector<std::string>& symbols) {
  add_graph_source(command, source.graph);
  command.add_option("-k,--kernel", source.kernel, "Read this kernel: a name under configs/kernels, or a .loop file.")
      ->type_name("KERNEL");
  command.add_option("-s,--symbol", symbols, "Give a symbol of the kernel its size; once for each.")
      ->type_name("NAME=SIZE")
      ->take_all();
  command.add_option("--only", source.only, "Take one kernel of the graph, by number or name.")
      ->type_name("NAME|NUMBER")
      ->group(seldom);
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
      .add_option(
          "--schedule", options.schedule,
          "Take these decisions for the one kernel: a quoted trail, as `deplo tune` and `deplo db best` print it. "
          "The heuristic takes those that it leaves open.")
      ->type_name("TRAIL");
  command
      .add_option("--tuned", options.tuned,
                  "Use the schedules of this store of `deplo tune` [" + engine::default_store() + "].")
      ->expected(0, 1)
      ->type_name("[FILE]")
      ->group(seldom);
  command
      .add_option("--tuned-on", options.tuned_on, "Use those measured on this device, or on one with this in its name.")
      ->type_name("NAME")
      ->group(seldom);
  command
      .add_flag("--nearest", options.nearest,
                "Give a kernel that was not tuned the schedule of the nearest sizes that were, where it is legal.")
      ->group(seldom);
}

void add_outputs(CLI::App& command, CompileOptions& options, std::string& output) {
  command
      .add_option("--ir", options.level,
                  "Print this level: torch or tensor (of a graph), loop, tile, kernel, opencl, cuda, ptx or cubin "
                  "[opencl].")
      ->type_name("LEVEL");
  command
      .add_option("--target", options.target,
                  "Compile for a name under configs/targets [sm_90 for cuda, ptx, cubin, --smem and --resources, else "
                  "opencl-cpu].")
      ->type_name("TARGET");
  command.add_flag("--summary", options.summary,
                   "Print a table of the graph's kernels and their work (with --ir loop).");
  command
      .add_flag("--smem", options.smem,
                "In place of a level, draw where staged buffers lie in the banks of shared memory.")
      ->group(seldom);
  command
      .add_flag("--resources", options.resources,
                "In place of a level, print registers, spills, stack, shared memory (bytes) and occupancy on a CUDA "
                "target.")
      ->group(seldom);
  command.add_option("-o,--output", output, "Write output to FILE instead of stdout.")->type_name("FILE");
  command.add_flag("-v", options.verbose, "Print what each rule did; -vv: also what it changed.");
}

}  // namespace

void add_compile(CLI::App& command) {
  auto options = std::make_shared<CompileOptions>();
  auto output = std::make_shared<std::string>();
  auto symbols = std::make_shared<std::vector<std::string>>();
  auto no_guard = std::make_shared<bool>(false);
  command.description("Print a graph or a kernel at one of the levels of the compiler.");
  add_kernel_selection(command, options->source, *symbols);
  add_schedule(command, *options);
  add_outputs(command, *options, *output);
  command
      .add_option("--passes", options->passes, "Of a graph, run only d(ecompose), o(ptimise), l(ift), m(erge) [dolm].")
      ->type_name("d|do|dol|dolm")
      ->group(seldom);
  command.add_flag("--no-guard", *no_guard, "Merge kernels whatever it costs.")->group(seldom);
  command.footer(
      "deplo compile -c \"nn.RMSNorm(2048)(torch.randn(1,32,2048))\" --ir tile -vv\n"
      "deplo compile --model qwen2.5-7b --seq 512 --ir loop --summary\n"
      "deplo compile -k matmul -s M=33 -s N=509 -s K=777 --target sm_90 --ir cuda");
  command.callback([options, symbols, no_guard, output] {
    options->source.symbols = parse_symbols(*symbols);
    options->guard = !*no_guard;
    options->width = output->empty() ? terminal_width(STDOUT_FILENO) : 0;
    run_compile(*options, *output);
  });
}

void add_devices(CLI::App& command) {
  auto measure = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command.description(
      "List the devices that --device may name, and their limits.\n"
      "It says why a kind of device that is not listed cannot be used.");
  command.add_flag("--measure", *measure,
                   "Measure what each can do at best: copying, reading, multiply-adds of f32 (half a second each).");
  command.add_flag("--json", *json, "Print one JSON document instead of the list.");
  command.footer("deplo devices --measure");
  command.callback([measure, json] {
    print_result(*json ? devices_json(*measure) : devices_text(*measure, terminal_width(STDOUT_FILENO)));
  });
}

}  // namespace deplo::apps
