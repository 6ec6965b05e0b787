#include "apps/db/db_flags.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/cli/flags.h"
#include "apps/cli/rows_table.h"
#include "core/error.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"

namespace deplo::apps {

std::string StoreChoice::file() const {
  if (!argument.empty() && !option.empty())
    throw Error(fmt::format("expected one store, found '{}' and --store {}", argument, option));
  if (!argument.empty()) return argument;
  if (!option.empty()) return option;
  std::error_code ignored;
  std::string own = engine::default_store();
  if (!std::filesystem::exists(own, ignored))
    throw Error(fmt::format("expected a store, found none: name one, or let `deplo tune` write your own, {}", own));
  return own;
}

void add_store(Command command, StoreChoice& store) {
  command.option("file", store.argument, "[STORE]", fmt::format("The store [{}].", engine::default_store()));
  command.option("--store", store.option, "FILE", "Another way to name the store.");
}

void add_kernel_filter(Command command, measure::upkeep::Filter& filter) {
  command.option("--kernel", filter.kernel, "NAME",
                 "Show only this kernel: a name, its beginning, or a pattern such as '*.M33*'.");
}

void add_filter(Command command, measure::upkeep::Filter& filter, bool status) {
  add_kernel_filter(command, filter);
  command.option("--device", filter.device, "NAME", "Show only this device: a name, its beginning, or a pattern.");
  if (status)
    command.option("--status", filter.status, "STATUS",
                   "Show only trials with this status, such as ok or wrong_result.");
  const std::string shown = filter.limit > 0 ? fmt::format(" [{}]", filter.limit) : "";
  command.option("--limit", filter.limit, "N", fmt::format("Show at most N rows{}.", shown))
      .between(std::int64_t{1}, engine::max_count);
}

void add_json(Command command, bool& json) {
  command.flag("--json", json, "Print one JSON document instead of the table.");
}

void print_answer(const measure::sqlite::Rows& rows, bool json, const std::string& none,
                  std::span<const std::string_view> spare) {
  if (json)
    print_result(print_json(rows));
  else
    print_result(rows.rows.empty() ? none + "\n" : print_rows(rows, window_width(), spare));
}

}  // namespace deplo::apps
