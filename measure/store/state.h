// Private to measure/store: the connection and the statements that are run often.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/file/watch.h"
#include "measure/store/store.h"
#include "measure/store/trial.h"

namespace deplo::measure {

/// What this connection wrote, once more in memory: the files may go away or be overwritten.
struct OwnRows {
  std::unique_ptr<sqlite::Database> database;
  sqlite::Statement insert{*database, insert_trial()};
  /// The row of that number in the same table of `from`, unless it is there.
  void copy(sqlite::Database& from, std::string_view table, std::int64_t id);
};

struct Store::State {
  std::unique_ptr<sqlite::Database> database;
  sqlite::Statement insert{*database, insert_trial()};
  sqlite::Statement begin{*database, insert_running()};
  sqlite::Statement end{*database, "DELETE FROM running WHERE id = ?"};
  std::optional<StoreWatch> watch = {};  // of what is written to, like the next two
  std::unique_ptr<OwnRows> own = {};
  std::string lost = {};  // why nothing can be written any more

  /// f(State&) in a transaction: its result. Where the files are not ours any more all is saved in another file, with
  /// what f writes, and Error(environment) says so.
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

  /// f(), which only reads; the same of the files.
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

  /// A row of `running`.
  std::int64_t announce(const TrialRecord&);
  [[noreturn]] void give_up(const StoreLoss&, const std::function<void(State&)>& last_write);
};

}  // namespace deplo::measure
