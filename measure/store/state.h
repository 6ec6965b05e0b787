// Private to measure/store: the connection and its frequent statements.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/file/watch.h"
#include "measure/store/rows/trial.h"
#include "measure/store/store.h"

namespace deplo::measure {

/// A copy in memory of all rows that this connection wrote, because the files may be deleted or overwritten.
struct OwnRows {
  std::unique_ptr<sqlite::Database> database;
  sqlite::Statement insert{*database, insert_trial()};
  /// Copies row `id` of this table of `from`, unless it was copied before.
  void copy(sqlite::Database& from, std::string_view table, std::int64_t id);
};

struct Store::State {
  std::unique_ptr<sqlite::Database> database;
  sqlite::Statement insert{*database, insert_trial()};
  sqlite::Statement begin{*database, insert_running()};
  sqlite::Statement end{*database, "DELETE FROM running WHERE id = ?"};
  std::optional<StoreWatch> watch = {};  // set only if the store is written to, like `own`
  std::unique_ptr<OwnRows> own = {};
  std::string lost = {};  // why nothing can be written any more; "" as long as it can

  /// Calls f(State&) in a transaction and returns its result. If the files were lost, saves everything in another file,
  /// including the rows that f writes, and throws an Error(environment) that says so.
  template <class F>
  auto write(F f) {
    if (!lost.empty()) throw Error(lost, Exit::environment);
    std::optional<StoreLoss> loss;
    try {
      sqlite::Transaction transaction(*database);
      if (watch) loss = watch->look();
      if (!loss) {
        auto result = f(*this);
        transaction.commit();
        return result;
      }
    } catch (const Error&) {
      if (watch) loss = watch->look();
      if (!loss) throw;
    }
    give_up(*loss, [&](State& rescued) { f(rescued); });
  }

  /// Calls f(database) for `own`, then for the store like write().
  template <class F>
  auto add(F f) {
    if (own) f(*own->database);
    return write([&](State& state) { return f(*state.database); });
  }

  /// Calls f(), which only reads. Handles lost files like write().
  template <class F>
  auto read(F f) {
    try {
      return f();
    } catch (const Error&) {
      const auto loss = watch && lost.empty() ? watch->look() : std::nullopt;
      if (!loss) throw;
      give_up(*loss, [](State&) {});
    }
  }

  /// Inserts a row into `running`, and returns its id.
  std::int64_t announce(const TrialRecord&);
  [[noreturn]] void give_up(const StoreLoss&, const std::function<void(State&)>& last_write);
};

}  // namespace deplo::measure
