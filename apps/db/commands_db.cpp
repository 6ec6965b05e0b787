#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <optional>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/write_file.h"
#include "apps/db/baselines.h"
#include "apps/db/db_flags.h"
#include "core/error.h"
#include "core/text/select_names.h"
#include "engine/compile/tuned.h"
#include "engine/learn/recorded.h"
#include "search/records/read.h"

namespace deplo::apps {
namespace {

struct ImportFlags {
  std::vector<std::string> files;
  std::string store = engine::default_store();
  search::Columns columns;
  bool mapped() const { return !columns.launches.empty() || !columns.time.empty(); }
};

struct ExportFlags {
  std::string store = engine::default_store(), format = "kernel-tuner", kernel, device, output;
};

int run_import(const ImportFlags& flags) {
  if (flags.files.empty()) throw Error("expected a recorded space to import, found none; see --help");
  engine::make_default_folder(flags.store);
  const std::optional<search::Columns> columns = flags.mapped() ? std::optional(flags.columns) : std::nullopt;
  std::string text;
  for (const std::string& file : flags.files) {
    if (file.ends_with(".jsonl")) {
      if (columns) throw Error(fmt::format("{}: expected no flags of tables with baselines, found some", file));
      const ImportedBaselines found = import_baselines(file, flags.store);
      text += fmt::format("{}: {} times of {} kernels{}{}\n", file, found.times, found.kernels,
                          found.ours == 0 ? "" : fmt::format("; {} of deplo itself skipped", found.ours),
                          found.several == 0 ? "" : fmt::format("; {} of several kernels skipped", found.several));
      continue;
    }
    const search::Records records = search::read_records(file, columns);
    std::size_t valid = 0;
    for (const search::Record& record : records.records) valid += record.outcome.ok() ? 1 : 0;
    const std::size_t count = engine::import_records(records, flags.store);
    text +=
        fmt::format("{}: {} configurations, {} valid, {} knobs\n", records.name, count, valid, records.knobs.size());
  }
  print_result(text);
  return 0;
}

search::Format parse_format(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, search::Format>, 3> formats = {
      {{"kernel-tuner", search::Format::kernel_tuner}, {"t4", search::Format::t4}, {"csv", search::Format::table}}};
  for (const auto& [word, format] : formats)
    if (word == name) return format;
  throw Error(fmt::format("--format: expected kernel-tuner, t4 or csv, found '{}'", name));
}

int run_export(const ExportFlags& flags) {
  const search::Format format = parse_format(flags.format);
  std::vector<search::Records> found = engine::read_store(flags.store);
  const auto keep = [&](const char* flag, const char* what, const std::string& filter, auto name) {
    std::vector<std::string> names;
    for (const search::Records& records : found) names.push_back(records.*name);
    std::vector<search::Records> kept;
    for (const std::size_t number : select_names(flag, what, filter, names)) kept.push_back(std::move(found[number]));
    found = std::move(kept);
  };
  keep("--kernel", "a kernel of the store", flags.kernel, &search::Records::kernel);
  keep("--device", "a device of the kernel", flags.device, &search::Records::device);
  if (found.size() != 1) {
    std::vector<std::string> names;
    for (const search::Records& records : found)
      names.push_back(fmt::format("'{}' on '{}'", records.kernel, records.device));
    throw Error(fmt::format("{}: expected --kernel and --device to name one, found {}: {}", flags.store, names.size(),
                            fmt::join(names, ", ")));
  }
  const std::string text = search::print_records(found[0], format);
  if (flags.output.empty())
    print_result(text);
  else
    write_file(flags.output, text);
  return 0;
}

void add_import(CLI::App& command, int& exit_code) {
  auto flags = std::make_shared<ImportFlags>();
  command.description(
      "Import recorded spaces, or times of libraries, into a store.\nColumns of a table are recognized by their "
      "headings, such as 'time (ms)' or 'Run1 (ms)', or named by flags. Times of libraries are .jsonl files from "
      "experiments/baselines/torch_suite.py; `deplo run --bench --store` then shows them beside ours.");
  command.footer(
      "deplo db import A100.json.gz --store recorded.db\n"
      "deplo db import torch.jsonl --store deplo.db");
  command
      .add_option("files", flags->files,
                  "Kernel Tuner caches, T4 or CSV files (also .gz or .zip), or .jsonl files with times of libraries.")
      ->type_name("FILES");
  command.add_option("--store", flags->store, "Write to this SQLite file.")->type_name("FILE")->capture_default_str();
  command.add_option("--launches", flags->columns.launches, "Tables only: the columns that hold one launch time each.")
      ->delimiter(',')
      ->type_name("COLUMNS")
      ->take_all();
  command.add_option("--time", flags->columns.time, "Tables only: the column of the time [mean of the launches].")
      ->type_name("COLUMN");
  command.add_option("--unit", flags->columns.unit, "Tables only: the unit of the times.")
      ->type_name("s|ms|us")
      ->capture_default_str();
  command
      .add_option("--status", flags->columns.status,
                  "Tables only: the column that holds ok or the reason of a failure.")
      ->type_name("COLUMN");
  command.add_option("--ignore", flags->columns.ignored, "Tables only: columns that are not parameters.")
      ->delimiter(',')
      ->type_name("COLUMNS")
      ->take_all();
  command.callback([flags, &exit_code] { exit_code = run_import(*flags); });
}

void add_export(CLI::App& command, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  command.description("Export the trials of one kernel on one device, for other tools.");
  command.footer("deplo db export --store tuned.db --kernel matmul --format t4 -o matmul.json");
  command.add_option("--store", flags->store, "Read this SQLite file.")->type_name("FILE")->capture_default_str();
  command.add_option("--format", flags->format, "Write in this format.")
      ->type_name("kernel-tuner|t4|csv")
      ->capture_default_str();
  command
      .add_option("--kernel", flags->kernel,
                  "If the store has several, choose one: a name, its beginning, or a pattern.")
      ->type_name("NAME");
  command
      .add_option("--device", flags->device,
                  "If the store has several, choose one: a name, its beginning, or a pattern.")
      ->type_name("NAME");
  command.add_option("-o,--output", flags->output, "Write output to FILE instead of stdout.")->type_name("FILE");
  command.callback([flags, &exit_code] { exit_code = run_export(*flags); });
}

}  // namespace

void add_db(CLI::App& command, int& exit_code) {
  command.description("Look into stores, and compare, check, merge, prune, import and export them.");
  add_db_readers(command, exit_code);
  add_db_writers(command);
  add_import(*command.add_subcommand("import"), exit_code);
  add_export(*command.add_subcommand("export"), exit_code);
  command.require_subcommand(0, 1);  // a store may be called `best`
}

}  // namespace deplo::apps
