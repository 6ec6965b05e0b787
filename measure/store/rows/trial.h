// Private to measure/store: reads and writes the row of a trial.
#pragma once
#include <string>
#include <string_view>

#include "measure/fields.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/rows/columns.h"

namespace deplo::measure {

/// Lists the columns that identify a trial. The table `running` has only these.
template <class Trial, class Column>
void list_key(Trial& trial, Column& column) {
  column("run", trial.run);
  column("ordinal", trial.ordinal);
  column("kernel", trial.kernel);
  column("trail", trial.trail);
  column("digest", trial.digest);
  column("protocol", trial.protocol);
  column("stage", trial.stage);
}

/// Lists all columns except those that the store sets. A new column needs a line here or in measure/fields.h, and a
/// migration (file/schema.cpp).
template <class Trial, class Column>
void list_trial(Trial& trial, Column& column) {
  list_key(trial, column);
  column("status", trial.status);
  column("message", trial.message);
  column("build_ms", trial.build_ms);
  list_fields(trial.timing, column, trial.status == Status::ok);
  list_fields(trial.resources, column);
  column("changes", trial.changes, trial.changes >= 0);
  column("proof", trial.proof);
  column("fingerprint", trial.fingerprint);
  column("row_fingerprint", trial.row_fingerprint);
}

/// SQL for the tolerance of a trial `t`. The protocol's text contains the tolerance only if it is not the default.
inline constexpr std::string_view tolerance_column =
    "CASE instr(t.protocol, ' tolerance=') WHEN 0 THEN 1e-4 ELSE CAST(substr(t.protocol, instr(t.protocol, "
    "' tolerance=') + 11) AS REAL) END";

std::string insert_trial();
std::string insert_running();
void run_insert(sqlite::Statement&, const TrialRecord&);

/// Returns the columns of a trial `t` as SQL, in the order of read_trial().
std::string trial_columns();
TrialRecord read_trial(const sqlite::Statement& row);

}  // namespace deplo::measure
