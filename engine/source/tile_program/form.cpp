#include "engine/source/tile_program/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/error.h"
#include "rules/cost/least_work.h"

namespace deplo::engine {
namespace {

/// Returns how many times the kernels compute each value on average. If a factor of a product is itself a product, its
/// values are computed again for each output that needs them, because an element of Loop IR cannot store values for
/// other elements.
double repetitions(const ir::Module& module) {
  double done = 0, min_flops = 0;
  for (const ir::Program& kernel : module.kernels) {
    done += ir::work(kernel).flops;
    min_flops += rules::least_work(kernel).flops;
  }
  return min_flops > 0 ? done / min_flops : 1;
}

/// Programs without repetitions take 5 times as long block by block as element by element, in the geometric mean of
/// thirteen programs (docs/performance.md, "Elements or blocks"). If elements are computed more often than 5 times,
/// blocks are probably faster.
constexpr double max_repetitions = 5;

Fork fork_of(double repetitions) {
  Fork fork{std::string(form_knob), {std::string(by_elements), std::string(by_blocks)}};
  if (repetitions > max_repetitions) std::swap(fork.options[0], fork.options[1]);
  return fork;
}

}  // namespace

Trail take_form(std::string_view form) { return {{std::string(form_knob), std::string(form)}}; }

LaunchForm choose_form(const TileLaunch& launch, const SourceOptions& options, const Trail& taken) {
  const Value* const fixed = find_fixed(options, "form");
  const Value elements{std::string(by_elements)}, blocks{std::string(by_blocks)};
  if (fixed != nullptr && *fixed == blocks) return {{}, "form blocks asks for it", {}};
  auto raised = try_raise(launch);
  if (auto* refused = std::get_if<rules::NotRaised>(&raised)) {
    if (fixed == nullptr) return {{}, std::move(refused->why), {}};
    throw Error(fmt::format("form elements: expected a program that Loop IR expresses, found: {}", refused->why));
  }
  LaunchForm form{std::get<ir::Module>(std::move(raised)), "", {}};
  if (fixed != nullptr) return form;
  const double times = repetitions(*form.module);
  form.fork = fork_of(times);
  const auto stored = std::ranges::find(taken, form_knob, &Choice::knob);
  if ((stored == taken.end() ? form.fork->options.front() : stored->value) == elements) return form;
  form.module.reset();
  form.why_blocks = stored != taken.end() ? "that was faster when it was tuned"
                                          : fmt::format("as elements it would compute each value {:.1f} times", times);
  return form;
}

}  // namespace deplo::engine
