#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "search/records/formats/read.h"
#include "search/records/formats/table.h"
#include "search/records/spelling.h"

namespace deplo::search {
namespace {

// Objects are assembled as text, because a parameter's value is already JSON.
std::string raw_member(std::string_view name, const std::string& json) {
  return deplo::Json(name).print() + ": " + json;
}
std::string member(std::string_view name, const deplo::Json& json) { return raw_member(name, json.print()); }

std::string object(const std::vector<std::string>& members) { return "{" + join(members, ", ") + "}"; }

std::vector<std::string> configuration(const Records& records, std::size_t row) {
  std::vector<std::string> members;
  for (std::size_t p = 0; p < records.knobs.size(); ++p)
    members.push_back(raw_member(records.knobs[p].name, records.json(row, p)));
  return members;
}

// The objective of a valid record, in ms if it is a duration.
double objective_value(const Records& records, std::size_t row) {
  return records.objective.duration ? records.objective_of(row) / 1e3 : records.objective_of(row);
}
std::string unit_of(const Objective& objective) { return objective.duration ? "ms" : objective.unit; }

deplo::Json milliseconds(std::span<const double> launches) {
  return deplo::Json::array(launches, [](double us) { return us / 1e3; });
}

// The formats' own words distinguish fewer failures than deplo does, and have no messages.
std::vector<std::string> own_failure(const Outcome& outcome) {
  return {member("status", status_name(outcome.status)), member("message", outcome.message)};
}

// T4's word for a status. Kernel Tuner's words follow from it.
std::string_view t4_word(Status status) {
  switch (status) {
    case Status::ok:
      return "correct";
    case Status::build_error:
    case Status::build_timeout:
    case Status::build_crash:
      return "compile";
    case Status::wrong_result:
    case Status::guard_hit:
    case Status::nondeterministic:
      return "correctness";
    case Status::timeout:
    case Status::hang:
    case Status::slow:
    case Status::cancelled:
      return "timeout";
    case Status::invalid:
    case Status::resource:
      return "constraints";
    default:
      return "runtime";
  }
}

std::string_view kernel_tuner_word(Status status) {
  const std::string_view word = t4_word(status);
  if (word == "compile") return "CompilationFailedConfig";
  return word == "constraints" ? "InvalidConfig" : "RuntimeFailedConfig";
}

// For Kernel Tuner 1.4 and later, a failure is the member __error__. For older versions, it stands in place of the
// objective.
std::string cached(const Records& records, std::size_t row) {
  const Record& record = records.records[row];
  const bool ok = record.outcome.ok();
  std::vector<std::string> members = configuration(records, row);
  const deplo::Json word = ok ? deplo::Json() : deplo::Json(kernel_tuner_word(record.outcome.status));
  members.push_back(member(records.objective.name, ok ? deplo::Json(objective_value(records, row)) : word));
  if (!ok) members.push_back(member("__error__", word));
  if (!ok && record.outcome.message != kernel_tuner_word(record.outcome.status))
    for (std::string& failure : own_failure(record.outcome)) members.push_back(std::move(failure));
  if (record.launches > 0) members.push_back(member("times", milliseconds(records.launches_of(record))));
  members.push_back(member("compile_time", record.build_seconds * 1e3));
  members.push_back(member("verification_time", 0));
  members.push_back(member("benchmark_time", record.run_seconds * 1e3));
  members.push_back(member("strategy_time", 0));
  members.push_back(member("framework_time", 0));
  return object(members);
}

std::vector<std::string> declared_values(const Records& records) {
  std::vector<std::string> members;
  for (const Knob& knob : records.knobs)
    if (!knob.json.empty()) members.push_back(raw_member(knob.name, "[" + join(knob.json, ", ") + "]"));
  return members;
}

// Prints a cache as Kernel Tuner does: a line for each configuration. Its key is the text that Python prints of its
// values. Kernel Tuner's reader requires `}` and `}` on two lines at the end.
std::string print_kernel_tuner(const Records& records) {
  for (const Knob& knob : records.knobs)
    if (knob.name == records.objective.name || records::is_cache_member(knob.name))
      throw Error(
          fmt::format("{}: expected parameters whose names are not reserved in a Kernel Tuner cache, found '{}'; "
                      "T4 and CSV accept this name",
                      records.kernel, knob.name));
  std::vector<std::string> members = {member("device_name", records.device), member("kernel_name", records.kernel)};
  if (!records.problem_size.empty()) members.push_back(raw_member("problem_size", records.problem_size));
  members.push_back(member("timeunit", "ms"));
  members.push_back(member("tune_params_keys", deplo::Json::array(records.knobs, &Knob::name)));
  members.push_back(raw_member("tune_params", object(declared_values(records))));
  const Objective& objective = records.objective;
  members.push_back(member("objective", objective.name));
  if (objective != Objective{}) {
    members.push_back(member("objective_higher_is_better", objective.higher_is_better));
    members.push_back(member("objective_unit", unit_of(objective)));
  }
  std::string text = "{" + join(members, ",\n") + ",\n\"cache\": {";
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    std::string key;
    for (std::size_t p = 0; p < records.knobs.size(); ++p)
      key += (p > 0 ? "," : "") + records::python_of_json(records.json(row, p));
    text += fmt::format("{}\n{}", row > 0 ? "," : "", raw_member(key, cached(records, row)));
  }
  return text + "}\n}\n";
}

std::string result(const Records& records, std::size_t row) {
  const Record& record = records.records[row];
  const bool ok = record.outcome.ok();
  const deplo::Json times = deplo::Json::object({{"compilation", record.build_seconds * 1e3},
                                                 {"benchmark", record.run_seconds * 1e3},
                                                 {"framework", 0},
                                                 {"search_algorithm", 0},
                                                 {"validation", 0},
                                                 {"runtimes", milliseconds(records.launches_of(record))}});
  std::vector<std::string> members = {raw_member("configuration", object(configuration(records, row))),
                                      member("times", times), member("invalidity", t4_word(record.outcome.status))};
  if (!ok && record.outcome.message != t4_word(record.outcome.status))
    for (std::string& failure : own_failure(record.outcome)) members.push_back(std::move(failure));
  members.push_back(member("correctness", ok ? 1 : 0));
  const deplo::Json value =
      ok ? deplo::Json(objective_value(records, row)) : deplo::Json(t4_word(record.outcome.status));
  const std::string& name = records.objective.name;
  deplo::Json measurements = deplo::Json::array(
      {deplo::Json::object({{"name", name}, {"value", value}, {"unit", unit_of(records.objective)}})});
  for (const FurtherObjective& further : records.further)
    if (ok && std::isfinite(further.values[row]))
      measurements.push_back(
          deplo::Json::object({{"name", further.name}, {"value", further.values[row]}, {"unit", further.unit}}));
  members.push_back(member("measurements", measurements));
  members.push_back(member(
      "objectives", records.objectives.empty() ? deplo::Json::array({name}) : deplo::Json::array(records.objectives)));
  return object(members);
}

std::string print_t4(const Records& records) {
  deplo::Json metadata = deplo::Json::object({{"timeunit", "milliseconds"}});
  if (!records.objective.duration) metadata.set("objective_higher_is_better", records.objective.higher_is_better);
  std::vector<std::string> members = {member("schema_version", "1.0.0"), member("device_name", records.device),
                                      member("kernel_name", records.kernel)};
  if (!records.problem_size.empty()) members.push_back(raw_member("problem_size", records.problem_size));
  members.push_back(member("metadata", metadata));
  std::string text = "{\n" + join(members, ",\n") + ",\n\"results\": [";
  for (std::size_t row = 0; row < records.records.size(); ++row)
    text += (row > 0 ? ",\n" : "\n") + result(records, row);
  return text + "\n]\n}\n";
}

std::string cell(const std::string& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool has_edges = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
  if (!has_edges && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string print_csv(const Records& records) {
  std::uint32_t max_launches = 0;
  for (const Record& record : records.records) max_launches = std::max(max_launches, record.launches);
  std::string text;
  for (const Knob& knob : records.knobs) text += cell(knob.name) + ",";
  text += "status,message,build (s),run (s)," + cell(objective_head(records.objective));
  for (std::uint32_t i = 0; i < max_launches; ++i) text += fmt::format(",launch {} (us)", i + 1);
  text += '\n';
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    const Record& record = records.records[row];
    for (std::size_t p = 0; p < records.knobs.size(); ++p)
      text += cell(records::cell_of_json(records.json(row, p))) + ",";
    text += fmt::format("{},{},{},{},", status_name(record.outcome.status), cell(record.outcome.message),
                        record.build_seconds, record.run_seconds);
    if (record.outcome.ok()) text += fmt::format("{}", records.objective_of(row));
    const auto launches = records.launches_of(record);
    for (std::uint32_t i = 0; i < max_launches; ++i)
      text += i < record.launches ? fmt::format(",{}", launches[i]) : ",";
    text += '\n';
  }
  return text;
}

}  // namespace

std::string print_records(const Records& records, Format format) {
  switch (format) {
    case Format::kernel_tuner:
      return print_kernel_tuner(records);
    case Format::t4:
      return print_t4(records);
    case Format::table:
      return print_csv(records);
  }
  check_failed("a known format", __FILE__, __LINE__);
}

}  // namespace deplo::search
