#include "apps/db/db_flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "apps/cli/flags.h"
#include "apps/cli/rows_table.h"
#include "core/error.h"
#include "core/text/text.h"
#include "engine/compile/tuned.h"

namespace deplo::apps {

std::string StoreChoice::file() const {
  if (!argument.empty() && !option.empty())
    throw Error(fmt::format("expected one store, found '{}' and --store {}", argument, option));
  if (!argument.empty()) return argument;
  return option.empty() ? engine::default_store() : option;
}

std::string StoreChoice::existing_file() const {
  std::error_code ignored;
  std::string name = file();
  if (argument.empty() && option.empty() && !std::filesystem::exists(name, ignored))
    throw Error(fmt::format("expected a store, found none: name one, or let `deplo tune` write your own, {}", name));
  return name;
}

void add_store(CLI::App& command, StoreChoice& store) {
  command.add_option("file", store.argument, fmt::format("The store [{}].", engine::default_store()))
      ->type_name("[STORE]");
  command.add_option("--store", store.option, "Another way to name the store.")->type_name("FILE");
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print one JSON document instead of the table.");
}

void print_answer(const measure::Rows& rows, bool json, const std::string& none,
                  std::span<const std::string_view> spare) {
  if (json)
    print_result(print_json(rows));
  else
    print_result(rows.rows.empty() ? none + "\n" : print_rows(rows, terminal_width(STDOUT_FILENO), spare));
}

}  // namespace deplo::apps
