#include "apps/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/compile.h"
#include "apps/devices.h"
#include "apps/experiment.h"
#include "apps/flags.h"
#include "apps/tuned.h"
#include "apps/write_file.h"
#include "core/error.h"
#include "core/text.h"
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
    if (error == std::errc() && stop == end && value >= 1 && value <= most_extent)
      return {text.substr(0, equals), value};
  }
  throw Error(fmt::format("--symbol: expected NAME=SIZE with a size between 1 and {}, found '{}'", most_extent, text));
}

}  // namespace

void print_result(const std::string& text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();  // a cubin has zeros in it
  if (!whole || std::fflush(stdout) != 0) throw Error("cannot write to standard output", Exit::environment);
}

void require(const std::string& value, const char* flag) {
  if (value.empty()) throw Error(fmt::format("expected the flag {}, found none; see --help", flag));
}

void add_graph_source(CLI::App& command, GraphSource& source) {
  command.add_option("-c,--code", source.code, "an expression of PyTorch, such as \"F.relu(torch.randn(8))\"")
      ->type_name("CODE");
  command.add_option("--file", source.file, "a file that holds an expression")->type_name("FILE");
  command.add_option("--pt2", source.pt2, "a program that torch.export.save wrote")->type_name("FILE");
  command.add_option("--model", source.model, "a block of a model: a name under configs/models, or a .yaml file")
      ->type_name("NAME");
  command.add_option("--layer", source.layer, "which block of the model [0]")
      ->check(between(std::int64_t{0}, most_extent))
      ->type_name("N");
  command.add_option("--seq", source.seq, "the length of the sequence that the block sees")
      ->check(between(std::int64_t{1}, most_extent))
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

void add_restrictions(CLI::App& command, std::vector<std::string>& restrictions) {
  command
      .add_option(
          "--restrict", restrictions,
          "a knob offers these values alone, in the rules' order, 'heuristic' being the rule's own first; where "
          "none of them is offered, that one. mark_unroll.* stands for all that begin so; may be repeated, the "
          "last that matches counts")
      ->type_name("KNOB=VALUE,…")
      ->take_all()
      ->allow_extra_args(false);
}

Restrictions parse_restrictions(const std::vector<std::string>& texts) {
  Restrictions restrictions;
  for (const std::string& text : texts) restrictions.push_back(parse_restriction(text, "--restrict"));
  return restrictions;
}

void add_kernel_source(CLI::App& command, KernelSource& source, std::vector<std::string>& symbols) {
  add_graph_source(command, source.graph);
  command.add_option("-k,--kernel", source.kernel, "a name under configs/kernels, or the path of a .loop file")
      ->type_name("NAME");
  command.add_option("-s,--symbol", symbols, "once for each symbol of the kernel")->type_name("NAME=SIZE")->take_all();
  command.add_option("--only", source.only, "one of the graph's kernels, by number or name")->type_name("KERNEL");
}

namespace {

void run_compile(const CompileOptions& options, const std::string& output) {
  if (options.level == "cubin" && output.empty() && isatty(STDOUT_FILENO) != 0)
    throw Error("--ir cubin: expected --output FILE, found a terminal, which cannot show machine code");
  const std::string text = compile(options);
  if (output.empty())
    print_result(text);
  else
    write_file(output, text);
}

void add_schedule(CLI::App& command, CompileOptions& options) {
  command
      .add_option("--schedule", options.schedule,
                  "a trail, such as the table of `deplo tune` prints; quoted; of one kernel")
      ->type_name("TRAIL");
  command
      .add_option("--tuned", options.tuned,
                  "schedules of this store of `deplo tune`, or of the user's own (" + default_store() + ")")
      ->expected(0, 1)
      ->type_name("[FILE]");
  command.add_option("--tuned-on", options.tuned_on, "the device that they were measured on, or a part of its name")
      ->type_name("NAME");
  command.add_flag("--nearest", options.nearest,
                   "a kernel that was not tuned gets the schedule of the nearest extents that were, where it is legal");
}

}  // namespace

void add_compile(CLI::App& command) {
  auto options = std::make_shared<CompileOptions>();
  auto output = std::make_shared<std::string>();
  auto symbols = std::make_shared<std::vector<std::string>>();
  auto no_guard = std::make_shared<bool>(false);
  add_kernel_source(command, options->source, *symbols);
  command
      .add_option("--ir", options->level,
                  "what to print: loop, tile, kernel, opencl, cuda, ptx or cubin, and of a graph also torch or tensor "
                  "[opencl]")
      ->type_name("LEVEL");
  command.add_option("--passes", options->passes, "of a graph: d(ecompose), o(ptimise), l(ift), m(erge) [dolm]")
      ->type_name("d|do|dol|dolm");
  command.add_flag("--no-guard", *no_guard, "merge whatever may be merged, whatever it costs");
  command.add_flag("--summary", options->summary, "a table of the graph's kernels and their work (with --ir loop)");
  command
      .add_option("--target", options->target,
                  "a name under configs/targets [sm_90 for cuda, ptx, cubin, --smem and --resources, else opencl-cpu]")
      ->type_name("NAME");
  add_schedule(command, *options);
  command.add_flag("--smem", options->smem,
                   "in place of a level: where staged buffers lie in the banks of shared memory");
  command.add_flag(
      "--resources", options->resources,
      "in place of a level: registers, spills, stack, shared memory (bytes) and occupancy on a CUDA target");
  command.add_option("-o,--output", *output, "write there what is else printed")->type_name("FILE");
  command.add_flag("-v", options->verbose, "what each rule did; -vv: with the difference it made");
  command.callback([options, symbols, no_guard, output] {
    options->source.symbols = parse_symbols(*symbols);
    options->guard = !*no_guard;
    options->width = output->empty() ? terminal_width(STDOUT_FILENO) : 0;
    run_compile(*options, *output);
  });
}

void add_devices(CLI::App& command) {
  auto measure = std::make_shared<bool>(false);
  command.add_flag("--measure", *measure, "with what each can do at best: copying, reading, multiply-adds of f32");
  command.callback([measure] { print_result(devices_text(*measure)); });
}

}  // namespace deplo::apps
