// Logs of TVM's auto_scheduler (Ansor), and TenSet's measure records, which have the same form: on each line
//   {"i": [[WORKLOAD KEY, TARGET, …], [[], [STEP, …]]], "r": [[SECONDS, …], ERROR, SECONDS, TIMESTAMP], "v": "v0.6"}
// https://tvm.apache.org (src/auto_scheduler/measure_record.cc, transform_step.cc). A step is a list that begins with
// its kind: ["SP", stage, loop, extent, [lengths], inner to outer], ["AN", stage, loop, annotation], ["FU", stage,
// [loops]],
// ["RE", …], ["PR", stage, loop, "auto_unroll_max_step$64"], ["CA", stage, target, loop], ["CHW", stage, scope], …
// Each workload on each target is a space. Knobs are the steps that differ.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/tvm_result.h"

namespace deplo::search {
namespace {

using records::Json;

[[noreturn]] void expected_of_ansor(const std::string& place, std::string_view what) {
  throw Error(fmt::format("{}: expected {} in a line of Ansor's log", place, what));
}

/// The number of elements after the kind that say what the step is applied to: a stage, and for most kinds a loop. The
/// elements after these are choices.
std::size_t address_size(const std::string& kind) {
  for (const char* stage_kind : {"FU", "RE", "CA", "CI", "CR", "CHR", "CHW"})
    if (kind == stage_kind) return 1;
  return 2;
}

/// "SP 2 0" = [1,8,2] for ["SP", 2, 0, 512, [1, 8, 2], 1]. The extent follows from the workload, the direction from the
/// sketch. If an address occurs again, its knob gets a number: "SP 2 0 #2".
records::Setting setting_of(const Json& step, std::map<std::string, std::size_t>& seen, const std::string& place) {
  if (!step.is_array() || step.size() < 2 || !step[0].is_string())
    expected_of_ansor(place, "[kind, stage, …] as a step");
  std::string name = step[0].get<std::string>();
  const std::size_t address = std::min(address_size(name), step.size() - 1);
  const bool is_split = name == "SP" && step.size() >= 5;
  Json chosen = Json::array();
  for (std::size_t i = 1; i < step.size(); ++i) {
    if (i <= address)
      name += " " + records::compact(step[i]);
    else if (!is_split || i == 4)
      chosen.push_back(step[i]);
  }
  if (const std::size_t count = ++seen[name]; count > 1) name += fmt::format(" #{}", count);
  const Json value = chosen.size() == 1 ? chosen[0] : chosen.empty() ? Json(true) : chosen;
  return {name, records::value_json(value)};
}

std::vector<records::Setting> settings_of_state(const Json& state, const std::string& place) {
  if (!state.is_array() || state.size() != 2 || !state[1].is_array())
    expected_of_ansor(place, "[[], [step, …]] as a state");
  std::vector<records::Setting> settings;
  std::map<std::string, std::size_t> seen;
  for (const Json& step : state[1]) settings.push_back(setting_of(step, seen, place));
  return settings;
}

/// Returns "matmul 512,512,512" for "[\"matmul\", 512, 512, 512]".
std::string workload_name(const std::string& key) {
  const Json json = records::json_in(key);
  if (!json.is_array() || json.empty() || !json[0].is_string()) return key;
  std::string name = json[0].get<std::string>();
  for (std::size_t i = 1; i < json.size(); ++i) name += (i == 1 ? " " : ",") + records::compact(json[i]);
  return name;
}

/// AutoTVM's version 0.1 has the same members, but its task is not a list: {"i": [TARGET, TASK, …], …}.
bool is_old_autotvm(std::string_view text) {
  const std::size_t start = text.find("\"i\"");
  if (start == std::string_view::npos) return false;
  const std::size_t end = std::min(text.find_first_not_of(" :[", start + 3), text.size());
  return std::ranges::count(text.substr(start, end - start), '[') == 1;
}

}  // namespace

std::vector<Records> records::parse_ansor(const Source& source) {
  if (is_old_autotvm(source.text)) return parse_autotvm(source);
  BySpace spaces(source);
  each_json_line(source.text, source.place, "a line of Ansor's log", [&](const JsonLine& line) {
    const Json& input = member_of(line.json, "i");
    if (!input.is_array() || input.size() < 2 || !input[0].is_array() || input[0].size() < 2 ||
        !input[0][0].is_string() || !input[0][1].is_string())
      expected_of_ansor(line.place, "a workload, a target and a state");
    std::optional<TvmResult> result = tvm_result_of(member_of(line.json, "r"));
    if (!result) expected_of_ansor(line.place, "[[seconds], error, seconds] as the result");
    const auto workload = input[0][0].get<std::string>(), target = input[0][1].get<std::string>();
    spaces.of(workload + "\n" + target, workload_name(workload), target)
        .add(settings_of_state(input[1], line.place), std::move(result->record), std::move(result->launches));
  });
  return spaces.finish(true);
}

}  // namespace deplo::search
