// Programs of Tiramisu with measured schedules, as LOOPerSet has them: on each line, or as a member of one object,
//   {"program_name": "function1", "initial_execution_time": 2.5, "program_annotation": {…}, "schedules_list":
//    [{"transformations_list": [{"type": "tiling", "loop_levels": [0, 1], "parameters": [32, 32]}, …],
//      "execution_times": [1.5, 1.25]}, …]}
// The times may also be given for several machines: {"xeon_e5_2695_v2": [1.5, 1.25]}. Older data of Tiramisu has, in
// place of the list, "sched_str": "I({C0},L0,L1)P({C0},L0)", "legality_check", and a member for each computation.
// https://huggingface.co/datasets/Mascinissa/LOOPerSet, https://github.com/Tiramisu-Compiler. Times are in ms. The
// least time of a schedule counts, as in the works that made the data. Each program on each machine is a space. The
// knobs are the transformations, by their place in the schedule. A schedule without a list or a text of transformations
// has a knob for each computation.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"

namespace deplo::search {
namespace {

using records::Json;

/// Splits "I({C0},L0,L1)P({C0},L0)" into "I({C0},L0,L1)" and "P({C0},L0)"; nullopt if the text has another form.
std::optional<std::vector<std::string>> transformations(std::string_view text) {
  std::vector<std::string> found;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth < 0) return std::nullopt;
    if (text[i] != ')' || depth != 0) continue;
    const std::size_t first = text.find_first_not_of(" ,;", start);
    found.emplace_back(text.substr(first, i + 1 - first));
    start = i + 1;
  }
  if (depth != 0 || text.find_first_not_of(" ,;", start) != std::string_view::npos) return std::nullopt;
  return found;
}

/// The settings of a schedule without a list or a text: what is done with each computation.
std::vector<records::Setting> settings_of_computations(const Json& schedule) {
  constexpr std::string_view others[] = {"execution_times",    "tree_structure", "sched_str", "legality_check",
                                         "exploration_method", "speedup",        "exec_time"};
  std::vector<records::Setting> settings;
  for (const auto& [name, value] : schedule.items())
    if (std::ranges::find(others, name) == std::end(others) && !value.is_null())
      settings.emplace_back(name, records::value_json(value));
  return settings;
}

/// Returns, for example, `tiling {"loop_levels":[0,1],"parameters":[32,32]}`.
std::string transformation_text(const Json& transformation) {
  if (!transformation.is_object()) return records::compact(transformation);
  Json rest = Json::object();
  for (const auto& [name, value] : transformation.items())
    if (name != "type" && !value.is_null()) rest[name] = value;
  return records::text_of(transformation, "type") + " " + records::compact(rest);
}

std::vector<records::Setting> settings_of_schedule(const Json& schedule) {
  std::vector<std::string> steps;
  const Json &list = records::member_of(schedule, "transformations_list"),
             &text = records::member_of(schedule, "sched_str");
  if (list.is_array()) {
    for (const Json& step : list) steps.push_back(transformation_text(step));
  } else if (text.is_string()) {
    const auto found = transformations(text.get_ref<const std::string&>());
    if (!found) return {{"schedule", records::compact(text)}};
    steps = *found;
  } else {
    return settings_of_computations(schedule);
  }
  std::vector<records::Setting> settings;
  for (std::size_t i = 0; i < steps.size(); ++i)
    settings.emplace_back(fmt::format("step {}", i + 1), records::compact(Json(steps[i])));
  return settings;
}

/// Adds the times above 0, converted to µs. `ms` is a number in ms, a text with a number, or a list of them.
void take_times(const Json& ms, std::vector<double>& launches) {
  if (ms.is_array()) {
    for (const Json& entry : ms)
      if (!entry.is_array()) take_times(entry, launches);
    return;
  }
  const Json number = ms.is_string() ? Json::parse(ms.get_ref<const std::string&>(), nullptr, false) : ms;
  if (number.is_number() && number.get<double>() > 0) launches.push_back(number.get<double>() * 1e3);
}

/// `machine`: "" if the file does not name one.
void add_schedule(const Json& schedule, const std::string& machine, records::SparseRecords& space) {
  const Json& all = records::member_of(schedule, "execution_times");
  std::vector<double> launches;
  take_times(all.is_object() ? records::member_of(all, machine) : all, launches);
  double sum = 0;
  for (const double us : launches) sum += us;
  const bool is_illegal = records::member_of(schedule, "legality_check") == false;
  const double min_us = launches.empty() || is_illegal ? 0 : *std::ranges::min_element(launches);
  Record record =
      records::timed(min_us, is_illegal ? Status::invalid : Status::launch_error, is_illegal ? "not legal" : "no time");
  if (record.outcome.ok()) record.run_seconds = sum * 1e-6;
  space.add(settings_of_schedule(schedule), std::move(record), std::move(launches));
}

constexpr std::size_t max_machines = 100;  // limited, because all schedules of a program are read for each machine

/// The machines for which any schedule has times; "" if the file does not name machines.
std::vector<std::string> machines_of(const Json& schedules, const std::string& place) {
  std::vector<std::string> machines;
  for (const Json& schedule : schedules) {
    if (!schedule.is_object())
      throw Error(
          fmt::format("{}: expected schedules of a program of LOOPerSet, found {}", place, records::excerpt(schedule)));
    const Json& times = records::member_of(schedule, "execution_times");
    if (!times.is_object()) continue;
    for (const auto& [machine, value] : times.items())
      if (std::ranges::find(machines, machine) == machines.end()) machines.push_back(machine);
    if (machines.size() > max_machines)
      throw Error(fmt::format("{}: expected times of at most {} machines, found more", place, max_machines));
  }
  return machines.empty() ? std::vector<std::string>{""} : machines;
}

void add_program(const Json& program, const std::string& key, records::BySpace& spaces, const std::string& place) {
  const Json& schedules = records::member_of(program, "schedules_list");
  if (program.is_object() && program.contains("schedules_list") && schedules.is_null()) return;
  if (!schedules.is_array())
    throw Error(fmt::format("{}: expected a program of LOOPerSet with a schedules_list, found none", place));
  std::string name = key;
  for (const char* field : {"filename", "program_name"})
    if (const std::string text = records::text_of(program, field); !text.empty()) name = text;
  const std::string node = records::text_of(program, "node_name");
  for (const std::string& machine : machines_of(schedules, place)) {
    records::SparseRecords& space =
        spaces.of(fmt::format("{}\n{}\n{}", name, key, machine), name, machine.empty() ? node : machine);
    for (const Json& schedule : schedules) add_schedule(schedule, machine, space);
  }
}

}  // namespace

std::vector<Records> records::parse_looperset(const Source& source) {
  BySpace spaces(source);
  each_json_line(source.text, source.place, "a program of LOOPerSet", [&](const JsonLine& line) {
    if (line.json.is_object() && line.json.contains("schedules_list")) {
      const std::string number = line.place.substr(source.place.size());  // ":3"
      add_program(line.json, stem_of(source.place) + number, spaces, line.place);
    } else {
      if (!line.json.is_object()) throw Error(line.place + ": expected a program of LOOPerSet");
      for (const auto& [name, program] : line.json.items()) add_program(program, name, spaces, line.place);
    }
  });
  return spaces.finish();
}

}  // namespace deplo::search
