#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/db_flags.h"
#include "apps/experiment.h"
#include "apps/flags.h"
#include "apps/rows_table.h"
#include "core/error.h"
#include "core/outcome.h"
#include "core/text.h"
#include "measure/store_check.h"
#include "measure/store_open.h"
#include "measure/store_report.h"

namespace deplo::apps {
namespace {

struct ReadFlags {
  StoreChoice store;
  measure::Filter filter;
  std::string sql;
  std::vector<std::string> stores;
  bool json = false, migrate = false;
};

std::unique_ptr<measure::Database> open(const ReadFlags& flags) {
  return measure::open_read_only(flags.store.existing_file());
}

std::string print_sizes(const measure::Rows& sizes) {
  std::string text;
  for (const auto& row : sizes.rows)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", measure::integer_of(row[1]), measure::text_of(row[0]));
  return text;
}

void run_info(const ReadFlags& flags) {
  const std::string file = flags.store.existing_file();
  if (flags.migrate) {
    if (!std::filesystem::exists(file))
      throw Error(fmt::format("store {}: expected a store, found no such file", file));
    measure::open_database(file);
  }
  const auto database = measure::open_read_only(file);
  const std::int64_t version = database->integer("PRAGMA user_version");
  const std::uintmax_t bytes = std::filesystem::file_size(file);
  const measure::Rows sizes = measure::table_sizes(*database), devices = measure::device_summaries(*database),
                      statuses = measure::status_counts(*database);
  if (flags.json) {
    nlohmann::ordered_json json;
    json["file"] = file;
    json["version"] = version;
    json["bytes"] = bytes;
    for (const auto& row : sizes.rows) json["rows"][measure::text_of(row[0])] = measure::integer_of(row[1]);
    json["devices"] = nlohmann::ordered_json::parse(print_json(devices));
    json["statuses"] = nlohmann::ordered_json::parse(print_json(statuses));
    print_result(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    return;
  }
  const std::size_t width = terminal_width(STDOUT_FILENO);
  std::string text = fmt::format("{}: version {}, {:.1f} MB\nrows: {}\n", file, version,
                                 static_cast<double>(bytes) * 1e-6, print_sizes(sizes));
  for (const measure::Rows* part : {&devices, &statuses})
    if (!part->rows.empty()) text += "\n" + print_rows(*part, width);
  print_result(text);
}

void run_diff(const ReadFlags& flags) {
  if (flags.stores.size() != 2)
    throw Error(fmt::format("diff: expected two stores, found {}; see --help", flags.stores.size()));
  const auto a = measure::open_read_only(flags.stores[0]), b = measure::open_read_only(flags.stores[1]);
  print_answer(measure::compare_bests(*a, *b), flags.json, "neither has a valid trial");
}

int run_check(const ReadFlags& flags) {
  const std::string file = flags.store.existing_file();
  const auto database = measure::open_read_only(file);
  const measure::Rows faults = measure::check_store(*database);
  print_answer(faults, flags.json, fmt::format("{}: sound", file));
  return faults.rows.empty() ? 0 : static_cast<int>(Exit::user);
}

void run_sql(const ReadFlags& flags) {
  if (flags.sql.empty()) throw Error("sql: expected a SELECT, found none; see --help");
  print_answer(measure::select(*open(flags), flags.sql), flags.json, "no rows");
}

void add_filter(CLI::App& command, measure::Filter& filter, bool status) {
  command.add_option("--kernel", filter.kernel, "only the kernel of this name")->type_name("NAME");
  command.add_option("--device", filter.device, "only the device of this name")->type_name("NAME");
  if (status)
    command.add_option("--status", filter.status, "only trials with this outcome: ok, wrong_result, …")
        ->type_name("STATUS");
  command.add_option("--limit", filter.limit, "so many rows at most")
      ->check(between(std::int64_t{1}, most_count))
      ->type_name("N");
}

std::shared_ptr<ReadFlags> add_reader(CLI::App& db, const char* name, const char* help,
                                      const std::function<void(const ReadFlags&)>& run) {
  auto flags = std::make_shared<ReadFlags>();
  CLI::App* command = db.add_subcommand(name, help);
  command->callback([flags, run] {
    if (!flags->filter.status.empty()) parse_status(flags->filter.status);
    run(*flags);
  });
  add_json(*command, flags->json);
  return flags;
}

void add_lists(CLI::App& db) {
  const auto best =
      add_reader(db, "best",
                 "The fastest verified schedule of each kernel on each device.\n"
                 "Example: deplo db best --kernel matmul tuned.db",
                 [](const ReadFlags& flags) {
                   print_answer(measure::best_schedules(*open(flags), flags.filter), flags.json, "no valid trial");
                 });
  const auto trials =
      add_reader(db, "trials", "Trials, the latest first.\nExample: deplo db trials --status hang --limit 5",
                 [](const ReadFlags& flags) {
                   print_answer(measure::latest_trials(*open(flags), flags.filter), flags.json, "no such trial");
                 });
  const auto kernels = add_reader(
      db, "kernels", "Each kernel with its trials and keys.\nExample: deplo db kernels",
      [](const ReadFlags& flags) { print_answer(measure::kernel_summaries(*open(flags)), flags.json, "no kernel"); });
  const auto failures =
      add_reader(db, "failures",
                 "What went wrong, and how often: messages that differ only in numbers are one row, with the latest\n"
                 "as the example.\nExample: deplo db failures --kernel matmul",
                 [](const ReadFlags& flags) {
                   print_answer(measure::failure_clusters(*open(flags), flags.filter), flags.json, "no such failure");
                 });
  for (const auto& [name, flags] :
       {std::pair("best", best), {"trials", trials}, {"kernels", kernels}, {"failures", failures}}) {
    add_store(*db.get_subcommand(name), flags->store);
    if (flags != kernels) add_filter(*db.get_subcommand(name), flags->filter, flags != best);
  }
  trials->filter.limit = 20;
}

}  // namespace

void add_db_readers(CLI::App& db, int& exit_code) {
  const auto info = add_reader(db, "info", "What a store is and has.\nExample: deplo db info tuned.db", run_info);
  add_store(*db.get_subcommand("info"), info->store);
  db.get_subcommand("info")->add_flag("--migrate", info->migrate, "bring a store of an older deplo up to date first");
  add_lists(db);
  const auto diff = add_reader(db, "diff",
                               "The best times of two stores, kernel by kernel. speed_up: of B over A.\n"
                               "Example: deplo db diff yesterday.db today.db",
                               run_diff);
  db.get_subcommand("diff")->add_option("stores", diff->stores, "A and B")->type_name("A B");
  const auto check = add_reader(db, "check",
                                "Looks for damage, rows that belong to nothing and times that cannot be. Exit code 1:\n"
                                "there are some.\nExample: deplo db check tuned.db",
                                [&exit_code](const ReadFlags& flags) { exit_code = run_check(flags); });
  add_store(*db.get_subcommand("check"), check->store);
  const auto sql = add_reader(db, "sql",
                              "The answer to a query of your own; nothing can be written. docs/database.md has the\n"
                              "tables and examples.\n"
                              "Example: deplo db sql \"SELECT status, count(*) FROM trial GROUP BY 1\" tuned.db",
                              run_sql);
  db.get_subcommand("sql")->add_option("query", sql->sql, "one SELECT")->type_name("SQL");
  add_store(*db.get_subcommand("sql"), sql->store);
}

}  // namespace deplo::apps
