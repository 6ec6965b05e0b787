// Helion's logs. https://github.com/pytorch/helion (helion/autotuner/logger.py, metrics.py, aot_cache.py)
// - Autotune log, NAME.csv: a line for each measurement, with status, perf_ms, compile_time_s and config, in later
//   versions also run_id and kernel_id. The lines of NAME.meta.jsonl say which kernel, shapes and device a run has.
// - NAME.meta.jsonl with configs: {"run_id", "kernel_name", "configs": {ID: {"config": {…}, "perf_stats":
// [{"median"}]}}}
// - Ahead of time, measurements_DEVICE.csv: kernel_name, shape_hash, config (JSON), shape_features (JSON), timing_ms.
// - Ahead of time, tuned_configs_DEVICE.json: {KERNEL: [{"config": {…}, "shape_key": {…}, "timing_ms": 0.5}]}
// - Benchmarks' NAME_tuned_configs.json: {"gpu", "dtype", "configs": {SHAPE: {"config": {…}, "verified_ms": 0.5,
//   "verified_runs_ms": [0.5, …]}}}
// All times are in ms.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/csv_rows.h"
#include "search/records/formats/parts/python_literal.h"

namespace deplo::search {
namespace {

using records::Json;

/// Parses a configuration in JSON or in Python's repr(). nullopt: the text is neither.
std::optional<Json> configuration_in(const std::string& text) {
  Json json = records::json_in(text);
  return json.is_object() ? std::optional(std::move(json)) : records::parse_python_call(text);
}

std::vector<records::Setting> settings_of_text(const std::string& text, const std::string& place) {
  if (const std::optional<Json> config = configuration_in(text)) return records::settings_of(*config);
  throw Error(fmt::format("{}: expected a configuration of Helion, found '{}'", place, text.substr(0, 80)));
}

/// The metadata of a run.
struct Run {
  std::string kernel, device, shapes;
};

Run run_of(const Json& metadata) {
  const Json& hardware = records::member_of(metadata, "hardware_info");
  Run run{records::text_of(metadata, "kernel_name"), records::text_of(hardware, "device_name"),
          records::text_of(metadata, "input_shapes")};
  if (run.device.empty()) run.device = records::text_of(metadata, "hardware");
  if (const std::string types = records::text_of(metadata, "dtypes"); !types.empty()) run.shapes += " " + types;
  return run;
}

std::string size_of(const Run& run) { return run.shapes.empty() ? "" : records::problem_size_json({run.shapes}); }

/// The runs by run_id, or by kernel_id if they have no run_id.
std::map<std::string, Run> runs_of(const std::string& companion) {
  std::map<std::string, Run> runs;
  if (companion.empty()) return runs;
  records::each_json_line(companion, "meta.jsonl", "a record of Helion's metadata", [&](const records::JsonLine& line) {
    for (const char* key : {"run_id", "kernel_id"})
      if (const std::string id = records::text_of(line.json, key); !id.empty()) {
        runs[id] = run_of(line.json);
        break;
      }
  });
  return runs;
}

Status helion_status(const std::string& word) {
  if (word == "timeout") return Status::timeout;
  return word.find("compil") != std::string::npos ? Status::build_error : Status::launch_error;
}

double median_of(const Json& config) {
  const Json& stats = records::member_of(config, "perf_stats");
  if (!stats.is_array() || stats.empty()) return 0;
  return records::number_of(records::member_of(stats.back(), "median")).value_or(0);
}

}  // namespace

std::vector<Records> records::parse_helion_log(const Source& source) {
  const std::map<std::string, Run> runs = runs_of(source.reading.companion);
  BySpace spaces(source);
  CsvRows rows(source.text, source.place);
  while (rows.next()) {
    const std::string status = rows.cell("status");
    if (status == "started") continue;  // another line has the result
    std::string id = rows.cell("run_id");
    if (id.empty()) id = rows.cell("kernel_id");
    const auto known = runs.find(id);
    const Run run =
        known != runs.end() ? known->second : Run{stem_of(source.place) + (id.empty() ? "" : " " + id), "", ""};
    const double ms = rows.number("perf_ms");
    const bool ok = status == "ok" || (status == "deduplicated" && ms > 0);
    Record record = timed(ok ? ms * 1e3 : 0, helion_status(status), status);
    record.build_seconds = rows.number("compile_time_s");
    const std::string config = rows.cell("config");
    if (rows.is_cut_off() && !configuration_in(config)) break;
    spaces.of(id, run.kernel, run.device, size_of(run)).add(settings_of_text(config, rows.at()), std::move(record));
  }
  return spaces.finish();
}

std::vector<Records> records::parse_helion_metadata(const Source& source) {
  BySpace spaces(source);
  each_json_line(source.text, source.place, "a record of Helion's metadata", [&](const JsonLine& line) {
    const Run run = run_of(line.json);
    const Json& configs = member_of(line.json, "configs");
    if (!configs.is_object()) return;  // a run without measurements
    SparseRecords& space = spaces.of(text_of(line.json, "run_id"), run.kernel, run.device, size_of(run));
    for (const Json& entry : configs) {
      const Json& config = member_of(entry, "config");
      if (!config.is_object() && !config.is_string())
        throw Error(fmt::format("{}: expected a configuration of Helion, found {}", line.place, excerpt(entry)));
      space.add(config.is_object() ? settings_of(config) : settings_of_text(config.get<std::string>(), line.place),
                timed(median_of(entry) * 1e3, Status::launch_error, "no time"));
    }
  });
  return spaces.finish();
}

std::vector<Records> records::parse_helion_measurements(const Source& source) {
  BySpace spaces(source);
  CsvRows rows(source.text, source.place);
  while (rows.next()) {
    const std::string kernel = rows.cell("kernel_name"), features = rows.cell("shape_features");
    const std::string shape = rows.cell("shape_hash").empty() ? features : rows.cell("shape_hash");
    std::vector<std::string> size;
    if (const Json json = json_in(features); json.is_object())
      for (const auto& [name, value] : json.items()) size.push_back(fmt::format("{}={}", name, compact(value)));
    spaces.of(kernel + "\n" + shape, kernel, "", problem_size_json(size.empty() ? std::vector{shape} : size))
        .add(settings_of_text(rows.cell("config"), rows.at()),
             timed(rows.number("timing_ms") * 1e3, Status::launch_error, "no time"));
  }
  return spaces.finish();
}

std::vector<Records> records::parse_helion_configs(const Source& source) {
  const Json json = parse_json(source.text, source.place, "Helion's tuned configurations");
  BySpace spaces(source);
  for (const auto& [kernel, configs] : json.items())
    for (const Json& entry : configs) {
      const Json &config = member_of(entry, "config"), &ms = member_of(entry, "timing_ms"),
                 &shape = member_of(entry, "shape_key");
      if (!config.is_object())
        throw Error(fmt::format("{}: expected a configuration of Helion, found {}", source.place, excerpt(entry)));
      const std::optional<double> time = number_of(ms);
      if (!time) continue;  // tuned, but not timed
      spaces
          .of(kernel + "\n" + compact(shape), kernel, text_of(shape, "hardware_id"),
              problem_size_json({compact(member_of(shape, "specialization_key"))}))
          .add(settings_of(config), timed(*time * 1e3, Status::launch_error, "no time"));
    }
  return spaces.finish();
}

std::vector<Records> records::parse_helion_winners(const Source& source) {
  constexpr std::string_view ending = "_tuned_configs";
  const Json json = parse_json(source.text, source.place, "Helion's tuned configurations");
  std::string kernel = stem_of(source.place);
  if (kernel.size() > ending.size() && kernel.ends_with(ending)) kernel.resize(kernel.size() - ending.size());
  BySpace spaces(source);
  bool any = false;
  for (const auto& [shape, entry] : member_of(json, "configs").items()) {
    const Json &config = member_of(entry, "config"), &runs = member_of(entry, "verified_runs_ms");
    const std::optional<double> median = number_of(member_of(entry, "verified_ms"));
    if (!config.is_object() || !median) continue;
    any = true;
    std::vector<double> launches;
    if (runs.is_array())
      for (const Json& run : runs)
        if (const auto ms = number_of(run); ms && *ms > 0) launches.push_back(*ms * 1e3);
    spaces.of(shape, kernel, text_of(json, "gpu"), problem_size_json({shape, text_of(json, "dtype")}))
        .add(settings_of(config), timed(*median * 1e3, Status::launch_error, "no time"), std::move(launches));
  }
  if (!any)
    throw NotRecorded(source.place,
                      "expected a recorded space, found configurations of Helion without times "
                      "('verified_ms')");
  return spaces.finish();
}

}  // namespace deplo::search
