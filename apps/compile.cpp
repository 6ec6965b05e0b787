#include "apps/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/diff.h"
#include "apps/kernel.h"
#include "core/error.h"
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

}  // namespace

std::string compile(const CompileOptions& options) {
  const Target target = pick_target(options);
  ir::Program loop = load_kernel(options.kernel, options.symbols, "--kernel");
  if (options.level == "loop") return print(loop);
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

}  // namespace deplo::apps
