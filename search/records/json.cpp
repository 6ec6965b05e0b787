// Kernel Tuner's caches and T4. A cache is read entry by entry: the document as a whole would take ten times its size.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "search/records/read.h"

namespace deplo::search {
namespace {

using Json = nlohmann::ordered_json;  // T4's parameters have no other order than that of the text

constexpr double us_per_ms = 1e3, seconds_per_ms = 1e-3;
constexpr double nobody_waits_ms = 1e12;  // older Kernel Tuners wrote 1e20 for a failure

Value value_of(const Json& json) {
  if (json.is_boolean()) return std::int64_t{json.get<bool>()};
  if (json.is_string()) return to_value(json.get_ref<const std::string&>());
  if (json.is_number_float()) {
    const double number = json.get<double>();
    if (std::floor(number) == number && std::abs(number) < 0x1p53) return static_cast<std::int64_t>(number);
  }
  return to_value(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Kernel Tuner's CompilationFailedConfig, RuntimeFailedConfig and InvalidConfig; T4's compile, runtime, correctness,
// timeout and constraints.
Status status_of(std::string_view said) {
  constexpr std::pair<std::string_view, Status> words[] = {{"ompil", Status::build_error},
                                                           {"untime", Status::launch_error},
                                                           {"orrectness", Status::wrong_result},
                                                           {"imeout", Status::timeout}};
  for (const auto& [word, status] : words)
    if (contains(said, word)) return status;
  return Status::invalid;
}

// What print_records adds where the format's own words would lose something.
std::optional<Outcome> own_failure(const Json& entry) {
  const std::string status = text_of(entry, "status");
  if (status.empty()) return std::nullopt;
  return Outcome{parse_status(status), 0, text_of(entry, "message")};
}

Outcome outcome_of(const Json& time, double to_us) {
  if (time.is_string()) {
    const auto& said = time.get_ref<const std::string&>();
    return {status_of(said), 0, said};
  }
  if (!time.is_number()) return {Status::invalid, 0, "no time"};
  const double us = time.get<double>() * to_us;
  if (!(us > 0) || us >= nobody_waits_ms * us_per_ms) return {Status::implausible, 0, "time " + time.dump()};
  return {Status::ok, us, ""};
}

class Reader {
 public:
  explicit Reader(const std::string& place) : place_(place), builder_(place) {}

  Records read(std::string_view text) {
    const Json document = parse(text);
    if (!header_.contains("cache") && builder_.knobs() == 0) read_t4(document);
    name_it(document);
    return finish();
  }

 private:
  Json parse(std::string_view text) {
    // Kernel Tuner writes numbers that are none as Python does.
    const std::string clean = contains(text, "NaN") || contains(text, "Infinity") ? without_nan(text) : std::string();
    const std::string_view source = clean.empty() ? text : clean;
    try {
      return Json::parse(source,
                         [this](int depth, Json::parse_event_t event, Json& json) { return keep(depth, event, json); });
    } catch (const nlohmann::json::parse_error& e) {
      // The file of a search that still runs, or was killed: each entry that is complete was read.
      // Whose last word may be the start of a NaN or an Infinity, which is found wrong at its first letter.
      constexpr std::size_t longest_word = 9;
      if (e.byte + longest_word >= source.size() && builder_.knobs() > 0) return header_;
      throw Error(fmt::format("{}: expected a Kernel Tuner cache or T4 results in JSON: {}", place_, said(e)));
    }
  }

  // nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 1: …" from "parse error" on.
  static std::string said(const nlohmann::json::parse_error& e) {
    const std::string_view what = e.what();
    const std::size_t start = what.find("parse error at");
    return std::string(what.substr(start == std::string_view::npos ? 0 : start)).substr(0, 200);
  }

  static std::string without_nan(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view rest = text.substr(i);
      if (!quoted && (rest.starts_with("NaN") || rest.starts_with("Infinity"))) {
        if (out.ends_with('-')) out.pop_back();
        out += "null";
        i += rest.starts_with("NaN") ? 2 : 7;
        continue;
      }
      if (text[i] == '"') quoted = !quoted;
      out += text[i];
      if (text[i] == '\\' && quoted && i + 1 < text.size()) out += text[++i];
    }
    return out;
  }

  // Whether the value stays in the document: entries of a cache do not.
  bool keep(int depth, Json::parse_event_t event, Json& json) {
    using Event = Json::parse_event_t;
    if (depth == 1 && event == Event::key) section_ = json.get<std::string>();
    const bool ended = event == Event::value || event == Event::array_end || event == Event::object_end;
    if (depth == 1 && ended && section_ != "results") header_[section_] = json;
    if (section_ != "cache" || depth != 2 || event != Event::object_end) return true;
    if (builder_.knobs() == 0) declare();
    add_cached(json);
    return false;
  }

  void declare() {
    const auto keys = header_.find("tune_params_keys");
    if (keys == header_.end() || !keys->is_array())
      throw Error(place_ + ": expected the names of the parameters (tune_params_keys) before the cache");
    const auto values = header_.find("tune_params");
    for (const Json& key : *keys) {
      if (!key.is_string())
        throw Error(place_ + ": expected names in tune_params_keys, found " + key.dump().substr(0, 40));
      std::vector<Value> declared;
      if (values != header_.end() && values->is_object())
        if (const auto list = values->find(key.get<std::string>()); list != values->end() && list->is_array())
          for (const Json& each : *list) declared.push_back(value_of(each));
      builder_.add_knob(key.get<std::string>(), declared);
    }
  }

  // The parameters' values of one configuration, in values_.
  void take_values(const Json& configuration) {
    values_.clear();
    for (std::size_t p = 0; p < builder_.knobs(); ++p) {
      const auto found = configuration.find(builder_.knob_name(p));
      if (found == configuration.end())
        throw Error(fmt::format("{}: expected a value of '{}' in each configuration, found none in number {}", place_,
                                builder_.knob_name(p), entries_ + 1));
      values_.push_back(value_of(*found));
    }
    ++entries_;
  }

  // The launches in launches_; their sum in µs.
  double take_launches(const Json& owner, const char* key, double to_us) {
    launches_.clear();
    double sum = 0;
    if (const auto times = owner.find(key); times != owner.end() && times->is_array())
      for (const Json& time : *times) {
        if (!time.is_number() || !(time.get<double>() > 0)) continue;
        launches_.push_back(time.get<double>() * to_us);
        sum += launches_.back();
      }
    return sum;
  }

  // ms (or the unit of the file); 0 where there is none.
  double cost(const Json& owner, const char* key) const {
    const auto found = owner.find(key);
    if (found == owner.end() || found->is_null()) return 0;
    if (found->is_number() && found->get<double>() >= 0) return found->get<double>();
    throw Error(fmt::format("{}: expected {} as a number, found {} in number {}", place_, key,
                            found->dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40), entries_));
  }

  void add_cached(const Json& entry) {
    take_values(entry);
    const auto time = entry.find("time");
    if (time == entry.end()) throw Error(fmt::format("{}: expected a time, found none in number {}", place_, entries_));
    Record record{.outcome = time->is_string() ? own_failure(entry).value_or(outcome_of(*time, us_per_ms))
                                               : outcome_of(*time, us_per_ms)};
    const double sum_ms = take_launches(entry, "times", us_per_ms) / us_per_ms;
    const double benchmark = cost(entry, "benchmark_time");
    record.build_seconds = cost(entry, "compile_time") * seconds_per_ms;
    record.run_seconds =
        (benchmark + cost(entry, "verification_time") + cost(entry, "strategy_time") + cost(entry, "framework_time")) *
        seconds_per_ms;
    if (record.cost() == 0) record.run_seconds = (sum_ms > 0 ? sum_ms : record.outcome.microseconds / us_per_ms) * 1e-3;
    if (benchmark > 0 && sum_ms > 0) ratios_.push_back(benchmark / sum_ms);
    builder_.add(values_, std::move(record), launches_);
  }

  void read_t4(const Json& document) {
    const auto results = document.is_object() ? document.find("results") : document.end();
    if (!document.is_object() || results == document.end() || !results->is_array())
      throw Error(place_ + ": expected a Kernel Tuner cache (with a 'cache') or T4 (with 'results'), found neither");
    for (const Json& result : *results) add_result(result, to_ms(document));
  }

  // Of every time in the file. "miliseconds" is what its writer writes.
  double to_ms(const Json& document) const {
    const auto metadata = document.find("metadata");
    const std::string unit = metadata != document.end() && metadata->is_object() ? text_of(*metadata, "timeunit") : "";
    if (unit.empty() || unit.starts_with("mil") || unit == "ms") return 1;
    if (unit == "s" || unit == "seconds") return 1e3;
    if (unit.starts_with("micro") || unit == "us") return 1e-3;
    throw Error(fmt::format("{}: expected seconds, milliseconds or microseconds as the timeunit, found '{}'", place_,
                            unit.substr(0, 40)));
  }

  void add_result(const Json& result, double scale) {
    const auto configuration = result.is_object() ? result.find("configuration") : result.end();
    if (!result.is_object() || configuration == result.end() || !configuration->is_object())
      throw Error(
          fmt::format("{}: expected a configuration in each result, found none in number {}", place_, entries_ + 1));
    if (builder_.knobs() == 0)
      for (const auto& [name, value] : configuration->items()) builder_.add_knob(name);
    take_values(*configuration);
    Record record{.outcome = outcome_of_result(result, scale * us_per_ms)};
    const Json times = result.value("times", Json::object());
    if (!times.is_object()) throw Error(fmt::format("{}: expected times in number {}", place_, entries_));
    record.run_seconds = take_launches(times, "runtimes", scale * us_per_ms) * 1e-6;
    record.build_seconds = cost(times, "compilation") * scale * seconds_per_ms;
    for (const char* part : {"framework", "search_algorithm", "validation"})
      record.run_seconds += cost(times, part) * scale * seconds_per_ms;
    builder_.add(values_, std::move(record), launches_);
  }

  // The first objective, which a tuner minimises, if it is a time; else the measurement called so.
  Outcome outcome_of_result(const Json& result, double to_us) const {
    const std::string invalidity = text_of(result, "invalidity");
    if (!invalidity.empty() && invalidity != "correct")
      return own_failure(result).value_or(Outcome{status_of(invalidity), 0, invalidity});
    const auto measurements = result.find("measurements");
    if (measurements != result.end() && measurements->is_array())
      for (const Json& measurement : *measurements)
        if (measurement.is_object() && text_of(measurement, "name") == "time" && measurement.contains("value"))
          return outcome_of(measurement["value"], to_us);
    throw Error(fmt::format("{}: expected a measurement of the time, found none in number {}", place_, entries_));
  }

  void name_it(const Json& document) {
    builder_.kernel() = text_of(document, "kernel_name");
    builder_.device() = text_of(document, "device_name");
    declared_unit_ = !text_of(document, "timeunit").empty();
  }

  Records finish() {
    Records records = builder_.finish();
    if (ratios_.empty() || declared_unit_) return records;
    const auto middle = ratios_.begin() + static_cast<std::ptrdiff_t>(ratios_.size() / 2);
    std::nth_element(ratios_.begin(), middle, ratios_.end());
    // Benchmarking takes no less than its launches: a thousandth of it is a time in seconds.
    if (*middle > 0.5e-3 && *middle < 0.1)
      for (Record& record : records.records) {
        record.build_seconds *= 1e3;
        record.run_seconds *= 1e3;
        record.outcome.seconds = record.cost();
      }
    return records;
  }

  const std::string& place_;
  RecordsBuilder builder_;
  Json header_ = Json::object();
  std::string section_;
  std::size_t entries_ = 0;
  std::vector<Value> values_;
  std::vector<double> launches_, ratios_;  // benchmark time over the sum of the launches, both as if in ms
  bool declared_unit_ = false;
};

}  // namespace

Records parse_json_records(std::string_view text, const std::string& place) { return Reader(place).read(text); }

}  // namespace deplo::search
