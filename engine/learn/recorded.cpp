#include "engine/learn/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/mapped.h"
#include "core/text/text.h"
#include "engine/learn/store_keys.h"
#include "engine/learn/unpacked_store.h"
#include "engine/revision.h"
#include "ir/program.h"
#include "measure/store/store.h"
#include "search/records/spelling.h"

namespace deplo::engine {
namespace {

constexpr std::string_view recorded = "recorded";  // the protocol; also the first word of an imported kernel's text

// Encodes a text as a word of a trail that does not stand for an absent value.
std::string encode(std::string_view text, std::string_view more = "") {
  const std::string word = trail_word(text, more);
  return word == absent ? "%2D" : word;
}

std::string decode(std::string_view text) {
  if (text == "%") return "";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() ? std::string_view("0123456789ABCDEF").find(text[at]) : std::string_view::npos;
    };
    if (text[i] != '%' || digit(i + 1) > 15 || digit(i + 2) > 15) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
    i += 2;
  }
  return out;
}

std::string word_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text == absent ? *text : encode(*text);
  return deplo::print(value);
}

Value value_of(const Value& word) {
  if (const auto* text = std::get_if<std::string>(&word)) return parse_value(decode(*text));
  return word;
}

// Returns the JSON values of a knob, encoded, such as "1 true "a b"". Returns "" if the trail words alone give the
// JSON.
std::string json_words(const search::Knob& knob) {
  std::string text;
  bool told = true;
  for (std::size_t i = 0; i < knob.values.size(); ++i) {
    told &= knob.json[i] == search::records::json_of(knob.values[i]);
    text += " " + encode(knob.json[i]);
  }
  return told ? "" : text;
}

// Returns the text of an imported kernel. Spaces whose texts differ are different kernels. Names of knobs contain no
// '='.
// recorded NAME
// problem_size=JSON                 if it is known
// objective=NAME UNIT DIRECTION     unless it is the time; the direction of a duration is "duration"
// json=KNOB VALUE VALUE …           if the words of the knob's values do not determine their JSON types
// KNOB VALUE VALUE …
std::string describe(const search::Records& records) {
  std::string text = fmt::format("{} {}\n", recorded, encode(records.kernel.empty() ? records.name : records.kernel));
  if (!records.problem_size.empty()) text += fmt::format("problem_size={}\n", encode(records.problem_size));
  const search::Objective& objective = records.objective;
  if (objective != search::Objective{})
    text += fmt::format("objective={} {} {}\n", encode(objective.name), encode(objective.unit),
                        objective.duration           ? "duration"
                        : objective.higher_is_better ? "higher"
                                                     : "lower");
  for (const search::Knob& knob : records.knobs)
    if (const std::string words = json_words(knob); !words.empty())
      text += fmt::format("json={}{}\n", encode(knob.name, "="), words);
  for (const search::Knob& knob : records.knobs) {
    text += encode(knob.name, "=");
    for (const Value& value : knob.values) text += " " + word_of(value);
    text += "\n";
  }
  return text;
}

std::string trail_text(const search::Records& records, std::size_t row) {
  Trail trail;
  for (std::size_t k = 0; k < records.knobs.size(); ++k) {
    const Value& value = records.value(row, k);
    if (value != Value(std::string(absent))) trail.push_back({encode(records.knobs[k].name, "="), word_of(value)});
  }
  return deplo::print(trail);
}

measure::TrialRecord trial_of(const search::Records& records, std::size_t row) {
  const search::Record& record = records.records[row];
  measure::TrialRecord trial;
  trial.ordinal = static_cast<std::int64_t>(row);
  trial.trail = trail_text(records, row);
  trial.status = record.outcome.status;
  trial.message = record.outcome.message;
  trial.build_ms = record.build_seconds * 1e3;
  trial.timing.median_us = record.outcome.ok() ? records.loss(row) : 0;
  trial.timing.fidelity = record.outcome.ok() ? 1 : 0;
  const auto launches = records.launches_of(record);
  trial.timing.samples.assign(launches.begin(), launches.end());
  trial.protocol = recorded;
  if (!records.objective.duration) trial.protocol += " " + label(records.objective);
  return trial;
}

search::Record record_of(const measure::TrialRecord& trial, std::span<const double> launches, bool higher_is_better) {
  search::Record record;
  const double value = higher_is_better ? -trial.timing.median_us : trial.timing.median_us;
  record.outcome = {trial.status, value, trial.message};
  record.build_seconds = trial.build_ms * 1e-3;
  for (const double launch : launches) record.run_seconds += launch * 1e-6;
  return record;
}

/// Returns the extents of the first output of a kernel of Loop IR, or their product if there are more than three or
/// none, because a launch has three dimensions. Returns "" if the text is of another version.
std::string size_of_program(const std::string& text) {
  constexpr std::size_t max_dimensions = 3;
  ir::Program program;
  try {
    program = ir::parse(text);
  } catch (const Error&) {
    return "";
  }
  const auto output = std::ranges::find(program.buffers, ir::Role::output, &ir::Buffer::role);
  if (output == program.buffers.end()) return "";
  if (output->shape.empty() || output->shape.size() > max_dimensions)
    return fmt::format("[{}]", ir::element_count(*output));
  return fmt::format("[{}]", join(output->shape, ", "));
}

/// Returns "[256, 128]" for whole numbers, or "" if a word is something else: a store may come from an untrusted
/// source.
std::string size_of_words(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) return "";
  return fmt::format("[{}]", join(words, ", "));
}

/// Returns the problem size of a kernel file's space or, if it has none, the number of elements of the first output.
/// `lines` are the lines of foreign::KernelFile::identity() after the first. Arguments come first.
std::string size_of_kernel_file(std::istringstream& lines) {
  std::string elements;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("problem ")) {
      std::istringstream words(line.substr(line.find(' ')));
      std::vector<std::string> sizes;
      for (std::string word; words >> word;) sizes.push_back(word);
      return size_of_words(sizes);
    }
    if (!line.starts_with("argument ")) break;
    const std::size_t open = line.find('['), close = line.find("] output");
    if (elements.empty() && open < close && close != std::string::npos)
      elements = size_of_words({line.substr(open + 1, close - open - 1)});
  }
  return elements;
}

/// Returns the grid from BlockProgram::identity(): "…, 4 x 1 x 1 blocks".
std::string size_of_tile_program(const std::string& line) {
  std::istringstream words(line.substr(std::min(line.rfind(", ") + 1, line.size())));
  std::string x, y, z, by;
  words >> x >> by >> y >> by >> z;
  return size_of_words({x, y, z});
}

/// Returns the problem size as JSON, for other tools, or "" if it is unknown. `text` is the kernel's identity in the
/// store.
std::string problem_size_of(const std::string& text) {
  std::istringstream lines(text);
  std::string first;
  std::getline(lines, first);
  if (is_imported(first)) return "";
  if (first.starts_with("kernel file ")) return size_of_kernel_file(lines);
  if (first.starts_with("tile program block by block")) return size_of_tile_program(first);
  return size_of_program(text);
}

std::optional<search::Records> read_space(measure::Store& store, const StoreKey& key, const std::string& file) {
  const std::vector<measure::KnownTrial> trials = store.known_trials(key.kernel, key.device, key.protocol);
  const measure::Objectives objectives = measure::parse_objectives(store.objectives(key.kernel, key.device));
  std::vector<Trail> trails;
  TrailRecords space(file, key.text);
  for (const measure::KnownTrial& known : trials) {
    trails.push_back(parse_trail(known.trial.trail));
    space.meet(trails.back());
  }
  if (!space.has_knobs() || trials.empty()) return std::nullopt;  // a kernel without decisions
  for (std::size_t i = 0; i < trials.size(); ++i) {
    std::vector<double> launches;
    std::ranges::copy_if(trials[i].trial.timing.samples, std::back_inserter(launches),
                         [](double us) { return us > 0; });
    space.add(trails[i], record_of(trials[i].trial, launches, space.objective().higher_is_better), launches);
    if (!objectives.empty()) space.add_further(trials[i].trial, objectives);
  }
  search::Records records = space.finish();
  records.kernel = key.name;
  records.device = key.info.name;
  records.name = std::filesystem::path(file).stem().string() + "/" + key.name;
  if (records.problem_size.empty()) records.problem_size = problem_size_of(key.text);
  return records;
}

}  // namespace

TrailRecords::TrailRecords(std::string place, std::string_view kernel_text) : builder_(std::move(place)) {
  std::istringstream lines{std::string(kernel_text)};
  std::string line;
  std::getline(lines, line);
  if (!is_imported(line)) return;
  while (std::getline(lines, line)) declare(line);
}

void TrailRecords::read_fact(const std::string& line) {
  std::istringstream words(line.substr(line.find('=') + 1));
  std::vector<std::string> values;
  for (std::string word; words >> word;) values.push_back(decode(word));
  if (values.empty()) return;
  if (line.starts_with("problem_size=")) builder_.problem_size() = values[0];
  if (line.starts_with("objective=") && values.size() == 3)
    builder_.objective() = {values[0], values[1], values[2] == "higher", values[2] == "duration"};
  if (line.starts_with("json=")) json_[values[0]] = {values.begin() + 1, values.end()};
}

void TrailRecords::declare(const std::string& line) {
  if (line.substr(0, line.find(' ')).find('=') != std::string::npos) return read_fact(line);
  std::istringstream words(line);
  search::Knob knob;
  words >> knob.name;
  for (std::string word; words >> word;)
    knob.values.push_back(word == absent ? Value(word) : parse_value(decode(word)));
  if (!knob.name.empty()) knobs_.push_back(std::move(knob));
}

void TrailRecords::meet(const Trail& trail) {
  auto at = knobs_.begin();
  for (const Choice& choice : trail) {
    const auto known = std::ranges::find(knobs_, choice.knob, &search::Knob::name);
    at = known != knobs_.end() ? known : knobs_.insert(at, {choice.knob, {}});
    ++at;
  }
}

void TrailRecords::add(const Trail& trail, search::Record record, std::span<const double> launches) {
  if (builder_.knobs() == 0)
    for (const search::Knob& knob : knobs_) {
      const std::string name = decode(knob.name);
      if (const auto json = json_.find(name); json != json_.end())
        builder_.add_json_knob(name, json->second);
      else
        builder_.add_knob(name, knob.values);
    }
  std::vector<Value> values;
  for (const search::Knob& knob : knobs_) {
    const auto choice = std::ranges::find(trail, knob.name, &Choice::knob);
    values.push_back(choice == trail.end() ? Value(std::string(absent)) : value_of(choice->value));
  }
  builder_.add(values, std::move(record), launches);
}

void TrailRecords::add_further(const measure::TrialRecord& trial, const measure::Objectives& objectives) {
  builder_.objectives().clear();
  for (const measure::Quantity* const objective : objectives) builder_.objectives().emplace_back(objective->name);
  for (const measure::Quantity& quantity : measure::quantities())
    if (quantity.name != builder_.objective().name) {
      const auto value = trial.status == Status::ok ? quantity.of(trial) : std::nullopt;
      builder_.add_further(std::string(quantity.name), std::string(quantity.unit),
                           value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
}

std::size_t import_records(const search::Records& records, const std::string& path) {
  measure::Store store = measure::Store::open(path);
  measure::DeviceInfo device;
  device.backend = recorded;
  device.name = records.device.empty() ? records.name : records.device;
  const std::int64_t run = store.add_run({.device = store.add_device(device),
                                          .revision = std::string(revision()),
                                          .config = "imported from " + records.name,
                                          .searcher = "imported",
                                          .seed = 0,
                                          .host = ""});
  const std::int64_t kernel =
      store.add_kernel({records.kernel.empty() ? records.name : records.kernel, describe(records)});
  std::vector<measure::TrialRecord> trials;
  for (std::size_t row = 0; row < records.records.size(); ++row) {
    trials.push_back(trial_of(records, row));
    trials.back().run = run;
    trials.back().kernel = kernel;
  }
  store.append(trials);
  return trials.size();
}

std::vector<StoredSpace> read_stored_spaces(const std::string& path) {
  const UnpackedStore unpacked(path);
  const std::vector<StoreKey> keys = store_keys(unpacked.path());
  measure::Store store = measure::Store::open_to_read(unpacked.path());
  std::vector<StoredSpace> spaces;
  for (const StoreKey& key : keys)
    if (auto records = read_space(store, key, path))
      spaces.push_back({key.kernel, key.device, key.latest, key.first_trail, std::move(*records), key.key, key.text,
                        key.info, store.ceilings(key.device)});
  return spaces;
}

std::vector<search::Records> read_store(const std::string& path) {
  return mapped(read_stored_spaces(path), [](StoredSpace& space) { return std::move(space.records); });
}

bool is_imported(std::string_view kernel_text) { return kernel_text.starts_with(fmt::format("{} ", recorded)); }

}  // namespace deplo::engine
