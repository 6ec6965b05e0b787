#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>

#include "apps/cli/flags.h"
#include "apps/cli/rows_table.h"
#include "apps/db/db_flags.h"
#include "core/error.h"
#include "core/mapped.h"
#include "core/outcome.h"
#include "core/text/select_names.h"
#include "core/text/text.h"
#include "core/text/wrap.h"
#include "engine/compile/dispatch.h"
#include "engine/learn/first_options.h"
#include "measure/store/file/open.h"
#include "measure/store/pack.h"
#include "measure/store/upkeep/check.h"
#include "measure/store/upkeep/front.h"
#include "measure/store/upkeep/report.h"
#include "rules/rule.h"

namespace deplo::apps {
namespace {

struct ReadFlags {
  StoreChoice store;
  measure::upkeep::Filter filter;
  std::string sql, knob;
  std::vector<std::string> stores;
  bool json = false, migrate = false;
};

std::unique_ptr<measure::sqlite::Database> open(const ReadFlags& flags) {
  return measure::open_to_read(flags.store.file());
}

std::string print_sizes(const measure::sqlite::Rows& sizes) {
  return join(sizes.rows, ", ", [](const auto& row) {
    return fmt::format("{} {}", measure::sqlite::text_of(row[0]), measure::sqlite::integer_of(row[1]));
  });
}

/// Returns the version of the file. `read`: what is read instead of it, which may be a copy of the current version.
std::int64_t version_of(const std::string& file, measure::sqlite::Database& read) {
  constexpr std::string_view pragma = "PRAGMA user_version";
  if (measure::is_pack(file)) return read.integer(pragma);
  return measure::sqlite::Database(file, measure::sqlite::Access::read).integer(pragma);
}

void run_info(const ReadFlags& flags) {
  const std::string file = flags.store.file();
  if (flags.migrate) {
    if (!std::filesystem::exists(file))
      throw Error(fmt::format("store {}: expected a store, found no such file", file));
    measure::open_database(file);
  }
  const auto database = measure::open_to_read(file);
  const std::int64_t version = version_of(file, *database);
  const std::uintmax_t bytes = std::filesystem::file_size(file);
  const measure::sqlite::Rows sizes = measure::upkeep::table_sizes(*database),
                              devices = measure::upkeep::device_summaries(*database),
                              statuses = measure::upkeep::status_counts(*database);
  if (flags.json) {
    Json rows = Json::object();
    for (const auto& row : sizes.rows) rows.set(measure::sqlite::text_of(row[0]), row[1]);
    const Json json = Json::object({{"file", file},
                                    {"version", version},
                                    {"bytes", bytes},
                                    {"rows", rows},
                                    {"devices", json_of(devices)},
                                    {"statuses", json_of(statuses)}});
    print_result(json.print_lines(2));
    return;
  }
  const std::size_t width = window_width();
  std::string text = wrap(fmt::format("{}: version {}, {:.1f} MB\nrows: {}", file, version,
                                      static_cast<double>(bytes) * 1e-6, print_sizes(sizes)),
                          width, 2) +
                     "\n";
  for (const measure::sqlite::Rows* part : {&devices, &statuses})
    if (!part->rows.empty()) text += "\n" + print_rows(*part, width);
  print_result(text);
}

/// Returns a message that says what the store has instead of a valid trial.
std::string nothing_valid(measure::sqlite::Database& database, const measure::upkeep::Filter& filter) {
  const measure::sqlite::Rows kernels = measure::upkeep::kernel_summaries(database, filter);
  std::int64_t trials = 0;
  std::vector<std::string> names;
  for (const auto& row : kernels.rows) {
    names.push_back(measure::sqlite::text_of(row[0]));
    trials += measure::sqlite::integer_of(row[2]);
  }
  if (trials == 0) return "expected a valid trial, found no trials";
  return fmt::format("expected a valid trial, found {} of {}; see `deplo db failures` and `deplo db check`",
                     counted(trials, "failed or impossible trial"), list_names(names));
}

using Fronts = std::span<const std::optional<measure::Front>>;

/// Returns the table of the best schedules, and the front of each kernel that was searched with several objectives.
std::string table_of(const measure::sqlite::Rows& best, Fronts fronts) {
  const std::size_t width = window_width();
  std::string text = print_rows(best, width);
  for (std::size_t i = 0; i < best.rows.size(); ++i)
    if (fronts[i])
      text += "\n" + wrap(measure::upkeep::heading(measure::sqlite::text_of(best.rows[i][0]), *fronts[i]), width) +
              print_rows(measure::upkeep::rows_of(*fronts[i]), width);
  return text;
}

Json best_json(const measure::sqlite::Rows& best, Fronts fronts) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < best.rows.size(); ++i) {
    Json row = Json::object();
    for (std::size_t c = 0; c < best.columns.size(); ++c) row.set(best.columns[c], best.rows[i][c]);
    if (fronts[i]) row.set("front", json_of(measure::upkeep::rows_of(*fronts[i])));
    rows.push_back(std::move(row));
  }
  return rows;
}

void run_best(const ReadFlags& flags) {
  const auto database = open(flags);
  const measure::sqlite::Rows best = measure::upkeep::best_schedules(*database, flags.filter);
  if (best.rows.empty()) throw Error(fmt::format("{}: {}", flags.store.file(), nothing_valid(*database, flags.filter)));
  const std::vector<std::optional<measure::Front>> fronts = measure::upkeep::stored_fronts(*database, flags.filter);
  print_result(flags.json ? best_json(best, fronts).print_lines(2) : table_of(best, fronts));
}

void run_diff(const ReadFlags& flags) {
  if (flags.stores.size() != 2)
    throw Error(fmt::format("diff: expected two stores, found {}; see --help", flags.stores.size()));
  const auto a = measure::open_to_read(flags.stores[0]), b = measure::open_to_read(flags.stores[1]);
  print_answer(measure::upkeep::compare_bests(*a, *b), flags.json, "no valid trials");
}

// What the command looks for is not a problem of the environment, even if the file cannot be opened because of it.
measure::sqlite::Rows faults_of(const std::string& file) {
  try {
    return measure::upkeep::check_store(*measure::open_to_read(file));
  } catch (const measure::sqlite::Damaged& damaged) {
    throw Error(damaged.what());
  }
}

int run_check(const ReadFlags& flags) {
  const std::string file = flags.store.file();
  const measure::sqlite::Rows faults = faults_of(file);
  print_answer(faults, flags.json, fmt::format("{}: sound", file));
  return faults.rows.empty() ? 0 : static_cast<int>(Exit::user);
}

/// Throws Error if two columns have one name: a JSON object would keep only one of their values.
void expect_distinct(const std::vector<std::string>& columns) {
  std::set<std::string> seen;
  for (const std::string& name : columns)
    if (!seen.insert(name).second)
      throw Error(
          fmt::format("sql: expected columns with distinct names for --json, found '{}' twice; name them with AS",
                      printable(name)));
}

void run_sql(const ReadFlags& flags) {
  if (flags.sql.empty()) throw Error("sql: expected a SELECT, found none; see --help");
  std::error_code ignored;
  if (std::filesystem::is_regular_file(flags.sql, ignored))
    throw Error(fmt::format("sql: expected a SELECT, and the store after it, found the file '{}' first", flags.sql));
  const measure::sqlite::Rows rows = measure::sqlite::select(*open(flags), flags.sql);
  if (flags.json) expect_distinct(rows.columns);
  print_answer(rows, flags.json, "no rows");
}

struct Reader {
  Command command;
  std::shared_ptr<ReadFlags> flags;
};

Reader add_reader(Command db, const char* name, const char* help, const char* example,
                  const std::function<void(const ReadFlags&)>& run) {
  Reader reader = {db.add(name, help), std::make_shared<ReadFlags>()};
  Command command = reader.command;
  command.examples(example);
  command.run([flags = reader.flags, run] {
    if (!flags->filter.status.empty()) parse_status(flags->filter.status);
    run(*flags);
  });
  add_json(command, reader.flags->json);
  return reader;
}

/// Returns the sizes for which the rule was made: "M=8..512 N=64".
std::string sizes_of(const engine::DispatchRule& rule) {
  std::string text;
  for (const auto& [name, columns, min, max] : rule.extents)
    text +=
        fmt::format("{}{}={:g}{}", text.empty() ? "" : " ", name, min, min == max ? "" : fmt::format("..{:g}", max));
  return text;
}

/// Prints a row for each kept schedule of each family.
void run_families(const ReadFlags& flags) {
  measure::sqlite::Rows rows{
      {"family", "device", "goal", "loss_percent", "sizes", "state", "schedule", "when", "trail"}, {}};
  for (const auto& row : measure::upkeep::family_rules(*open(flags), flags.filter).rows) {
    const std::string& name = measure::sqlite::text_of(row[0]);
    const engine::DispatchRule rule = engine::parse_rule(measure::sqlite::text_of(row[6]),
                                                         fmt::format("{}: the family {}", flags.store.file(), name));
    const std::vector<std::string> when = conditions(rule);
    const bool current = measure::sqlite::text_of(row[5]) == rules::version_of(rules::pipeline());
    for (std::size_t i = 0; i < rule.schedules.size(); ++i)
      rows.rows.push_back({name, row[1], row[2], std::get<double>(row[3]) * 100, sizes_of(rule),
                           std::string(current ? "current" : "stale"), engine::schedule_letter(i), when[i],
                           rule.schedules[i].empty() ? "the heuristic's" : rule.schedules[i]});
  }
  constexpr std::string_view spare[] = {"state", "goal", "device"};
  print_answer(rows, flags.json, "no families of shapes: `deplo tune --shapes` makes them", spare);
}

/// Prints a row for each knob or, if --knob names one, for each kernel.
void run_heuristics(const ReadFlags& flags) {
  const std::string file = flags.store.file();
  std::vector<engine::FirstOption> options = engine::first_options(file, flags.filter.kernel);
  const std::string none = "no kernel has trials with values other than the heuristic's";
  if (flags.knob.empty()) {
    measure::sqlite::Rows rows{{"knob", "kernels", "loses", "mean_loss", "instead", "worst", "kernel", "extents"}, {}};
    for (const engine::FirstOptionSummary& knob : engine::summarise(options))
      rows.rows.push_back({knob.knob, knob.kernels, knob.loses, knob.mean_loss, knob.instead, knob.worst->loss,
                           knob.worst->kernel, knob.worst->extents});
    constexpr std::string_view spare[] = {"extents", "kernel", "worst"};
    print_answer(rows, flags.json, none, spare);
    return;
  }
  const std::vector<std::string> knobs = mapped(options, &engine::FirstOption::knob);
  measure::sqlite::Rows rows{{"kernel", "extents", "device", "knob", "first", "best", "loss", "trials", "others"}, {}};
  for (const std::size_t i : select_names(file, "a knob", flags.knob, knobs)) {
    const engine::FirstOption& option = options[i];
    rows.rows.push_back({option.kernel, option.extents, option.device, option.knob, option.first, option.best,
                         option.loss, static_cast<std::int64_t>(option.trials),
                         static_cast<std::int64_t>(option.others)});
  }
  constexpr std::string_view spare[] = {"device", "extents"};
  print_answer(rows, flags.json, none, spare);
}

void add_lists(Command db) {
  const Reader best = add_reader(db, "best", "Show the fastest verified schedule of each kernel on each device.",
                                 "deplo db best --kernel matmul tuned.db", run_best);
  const Reader trials = add_reader(db, "trials", "Show trials, latest first.",
                                   "deplo db trials --status hang --limit 5", [](const ReadFlags& flags) {
                                     print_answer(measure::upkeep::latest_trials(*open(flags), flags.filter),
                                                  flags.json, "no such trials");
                                   });
  const Reader kernels = add_reader(
      db, "kernels", "Show each kernel, with its trials and keys.", "deplo db kernels", [](const ReadFlags& flags) {
        constexpr std::string_view spare[] = {"schedule_key"};
        print_answer(measure::upkeep::kernel_summaries(*open(flags), flags.filter), flags.json, "no kernels", spare);
      });
  const Reader failures = add_reader(
      db, "failures",
      "Show failures, and how often each occurred.\nMessages that differ only in numbers share a row, which "
      "shows the latest one.",
      "deplo db failures --kernel matmul", [](const ReadFlags& flags) {
        print_answer(measure::upkeep::failure_clusters(*open(flags), flags.filter), flags.json, "no failures");
      });
  const Reader families =
      add_reader(db, "families",
                 "Show the schedules that `deplo tune --shapes` has kept for families of shapes.\nThe loss is that of "
                 "the rule that chooses among them: the worst or the mean of the shapes, as the column `goal` says. A "
                 "stale rule was stored by a deplo with other scheduling rules, and is ignored.",
                 "deplo db families shapes.db", run_families);
  Reader heuristics =
      add_reader(db, "heuristics",
                 "Show the knobs at which the heuristic's value loses.\nFor each knob: the number of kernels for which "
                 "other values were tried, the number of kernels whose fastest schedule with the heuristic's value is "
                 "slower than their fastest by more than a tie, and the factor.",
                 "deplo db heuristics --knob register_tile.fm tuned.db", run_heuristics);
  for (const Reader& reader : {best, trials, kernels, failures, families, heuristics})
    add_store(reader.command, reader.flags->store);
  add_filter(best.command, best.flags->filter, /*status=*/false);
  trials.flags->filter.limit = 20;
  add_filter(trials.command, trials.flags->filter, /*status=*/true);
  add_kernel_filter(kernels.command, kernels.flags->filter);
  add_filter(failures.command, failures.flags->filter, /*status=*/true);
  add_filter(families.command, families.flags->filter, /*status=*/false);
  add_kernel_filter(heuristics.command, heuristics.flags->filter);
  heuristics.command.option("--knob", heuristics.flags->knob, "NAME",
                            "Show a row for each kernel of this knob (a name, its beginning, or a pattern).");
}

}  // namespace

void add_db_readers(Command db, int& exit_code) {
  Reader info = add_reader(db, "info", "Show the version, the size and the contents of a store.",
                           "deplo db info tuned.db", run_info);
  add_store(info.command, info.flags->store);
  info.command.flag("--migrate", info.flags->migrate, "First update a store written by an older deplo.");
  add_lists(db);
  Reader diff = add_reader(
      db, "diff",
      "Compare the best times of two stores, kernel by kernel.\nspeed_up is the time in A divided by the time in B.",
      "deplo db diff yesterday.db today.db", run_diff);
  diff.command.option("stores", diff.flags->stores, "A B", "The two stores.");
  const Reader check = add_reader(
      db, "check",
      "Find damage, rows that belong to nothing, and impossible times.\nIf a store has any, the exit code is 1.",
      "deplo db check tuned.db", [&exit_code](const ReadFlags& flags) { exit_code = run_check(flags); });
  add_store(check.command, check.flags->store);
  Reader sql = add_reader(
      db, "sql",
      "Run a query of your own. It cannot change the store.\ndocs/database.md describes the tables and has examples.",
      "deplo db sql \"SELECT status, count(*) FROM trial GROUP BY 1\" tuned.db", run_sql);
  sql.command.option("query", sql.flags->sql, "SQL", "One SELECT statement.");
  add_store(sql.command, sql.flags->store);
}

}  // namespace deplo::apps
