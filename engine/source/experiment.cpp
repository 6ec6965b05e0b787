#include "engine/source/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "core/config.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/source/alternatives.h"
#include "engine/source/experiment_kernels.h"
#include "measure/check/inputs.h"

namespace deplo::engine {
namespace {

void set_parameter(Experiment& experiment, const std::string& name, const std::string& value, std::string_view place) {
  const search::SearcherKind& kind = search::find_searcher(experiment.strategy);
  search::check_hyperparameter(kind, name, value, place);
  experiment.options.parameters[name] = value;
}

void read_search(const Config& config, Experiment& experiment) {
  config.only({"strategy", "seed", "parameters"});
  if (const auto strategy = config.find("strategy")) {
    experiment.strategy = strategy->text();
    check_strategy(experiment.strategy, strategy->place());
  }
  experiment.options.seed = static_cast<std::uint64_t>(config.integer_or("seed", 0, 0));
  if (const auto parameters = config.find("parameters"))
    for (const auto& [name, value] : parameters->entries())
      set_parameter(experiment, name, value.text(), value.place());
}

void read_budget(const Config& config, Experiment& experiment) {
  config.only({"time", "trials", "patience", "goal"});
  experiment.seconds = config.number_or("time", experiment.seconds, 0, max_seconds);
  experiment.trials = config.integer_or("trials", experiment.trials, 1, max_count);
  experiment.patience = config.integer_or("patience", experiment.patience, 1, max_count);
  experiment.goal = config.number_or("goal", experiment.goal, 1, largest_goal);
}

measure::Protocol read_protocol(const Config& config) {
  std::vector<std::string_view> names;
  for (const auto& number : measure::protocol_numbers()) names.push_back(number.name);
  config.only(names);
  measure::Protocol protocol;
  for (const measure::ProtocolNumber& number : measure::protocol_numbers()) {
    const auto read = [&](auto member) {
      auto& value = protocol.*member;
      if constexpr (std::is_same_v<decltype(value), int&>)
        value = static_cast<int>(config.integer_or(number.name, value, static_cast<std::int64_t>(number.min),
                                                   static_cast<std::int64_t>(number.max)));
      else
        value = config.number_or(number.name, value, number.min, number.max);
    };
    std::visit(read, number.member);
  }
  return protocol;
}

FamilyGoal read_family_goal(const Config& config) {
  config.only({"loss", "over"});
  FamilyGoal goal;
  goal.max_loss = config.number_or("loss", goal.max_loss * 100, 0, max_loss_percent) / 100;
  if (const auto over = config.find("over"))
    goal.over = over->one_of({"worst", "mean"}) == "mean" ? FamilyGoal::Over::mean : FamilyGoal::Over::worst;
  return goal;
}

// Returns the list of kernels. If `kernels` names the file of another experiment, that file's list is returned.
Config entries_of(const Config& kernels, const std::filesystem::path& folder) {
  if (!kernels.is_text() || !kernels.text().ends_with(".yaml")) return kernels;
  const std::string file = kernels.text();
  std::error_code error;
  const bool beside = std::filesystem::exists(folder / file, error);
  if (!beside && !std::filesystem::exists(find_data(file), error))
    kernels.expected("a list of kernels, or the file of another experiment");
  Config list = Config::load(beside ? folder / file : find_data(file)).at("kernels");
  if (list.is_text()) list.expected("a list of kernels, because another experiment refers to it");
  return list;
}

}  // namespace

std::string stored_text(const KernelCase& kernel) {
  return kernel.opaque ? kernel.opaque->identity() : stored_text(kernel.loop);
}

std::string stored_text(const ir::Program& loop) { return print(measure::without_fills(loop)); }

void check_name(std::string_view place, std::string_view what, const std::string& name,
                const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(fmt::format("{}: expected {} ({}), found '{}'{}", place, what, join(names, ", "), name,
                            did_you_mean(name, names)));
}

void check_strategy(const std::string& name, std::string_view place) {
  if (search::is_program(name)) {
    search::find_searcher(name);
    return;
  }
  std::vector<std::string> names{"default"};
  for (const auto* kind : search::searchers()) names.emplace_back(kind->name);
  if (const std::size_t colon = name.find(':');
      colon != std::string::npos && std::ranges::find(names, name.substr(0, colon)) != names.end())
    throw Error(fmt::format("{}: expected a strategy without hyperparameters, found '{}'; set them with {}", place,
                            name, place.starts_with("--") ? "--set " + name.substr(colon + 1) : "`parameters`"));
  names.emplace_back("exec:COMMAND");
  check_name(place, "a strategy", name, names);
}

void set_parameter(Experiment& experiment, const std::string& assignment, std::string_view place) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) throw Error(fmt::format("{}: expected NAME=VALUE, found '{}'", place, assignment));
  set_parameter(experiment, assignment.substr(0, equals), assignment.substr(equals + 1), place);
}

void check_target(const std::string& name, std::string_view place) {
  std::vector<std::string> names = list_data("configs/targets", ".yaml");
  names.insert(names.begin(), "auto");
  check_name(place, "a target", name, names);
}

void check_parameters(const std::vector<KernelCase>& kernels) {
  std::map<std::string, const Restriction*> missed;  // key: text and place of the restriction
  std::set<std::string> met;
  std::vector<std::string> parameters;
  for (const KernelCase& kernel : kernels) {
    std::vector<search::KnobInfo> knobs;
    for (const Restriction& restriction : kernel.restrictions) {
      if (!is_of_kernel_file(restriction)) continue;
      if (kernel.opaque && knobs.empty()) {
        knobs = kernel.opaque->space().knobs();
        for (const search::KnobInfo& knob : knobs) parameters.push_back(knob.name);
      }
      const std::string key = fmt::format("{} {}", restriction.place, describe({restriction}));
      if (restricts(restriction, knobs))
        met.insert(key);
      else
        missed.emplace(key, &restriction);
    }
  }
  for (const auto& [key, restriction] : missed) {
    if (met.contains(key)) continue;
    if (std::ranges::count(parameters, restriction->knob) > 0)
      throw Error(fmt::format("{}: expected at least one value of the parameter {}, found '{}'", restriction->place,
                              restriction->knob, describe({*restriction})));
    const std::string of_file =
        parameters.empty() ? "" : fmt::format(", or a parameter of the kernel file ({})", join(parameters, ", "));
    throw Error(fmt::format("{}: expected a knob (RULE.NAME), such as mark_unroll.a4{}, found '{}'{}",
                            restriction->place, of_file, restriction->knob,
                            did_you_mean(restriction->knob, parameters)));
  }
}

void check_device(const std::string& name, std::string_view place) {
  // open_device reports a device number that is too large.
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string backend = name.substr(0, colon);
  const bool numbered = (backend == "cuda" || backend == "opencl") && colon + 1 < name.size() &&
                        name.size() < colon + 9 && name.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  const bool machine = backend == "ptx" && colon + 1 < name.size();
  if (!numbered && !machine)
    check_name(place, "a device", name, {"cuda", "cuda:N", "opencl", "opencl:N", "interpreter", "ptx:sm_N"});
}

std::string experiment_name(const std::string& text) {
  try {
    return Config::parse(text, "").text_or("name", "");
  } catch (const Error&) {
    return "";
  }
}

Experiment load_experiment(const std::filesystem::path& file, Inputs inputs, const SourceOptions& options,
                           const Place& place) {
  const std::filesystem::path found = find_data(file);
  Experiment experiment =
      parse_experiment(read_file(found), found.string(), found.parent_path(), std::move(inputs), options, place);
  experiment.file = file.string();
  return experiment;
}

Experiment parse_experiment(std::string text, const std::string& file, const std::filesystem::path& folder,
                            Inputs inputs, const SourceOptions& options, const Place& place) {
  Experiment experiment;
  experiment.file = file;
  experiment.text = std::move(text);
  const Config config = Config::parse(experiment.text, file);
  std::vector<std::string_view> keys = {"name", "target", "device"};
  for (const SourceOption& option : source_options()) keys.push_back(option.name);
  keys.insert(keys.end(), {"search", "budget", "protocol", "restrict", "family", "kernels"});
  config.only(keys);
  experiment.name = config.text_or("name", "");
  if (const auto target = config.find("target")) check_target(experiment.target = target->text(), target->place());
  if (const auto device = config.find("device")) check_device(experiment.device = device->text(), device->place());
  experiment.target = place.target.value_or(experiment.target);
  experiment.device = place.device.value_or(experiment.device);
  const Target for_fusion = fusion_target(experiment.target, experiment.device);
  if (const auto search = config.find("search")) read_search(*search, experiment);
  if (const auto budget = config.find("budget")) read_budget(*budget, experiment);
  if (const auto protocol = config.find("protocol")) experiment.protocol = read_protocol(*protocol);
  if (const auto family = config.find("family")) experiment.family_goal = read_family_goal(*family);
  const SourceOptions all = joined(options, read_source_options(config));
  const Config kernels = entries_of(config.at("kernels"), folder);
  Restrictions restrictions;
  if (const auto restrict_all = config.find("restrict")) {
    if (restrict_all->is_map())
      restrictions = read_restrictions(*restrict_all);
    else
      check_restrictions(experiment.restrictions = restrict_all->text(), restrict_all->place());
  }
  for (const Config& item : kernels.items()) {
    Entry entry = read_entry(item, folder, all);
    entry.restrictions.insert(entry.restrictions.begin(), restrictions.begin(), restrictions.end());
    if (place.decisions && Alternatives::exist_for(entry.source))
      entry.source.decisions = place.decisions(entry.source, for_fusion);
    if (entry.shapes.empty())
      add(experiment, entry, inputs, for_fusion);
    else
      add_family(experiment, entry, inputs, for_fusion);
  }
  check_met(inputs);
  check_parameters(experiment.kernels);
  experiment.kernels = merge_equal(std::move(experiment.kernels));
  if (experiment.kernels.empty()) kernels.expected("at least one kernel");
  return experiment;
}

}  // namespace deplo::engine
