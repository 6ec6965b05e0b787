#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "apps/cli/flags.h"
#include "apps/cli/write_file.h"
#include "apps/db/db_flags.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/progress.h"
#include "core/text/text.h"
#include "engine/compile/store_machine_code.h"
#include "engine/compile/tuned.h"
#include "measure/store/file/open.h"
#include "measure/store/pack.h"
#include "measure/store/upkeep/export_pack.h"
#include "measure/store/upkeep/merge.h"
#include "measure/store/upkeep/prune.h"
#include "measure/work_folder.h"

namespace deplo::apps {
namespace {

struct MergeFlags {
  std::vector<std::string> stores;
  bool json = false;
};

/// Writes a pack with the best schedules of the sources, and of the pack itself if it exists.
void merge_into_pack(const std::string& pack, std::vector<std::string> sources) {
  if (measure::is_pack(pack)) sources.insert(sources.begin(), pack);
  const measure::WorkFolder folder;
  if (folder.path().empty())
    throw Error(fmt::format("{}: expected a cache folder that can be written to, found none", pack), Exit::environment);
  const std::string all = (folder.path() / "all.db").string();
  for (const std::string& from : sources) measure::upkeep::merge_store(all, from);
  const measure::Pack merged = measure::upkeep::pack_of(*measure::open_read_only(all), {});
  if (merged.schedules.empty())
    throw Error(fmt::format("{}: expected measured schedules to export, found none", join(sources, ", ")));
  write_file(pack, print(merged));
  print_result(fmt::format("{}: {}\n", pack, describe(merged)));
}

bool names_pack(const std::string& file) {
  std::error_code error;
  const bool is_new = !std::filesystem::exists(file, error) || std::filesystem::is_empty(file, error);
  return measure::is_pack(file) || (file.ends_with(".pack") && is_new);
}

void run_merge(const MergeFlags& flags) {
  if (flags.stores.size() < 2)
    throw Error("merge: expected a store to write and at least one to read, found " +
                (flags.stores.empty() ? std::string("none") : "only " + flags.stores[0]) + "; see --help");
  const std::string& into = flags.stores.front();
  const std::vector<std::string> sources(flags.stores.begin() + 1, flags.stores.end());
  for (const std::string& from : sources) measure::open_read_only(from);  // throws before anything is written
  if (names_pack(into)) return merge_into_pack(into, sources);
  engine::make_default_folder(into);
  measure::sqlite::Rows rows{{"from", "table", "rows", "added"}, {}};
  for (const std::string& from : sources)
    for (const measure::upkeep::MergedTable& table : measure::upkeep::merge_store(into, from))
      rows.rows.push_back({from, table.table, table.read, table.added});
  print_answer(rows, flags.json, "");
}

struct PruneFlags {
  StoreChoice store;
  bool apply = false, json = false;
};

void run_prune(const PruneFlags& flags) {
  const std::string file = flags.store.file();
  measure::sqlite::Rows rows;
  {
    const auto reader = measure::open_read_only(file);
    rows = measure::upkeep::prunable(*reader);
  }
  if (flags.apply) rows = measure::upkeep::prune(*measure::open_database(file));
  print_answer(rows, flags.json, fmt::format("{}: nothing to prune", file));
  if (!flags.apply && !flags.json && !rows.rows.empty())
    print_result("nothing was removed; --apply removes these rows\n");
}

struct InstructionFlags {
  StoreChoice store;
  measure::upkeep::Filter filter;
  bool all = false, json = false;
};

/// Returns the reasons why figures are missing; "" if none is missing.
std::string what_is_missing(const engine::MachineCodeCounts& counts) {
  std::string text;
  if (counts.other_compiler > 0)
    text +=
        fmt::format("{}: another version of NVRTC made the measured code\n", counted(counts.other_compiler, "trial"));
  if (counts.stale > 0)
    text += fmt::format("{}: this version of deplo generates a source that differs from the measured one\n",
                        counted(counts.stale, "trial"));
  return text;
}

int run_instructions(const InstructionFlags& flags) {
  using measure::upkeep::Chosen;
  const Chosen chosen = flags.all ? Chosen::all : Chosen::best;
  const std::string file = flags.store.file();
  // throws for a store of another version, and for one that does not exist, which is then not created
  measure::open_read_only(file);
  const auto store = measure::open_database(file);
  catch_interrupts();
  Progress progress(stderr, flags.json);
  const engine::MachineCodeCounts counts =
      engine::add_machine_code(*store, flags.filter, chosen, [&](const std::string& kernel, std::int64_t left) {
        progress.status(kernel, fmt::format("{} left", counted(left, "trial")));
        return interrupted() == 0;
      });
  progress.end();
  constexpr std::string_view spare[] = {"trail", "occupancy", "spill_bytes"};
  print_answer(measure::upkeep::machine_code(*store, flags.filter, chosen), flags.json,
               "no valid trials of CUDA devices", spare);
  if (!flags.json) print_result(what_is_missing(counts));
  return interrupted() == 0 ? 0 : 128 + interrupted();
}

}  // namespace

void add_db_writers(Command db, int& exit_code) {
  auto merge = std::make_shared<MergeFlags>();
  Command command = db.add("merge",
                           "Add the contents of other stores and packs to the first one.\nThe first is created if "
                           "it does not exist. Merging again adds nothing. If the first is a pack (OUT.pack), it gets "
                           "the best schedules of all.");
  command.examples(
      "deplo db merge all.db shard1.db shard2.db\n"
      "deplo db merge all.pack a.pack b.pack");
  command.option("stores", merge->stores, "OUT IN...",
                 "The store or pack to write, then the stores and packs to read.");
  add_json(command, merge->json);
  command.run([merge] { run_merge(*merge); });

  auto prune = std::make_shared<PruneFlags>();
  command = db.add("prune",
                   "List outdated rows, and remove them with --apply.\nA trial is outdated if its schedule now gives "
                   "another source. A run is outdated if it has no trials. The best trials stay, and so do failures "
                   "that a resumed run need not measure again.");
  command.examples("deplo db prune --apply tuned.db");
  add_store(command, prune->store);
  command.flag("--apply", prune->apply, "Remove the rows.");
  add_json(command, prune->json);
  command.run([prune] { run_prune(*prune); });

  auto instructions = std::make_shared<InstructionFlags>();
  command =
      db.add("instructions",
             "Count the machine instructions of the best schedules on NVIDIA GPUs, and store the counts.\nThe trails "
             "are compiled again, which needs NVRTC and nvdisasm, but no GPU. docs/cuda.md explains the columns.");
  command.examples("deplo db instructions --kernel matmul tuned.db");
  add_store(command, instructions->store);
  add_filter(command, instructions->filter, /*status=*/false);
  command.flag("--all", instructions->all,
               "Take all valid schedules, not only the best one of each kernel and device.");
  add_json(command, instructions->json);
  command.run([instructions, &exit_code] { exit_code = run_instructions(*instructions); });
}

}  // namespace deplo::apps
