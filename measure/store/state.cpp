#include "measure/store/state.h"

#include <fmt/format.h>

#include <filesystem>

#include "measure/sqlite/rows.h"
#include "measure/store/file/open.h"
#include "measure/store/file/rescue.h"

namespace deplo::measure {

void OwnRows::copy(sqlite::Database& from, std::string_view table, std::int64_t id) {
  const sqlite::Cell number = id;
  const sqlite::Rows found = query(from, fmt::format("SELECT * FROM {} WHERE id = ?1", table), {&number, 1});
  std::string places;
  for (std::size_t i = 1; i <= found.columns.size(); ++i) places += fmt::format("{}?{}", i == 1 ? "" : ", ", i);
  for (const auto& row : found.rows)
    query(*database, fmt::format("INSERT INTO {} VALUES ({}) ON CONFLICT DO NOTHING", table, places), row);
}

std::int64_t Store::State::announce(const TrialRecord& trial) {
  ColumnBinder values(begin);
  list_key(trial, values);
  begin.step();
  return database->last_id();
}

void Store::State::give_up(const StoreLoss& loss, const std::function<void(State&)>& last_write) {
  const std::string& path = database->path();
  lost = fmt::format("store {}: {} while it was written to", path, loss.what);
  database->write_nothing_at_close();
  try {
    const Rescued saved = rescue(loss.readable ? database.get() : nullptr, *own->database, path);
    if (saved.whole) {
      State rescued{open_database(saved.file)};
      sqlite::Transaction transaction(*rescued.database);
      last_write(rescued);
      rescued.database->execute("DELETE FROM running");  // no process measures for this store
      transaction.commit();
      lost += fmt::format("; its contents and all later measurements are in {}", saved.file);
    } else if (const std::int64_t rows =
                   sqlite::Database(saved.file)
                       .integer("SELECT (SELECT count(*) FROM trial) + (SELECT count(*) FROM baseline)");
               rows > 0) {
      lost += fmt::format("; the {} times and failures of this run are in {}", rows, saved.file);
    } else {
      std::filesystem::remove(saved.file);
      lost += "; nothing had been measured";
    }
  } catch (const Error& error) {
    lost += fmt::format("; the measurements are lost, too: {}", error.what());
  }
  // If another store has taken this name, SQLite would apply this connection's log to that store.
  if (loss.other_file) watch->remove_log();
  throw Error(lost, Exit::environment);
}

}  // namespace deplo::measure
