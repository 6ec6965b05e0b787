// Kernel Tuner's caches and T4. A cache is read entry by entry: the document as a whole would take ten times its size.
// A T4 document is read as a whole, up to most_values.
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
constexpr double nobody_waits_us = 1e15;  // older Kernel Tuners wrote 1e20 for a failure
constexpr int most_levels = 128;          // copies and prints of a value recurse
// Held at once: of one entry of a cache and the header, or of a T4 document (300,000 configurations of 50 values each).
// One takes 16 to 64 bytes.
constexpr std::size_t most_values = std::size_t{1} << 24;
constexpr std::size_t most_members = 2000;  // of an object: 1,000 parameters and more; each is searched for in them all

Value value_of(const Json& json) {
  if (json.is_boolean()) return std::int64_t{json.get<bool>()};
  if (json.is_string()) return parse_value(json.get_ref<const std::string&>());
  if (json.is_number_float()) {
    const double number = json.get<double>();
    if (std::floor(number) == number && std::abs(number) < 0x1p53) return static_cast<std::int64_t>(number);
  }
  return parse_value(json.dump(-1, ' ', false, Json::error_handler_t::replace));
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
  if (!(us > 0) || us >= nobody_waits_us) return {Status::implausible, 0, "time " + time.dump()};
  return {Status::ok, us, ""};
}

class Reader {
 public:
  explicit Reader(const std::string& place) : place_(place), builder_(place) {}

  Records read(std::string_view text) {
    parse(text);
    if (!header_.contains("cache") && builder_.knobs() == 0) read_t4();
    builder_.kernel() = text_of(header_, "kernel_name");
    builder_.device() = text_of(header_, "device_name");
    return finish();
  }

 private:
  void parse(std::string_view text) {
    // Kernel Tuner writes numbers that are none as Python does.
    const std::string clean = contains(text, "NaN") || contains(text, "Infinity") ? without_nan(text) : std::string();
    const std::string_view source = clean.empty() ? text : clean;
    try {
      [[maybe_unused]] const Json rest = Json::parse(
          source, [this](int depth, Json::parse_event_t event, Json& json) { return keep(depth, event, json); });
    } catch (const Json::parse_error& e) {
      // The file of a search that still runs, or was killed: each entry that is complete was read.
      // Whose last word may be the start of a NaN or an Infinity, which is found wrong at its first letter.
      constexpr std::size_t longest_word = 9;
      if (e.byte + longest_word >= source.size() && builder_.knobs() > 0) return;
      throw not_json(e);
    } catch (const Json::exception& e) {  // a number beyond double
      throw not_json(e);
    }
  }

  // nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 1: …" behind the bracket.
  Error not_json(const Json::exception& e) const {
    const std::string_view what = e.what();
    const std::size_t bracket = what.find("] ");
    return Error(fmt::format("{}: expected a Kernel Tuner cache or T4 results in JSON: {}", place_,
                             what.substr(bracket == std::string_view::npos ? 0 : bracket + 2).substr(0, 200)));
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

  // Whether the value stays in the document: entries of a cache do not, and what the document has goes to header_.
  bool keep(int depth, Json::parse_event_t event, Json& json) {
    using Event = Json::parse_event_t;
    if (depth > most_levels)
      throw Error(fmt::format("{}: expected at most {} nested levels, found more", place_, most_levels));
    const bool entry = section_ == "cache" && depth == 2;
    const auto level = static_cast<std::size_t>(depth);
    if (depth == 1 && event == Event::key) section_ = json.get<std::string>();
    if (event == Event::object_start) members_[level] = 0;
    if (event == Event::key && ++members_[level - 1] > most_members)
      throw Error(fmt::format("{}: expected at most {} members in an object, found more", place_, most_members));
    if (event == Event::key && entry) before_entry_ = held_;
    if (event != Event::value && event != Event::array_end && event != Event::object_end) return true;
    if (++held_ > most_values)
      throw Error(fmt::format("{}: expected at most {} values in T4 results or an entry of a cache, found more", place_,
                              most_values));
    if (depth == 1) return header_[section_] = std::move(json), false;
    if (!entry || event != Event::object_end) return true;
    if (builder_.knobs() == 0) declare();
    add_cached(json);
    held_ = before_entry_;
    --members_[1];
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

  // The launches in launches_, without those that are failures; their sum in µs.
  double take_launches(const Json& owner, const char* key, double to_us) {
    launches_.clear();
    double sum = 0;
    if (const auto times = owner.find(key); times != owner.end() && times->is_array())
      for (const Json& time : *times) {
        const double us = time.is_number() ? time.get<double>() * to_us : 0;
        if (!(us > 0) || us >= nobody_waits_us) continue;
        launches_.push_back(us);
        sum += us;
      }
    return sum;
  }

  // ms (or the unit of the file); 0 where there is none.
  double cost(const Json& owner, const char* key) const {
    const auto found = owner.find(key);
    if (found == owner.end() || found->is_null()) return 0;
    constexpr double most = 1e30;  // sums stay finite
    if (found->is_number() && found->get<double>() >= 0 && found->get<double>() <= most) return found->get<double>();
    throw Error(fmt::format("{}: expected {} as a time, found {} in number {}", place_, key,
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

  void read_t4() {
    const auto results = header_.find("results");
    if (results == header_.end() || !results->is_array())
      throw Error(place_ + ": expected a Kernel Tuner cache (with a 'cache') or T4 (with 'results'), found neither");
    const double scale = to_ms();
    for (const Json& result : *results) add_result(result, scale);
  }

  // Of every time in the file. "miliseconds" is what its writer writes.
  double to_ms() const {
    const auto metadata = header_.find("metadata");
    const std::string unit = metadata != header_.end() && metadata->is_object() ? text_of(*metadata, "timeunit") : "";
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

  Records finish() {
    Records records = builder_.finish();
    if (ratios_.empty() || !text_of(header_, "timeunit").empty()) return records;
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
  std::size_t held_ = 0, before_entry_ = 0;                // values
  std::array<std::size_t, most_levels + 1> members_ = {};  // of the object that is open at a level
  std::vector<Value> values_;
  std::vector<double> launches_, ratios_;  // benchmark time over the sum of the launches, both as if in ms
};

}  // namespace

Records parse_json_records(std::string_view text, const std::string& place) { return Reader(place).read(text); }

}  // namespace deplo::search
