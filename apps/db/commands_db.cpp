#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/write_file.h"
#include "apps/db/baselines.h"
#include "apps/db/db_flags.h"
#include "core/error.h"
#include "core/file.h"
#include "core/progress.h"
#include "core/text/select_names.h"
#include "core/text/text.h"
#include "engine/compile/tuned.h"
#include "engine/learn/recorded.h"
#include "measure/store/file/open.h"
#include "measure/store/upkeep/export_pack.h"
#include "measure/store/upkeep/merge.h"
#include "search/records/formats/space_files.h"

namespace deplo::apps {
namespace {

struct ImportFlags {
  std::vector<std::string> files;
  std::string store = engine::default_store();
  search::Columns columns;
  std::string objective;
  bool list_formats = false;
};

struct ExportFlags {
  std::string store = engine::default_store(), format = "kernel-tuner", kernel, device, output, pack;
};

/// Imports a space, and returns a line about it.
std::string import_space(const search::Records& records, const std::string& store) {
  const auto is_valid = [](const search::Record& record) { return record.outcome.ok(); };
  const auto valid = std::ranges::count_if(records.records, is_valid);
  const std::size_t count = engine::import_records(records, store);
  return fmt::format(
      "{}: {}, {} valid, {}{}{}\n", records.name, counted(count, "configuration"), valid,
      counted(std::ssize(records.knobs), "knob"),
      records.objective == search::Objective{} ? "" : fmt::format("; objective {}", search::label(records.objective)),
      records.repeated == 0 ? ""
                            : fmt::format("; {} recorded more than once, the last record counts", records.repeated));
}

std::string import_baselines_of(const std::string& file, const std::string& store) {
  const ImportedBaselines found = import_baselines(file, store);
  return fmt::format(
      "{}: {} of {}{}{}\n", file, counted(found.times, "time"), counted(found.kernels, "kernel"),
      found.ours == 0 ? "" : fmt::format("; skipped {} of deplo's own", found.ours),
      found.several == 0 ? "" : fmt::format("; skipped {} whose expression becomes several kernels", found.several));
}

std::string import_pack(const std::string& file, const std::string& store) {
  const std::string contents = describe(measure::parse_pack(read_file(file), file));
  std::int64_t added = 0;
  for (const measure::upkeep::MergedTable& table : measure::upkeep::merge_store(store, file))
    if (table.table == "trial" || table.table == "graph" || table.table == "family") added += table.added;
  return fmt::format("{}: {}; {}\n", file, contents,
                     added == 0 ? "nothing is new" : fmt::format("{} {} new", added, added == 1 ? "is" : "are"));
}

/// Imports the files, and returns lines about them. All spaces are read before the first one is stored.
std::string import_files(search::SpaceFiles& files, const search::Reading& reading, const std::string& store) {
  const bool told = reading.columns != search::Columns{} || reading.objective;
  std::vector<std::string> packs, baselines;
  std::vector<search::Records> spaces;
  for (const search::SpaceFile& file : files.files()) {
    if (!file.in_folder && engine::is_store(file.path))
      throw Error(
          file.path +
          ": expected a recorded space or a pack, found a database; `deplo db merge` adds one store to another");
    const bool pack = measure::is_pack(file.path);
    if (!pack && !is_baselines(file.path)) {
      std::ranges::move(files.read(file, reading), std::back_inserter(spaces));
      continue;
    }
    if (told)
      throw Error(fmt::format("{}: flags for recorded spaces cannot be combined with {}", file.path,
                              pack ? "a pack" : "baselines"));
    (pack ? packs : baselines).push_back(file.path);
  }
  if (spaces.empty() && packs.empty() && baselines.empty() && !files.files().empty())
    throw Error("expected recorded spaces to import, found none: " + join(files.left_out().lines(), "; "));
  std::string text;
  for (const search::Records& records : spaces) text += import_space(records, store);
  for (const std::string& file : packs) text += import_pack(file, store);
  for (const std::string& file : baselines) text += import_baselines_of(file, store);
  return text;
}

void run_import(const ImportFlags& flags) {
  if (flags.list_formats) return print_result(search::recorded_formats());
  if (flags.files.empty()) throw Error("expected a recorded space or a pack to import, found none; see --help");
  engine::make_default_folder(flags.store);
  search::Reading reading{flags.columns, {}};
  if (!flags.objective.empty()) reading.objective = search::parse_objective(flags.objective);
  search::SpaceFiles files(flags.files);
  std::string text = import_files(files, reading, flags.store);
  for (const std::string& line : files.left_out().lines()) text += line + "\n";
  print_result(text);
}

search::Format parse_format(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, search::Format>, 3> formats = {
      {{"kernel-tuner", search::Format::kernel_tuner}, {"t4", search::Format::t4}, {"csv", search::Format::table}}};
  for (const auto& [word, format] : formats)
    if (word == name) return format;
  throw Error(fmt::format("--format: expected kernel-tuner, t4 or csv, found '{}'", name));
}

/// A space, and the name by which --kernel chooses it.
struct NamedSpace {
  std::string name;
  engine::StoredSpace space;
};

/// Names each space by its kernel, followed by what differs between the kernel's spaces: the problem size, the
/// objective, and the beginning of the key. Example: "gemm [1024,1] GFLOP/s, higher is better 49a0ae9e".
std::vector<NamedSpace> with_names(std::vector<engine::StoredSpace> spaces) {
  std::vector<NamedSpace> named;
  for (engine::StoredSpace& space : spaces) named.push_back({space.records.kernel, std::move(space)});
  const auto append = [&](const auto& what) {
    std::map<std::string, std::set<std::string>> found;  // by the kernel's name
    for (const NamedSpace& entry : named) found[entry.space.records.kernel].insert(what(entry.space));
    for (NamedSpace& entry : named)
      if (const std::string text = what(entry.space); found[entry.space.records.kernel].size() > 1 && !text.empty())
        entry.name += " " + text;
  };
  append([](const engine::StoredSpace& space) { return space.records.problem_size; });
  append([](const engine::StoredSpace& space) { return search::label(space.records.objective); });
  std::map<std::string, std::set<std::string>> keys;  // by the name so far
  for (const NamedSpace& entry : named) keys[entry.name].insert(entry.space.kernel_key);
  for (NamedSpace& entry : named)
    if (const auto& same = keys.find(entry.name); same != keys.end() && same->second.size() > 1)
      entry.name += " " + entry.space.kernel_key.substr(0, 8);
  return named;
}

/// Removes each space for which a later search measured the same kernel on the same device, with another reference,
/// inputs or protocol.
void keep_latest(std::vector<NamedSpace>& spaces) {
  Progress progress(stderr);
  const auto is_older = [&](const NamedSpace& named) {
    return std::ranges::any_of(spaces, [&](const NamedSpace& other) {
      return other.space.kernel == named.space.kernel && other.space.device == named.space.device &&
             other.space.latest > named.space.latest;
    });
  };
  std::vector<NamedSpace> kept;
  for (const NamedSpace& entry : spaces)
    if (!is_older(entry))
      kept.push_back(entry);
    else
      progress.line(fmt::format(
          "{}: left out {} that an earlier search measured with other inputs, another reference or another protocol",
          entry.name, counted(std::ssize(entry.space.records.records), "configuration")));
  spaces = std::move(kept);
}

void export_pack(const ExportFlags& flags) {
  const auto database = measure::open_to_read(flags.store);
  const measure::Pack pack =
      measure::upkeep::pack_of(*database, {.kernel = flags.kernel, .device = flags.device, .status = {}});
  if (pack.schedules.empty())
    throw Error(fmt::format("{}: expected measured schedules to export, found none", flags.store));
  write_file(flags.pack, print(pack));
  print_result(fmt::format("{}: {}\n", flags.pack, describe(pack)));
}

void run_export(const ExportFlags& flags) {
  if (!flags.pack.empty()) return export_pack(flags);
  const search::Format format = parse_format(flags.format);
  std::vector<NamedSpace> found = with_names(engine::read_stored_spaces(flags.store));
  const auto keep = [&](const char* flag, const char* what, const std::string& filter, auto name) {
    std::vector<std::string> names;
    for (const NamedSpace& entry : found) names.push_back(name(entry));
    std::vector<NamedSpace> kept;
    for (const std::size_t number : select_names(flag, what, filter, names)) kept.push_back(std::move(found[number]));
    found = std::move(kept);
  };
  keep("--kernel", "a kernel of the store", flags.kernel, [](const NamedSpace& entry) { return entry.name; });
  keep("--device", "a device of the kernel", flags.device,
       [](const NamedSpace& entry) { return entry.space.records.device; });
  keep_latest(found);
  if (found.size() != 1) {
    std::vector<std::string> names;
    for (const NamedSpace& entry : found)
      names.push_back(fmt::format("'{}' on '{}'", entry.name, entry.space.records.device));
    throw Error(fmt::format("{}: expected --kernel and --device to name a single space, found {}: {}", flags.store,
                            names.size(), join(names, ", ")));
  }
  const std::string text = search::print_records(found[0].space.records, format);
  if (flags.output.empty())
    print_result(text);
  else
    write_file(flags.output, text);
}

void add_import(Command command) {
  auto flags = std::make_shared<ImportFlags>();
  command.describe(
      "Import recorded spaces, packs, or times of libraries into a store.\nColumns of a table are recognized by their "
      "headings, such as 'time (ms)' or 'Run1 (ms)', or named by flags. Times of libraries are .jsonl files from "
      "experiments/baselines/torch_suite.py; `deplo bench --store` then shows them next to deplo's times.");
  command.examples(
      "deplo db import A100.json.gz --store recorded.db\n"
      "deplo db import A100.json --objective GFLOP/s --store gflops.db\n"
      "deplo db import spaces/ --store recorded.db\n"
      "deplo db import torch.jsonl --store deplo.db");
  command.option("files", flags->files, "FILES|FOLDERS",
                 "Recorded spaces (see --list-formats), packs, or .jsonl files with times of libraries.");
  command.option("--store", flags->store, "FILE", "Write to this SQLite file.").show_default();
  command.flag("--list-formats", flags->list_formats, "Print the formats of recorded spaces that deplo reads.");
  command
      .option("--launches", flags->columns.launches, "COLUMNS",
              "Tables only: the columns that hold one launch time each, separated by commas.")
      .take_lists();
  command.option("--time", flags->columns.time, "COLUMN",
                 "Tables only: the column of the time [mean of the launches].");
  command.option("--unit", flags->columns.unit, "s|ms|us|ns",
                 "Tables only: the unit of the times [that of the column's heading, else ms].");
  command.option("--status", flags->columns.status, "COLUMN",
                 "Tables only: the column that holds ok or the reason of a failure.");
  command
      .option(
          "--parameters", flags->columns.parameters, "COLUMNS",
          "Tables only: the columns that are parameters, separated by commas; other columns without a role are "
          "results [the parameters in FILE.T1.json next to FILE.csv, else all columns that do not look like results].")
      .take_lists();
  command
      .option("--ignore", flags->columns.ignored, "COLUMNS",
              "Tables only: columns that are not parameters, separated by commas.")
      .take_lists();
  add_objective(command, flags->objective);
  command.run([flags] { run_import(*flags); });
}

void add_export(Command command) {
  auto flags = std::make_shared<ExportFlags>();
  command.describe(
      "Export the trials of one kernel on one device, for other tools; or, with --pack, the best schedules of all "
      "kernels, for `--tuned` on any machine.");
  command.examples(
      "deplo db export --store tuned.db --kernel matmul --format t4 -o matmul.json\n"
      "deplo db export --store tuned.db --pack tuned.pack");
  command.option("--store", flags->store, "FILE", "Read this SQLite file.").show_default();
  command.option("--format", flags->format, "kernel-tuner|t4|csv", "Write in this format.").show_default();
  command.option("--kernel", flags->kernel, "NAME",
                 "Choose this kernel: a name, its beginning, or a pattern [the only one; with --pack, all].");
  command.option("--device", flags->device, "NAME",
                 "Choose this device: a name, its beginning, or a pattern [the only one; with --pack, all].");
  command.option("-o,--output", flags->output, "FILE", "Write output to FILE instead of stdout.");
  command.option(
      "--pack", flags->pack, "FILE",
      "Write a pack: the best schedule of each kernel and device, as text that can be kept in git (docs/database.md).");
  command.excludes("--pack", {"--format", "--output"});
  command.run([flags] { run_export(*flags); });
}

}  // namespace

void add_db(Command command, int& exit_code) {
  command.describe("Inspect, compare, check, merge, prune, import and export stores.");
  add_db_readers(command, exit_code);
  add_db_writers(command, exit_code);
  add_import(command.add("import"));
  add_export(command.add("export"));
  command.one_at_most();  // no second subcommand, because a store may be called `best`
}

}  // namespace deplo::apps
