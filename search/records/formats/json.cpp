// Kernel Tuner's caches, and T4. A cache is read entry by entry: the document as a whole would take ten times its size.
// A T4 document is read as a whole, up to records::limits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/text/json_builder.h"
#include "core/text/select_names.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/parts/json_text.h"
#include "search/records/formats/read.h"
#include "search/records/formats/t4.h"
#include "search/records/spelling.h"

namespace deplo::search {
namespace {

using records::excerpt;
using records::Json;
using records::member_of;
using records::text_of;
using records::value_json;

constexpr double us_per_ms = 1e3, seconds_per_ms = 1e-3;
constexpr double nobody_waits_us = 1e15;  // older Kernel Tuners wrote 1e20 for a failure
constexpr double nobody_has = 1e20;       // the same limit for an objective that is not a duration

// Reads the status and message that print_records() adds because the format's own words are less precise.
std::optional<Outcome> own_failure(const Json& entry) {
  const std::optional<Status> status = find_status(text_of(entry, "status"));  // other programs use other words
  if (!status || *status == Status::ok) return std::nullopt;
  return Outcome{*status, 0, text_of(entry, "message")};
}

bool is_error_word(std::string_view said) {
  return said == "ErrorConfig" || said == "InvalidConfig" || said == "CompilationFailedConfig" ||
         said == "RuntimeFailedConfig";
}

std::optional<bool> direction_word(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (!json.is_string()) return std::nullopt;
  const auto& word = json.get_ref<const std::string&>();
  if (word.starts_with("max") || word == "higher") return true;
  if (word.starts_with("min") || word == "lower") return false;
  return std::nullopt;
}

class JsonReader {
 public:
  JsonReader(const std::string& place, const Reading& reading) : place_(place), reading_(reading), builder_(place) {}

  Records read(std::string_view text) {
    parse(text);
    if (is_cache_ && entries_ == 0)
      throw Error(place_ + ": expected configurations in the Kernel Tuner cache, found none");
    return read_parsed();
  }

  Records read(Json t4) {
    header_ = std::move(t4);
    return read_parsed();
  }

 private:
  Records read_parsed() {
    if (!is_cache_) read_t4();
    if (is_cache_ && objective_names(header_.value("objective", Json())) != names_)
      throw Error(place_ + ": expected the objective before the cache, found it after");
    if (missing_ > 0 && measured_ == 0) throw no_objective();
    builder_.kernel() = text_of(header_, "kernel_name");
    builder_.device() = text_of(header_, "device_name");
    if (builder_.device().empty()) builder_.device() = text_of(member_of(header_, "metadata"), "device");  // KTT's T4
    if (const Json& size = member_of(header_, "problem_size"); is_problem_size(size))
      builder_.problem_size() = records::compact(size);
    return finish();
  }

  void parse(std::string_view text) {
    const std::string clean = records::may_have_nan(text) ? records::without_nan(text) : std::string();
    const std::string_view source = clean.empty() ? text : clean;
    JsonBuilder<Json> document(header_, records::limits, place_, [this](const std::string& section, Json& value) {
      return section == "cache" && take_entry(value);
    });
    try {
      Json::sax_parse(source, &document);
      is_cache_ = member_of(header_, "cache").is_object();
    } catch (const Json::parse_error& e) {
      // The file may belong to a search that still runs or was killed. Then each complete entry was read.
      is_cache_ = member_of(header_, "cache").is_object();
      if (is_cache_ && document.is_open() && records::is_cut_off(source, e.byte)) return;
      throw not_json(e);
    } catch (const Json::exception& e) {  // a number that a double cannot hold
      throw not_json(e);
    }
  }

  Error not_json(const Json::exception& e) const {
    return records::not_json(place_, "a Kernel Tuner cache or T4 results", e);
  }

  // Takes an entry of a cache, so that it does not stay in the document.
  bool take_entry(const Json& entry) {
    if (!entry.is_object())
      throw Error(fmt::format("{}: expected configurations in the Kernel Tuner cache, found {} in number {}", place_,
                              excerpt(entry), entries_ + 1));
    is_cache_ = true;
    if (builder_.knobs() == 0) declare();
    add_cached(entry);
    return true;
  }

  void declare() {
    const Json& keys = member_of(header_, "tune_params_keys");
    if (!keys.is_array())
      throw Error(place_ + ": expected the names of the parameters (tune_params_keys) before the cache");
    for (const Json& key : keys) {
      if (!key.is_string()) throw Error(place_ + ": expected names in tune_params_keys, found " + excerpt(key));
      const auto name = key.get<std::string>();
      std::vector<std::string> declared;
      if (const Json& list = member_of(member_of(header_, "tune_params"), name); list.is_array())
        for (const Json& option : list) declared.push_back(value_json(option));
      builder_.add_json_knob(name, declared);
    }
    names_ = objective_names(header_.value("objective", Json()));
    choose_objective(names_.empty() ? std::vector<std::string>{"time"} : names_);
    Objective& objective = builder_.objective();
    objective.unit = text_of(header_, "objective_unit");
    objective.duration =
        !objective.higher_is_better && (objective.name == "time" || microseconds_in(objective.unit).has_value());
    if (objective.duration) objective.unit.clear();
  }

  // Returns the names in "time", ["time", "energy"] or [{"name": "time"}].
  static std::vector<std::string> objective_names(const Json& json) {
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const Json& objective : json.is_array() ? json : Json::array({json}))
      if (objective.is_string() || objective.is_object())
        if (std::string name = objective.is_string() ? objective.get<std::string>() : text_of(objective, "name");
            !name.empty())
          if (known.insert(name).second) names.push_back(std::move(name));
    return names;
  }

  static bool is_problem_size(const Json& json) {
    constexpr std::size_t max_axes = 16;
    const auto is_extent = [](const Json& extent) { return extent.is_number() || extent.is_string(); };
    return json.is_array() ? json.size() <= max_axes && std::ranges::all_of(json, is_extent) : is_extent(json);
  }

  void choose_objective(const std::vector<std::string>& names) {
    if (!reading_.objective && names.size() != 1)
      throw Error(
          fmt::format("{}: expected one objective, found {}; choose one with --objective", place_, list_names(names)));
    Objective& objective = builder_.objective();
    objective.name = reading_.objective ? reading_.objective->name : names[0];
    if (is_cache_ && is_parameter(objective.name))
      throw Error(
          fmt::format("{}: expected an objective that was measured, found the parameter '{}'", place_, objective.name));
    std::optional<bool> higher = reading_.objective ? reading_.objective->higher_is_better : std::nullopt;
    if (!higher) higher = file_direction(objective.name);
    if (!higher) higher = known_direction(objective.name);
    if (!higher)
      throw Error(
          fmt::format("{}: expected to know whether a higher '{}' is better; use --objective '{}:max' or ':min'",
                      place_, objective.name, objective.name));
    objective.higher_is_better = *higher;
  }

  // Kernel Tuner's files lack the direction. deplo's have it, as `objective_higher_is_better` or as members of an
  // objective.
  std::optional<bool> file_direction(const std::string& name) const {
    const Json metadata = header_.value("metadata", Json::object());
    for (const Json* owner : {&header_, &metadata}) {
      if (!owner->is_object()) continue;
      const Json said = owner->value("objective_higher_is_better", Json());
      if (said.is_object() && said.contains(name)) return direction_word(said[name]);
      if (!said.is_array() && !said.is_null()) return direction_word(said);
      for (std::size_t i = 0; said.is_array() && i < said.size() && i < names_.size(); ++i)
        if (names_[i] == name) return direction_word(said[i]);
    }
    const Json own = header_.value("objective", Json());
    for (const Json* list : {&own, &t4_objectives_})
      for (const Json& objective : list->is_array() ? *list : Json::array())
        if (objective.is_object() && text_of(objective, "name") == name)
          for (const char* key : {"higher_is_better", "direction"})
            if (objective.contains(key)) return direction_word(objective[key]);
    return std::nullopt;
  }

  // The error for an objective that no configuration has.
  Error no_objective() const {
    std::string others;
    for (const std::string& name : others_) others += fmt::format("{}'{}'", others.empty() ? "" : ", ", name);
    return Error(fmt::format("{}: expected the objective '{}' in the configurations, found none{}", place_,
                             builder_.objective().name,
                             others.empty() ? "" : fmt::format("; they have {}: choose one with --objective", others)));
  }
  // Reads the value of the objective. The result is in µs if the objective is a duration.
  Outcome outcome_of(const Json& value, double to_us) {
    const Objective& objective = builder_.objective();
    const std::optional<double> read = records::number_of(value);
    if (!read && value.is_string()) {
      const auto& said = value.get_ref<const std::string&>();
      return {records::status_of_failure(said), 0, said};
    }
    if (!read) return {Status::invalid, 0, "no " + objective.name};
    const double number = *read * (objective.duration ? to_us : 1);
    const bool plausible = objective.duration ? number > 0 && number < nobody_waits_us : std::abs(number) < nobody_has;
    if (!plausible) return {Status::implausible, 0, fmt::format("{} {}", objective.name, value.dump())};
    ++measured_;
    return {Status::ok, number, ""};
  }

  // Sets values_ to the parameters' values of one configuration.
  void take_values(const Json& configuration) {
    values_.clear();
    for (std::size_t p = 0; p < builder_.knobs(); ++p) {
      const auto found = configuration.find(builder_.knob_name(p));
      if (found == configuration.end() && !is_cache_) {
        values_.emplace_back(records::absent);
        continue;
      }
      if (found == configuration.end())
        throw Error(fmt::format("{}: expected a value of '{}' in each configuration, found none in number {}", place_,
                                builder_.knob_name(p), entries_ + 1));
      values_.push_back(value_json(*found));
    }
    ++entries_;
  }

  // Sets launches_ to the launches that did not fail. Returns their sum in µs.
  double take_launches(const Json& owner, const char* key, double to_us) {
    launches_.clear();
    double sum = 0;
    if (const Json& times = member_of(owner, key); times.is_array())
      for (const Json& time : times) {
        const double us = records::number_of(time).value_or(0) * to_us;
        if (!(us > 0) || us >= nobody_waits_us) continue;
        launches_.push_back(us);
        sum += us;
      }
    return sum;
  }

  // A cost in ms (or in the unit of the file); 0 if there is none.
  double cost(const Json& owner, const char* key) const {
    const Json& found = member_of(owner, key);
    if (found.is_null()) return 0;
    constexpr double max_cost = 1e30;  // keeps sums finite
    const std::optional<double> number = records::number_of(found);
    if (number && *number >= 0 && *number <= max_cost) return *number;
    throw Error(fmt::format("{}: expected {} as a time, found {} in number {}", place_, key, excerpt(found), entries_));
  }

  void add_cached(const Json& entry) {
    take_values(entry);
    Record record{.outcome = outcome_of_entry(entry)};
    const double sum_ms = take_launches(entry, "times", us_per_ms) / us_per_ms;
    const double benchmark = cost(entry, "benchmark_time");
    record.build_seconds = cost(entry, "compile_time") * seconds_per_ms;
    record.run_seconds =
        (benchmark + cost(entry, "verification_time") + cost(entry, "strategy_time") + cost(entry, "framework_time")) *
        seconds_per_ms;
    if (record.cost() == 0 && sum_ms > 0) record.run_seconds = sum_ms * seconds_per_ms;
    if (benchmark > 0 && sum_ms > 0) ratios_.push_back(benchmark / sum_ms);
    builder_.add_json(values_, std::move(record), launches_);
  }

  // Since version 1.4, a failure is the member __error__. Before, it stood in place of the objective.
  Outcome outcome_of_entry(const Json& entry) {
    const std::string& objective = builder_.objective().name;
    const auto value = entry.find(objective), error = entry.find("__error__");
    std::string said = error == entry.end() ? "" : error->is_string() ? error->get<std::string>() : excerpt(*error);
    if (said.empty() && value != entry.end() && value->is_string() && !records::number_of(*value))
      said = value->get<std::string>();
    for (const auto& [name, member] : entry.items())
      if (said.empty() && member.is_string() && is_error_word(member.get_ref<const std::string&>()) &&
          !is_parameter(name))
        said = member.get<std::string>();
    if (!said.empty()) return own_failure(entry).value_or(Outcome{records::status_of_failure(said), 0, said});
    if (value != entry.end()) return outcome_of(*value, us_per_ms);
    if (missing_++ == 0)
      for (const auto& [name, member] : entry.items())
        if (member.is_number() && !is_parameter(name) && !records::is_cache_member(name)) others_.push_back(name);
    return {Status::invalid, 0, "no " + objective};
  }

  bool is_parameter(const std::string& name) const {
    for (std::size_t p = 0; p < builder_.knobs(); ++p)
      if (builder_.knob_name(p) == name) return true;
    return false;
  }

  // The parameters of all configurations, in order of first appearance. Conditional parameters are not in every
  // configuration.
  static std::vector<std::string> parameters_of(const Json& results) {
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const Json& result : results)
      for (const auto& [name, value] : member_of(result, "configuration").items())
        if (known.insert(name).second) names.push_back(name);
    return names;
  }

  void read_t4() {
    const Json& results = member_of(header_, "results");
    if (!results.is_array())
      throw Error(fmt::format("{}: expected the results of T4 in a list 'results', found none", place_));
    for (const std::string& name : parameters_of(results)) builder_.add_knob(name);
    const std::optional<double> own_us = choose_t4_objective(results);
    const double to_us = metadata_unit().value_or(own_us.value_or(us_per_ms));
    for (const Json& result : results) add_result(result, to_us, own_us.value_or(to_us));
  }

  // Calls `take` with each object among the measurements.
  static void each_measurement(const Json& result, const auto& take) {
    const Json& list = member_of(result, "measurements");
    if (!list.is_array()) return;
    for (const Json& measurement : list)
      if (measurement.is_object() && measurement.contains("value")) take(measurement);
  }

  // Chooses the objective that the results name; otherwise the time, if there is one, or all that was measured. Returns
  // the number of µs in the unit of its measurements, if that is a unit of time.
  std::optional<double> choose_t4_objective(const Json& results) {
    std::vector<std::string> measured;
    std::set<std::string> known;
    for (const Json& result : results) {
      if (const Json& list = member_of(result, "objectives"); t4_objectives_.empty() && list.is_array())
        t4_objectives_ = list;
      each_measurement(result, [&](const Json& measurement) {
        const std::string name = text_of(measurement, "name");
        if (measured.size() < records::limits.members && known.insert(name).second) measured.push_back(name);
      });
    }
    names_ = objective_names(t4_objectives_);
    if (names_.empty() && (measured.empty() || std::ranges::find(measured, "time") != measured.end()))
      names_ = {"time"};
    if (names_.empty()) names_ = measured;
    choose_objective(names_);
    others_ = measured;
    Objective& objective = builder_.objective();
    for (const Json& result : results)
      each_measurement(result, [&](const Json& measurement) {
        if (objective.unit.empty() && text_of(measurement, "name") == objective.name)
          objective.unit = text_of(measurement, "unit");
      });
    const std::optional<double> to_us = microseconds_in(objective.unit);
    objective.duration = !objective.higher_is_better && (objective.name == "time" || to_us);
    if (objective.duration && !objective.unit.empty() && !metadata_unit())
      known_unit(objective.unit, fmt::format("unit of '{}'", objective.name));
    if (objective.duration) objective.unit.clear();
    return objective.duration ? to_us : std::nullopt;
  }

  // The number of µs in the metadata's unit, which all times of the file have; nullopt if there is no unit.
  std::optional<double> metadata_unit() const {
    const std::string unit = text_of(member_of(header_, "metadata"), "timeunit");
    if (unit.empty()) return std::nullopt;
    return known_unit(unit, "timeunit");
  }

  // The number of µs in the unit. Throws Error if it is not a unit of time.
  double known_unit(const std::string& unit, std::string_view what) const {
    if (const auto us = microseconds_in(unit)) return *us;
    throw Error(fmt::format("{}: expected seconds, milliseconds, microseconds or nanoseconds as the {}, found '{}'",
                            place_, what, unit.substr(0, 40)));
  }

  void add_result(const Json& result, double to_us, double objective_to_us) {
    const Json& configuration = member_of(result, "configuration");
    if (!configuration.is_object())
      throw Error(
          fmt::format("{}: expected a configuration in each result, found none in number {}", place_, entries_ + 1));
    take_values(configuration);
    Json times = member_of(result, "times");
    if (times.is_null()) times = Json::object();
    if (!times.is_object()) throw Error(fmt::format("{}: expected times in number {}", place_, entries_));
    const double launched_us = take_launches(times, "runtimes", to_us);
    Record record{.outcome = outcome_of_result(result, objective_to_us, launched_us)};
    const double to_seconds = to_us * 1e-6;
    // Kernel Tuner writes `compilation`; the schema and KTT have `compilation_time`.
    record.build_seconds = cost(times, times.contains("compilation") ? "compilation" : "compilation_time") * to_seconds;
    record.run_seconds = times.contains("benchmark") ? cost(times, "benchmark") * to_seconds : launched_us * 1e-6;
    for (const char* part : {"framework", "search_algorithm", "validation"})
      record.run_seconds += cost(times, part) * to_seconds;
    builder_.add_json(values_, std::move(record), launches_);
  }

  Outcome outcome_of_result(const Json& result, double to_us, double launched_us) {
    const std::string invalidity = text_of(result, "invalidity");
    if (!invalidity.empty() && invalidity != "correct")
      return own_failure(result).value_or(Outcome{records::status_of_failure(invalidity), 0, invalidity});
    const Objective& objective = builder_.objective();
    std::optional<Json> value;
    each_measurement(result, [&](const Json& measurement) {
      if (!value && text_of(measurement, "name") == objective.name) value = mean_of(measurement["value"]);
    });
    if (value) return outcome_of(*value, to_us);
    // A file may have only the times of launches, without measurements.
    if (objective.name == "time" && objective.duration && !launches_.empty())
      return outcome_of(launched_us / static_cast<double>(launches_.size()), 1);
    ++missing_;
    return {Status::invalid, 0, "no " + objective.name};
  }

  // Returns the mean of an array's numbers, and any other value unchanged.
  static Json mean_of(const Json& value) {
    if (!value.is_array()) return value;
    double sum = 0;
    for (const Json& element : value) {
      const std::optional<double> number = records::number_of(element);
      if (!number) return {};
      sum += *number;
    }
    return value.empty() ? Json() : Json(sum / static_cast<double>(value.size()));
  }

  Records finish() {
    Records records = builder_.finish();
    if (ratios_.empty() || !text_of(header_, "timeunit").empty()) return records;
    const auto middle = ratios_.begin() + static_cast<std::ptrdiff_t>(ratios_.size() / 2);
    std::nth_element(ratios_.begin(), middle, ratios_.end());
    // Benchmarking takes no less than its launches. If it seems to take a thousandth of that, the costs are in seconds.
    if (*middle > 0.5e-3 && *middle < 0.1)
      for (Record& record : records.records) {
        record.build_seconds *= 1e3;
        record.run_seconds *= 1e3;
        record.outcome.seconds = record.cost();
      }
    return records;
  }

  const std::string& place_;
  const Reading& reading_;
  RecordsBuilder builder_;
  Json header_ = Json::object();
  Json t4_objectives_ = Json::array();
  std::vector<std::string> names_;   // names of the file's objectives; may be empty
  std::vector<std::string> others_;  // names of all measured quantities, in T4 or in the first entry without objective
  bool is_cache_ = false;            // the file is a Kernel Tuner cache
  std::size_t measured_ = 0, missing_ = 0;  // configurations with a value of the objective, and without one
  std::size_t entries_ = 0;
  std::vector<std::string> values_;        // as JSON
  std::vector<double> launches_, ratios_;  // ratios_: benchmark time over the sum of the launches, both as if in ms
};

}  // namespace

Records records::read_t4(Json document, const std::string& place, const Reading& reading) {
  return JsonReader(place, reading).read(std::move(document));
}

std::vector<Records> records::parse_json_source(const Source& source) {
  return {JsonReader(source.place, source.reading).read(source.text)};
}

std::vector<std::string> parse_t1_parameters(std::string_view text, const std::string& place) {
  const Json json = Json::parse(text, nullptr, false);
  const auto wrong = [&] {
    return Error(place + ": expected a T1 definition with ConfigurationSpace.TuningParameters, found none");
  };
  const Json& parameters = member_of(member_of(json, "ConfigurationSpace"), "TuningParameters");
  if (!parameters.is_array()) throw wrong();
  std::vector<std::string> names;
  for (const Json& parameter : parameters) {
    if (text_of(parameter, "Name").empty()) throw wrong();
    names.push_back(text_of(parameter, "Name"));
  }
  if (names.empty()) throw wrong();
  return names;
}

}  // namespace deplo::search
