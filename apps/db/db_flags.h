// Flags and output that the subcommands of `deplo db` share.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "apps/cli/command.h"
#include "measure/sqlite/rows.h"
#include "measure/store/upkeep/report.h"

namespace deplo::apps {

/// The store that a command uses: its argument, or --store, or the user's own.
struct StoreChoice {
  std::string argument, option;
  /// Returns the store's file. Throws Error if both the argument and --store are given, or if no store is named and the
  /// user's own does not exist.
  std::string file() const;
};
void add_store(Command command, StoreChoice& store);
void add_json(Command command, bool& json);
/// Adds --kernel.
void add_kernel_filter(Command command, measure::upkeep::Filter& filter);
/// Adds --kernel, --device and --limit, and --status if `status`.
void add_filter(Command command, measure::upkeep::Filter& filter, bool status);

/// Prints the rows to standard output, as a table for this terminal or as JSON. Prints `none` if there are no rows.
/// `spare`: as in print_rows().
void print_answer(const measure::sqlite::Rows&, bool json, const std::string& none,
                  std::span<const std::string_view> spare = {});

/// Adds info, best, trials, kernels, failures, families, heuristics, diff, sql and check.
void add_db_readers(Command db, int& exit_code);
/// Adds merge, prune and instructions.
void add_db_writers(Command db, int& exit_code);

}  // namespace deplo::apps
