// Stores how the searches of tuning runs ended.
#include "core/hash.h"
#include "measure/store/evidence.h"
#include "measure/store/state.h"

namespace deplo::measure {

void Store::append(const SearchRecord& search) {
  state_->add([&](sqlite::Database& database) {
    sqlite::Statement insert(
        database, "INSERT INTO search (run, kernel, settings, stop, finished, objectives) VALUES (?, ?, ?, ?, ?, ?)");
    insert.bind(1, search.run).bind(2, search.kernel).bind(3, search.settings).bind(4, search.stop);
    insert.bind(5, static_cast<std::int64_t>(search.finished)).bind(6, search.objectives).step();
    return database.last_id();
  });
}

std::optional<std::string> Store::finished_search(std::string_view kernel_text, std::int64_t device,
                                                  std::string_view settings) {
  sqlite::Statement select(*state_->database,
                           "SELECT s.stop FROM search s JOIN run r ON r.id = s.run JOIN kernel k ON k.id = s.kernel "
                           "WHERE k.key = ? AND r.device = ? AND s.settings = ? AND s.finished ORDER BY s.id DESC "
                           "LIMIT 1");
  const std::string key = deplo::digest(kernel_text);
  select.bind(1, key).bind(2, device).bind(3, settings);
  if (!select.step()) return std::nullopt;
  return select.text(0);
}

std::string latest_objectives(sqlite::Database& database, std::int64_t kernel, std::int64_t device) {
  sqlite::Statement select(database,
                           "SELECT s.objectives FROM search s JOIN run r ON r.id = s.run WHERE s.kernel = ? AND "
                           "r.device = ? ORDER BY s.id DESC LIMIT 1");
  return select.bind(1, kernel).bind(2, device).step() ? select.text(0) : "";
}

std::string Store::objectives(std::int64_t kernel, std::int64_t device) {
  return state_->read([&] { return latest_objectives(*state_->database, kernel, device); });
}

}  // namespace deplo::measure
