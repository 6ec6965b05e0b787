// Tuning logs of TVM's AutoTVM: a JSON object on each line, with the task, the choices and the result.
//   {"input": [TARGET, TASK, ARGUMENTS, {}], "config": {"entity": [["tile_x", "sp", [-1, 8]], …]},
//    "result": [[SECONDS, …], ERROR, SECONDS OF THE WHOLE TRIAL, TIMESTAMP], "version": 0.2, …}
// https://tvm.apache.org (python/tvm/autotvm/record.py, measure/measure.py: MeasureErrorNo).
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "core/text/json.h"
#include "search/records/read.h"
#include "search/records/spelling.h"

namespace deplo::search {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_knobs = 1000, max_launches = 10'000;

/// AutoTVM's error numbers: instantiation, compiling for the host and the device, running, a wrong answer, two timeouts,
/// and those that it does not know.
Status status_of(std::int64_t error) {
  constexpr Status statuses[] = {Status::ok,           Status::invalid,      Status::build_error,   Status::build_error,
                                 Status::launch_error, Status::wrong_result, Status::build_timeout, Status::hang};
  return error >= 0 && error < 8 ? statuses[error] : Status::launch_error;
}

class TvmReader {
 public:
  explicit TvmReader(const std::string& place) : place_(place), builder_(place) {}

  Records read(std::string_view text) {
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      ++line_;
      if (text.find_first_not_of(" \t\r", start) < end) add(text.substr(start, end - start), end == text.size());
      start = end + 1;
    }
    return builder_.finish();
  }

 private:
  [[noreturn]] void expected(const std::string& what) const {
    throw Error(fmt::format("{}:{}: expected {} in a line of AutoTVM's log", place_, line_, what));
  }

  void add(std::string_view line, bool last) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() && last && builder_.knobs() > 0) return;  // of a tuning that still runs, or was killed
    if (!json.is_object() || !json.contains("input") || !json.contains("config") || !json.contains("result"))
      expected("input, config and result");
    read_task(json["input"]);
    std::vector<std::string> values;
    for (const auto& [name, value] : read_choices(json["config"])) {
      if (builder_.knobs() == values.size() && is_first_) builder_.add_knob(name);
      if (values.size() == builder_.knobs() || builder_.knob_name(values.size()) != name)
        expected("the same choices in each configuration");
      values.push_back(value);
    }
    if (values.empty() || values.size() != builder_.knobs()) expected("the same choices in each configuration");
    is_first_ = false;
    add_result(values, json["result"]);
  }

  /// A space is one task on one target.
  void read_task(const Json& input) {
    if (!input.is_array() || input.size() < 3 || !input[0].is_string() || !input[1].is_string())
      expected("a target and a task");
    const std::string task = input.dump();
    if (!is_first_ && task != task_)
      throw Error(fmt::format("{}:{}: expected one task on one target, found another one: split the log by task",
                              place_, line_));
    task_ = task;
    builder_.device() = input[0].get<std::string>();
    builder_.kernel() = input[1].get<std::string>();
  }

  std::vector<std::pair<std::string, std::string>> read_choices(const Json& config) const {
    std::vector<std::pair<std::string, std::string>> choices;
    const auto entity = config.is_object() ? config.find("entity") : config.end();
    if (!config.is_object() || entity == config.end() || !entity->is_array() || entity->size() > max_knobs)
      expected("the choices in config.entity");
    for (const Json& choice : *entity) {
      if (!choice.is_array() || choice.size() != 3 || !choice[0].is_string())
        expected("[name, kind, value] as a choice");
      const Json& value = choice[2];
      const bool plain = value.is_number_integer() || value.is_boolean() || value.is_string();
      choices.emplace_back(choice[0].get<std::string>(),
                           plain ? value.dump(-1, ' ', false, Json::error_handler_t::replace)
                                 : deplo::Json(value.dump(-1, ' ', false, Json::error_handler_t::replace)).print());
    }
    return choices;
  }

  void add_result(const std::vector<std::string>& values, const Json& result) {
    if (!result.is_array() || result.size() < 3 || !result[0].is_array() || !result[1].is_number_integer() ||
        !result[2].is_number() || result[0].size() > max_launches)
      expected("[[seconds], error, seconds] as the result");
    std::vector<double> launches;
    double sum = 0;
    const auto error = result[1].get<std::int64_t>();
    for (const Json& seconds : result[0]) {
      if (error != 0) break;
      if (!seconds.is_number() || !(seconds.get<double>() > 0) || seconds.get<double>() > 1e9)
        expected("times above 0");
      launches.push_back(seconds.get<double>() * 1e6);
      sum += launches.back();
    }
    if (error == 0 && launches.empty()) expected("times");
    Record record;
    record.run_seconds = std::max(0.0, std::min(result[2].get<double>(), 1e9));
    record.outcome = error == 0 ? Outcome{Status::ok, sum / static_cast<double>(launches.size()), ""}
                                : Outcome{status_of(error), 0, fmt::format("AutoTVM's error {}", error)};
    builder_.add_json(values, std::move(record), launches);
  }

  const std::string& place_;
  RecordsBuilder builder_;
  std::string task_;
  std::size_t line_ = 0;
  bool is_first_ = true;
};

}  // namespace

bool is_tvm_log(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find("\"input\"") != std::string_view::npos && line.find("\"config\"") != std::string_view::npos &&
         line.find("\"result\"") != std::string_view::npos && line.find("\"entity\"") != std::string_view::npos;
}

Records parse_tvm_records(std::string_view text, const std::string& place) { return TvmReader(place).read(text); }

}  // namespace deplo::search
