// Private to measure/store: a trial as the columns of its row.
#pragma once
#include <string>
#include <string_view>

#include "measure/sqlite/sqlite.h"
#include "measure/store/store.h"

namespace deplo::measure {

inline constexpr std::string_view insert_trial =
    "INSERT INTO trial (run, ordinal, kernel, trail, digest, status, message, build_ms, median_us, fidelity, samples, "
    "protocol, stage, batch, sets, rejected, warm_us, clock_mhz, stopped, registers, spill_bytes, stack_bytes, "
    "static_shared_bytes, dynamic_shared_bytes, occupancy, limiter, binary_digest) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
/// The tolerance of a trial `t`, which is a part of its protocol's text where it is not the usual.
inline constexpr std::string_view tolerance_column =
    "CASE instr(t.protocol, ' tolerance=') WHEN 0 THEN 1e-4 ELSE CAST(substr(t.protocol, instr(t.protocol, "
    "' tolerance=') + 11) AS REAL) END";

void run_insert(Statement&, const TrialRecord&);

/// Of a trial `t`, as read_trial() reads them.
std::string trial_columns();
TrialRecord read_trial(const Statement& row);

/// A JSON array; what is not a number to JSON (an implausible NaN) becomes null.
std::string print_samples(const std::vector<double>& samples);
std::vector<double> parse_samples(std::string_view text);

}  // namespace deplo::measure
