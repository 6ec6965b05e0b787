#include <fmt/format.h>

#include <algorithm>

#include "core/text/json.h"
#include "search/records/read.h"

namespace deplo::search {
namespace {

Json configuration(const Records& records, std::size_t row) {
  Json json = Json::object();
  for (std::size_t p = 0; p < records.knobs.size(); ++p) json.set(records.knobs[p].name, records.value(row, p));
  return json;
}

Json milliseconds(std::span<const double> launches) {
  return Json::array(launches, [](double us) { return us / 1e3; });
}

// The formats' own words know fewer failures than we do, and no messages.
void add_own_failure(Json& json, const Outcome& outcome) {
  json.set("status", status_name(outcome.status));
  json.set("message", outcome.message);
}

// T4 has the coarser words of the two.
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

Json cached(const Records& records, std::size_t row) {
  const Record& record = records.records[row];
  Json json = configuration(records, row);
  if (record.outcome.ok())
    json.set("time", record.outcome.microseconds / 1e3);
  else
    json.set("time", kernel_tuner_word(record.outcome.status));
  if (!record.outcome.ok() && record.outcome.message != kernel_tuner_word(record.outcome.status))
    add_own_failure(json, record.outcome);
  if (record.launches > 0) json.set("times", milliseconds(records.launches_of(record)));
  json.set("compile_time", record.build_seconds * 1e3);
  json.set("verification_time", 0);
  json.set("benchmark_time", record.run_seconds * 1e3);
  json.set("strategy_time", 0);
  json.set("framework_time", 0);
  return json;
}

std::string print_kernel_tuner(const Records& records) {
  Json values = Json::object();
  for (const Knob& knob : records.knobs)
    if (!knob.values.empty()) values.set(knob.name, Json::array(knob.values));
  std::string text = Json::object({{"device_name", records.device},
                                   {"kernel_name", records.kernel},
                                   {"problem_size", Json::array()},
                                   {"timeunit", "ms"},
                                   {"tune_params_keys", Json::array(records.knobs, &Knob::name)},
                                   {"tune_params", values},
                                   {"objective", "time"}})
                         .print();
  text.back() = ',';  // a line each from here on, as Kernel Tuner appends them
  text += "\n\"cache\": {";
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    std::string key;
    for (std::size_t p = 0; p < records.knobs.size(); ++p) key += (p > 0 ? "," : "") + print(records.value(row, p));
    text += fmt::format("{}\n{}: {}", row > 0 ? "," : "", Json(key).print(), cached(records, row).print());
  }
  return text + "\n}}\n";
}

Json result(const Records& records, std::size_t row) {
  const Record& record = records.records[row];
  const bool ok = record.outcome.ok();
  double launched = 0;
  for (const double us : records.launches_of(record)) launched += us * 1e-6;
  // There is no place for the time that benchmarking took beside its launches.
  const Json times = Json::object({{"compilation", record.build_seconds * 1e3},
                                   {"framework", std::max(0.0, record.run_seconds - launched) * 1e3},
                                   {"search_algorithm", 0},
                                   {"validation", 0},
                                   {"runtimes", milliseconds(records.launches_of(record))}});
  Json json = Json::object({{"configuration", configuration(records, row)},
                            {"times", times},
                            {"invalidity", t4_word(record.outcome.status)}});
  if (!ok && record.outcome.message != t4_word(record.outcome.status)) add_own_failure(json, record.outcome);
  json.set("correctness", ok ? 1 : 0);
  const Json value = ok ? Json(record.outcome.microseconds / 1e3) : Json(t4_word(record.outcome.status));
  json.set("measurements", Json::array({Json::object({{"name", "time"}, {"value", value}, {"unit", "ms"}})}));
  json.set("objectives", Json::array({"time"}));
  return json;
}

std::string print_t4(const Records& records) {
  const Json metadata = Json::object({{"timeunit", "milliseconds"}});
  std::string text = fmt::format(
      "{{\n\"schema_version\": \"1.0.0\",\n\"device_name\": {},\n\"kernel_name\": {},\n\"metadata\": {},\n\"results\": "
      "[",
      Json(records.device).print(), Json(records.kernel).print(), metadata.print());
  for (std::size_t row = 0; row < records.records.size(); ++row)
    text += (row > 0 ? ",\n" : "\n") + result(records, row).print();
  return text + "\n]\n}\n";
}

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string print_csv(const Records& records) {
  std::uint32_t most = 0;
  for (const Record& record : records.records) most = std::max(most, record.launches);
  std::string text;
  for (const Knob& knob : records.knobs) text += cell(knob.name) + ",";
  text += "status,message,build (s),run (s),time (us)";
  for (std::uint32_t i = 0; i < most; ++i) text += fmt::format(",launch {} (us)", i + 1);
  text += '\n';
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    const Record& record = records.records[row];
    for (std::size_t p = 0; p < records.knobs.size(); ++p) text += cell(print(records.value(row, p))) + ",";
    text += fmt::format("{},{},{},{},", status_name(record.outcome.status), cell(record.outcome.message),
                        record.build_seconds, record.run_seconds);
    if (record.outcome.ok()) text += fmt::format("{}", record.outcome.microseconds);
    const auto launches = records.launches_of(record);
    for (std::uint32_t i = 0; i < most; ++i) text += i < record.launches ? fmt::format(",{}", launches[i]) : ",";
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
