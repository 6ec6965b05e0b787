#include "apps/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "apps/diff.h"
#include "apps/experiment.h"
#include "apps/kernel.h"
#include "apps/module_table.h"
#include "core/error.h"
#include "core/nearest.h"
#include "ir/emit/emit.h"
#include "rules/lower.h"

namespace deplo::apps {
namespace {

Target pick_target(const CompileOptions& options) {
  if (options.target.empty()) return load_target(options.level == "cuda" ? "sm_90" : "opencl-cpu");
  Target target = load_target(options.target);
  const bool source = options.level == "cuda" || options.level == "opencl";
  if (source && options.level != name(target.dialect))
    throw Error(fmt::format("--ir: expected {} (or loop, tile, kernel) for the target {}, found {}",
                            name(target.dialect), target.name, options.level));
  return target;
}

int number_of(std::string_view rule) {
  const auto rules = rules::pipeline();
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const rules::Rule* r) { return r->name == rule; });
  return static_cast<int>(found - rules.begin()) + 1;
}

// The seeds' form: `t` stands for the rules on Tile IR.
std::string trace(const rules::Lowering::Step& step, int verbose, const std::string& kernel) {
  const std::string rule = fmt::format("t:{:03}_{}", number_of(step.rule), step.rule);
  if (!step.skipped.empty()) return fmt::format("--- {} skipped at {}: {}\n", rule, kernel, step.skipped);
  if (verbose < 2) return fmt::format(">>> {}\n", rule);
  return fmt::format(">>> {}\n{}<<< {}\n", rule, unified_diff(print(step.before), print(step.after)), rule);
}

bool is_source(const std::string& level) { return level == "cuda" || level == "opencl"; }

/// Below Loop IR: the kernel by the schedule of the options.
std::string lower(const ir::Program& loop, const Target& target, const CompileOptions& options) {
  std::string text;
  rules::Lowering::Observer observer;
  if (options.verbose > 0)
    observer = [&](const rules::Lowering::Step& step) { text += trace(step, options.verbose, loop.name); };
  const rules::Lowering lowering = rules::follow(loop, target, parse_trail(options.schedule), observer);
  if (options.verbose > 0) text += fmt::format("schedule: {}\n", print(lowering.trail()));
  if (options.level == "tile") return text + print(lowering.program());
  const ir::Program kernel = rules::materialize(lowering.program(), target);
  if (options.level == "kernel") return text + print(kernel);
  return text + emit(kernel, target).text;
}

std::string compile_kernel(const CompileOptions& options) {
  const Target target = pick_target(options);
  const ir::Program loop = load_kernel(options.kernel, options.symbols, "--kernel");
  return options.level == "loop" ? print(loop) : lower(loop, target, options);
}

std::size_t pick_kernel(const std::vector<ir::Program>& kernels, const std::string& only) {
  std::size_t number = 0;
  const char* const end = only.data() + only.size();
  const auto [stop, error] = std::from_chars(only.data(), end, number);
  if (error == std::errc() && stop == end && number < kernels.size()) return number;
  std::vector<std::string> names;
  for (const ir::Program& kernel : kernels) names.push_back(kernel.name);
  const auto found = std::ranges::find(names, only);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string range = kernels.size() == 1 ? "0" : fmt::format("0 … {}", kernels.size() - 1);
  throw Error(fmt::format("--only: expected a kernel's number ({}) or name, found '{}'{}", range, only,
                          did_you_mean(only, names)));
}

std::string compile_kernels(const ir::Module& module, const CompileOptions& options) {
  const Target target = pick_target(options);
  std::size_t begin = 0, end = module.kernels.size();
  if (options.only) end = (begin = pick_kernel(module.kernels, *options.only)) + 1;
  if (!options.schedule.empty() && end - begin != 1)
    throw Error(fmt::format("--schedule: expected a single kernel, found {}; choose one by --only", end - begin));
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    const ir::Program& loop = module.kernels[i];
    text += fmt::format("{} {}\n", is_source(options.level) ? "//" : "#", title(loop, i));
    text += options.level == "loop" ? print(loop) : lower(loop, target, options);
  }
  return text;
}

std::string compile_graph(const CompileOptions& options) {
  const std::string passes_text = options.passes.value_or("dolm");
  Passes passes = parse_passes(passes_text);
  passes.guard = options.guard;
  if (!passes.lift && options.level != "torch" && options.level != "tensor")
    throw Error(fmt::format("--passes: expected dol or dolm for --ir {}, found '{}'", options.level, passes_text));
  const ir::torch::Graph graph = read_graph(options.graph, "-c");
  if (options.level == "torch") return print(graph);
  if (options.level == "tensor") return print(lower_to_tensor(graph, passes));
  const ir::Module module = lower_to_module(graph, passes, "the graph");
  return options.summary ? print_summary(module, options.width) : compile_kernels(module, options);
}

/// Options that say nothing about what is compiled.
void check_options(const CompileOptions& options) {
  const bool graph = options.kernel.empty();
  const auto refuse = [&](bool given, const char* flag) {
    if (given)
      throw Error(fmt::format("{}: expected it beside {}, found {}", flag, graph ? "--kernel" : "a graph (-c, …)",
                              graph ? "a graph" : "--kernel"));
  };
  refuse(graph && !options.symbols.empty(), "--symbol");
  refuse(!graph && options.passes, "--passes");
  refuse(!graph && !options.guard, "--no-guard");
  refuse(!graph && options.only, "--only");
  refuse(!graph && options.summary, "--summary");
  std::vector<std::string> levels{"loop", "tile", "kernel", "cuda", "opencl"};
  if (graph) levels.insert(levels.begin(), {"torch", "tensor"});
  check_name("--ir", "a level", options.level, levels);
  if (options.summary && options.level != "loop")
    throw Error(fmt::format("--summary: expected --ir loop beside it, found {}", options.level));
  if (options.summary && options.only) throw Error("--summary: expected all kernels, found --only beside it");
  const bool scheduled = options.level != "torch" && options.level != "tensor" && options.level != "loop";
  if (!scheduled && !options.schedule.empty())
    throw Error(fmt::format("--schedule: expected a level below loop, found --ir {}", options.level));
}

}  // namespace

std::string compile(CompileOptions options) {
  if (options.level.empty()) options.level = options.summary ? "loop" : "opencl";
  check_source(options.graph, !options.kernel.empty());
  check_options(options);
  return options.kernel.empty() ? compile_graph(options) : compile_kernel(options);
}

}  // namespace deplo::apps
