// Private to measure/store: a trial as its row.
#pragma once
#include <string>
#include <string_view>

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

template <class Trial, class Column>
void list_timing(Trial& trial, Column& column) {
  auto& timing = trial.timing;
  const bool ran = !timing.samples.empty();
  column("median_us", timing.median_us, trial.status == Status::ok);
  column("fidelity", timing.fidelity);
  column("samples", timing.samples);
  column("batch", timing.batch, ran);
  column("sets", timing.sets, ran);
  column("rejected", timing.rejected);
  column("warm_us", timing.warm_us, timing.warm_us > 0);
  column("clock_mhz", timing.clock_mhz, timing.clock_mhz > 0);
  column("stopped", timing.stopped);
}

/// All columns but those that the store gives. Another is a line in one of the three, and a migration (schema.cpp).
template <class Trial, class Column>
void list_trial(Trial& trial, Column& column) {
  list_key(trial, column);
  column("status", trial.status);
  column("message", trial.message);
  column("build_ms", trial.build_ms);
  list_timing(trial, column);
  auto& used = trial.resources;
  column("registers", used.registers, used.registers >= 0);
  column("spill_bytes", used.spill_bytes, used.spill_bytes >= 0);
  column("stack_bytes", used.stack_bytes, used.stack_bytes >= 0);
  column("static_shared_bytes", used.static_shared_bytes, used.static_shared_bytes >= 0);
  column("dynamic_shared_bytes", used.dynamic_shared_bytes, used.dynamic_shared_bytes >= 0);
  column("occupancy", used.occupancy, used.occupancy >= 0);
  column("limiter", used.limiter);
  column("binary_digest", used.binary_digest);
}

/// The tolerance of a trial `t`, which is a part of its protocol's text where it is not the usual.
inline constexpr std::string_view tolerance_column =
    "CASE instr(t.protocol, ' tolerance=') WHEN 0 THEN 1e-4 ELSE CAST(substr(t.protocol, instr(t.protocol, "
    "' tolerance=') + 11) AS REAL) END";

std::string insert_trial();
std::string insert_running();
void run_insert(Statement&, const TrialRecord&);

/// Of a trial `t`, as read_trial() reads them.
std::string trial_columns();
TrialRecord read_trial(const Statement& row);

}  // namespace deplo::measure
