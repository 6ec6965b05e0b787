// Explains the best trail to a reader: what each rule decided, compared with the untuned schedule, and the Tile IR.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/report/tuning.h"
#include "core/error.h"
#include "core/trail.h"
#include "engine/loop/kernel.h"
#include "rules/lower.h"

namespace deplo::apps::report {
namespace {

std::string value_in(const Trail& trail, const std::string& knob) {
  const auto found = std::ranges::find(trail, knob, &Choice::knob);
  return found == trail.end() ? "-" : deplo::print(found->value);
}

std::pair<std::string, std::string> split_knob(const std::string& knob) {
  const std::size_t dot = knob.find('.');
  if (dot == std::string::npos) return {"", knob};
  return {knob.substr(0, dot), knob.substr(dot + 1)};
}

TunedKernel::Decision decision(const Choice& choice, const Trail& untuned, std::size_t options) {
  const auto [rule, knob] = split_knob(choice.knob);
  return {rule, knob, deplo::print(choice.value), value_in(untuned, choice.knob), options};
}

/// Fills the decisions from the trail alone, for a trail that the rules cannot replay.
void explain_by_trail(TunedKernel& kernel, const Trail& untuned) {
  kernel.decisions.clear();
  for (const Choice& choice : parse_trail(kernel.best_trail)) kernel.decisions.push_back(decision(choice, untuned, 0));
}

struct Origin {
  ir::Program loop;
  Target target;
};

void explain_by_rules(TunedKernel& kernel, const Origin& origin, const Trail& untuned) {
  const rules::Lowering start(origin.loop, origin.target);
  const auto best = rules::follow(start, parse_trail(kernel.best_trail), rules::TrailIs::whole);
  if (!best.ok()) throw Error(best.failure().message);
  rules::Lowering lowering = start;
  for (const Choice& choice : best.value().trail()) {
    const std::vector<Value>& options = lowering.fork()->options;
    kernel.decisions.push_back(decision(choice, untuned, options.size()));
    lowering.choose(static_cast<std::size_t>(std::ranges::find(options, choice.value) - options.begin()));
  }
  kernel.schedule = print(lowering.program());
}

/// Returns the schedule that a tuner measures first: the heuristic's. If it was not measured, because older rules wrote
/// the store, returns the first trial's.
Trail untuned_trail(const TunedKernel& kernel, const Origin& origin) {
  const Trail own = rules::heuristic(origin.loop, origin.target).trail();
  const StageTimes times = kernel.times_of(print(own));
  return times.screened > 0 || times.confirmed > 0 ? own : parse_trail(kernel.trials.front().trail);
}

}  // namespace

void explain_schedule(TunedKernel& kernel) {
  kernel.imported = kernel.text.starts_with("recorded ");
  if (kernel.imported) {
    kernel.unreadable = "Recorded by another program: deplo's rules do not know its schedules.";
    return explain_by_trail(kernel, {});
  }
  if (kernel.trials.empty()) return;  // all trials are damaged
  Trail untuned = parse_trail(kernel.trials.front().trail);
  try {
    const Origin origin{engine::parse_kernel(kernel.text, {}, "the kernel"), measure::target_of(kernel.summary.device)};
    untuned = untuned_trail(kernel, origin);
    if (!kernel.best_trail.empty()) explain_by_rules(kernel, origin, untuned);
  } catch (const Error& error) {  // the trail is of another version, or for another target than the device's
    kernel.unreadable = fmt::format("The rules of this version of deplo cannot replay it: {}.", error.what());
    explain_by_trail(kernel, untuned);
  }
  kernel.summary.untuned = kernel.times_of(print(untuned));
}

}  // namespace deplo::apps::report
