#include "apps/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/diff.h"
#include "apps/experiment.h"
#include "apps/kernel.h"
#include "apps/module_table.h"
#include "core/error.h"
#include "ir/emit/emit.h"
#include "rules/banks.h"
#include "rules/lower.h"

namespace deplo::apps {
namespace {

Target pick_target(const CompileOptions& options) {
  if (options.target.empty()) return load_target(options.level == "cuda" || options.smem ? "sm_90" : "opencl-cpu");
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
  return fmt::format(">>> {0}\n@@ matched at {1} (in-place) @@\n{2}<<< {0}\n", rule, kernel,
                     unified_diff(print(step.before), print(step.after)));
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
  if (options.smem) return text + rules::draw_banks(lowering.program(), target);
  if (options.level == "tile") return text + print(lowering.program());
  const ir::Program kernel = rules::materialize(lowering.program(), target);
  if (options.level == "kernel") return text + print(kernel);
  return text + emit(kernel, target).text;
}

std::string compile_kernel(const CompileOptions& options) {
  const Target target = pick_target(options);
  const ir::Program loop = load_kernel(options.source.kernel, options.source.symbols, "--kernel");
  return options.level == "loop" ? print(loop) : lower(loop, target, options);
}

std::string compile_kernels(const ir::Module& module, const CompileOptions& options) {
  const Target target = pick_target(options);
  const std::vector<NumberedKernel> kernels = pick_kernels(module, options.source.only);
  if (!options.schedule.empty() && kernels.size() != 1)
    throw Error(fmt::format("--schedule: expected a single kernel, found {}; choose one by --only", kernels.size()));
  std::string text;
  for (const auto& [number, loop] : kernels) {
    text += fmt::format("{} {}\n", is_source(options.level) ? "//" : "#", title(loop, number));
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
  const ir::torch::Graph graph = read_graph(options.source.graph, "-c");
  if (options.level == "torch") return print(graph);
  if (options.level == "tensor") return print(lower_to_tensor(graph, passes));
  const ir::Module module = lower_to_module(graph, passes, "the graph");
  return options.summary ? print_summary(module, options.width) : compile_kernels(module, options);
}

/// Options that say nothing about what is compiled.
void check_options(const CompileOptions& options) {
  const bool graph = options.source.kernel.empty();
  const auto refuse = [&](bool given, const char* flag) {
    if (given && !graph) throw Error(fmt::format("{}: expected it beside a graph (-c, …), found --kernel", flag));
  };
  refuse(options.passes.has_value(), "--passes");
  refuse(!options.guard, "--no-guard");
  refuse(options.summary, "--summary");
  if (options.smem && options.summary) throw Error("--smem: expected it without --summary, found both");
  std::vector<std::string> levels{"loop", "tile", "kernel", "cuda", "opencl"};
  if (graph) levels.insert(levels.begin(), {"torch", "tensor"});
  check_name("--ir", "a level", options.level, levels);
  if (options.summary && options.level != "loop")
    throw Error(fmt::format("--summary: expected --ir loop beside it, found {}", options.level));
  if (options.summary && options.source.only) throw Error("--summary: expected all kernels, found --only beside it");
  const bool scheduled = options.level != "torch" && options.level != "tensor" && options.level != "loop";
  if (!scheduled && !options.schedule.empty())
    throw Error(fmt::format("--schedule: expected a level below loop, found --ir {}", options.level));
}

}  // namespace

std::string compile(CompileOptions options) {
  if (options.smem && !options.level.empty())
    throw Error(fmt::format("--smem: expected no level beside it, found --ir {}", options.level));
  if (options.smem && !options.summary) options.level = "tile";
  if (options.level.empty()) options.level = options.summary ? "loop" : "opencl";
  check_source(options.source);
  check_options(options);
  return options.source.kernel.empty() ? compile_graph(options) : compile_kernel(options);
}

}  // namespace deplo::apps
