// Programs of Tiramisu with measured schedules, as LOOPerSet has them: on each line, or as a member of one object,
//   {"program_name": "function1", "initial_execution_time": 2.5, "program_annotation": {…}, "schedules_list":
//    [{"sched_str": "I({C0},L0,L1)P({C0},L0)", "execution_times": [1.5, 1.25], "legality_check": true, "comp00": {…}}, …]}
// https://huggingface.co/datasets/Mascinissa/LOOPerSet, https://github.com/Tiramisu-Compiler. Times are in ms; a schedule
// counts with its least, as in the works that made the data. Each program is a space. Knobs are the transformations, by
// their place in the schedule; without sched_str those of each computation.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "search/records/by_space.h"
#include "search/records/formats.h"

namespace deplo::search {
namespace {

using records::Json;

/// I({C0},L0,L1) and P({C0},L0) of the text; nullopt: it has another form.
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

/// Of a schedule without a text: what is done with each computation.
std::vector<records::Setting> settings_of_computations(const Json& schedule) {
  constexpr std::string_view others[] = {"execution_times",    "tree_structure", "sched_str", "legality_check",
                                         "exploration_method", "speedup",        "exec_time"};
  std::vector<records::Setting> settings;
  for (const auto& [name, value] : schedule.items())
    if (std::ranges::find(others, name) == std::end(others) && !value.is_null())
      settings.emplace_back(name, records::value_json(value));
  return settings;
}

std::vector<records::Setting> settings_of_schedule(const Json& schedule) {
  const Json& text = records::member_of(schedule, "sched_str");
  if (!text.is_string()) return settings_of_computations(schedule);
  const auto steps = transformations(text.get_ref<const std::string&>());
  if (!steps) return {{"schedule", records::compact(text)}};
  std::vector<records::Setting> settings;
  for (std::size_t i = 0; i < steps->size(); ++i)
    settings.emplace_back(fmt::format("step {}", i + 1), records::compact(Json((*steps)[i])));
  return settings;
}

void add_schedule(const Json& schedule, records::SparseRecords& space, const std::string& place) {
  if (!schedule.is_object())
    throw Error(
        fmt::format("{}: expected schedules of a program of LOOPerSet, found {}", place, records::excerpt(schedule)));
  std::vector<double> launches;
  double sum = 0;
  for (const Json& ms : records::member_of(schedule, "execution_times")) {
    if (!ms.is_number() || !(ms.get<double>() > 0)) continue;
    sum += launches.emplace_back(ms.get<double>() * 1e3);
  }
  const bool is_illegal = records::member_of(schedule, "legality_check") == false;
  const double least = launches.empty() || is_illegal ? 0 : *std::ranges::min_element(launches);
  Record record =
      records::timed(least, is_illegal ? Status::invalid : Status::launch_error, is_illegal ? "not legal" : "no time");
  if (record.outcome.ok()) record.run_seconds = sum * 1e-6;
  space.add(settings_of_schedule(schedule), std::move(record), std::move(launches));
}

void add_program(const Json& program, const std::string& key, records::BySpace& spaces, const std::string& place) {
  const Json& schedules = records::member_of(program, "schedules_list");
  if (!schedules.is_array())
    throw Error(fmt::format("{}: expected a program of LOOPerSet with a schedules_list, found none", place));
  std::string name = key;
  for (const char* each : {"filename", "program_name"})
    if (const std::string text = records::text_of(program, each); !text.empty()) name = text;
  records::SparseRecords& space = spaces.of(name + "\n" + key, name, records::text_of(program, "node_name"));
  for (const Json& schedule : schedules) add_schedule(schedule, space, place);
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
