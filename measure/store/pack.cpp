#include "measure/store/pack.h"

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/file.h"
#include "core/text/json.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "measure/fields.h"
#include "measure/store/file/open.h"
#include "measure/store/rows/device_row.h"
#include "measure/store/rows/inserts.h"
#include "measure/store/rows/trial.h"

namespace deplo::measure {
namespace {

constexpr std::string_view pack_start = R"({"deplo_pack":)";
constexpr std::int64_t pack_version = 1;
constexpr std::string_view about_packs =
    R"(schedules measured by deplo; `deplo run --tuned FILE` uses them (docs/database.md, "Packs"))";

/// Returns a short printable form of a name, for messages.
std::string excerpt_of(const std::string& name) { return printable(cut(name, 40)); }

/// Lists the members of a line, for writing and reading: field("name", member, known).
template <class Origin, class Field>
void list_origin(Origin& origin, Field& field) {
  field("deplo", origin.revision);
  field("rules", origin.pipeline);
}

template <MaybeConst<Pack::Schedule> Schedule, class Field>
void list_fields(Schedule& schedule, Field& field) {
  field("kernel", schedule.kernel.name);
  field("trail", schedule.trial.trail);
  list_fields(schedule.trial.timing, field);
  field("proof", schedule.trial.proof);
  field("fingerprint", schedule.trial.fingerprint, !schedule.trial.fingerprint.empty());
  field("row_fingerprint", schedule.trial.row_fingerprint, !schedule.trial.row_fingerprint.empty());
  field("changes", schedule.trial.changes, schedule.trial.changes >= 0);
  field("digest", schedule.trial.digest);
  field("stage", schedule.trial.stage);
  field("protocol", schedule.trial.protocol);
  field("measured", schedule.trial.created);
  list_origin(schedule.origin, field);
  field("text", schedule.kernel.text);
}

template <MaybeConst<Pack::Graph> Graph, class Field>
void list_fields(Graph& graph, Field& field) {
  field("name", graph.graph.name);
  field("key", graph.graph.key);
  field("trail", graph.graph.trail);
  field("digest", graph.graph.digest);
  field("median_us", graph.graph.median_us);
  field("heuristic_us", graph.graph.heuristic_us);
  field("measured", graph.graph.created);
  list_origin(graph.origin, field);
}

template <MaybeConst<Pack::Family> Family, class Field>
void list_fields(Family& family, Field& field) {
  field("name", family.family.name);
  field("key", family.family.key);
  field("goal", family.family.goal);
  field("loss", family.family.loss);
  field("rule", family.family.rule);
  field("measured", family.family.created);
  list_origin(family.origin, field);
  field("kernel", family.family.kernel.name);
  field("text", family.family.kernel.text);
}

/// Sets the members of a JSON object.
class PackWriter {
 public:
  void operator()(std::string_view name, const auto& member, bool known = true) {
    if (known) json_.set(name, value(member));
  }
  const Json& json() const { return json_; }

 private:
  template <class T>
  static Json value(const T& member) {
    return Json(member);
  }
  static Json value(Stage stage) { return {name(stage)}; }
  static Json value(const std::vector<double>& numbers) { return Json::array(numbers); }
  Json json_ = Json::object();
};

std::string line_of(std::string_view kind, PackWriter& fields) {
  return Json::object({{kind, fields.json()}}).print() + "\n";
}

using Read = nlohmann::json;

/// Reads the members of an object. Members that are absent keep their values.
class PackReader {
 public:
  PackReader(const Read& object, std::string place) : object_(object), place_(std::move(place)) {}

  template <class T>
  void operator()(std::string_view name, T& member, bool /*known*/ = true) {
    known_.insert(std::string(name));
    if (const auto found = object_.find(name); found != object_.end()) read(name, *found, member);
  }
  void require(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names)
      if (!object_.contains(name)) throw Error(fmt::format("{}: expected '{}', found none", place_, name));
  }
  /// Throws Error for a member that was not asked for.
  void finish() const {
    for (const auto& [name, value] : object_.items())
      if (!known_.contains(name))
        throw Error(fmt::format("{}: expected only names that this deplo knows, found '{}'", place_, excerpt_of(name)));
  }
  [[noreturn]] void expected(std::string_view name, std::string_view what, const Read& found) const {
    throw Error(
        fmt::format("{}: expected '{}' to be {}, found {}", place_, name, what,
                    found.is_number() ? "another number" : fmt::format("a value of type {}", found.type_name())));
  }

 private:
  template <std::integral T>
  void read(std::string_view name, const Read& json, T& value) const {
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool is_large = json.is_number_unsigned() && json.get<std::uint64_t>() > largest;
    if (!json.is_number_integer() || is_large) expected(name, "an integer", json);
    value = static_cast<T>(json.get<std::int64_t>());
  }
  void read(std::string_view name, const Read& json, bool& value) const {
    if (!json.is_boolean()) expected(name, "true or false", json);
    value = json.get<bool>();
  }
  void read(std::string_view name, const Read& json, double& value) const {
    if (!json.is_number()) expected(name, "a number", json);
    value = json.get<double>();
  }
  void read(std::string_view name, const Read& json, std::string& text) const {
    if (!json.is_string()) expected(name, "a text", json);
    text = json.get<std::string>();
  }
  void read(std::string_view name, const Read& json, Stage& stage) const {
    const bool confirm = json == measure::name(Stage::confirm);
    if (!confirm && json != measure::name(Stage::screen)) expected(name, "screen or confirm", json);
    stage = confirm ? Stage::confirm : Stage::screen;
  }
  void read(std::string_view name, const Read& json, std::vector<double>& numbers) const {
    if (!json.is_array()) expected(name, "a list of numbers", json);
    numbers.clear();
    for (const Read& one : json) read(name, one, numbers.emplace_back());
  }

  const Read& object_;
  std::string place_;
  std::set<std::string, std::less<>> known_;
};

/// Reads a pack line by line.
class PackLines {
 public:
  explicit PackLines(std::string file) : file_(std::move(file)) {}

  void read(std::string_view line) {
    ++number_;
    const Read json = parse(line);
    if (number_ == 1) return read_start(json);
    if (!json.is_object() || json.size() != 1 || !json.begin()->is_object())
      throw Error(fmt::format("{}: expected an object with one object, {}, found {}", place(), kinds,
                              json.is_object() ? "another object" : json.type_name()));
    const std::string& kind = json.begin().key();
    PackReader fields(*json.begin(), place());
    if (kind == "device") {
      list_fields(pack_.devices.emplace_back(), fields);
      fields.require({"backend", "name"});
    } else if (kind == "schedule") {
      read(pack_.schedules, fields, {"kernel", "trail", "digest", "median_us", "samples", "text"}).trial.status =
          Status::ok;
    } else if (kind == "graph") {
      read(pack_.graphs, fields, {"key", "trail", "digest"});
    } else if (kind == "family") {
      const std::string& rule = read(pack_.families, fields, {"key", "rule", "kernel", "text"}).family.rule;
      if (!Read::accept(rule))
        throw Error(fmt::format("{}: expected 'rule' to be JSON, found something else", place()));
    } else {
      throw Error(fmt::format("{}: expected {}, found '{}'", place(), kinds, excerpt_of(kind)));
    }
    fields.finish();
  }
  Pack finish() {
    if (number_ == 0) throw Error(fmt::format("{}: expected a pack of deplo, found an empty file", file_));
    return std::move(pack_);
  }

 private:
  std::string place() const { return fmt::format("{}:{}", file_, number_); }

  Read parse(std::string_view line) const {
    try {
      return Read::parse(line);
    } catch (const Read::exception&) {
      throw Error(fmt::format("{}: expected a line of JSON in UTF-8, found something else", place()));
    }
  }

  void read_start(const Read& json) const {
    const auto version = json.is_object() ? json.find("deplo_pack") : json.end();
    if (!json.is_object() || version == json.end())
      throw Error(fmt::format("{}: expected a pack of deplo, which begins with {}{}, …, found something else", place(),
                              pack_start, pack_version));
    if (*version != pack_version)
      throw Error(fmt::format("{}: expected a pack of version {}, found another version: use a newer deplo", place(),
                              pack_version));
  }

  Pack::Origin read_device(PackReader& fields) const {
    std::int64_t number = 0;
    fields("device", number);
    fields.require({"device"});
    if (number < 1 || number > std::ssize(pack_.devices))
      throw Error(
          fmt::format("{}: expected 'device' to be the number of a device above this line, found {}", place(), number));
    return {static_cast<std::size_t>(number - 1), {}, {}};
  }

  /// Reads a record, and appends it. `required`: names that it must have.
  template <class Record>
  Record& read(std::vector<Record>& records, PackReader& fields, std::initializer_list<std::string_view> required) {
    Record& record = records.emplace_back();
    record.origin = read_device(fields);
    list_fields(record, fields);
    fields.require(required);
    return record;
  }

  static constexpr std::string_view kinds = "device, schedule, graph or family";
  std::string file_;
  std::int64_t number_ = 0;
  Pack pack_;
};

/// Adds the rows of a pack to an empty store.
class PackRows {
 public:
  PackRows(sqlite::Database& database, const Pack& pack) : database_(database) {
    for (const DeviceInfo& info : pack.devices) {
      insert_device(database, info);
      devices_.push_back(*find_device(database, info));
    }
    for (const Pack::Schedule& schedule : pack.schedules) add(schedule);
    for (const Pack::Graph& graph : pack.graphs) add(graph);
    for (const Pack::Family& family : pack.families) add(family);
  }

 private:
  /// Adds a run for a row that was `created` at this time, and returns the run's id.
  std::int64_t run_of(const Pack::Origin& origin, const std::string& created) {
    run_.bind(1, devices_[origin.device]).bind(2, origin.revision).bind(3, origin.pipeline).bind(4, created).step();
    return database_.last_id();
  }

  /// Sets the time at which a row was created.
  void set_created(std::string_view table, std::int64_t id, const std::string& created) {
    sqlite::Statement update(database_, fmt::format("UPDATE {} SET created = ? WHERE id = ?", table));
    update.bind(1, created).bind(2, id).step();
  }

  void add(const Pack::Schedule& schedule) {
    TrialRecord trial = schedule.trial;
    trial.run = run_of(schedule.origin, trial.created);
    trial.kernel = insert_kernel(database_, schedule.kernel);
    run_insert(trial_, trial);
    set_created("trial", database_.last_id(), trial.created);
  }

  void add(const Pack::Graph& graph) {
    GraphRecord row = graph.graph;
    row.run = run_of(graph.origin, row.created);
    set_created("graph", insert_graph(database_, row), row.created);
  }

  void add(const Pack::Family& family) {
    FamilyRecord row = family.family;
    row.run = run_of(family.origin, row.created);
    const std::int64_t kernel = insert_kernel(database_, row.kernel);
    set_created("family", insert_family(database_, row, kernel), row.created);
  }

  sqlite::Database& database_;
  std::vector<std::int64_t> devices_;  // ids of the pack's devices
  sqlite::Statement run_{database_,
                         "INSERT INTO run (device, revision, config, searcher, seed, host, pipeline, started) VALUES "
                         "(?, ?, '', '', 0, '', ?, ?)"};
  sqlite::Statement trial_{database_, insert_trial()};
};

/// Returns the line of a record, with the number of its device before its other members.
template <class Record>
std::string line_of(std::string_view kind, const Record& record) {
  PackWriter fields;
  fields("device", static_cast<std::int64_t>(record.origin.device + 1));
  list_fields(record, fields);
  return line_of(kind, fields);
}

}  // namespace

std::string print(const Pack& pack) {
  std::string text = Json::object({{"deplo_pack", pack_version}, {"about", about_packs}}).print() + "\n";
  for (const DeviceInfo& info : pack.devices) {
    PackWriter fields;
    list_fields(info, fields);
    text += line_of("device", fields);
  }
  for (const Pack::Schedule& schedule : pack.schedules) text += line_of("schedule", schedule);
  for (const Pack::Graph& graph : pack.graphs) text += line_of("graph", graph);
  for (const Pack::Family& family : pack.families) text += line_of("family", family);
  return text;
}

Pack parse_pack(std::string_view text, const std::string& file) {
  PackLines lines(file);
  for (std::string_view line : lines_of(text)) {
    if (line.ends_with('\r')) line.remove_suffix(1);  // git may have changed the line ends
    lines.read(line);
  }
  return lines.finish();
}

std::string describe(const Pack& pack) {
  std::string text = fmt::format("{} of {}", counted(std::ssize(pack.schedules), "schedule"),
                                 counted(std::ssize(pack.devices), "device"));
  if (!pack.graphs.empty()) text += ", " + counted(std::ssize(pack.graphs), "graph");
  if (!pack.families.empty()) text += fmt::format(", rules for {}", counted(std::ssize(pack.families), "form"));
  return text;
}

bool is_pack(const std::string& file) { return sqlite::first_bytes(file, pack_start.size()) == pack_start; }

std::unique_ptr<sqlite::Database> store_of(const Pack& pack) {
  auto database = open_in_memory();
  sqlite::Transaction transaction(*database);
  PackRows(*database, pack);
  transaction.commit();
  return database;
}

std::unique_ptr<sqlite::Database> open_pack(const std::string& file) {
  return store_of(parse_pack(read_file(file), file));
}

}  // namespace deplo::measure
