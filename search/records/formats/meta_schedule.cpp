// Records of TVM's MetaSchedule, database_tuning_record.json: on each line
//   [WORKLOAD, [[[INSTRUCTION, …], [[NUMBER, DECISION], …]], [SECONDS, …], TARGET, ARGUMENTS]]
// An instruction is [KIND, INPUTS, ATTRIBUTES, OUTPUTS]; a decision belongs to the instruction with its number.
// https://tvm.apache.org (src/meta_schedule/database/json_database.cc, database.cc, src/tir/schedule/trace.cc). Each
// workload on each target is a space. The knobs are the decisions and the trace without its decisions. The trace's
// value is its digest.
#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/tvm_result.h"

namespace deplo::search {
namespace {

using records::Json;

[[noreturn]] void expected_of_meta_schedule(const std::string& place, std::string_view what) {
  throw Error(fmt::format("{}: expected {} in a record of MetaSchedule", place, what));
}

std::vector<records::Setting> settings_of_trace(const Json& trace, const std::string& place) {
  if (!trace.is_array() || trace.size() != 2 || !trace[0].is_array() || !trace[1].is_array())
    expected_of_meta_schedule(place, "a trace of instructions and decisions");
  constexpr std::size_t digits = 8;
  std::vector<records::Setting> settings;
  settings.emplace_back("trace", records::value_json(digest(records::compact(trace[0])).substr(0, digits)));
  for (const Json& decision : trace[1]) {
    const bool is_pair = decision.is_array() && decision.size() == 2 && decision[0].is_number_unsigned();
    if (!is_pair || decision[0].get<std::uint64_t>() >= trace[0].size())
      expected_of_meta_schedule(place, "[number, decision]");
    const Json& instruction = trace[0][decision[0].get<std::size_t>()];
    if (!instruction.is_array() || instruction.empty() || !instruction[0].is_string())
      expected_of_meta_schedule(place, "[kind, inputs, attributes, outputs] as an instruction");
    settings.emplace_back(fmt::format("{} {}", records::compact(decision[0]), instruction[0].get<std::string>()),
                          records::value_json(decision[1]));
  }
  return settings;
}

/// Returns "1x512:float32" for ["TENSOR", "float32", [1, 512]].
std::string meta_schedule_argument(const Json& argument) {
  if (!argument.is_array() || argument.size() != 3 || !argument[1].is_string() || !argument[2].is_array())
    return records::compact(argument);
  return records::tvm_tensor_text(argument[2], argument[1].get<std::string>());
}

records::TvmResult result_of_seconds(const Json& seconds, const std::string& place) {
  if (!seconds.is_null() && !seconds.is_array()) expected_of_meta_schedule(place, "a list of seconds");
  std::vector<double> launches = records::tvm_launches(seconds);
  const double sum = std::accumulate(launches.begin(), launches.end(), 0.0);
  const double mean = launches.empty() ? 0 : sum / static_cast<double>(launches.size());
  Record record = records::timed(mean, Status::launch_error, "no time");
  record.run_seconds = sum * 1e-6;
  return {std::move(record), std::move(launches)};
}

}  // namespace

std::vector<Records> records::parse_meta_schedule(const Source& source) {
  BySpace spaces(source);
  each_json_line(source.text, source.place, "a record of MetaSchedule", [&](const JsonLine& line) {
    const Json& json = line.json;
    if (!json.is_array() || json.size() != 2 || !json[0].is_number_integer() || !json[1].is_array() ||
        json[1].size() < 2)
      expected_of_meta_schedule(line.place, "[workload, [trace, seconds, target, arguments]]");
    const Json& record = json[1];
    const Json target = record.size() > 2 ? record[2] : Json(), arguments = record.size() > 3 ? record[3] : Json();
    std::string kernel = "workload " + compact(json[0]);
    if (arguments.is_array())
      for (const Json& argument : arguments) kernel += " " + meta_schedule_argument(argument);
    TvmResult result = result_of_seconds(record[1], line.place);
    spaces.of(kernel + "\n" + compact(target), kernel, tvm_target_name(target))
        .add(settings_of_trace(record[0], line.place), std::move(result.record), std::move(result.launches));
  });
  return spaces.finish();
}

}  // namespace deplo::search
