#include "measure/store/rows/trial.h"

#include <cmath>

#include "core/error.h"

namespace deplo::measure {
namespace {

/// Lists the columns that the store sets.
template <class Trial, class Column>
void list_given(Trial& trial, Column& column) {
  column("created", trial.created);
  column("id", trial.id);
}

}  // namespace

std::string insert_trial() {
  const TrialRecord any;
  ColumnNames columns;
  list_trial(any, columns);
  return columns.insert_into("trial");
}

std::string insert_running() {
  const TrialRecord any;
  ColumnNames columns;
  list_key(any, columns);
  return columns.insert_into("running");
}

void run_insert(sqlite::Statement& insert, const TrialRecord& trial) {
  CHECK(trial.status != Status::ok || std::isfinite(trial.timing.median_us));
  ColumnBinder values(insert);
  list_trial(trial, values);
  insert.step();
}

std::string trial_columns() {
  const TrialRecord any;
  ColumnNames columns("t");
  list_trial(any, columns);
  list_given(any, columns);
  return columns.text();
}

TrialRecord read_trial(const sqlite::Statement& row) {
  TrialRecord trial;
  ColumnReader columns(row);
  list_trial(trial, columns);
  list_given(trial, columns);
  return trial;
}

}  // namespace deplo::measure
