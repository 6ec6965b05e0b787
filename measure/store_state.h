// Private to store*.cpp: the connection and the statements that are run often.
#pragma once
#include <memory>

#include "measure/sqlite.h"
#include "measure/store.h"
#include "measure/store_trial.h"

namespace deplo::measure {

struct Store::State {
  std::unique_ptr<Database> database;
  Statement insert{*database, insert_trial};
  Statement begin{*database,
                  "INSERT INTO running (run, ordinal, kernel, trail, digest, protocol, stage) "
                  "VALUES (?, ?, ?, ?, ?, ?, ?)"};
  Statement end{*database, "DELETE FROM running WHERE id = ?"};
};

}  // namespace deplo::measure
