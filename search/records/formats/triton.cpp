// Triton's disk cache of timings, NAME.autotune.json:
//   {"key": ["1024", "torch.float16", …],
//    "configs_timings": [[{"kwargs": {"BLOCK": 64, …}, "num_warps": 4, "num_stages": 3, …}, [0.5, 0.4, 0.6]], …]}
// https://github.com/triton-lang/triton (python/triton/runtime/autotuner.py, check_disk_cache). Times are in ms: the
// median, and the 20th and 80th percentile, or one number. Infinity is a failure. Other programs write a configuration
// as text, "BLOCK: 64, num_warps: 4".
#include <fmt/format.h>

#include <set>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"

namespace deplo::search {
namespace {

using records::Json;

[[noreturn]] void expected(const std::string& place, std::string_view what, const Json& found) {
  throw Error(fmt::format("{}: expected {} in Triton's timings, found {}", place, what, records::excerpt(found)));
}

std::vector<records::Setting> settings_of_config(const Json& config, const std::string& place) {
  if (config.is_string()) {
    const auto text = config.get<std::string>();
    return records::settings_in(text, ',', ':').value_or(std::vector<records::Setting>{{"config", config.dump()}});
  }
  if (!config.is_object()) expected(place, "a configuration", config);
  std::vector<records::Setting> settings;
  if (records::member_of(config, "kwargs").is_object()) settings = records::settings_of(config["kwargs"]);
  std::vector<records::Setting> options;
  std::set<std::string> names;
  for (const auto& [name, value] : config.items())
    if (name != "kwargs" && name != "pre_hook" && !value.is_null()) {
      options.emplace_back(name, records::value_json(value));
      names.insert(name);
    }
  // An option replaces the argument with the same name, as in Triton.
  std::erase_if(settings, [&](const records::Setting& known) { return names.contains(known.first); });
  settings.insert(settings.end(), options.begin(), options.end());
  return settings;
}

double milliseconds_of(const Json& timing, const std::string& place) {
  const Json& median = timing.is_array() && !timing.empty() ? timing[0] : timing;
  if (median.is_null() || median.empty()) return 0;  // null: Infinity; empty: no time
  if (const std::optional<double> ms = records::number_of(median)) return *ms;
  expected(place, "a time", timing);
}

}  // namespace

std::vector<Records> records::parse_triton(const Source& source) {
  const Json json = parse_json(source.text, source.place, "Triton's timings");
  const Json& timings = member_of(json, "configs_timings");
  if (!timings.is_array()) expected(source.place, "a list 'configs_timings'", timings);
  std::vector<std::string> key;
  for (const Json& part : member_of(json, "key"))
    key.push_back(part.is_string() ? part.get<std::string>() : compact(part));
  BySpace spaces(source);
  SparseRecords& space = spaces.of("", stem_of(source.place), "", key.empty() ? "" : problem_size_json(key));
  for (const Json& pair : timings) {
    if (!pair.is_array() || pair.size() != 2) expected(source.place, "[configuration, times]", pair);
    space.add(settings_of_config(pair[0], source.place),
              timed(milliseconds_of(pair[1], source.place) * 1e3, Status::invalid,
                    "no time: out of resources, or not compiled"));
  }
  return spaces.finish();
}

}  // namespace deplo::search
