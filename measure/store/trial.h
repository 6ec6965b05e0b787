// Private to measure/store: a trial as its row.
#pragma once
#include <string>
#include <string_view>

#include "measure/fields.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/columns.h"

namespace deplo::measure {

/// What identifies a trial; of one that has begun, table `running` holds no more.
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

/// All columns but those that the store gives. Another is a line here or in measure/fields.h, and a
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
}

/// The tolerance of a trial `t`, which is a part of its protocol's text where it is not the usual.
inline constexpr std::string_view tolerance_column =
    "CASE instr(t.protocol, ' tolerance=') WHEN 0 THEN 1e-4 ELSE CAST(substr(t.protocol, instr(t.protocol, "
    "' tolerance=') + 11) AS REAL) END";

std::string insert_trial();
std::string insert_running();
void run_insert(sqlite::Statement&, const TrialRecord&);

/// Of a trial `t`, as read_trial() reads them.
std::string trial_columns();
TrialRecord read_trial(const sqlite::Statement& row);

}  // namespace deplo::measure
