// Trial logs of the autotuner of cutile-rs: on each line
//   {"config_id": "BM=64,BN=128", "outcome": {"Measured": {"median_ms": 0.5, "min_ms": 0.4, "reps": 100}}}
//   {"config_id": "BM=64,BN=256", "outcome": {"Invalid": {"reason": "…"}}}
// https://github.com/NVlabs/cutile-rs (cutile/src/tune.rs). An id that is not a list of parameters is the value of the
// knob "config".
#include <fmt/format.h>

#include "core/error.h"
#include "search/records/formats/by_space.h"
#include "search/records/formats/formats.h"

namespace deplo::search {
namespace {

using records::Json;

Record record_of(const Json& outcome, const std::string& place) {
  if (const Json& measured = records::member_of(outcome, "Measured"); measured.is_object()) {
    const Json& median = records::member_of(measured, "median_ms");
    if (const std::optional<double> ms = records::number_of(median))
      return records::timed(*ms * 1e3, Status::noop, "no time");
    if (median.is_null()) return records::timed(0, Status::noop, "no time");
  } else if (outcome.is_string()) {
    return records::timed(0, Status::invalid, outcome.get<std::string>());
  } else if (outcome.is_object() && outcome.size() == 1 && !outcome.contains("Measured")) {
    const std::string reason = records::text_of(outcome.front(), "reason");
    return records::timed(0, Status::invalid, reason.empty() ? outcome.begin().key() : reason);
  }
  throw Error(fmt::format(
      "{}: expected Measured with median_ms, or the name of a failure, as the outcome of a trial of cutile-rs, "
      "found {}",
      place, records::excerpt(outcome)));
}

}  // namespace

std::vector<Records> records::parse_cutile(const Source& source) {
  BySpace spaces(source);
  SparseRecords& space = spaces.of("", stem_of(source.place));
  each_json_line(source.text, source.place, "a trial of cutile-rs", [&](const JsonLine& line) {
    const std::string id = text_of(line.json, "config_id");
    if (id.empty()) throw Error(fmt::format("{}: expected the config_id of a trial of cutile-rs", line.place));
    const Json& parameters = member_of(line.json, "params");
    space.add(parameters.is_object()
                  ? settings_of(parameters)
                  : settings_in(id, ',', '=').value_or(std::vector<Setting>{{"config", compact(Json(id))}}),
              record_of(member_of(line.json, "outcome"), line.place));
  });
  return spaces.finish();
}

}  // namespace deplo::search
