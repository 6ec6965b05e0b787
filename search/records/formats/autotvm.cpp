// Tuning logs of TVM's AutoTVM: a JSON object on each line, with the task, the choices and the result.
//   {"input": [TARGET, TASK, ARGUMENTS, {}], "config": {"entity": [["tile_x", "sp", [-1, 8]], …]},
//    "result": [[SECONDS, …], ERROR, SECONDS OF THE WHOLE TRIAL, TIMESTAMP], "version": 0.2, …}
// Before version 0.2, {"i": [TARGET, TASK, ARGUMENTS, {}, WORKLOAD, {"e": [["tile_x", "sp", [-1, 8]], …]}], "r": […]}.
// https://tvm.apache.org (python/tvm/autotvm/record.py). Each task on each target is a space.
#include <fmt/format.h>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/tvm_result.h"

namespace deplo::search {
namespace {

using records::Json;

[[noreturn]] void expected_of_autotvm(const std::string& place, std::string_view what) {
  throw Error(fmt::format("{}: expected {} in a line of AutoTVM's log", place, what));
}

/// Returns "1x512:float32" for ["TENSOR", [1, 512], "float32"], and other arguments as they are.
std::string autotvm_argument(const Json& argument) {
  if (!argument.is_array() || argument.size() < 2 || argument[0] != "TENSOR" || !argument[1].is_array())
    return records::compact(argument);
  const bool is_typed = argument.size() > 2 && argument[2].is_string();
  return records::tvm_tensor_text(argument[1], is_typed ? argument[2].get<std::string>() : "");
}

std::vector<records::Setting> choices_of(const Json& entity, const std::string& place) {
  if (!entity.is_array()) expected_of_autotvm(place, "the choices in config.entity");
  std::vector<records::Setting> choices;
  for (const Json& choice : entity) {
    if (!choice.is_array() || choice.size() != 3 || !choice[0].is_string())
      expected_of_autotvm(place, "[name, kind, value] as a choice");
    choices.emplace_back(choice[0].get<std::string>(), records::value_json(choice[2]));
  }
  return choices;
}

}  // namespace

std::vector<Records> records::parse_autotvm(const Source& source) {
  BySpace spaces(source);
  each_json_line(source.text, source.place, "a line of AutoTVM's log", [&](const JsonLine& line) {
    const bool is_old = line.json.is_object() && line.json.contains("i");
    const Json& input = member_of(line.json, is_old ? "i" : "input");
    if (!input.is_array() || input.size() < 3 || !(input[0].is_string() || input[0].is_object()) ||
        !input[1].is_string())
      expected_of_autotvm(line.place, "a target and a task");
    std::string kernel = input[1].get<std::string>();
    if (input[2].is_array())
      for (const Json& argument : input[2]) kernel += " " + autotvm_argument(argument);
    SparseRecords& space = spaces.of(kernel + "\n" + compact(input[0]), kernel, tvm_target_name(input[0]));
    std::optional<TvmResult> result = tvm_result_of(member_of(line.json, is_old ? "r" : "result"));
    if (!result) expected_of_autotvm(line.place, "[[seconds], error, seconds] as the result");
    const Json& config = is_old ? input.back() : member_of(line.json, "config");
    space.add(choices_of(member_of(config, is_old ? "e" : "entity"), line.place), std::move(result->record),
              std::move(result->launches));
  });
  return spaces.finish();
}

}  // namespace deplo::search
