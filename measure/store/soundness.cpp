#include "measure/store/soundness.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "measure/device_info.h"
#include "measure/fields.h"
#include "measure/protocol/interval.h"
#include "measure/store/kernel_keys.h"
#include "measure/store/objective.h"
#include "measure/store/rows/trial.h"
#include "rules/cost/least_work.h"

namespace deplo::measure {
namespace {

// Bounds for any device. A time is at least a cycle of a clock of 10 GHz (the record, with liquid helium, is 9.1 GHz).
// No device does 10^18 FLOPs per second (the first machine that did, Frontier, fills a hall) or moves 10^17 bytes per
// second (the memory on all of a Cerebras WSE-3 wafer moves 2.1e16).
constexpr double least_possible_us = 1e-4;
constexpr rules::Ceilings of_any_device{1e8, 1e8, 1e9};  // in 10^9 per second
constexpr double max_possible_us = 3e13;                 // a year
/// A time below this share of the least time that the stored ceilings allow is a fault. Honest times were at least 0.9
/// of the least time when they were taken (Protocol::plausible), but by ceilings that may be higher than the stored
/// ones.
constexpr double unreachable = 0.5;
constexpr double rounding = 1e-6;  // relative error of a median that another program printed

bool is_time(double us) { return std::isfinite(us) && us > 0 && us < max_possible_us; }

/// Returns true if the time was compared with the device's ceilings when it was taken. Older protocols did not do that,
/// and times of prefixes of the grid are not compared.
bool judged_by_ceilings(const TrialRecord& trial) {
  return trial.timing.fidelity == 1 && !trial.timing.stopped && trial.protocol.find("plausible=") != std::string::npos;
}

/// Computes deplo_fault() for one connection. Prepares the statements when they are first needed, because an older
/// store lacks tables.
class Faults {
 public:
  explicit Faults(sqlite::Database& database) : database_(database) {}

  /// Returns the fault of the trial with this id; nullopt (NULL) if it has none, or if its status is not ok.
  std::optional<std::string_view> of(std::int64_t id) {
    TrialRecord trial;
    if (!trial_) {
      ColumnNames timing("t");
      list_fields(trial.timing, timing);
      trial_.emplace(
          database_,
          fmt::format(
              "SELECT r.device, d.l2_bytes, t.kernel, t.protocol, d.backend, d.architecture, {} FROM trial t JOIN "
              "run r ON r.id = t.run JOIN device d ON d.id = r.device WHERE t.id = ? AND "
              "t.status = 'ok'",
              timing.text()));
    }
    sqlite::Statement& row = *trial_;
    if (!row.bind(1, id).step()) return std::nullopt;
    const std::int64_t device = row.integer(0), l2_bytes = row.integer(1);
    trial.kernel = row.integer(2);
    trial.protocol = row.text(3);
    const bool matrices = has_matrix_instructions(row.text(4), row.text(5));
    ColumnReader columns(row, 6);
    list_fields(trial.timing, columns);
    row.step();  // ends the statement, so that it can run again
    const std::string_view fault = fault_of(trial, least_work_of(trial.kernel, matrices), ceilings(device), l2_bytes);
    return fault.empty() ? std::nullopt : std::optional(fault);
  }

 private:
  const ir::Work& least_work_of(std::int64_t kernel, bool matrices) {
    const auto [found, fresh] = work_.try_emplace({kernel, matrices});
    if (fresh) {
      sqlite::Statement text(database_, "SELECT text FROM kernel WHERE id = ?");
      if (const auto loop = text.bind(1, kernel).step() ? parse_loop(text.text(0)) : std::nullopt)
        found->second = rules::least_work(*loop, matrices);
    }
    return found->second;
  }

  rules::Ceilings ceilings(std::int64_t device) {
    if (!ceilings_)
      ceilings_.emplace(database_,
                        "SELECT max(c.copy_gb_s), max(c.read_gb_s), max(c.fp32_gflop_s) FROM ceiling c "
                        "JOIN run r ON r.id = c.run WHERE r.device = ?");
    CHECK(ceilings_->bind(1, device).step());
    const rules::Ceilings seen{ceilings_->real(0), ceilings_->real(1), ceilings_->real(2)};
    ceilings_->step();
    return seen;
  }

  sqlite::Database& database_;
  std::optional<sqlite::Statement> trial_, ceilings_;
  std::map<std::pair<std::int64_t, bool>, ir::Work> work_;  // by kernel, and whether the device multiplies matrices
};

void fault_function(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  try {
    const auto fault = static_cast<Faults*>(sqlite3_user_data(context))->of(sqlite3_value_int64(arguments[0]));
    if (fault) sqlite3_result_text(context, fault->data(), static_cast<int>(fault->size()), SQLITE_STATIC);
  } catch (const Error& error) {
    sqlite3_result_error(context, error.what(), -1);
  }
}

}  // namespace

std::string_view fault_of(const TrialRecord& trial, const ir::Work& min_work, const rules::Ceilings& ceilings,
                          std::int64_t l2_bytes) {
  const Timing& timing = trial.timing;
  if (is_other_objective(trial.protocol)) return std::isfinite(timing.median_us) ? "" : "a value that is not a number";
  if (!is_time(timing.median_us)) return "a time that is not a positive number";
  if (trial.protocol == "recorded") return "";
  if (timing.batch < 1 || timing.sets < 1) return "a batch or sets below one";
  if (!(timing.fidelity > 0 && timing.fidelity <= 1)) return "an invalid fraction of the grid";
  if (timing.samples.empty()) return "ok without samples";
  if (!std::ranges::all_of(timing.samples, is_time)) return "ok with a sample that is not a positive number";
  if (std::abs(timing.median_us / median(timing.samples) - 1) > rounding)
    return "a median that contradicts its samples";
  const bool impossible =
      timing.median_us < least_possible_us || timing.median_us < rules::least_us(min_work, of_any_device, 0, 1);
  const bool unseen = judged_by_ceilings(trial) &&
                      timing.median_us < unreachable * rules::least_us(min_work, ceilings, l2_bytes, timing.batch);
  return impossible || unseen ? "a time that no hardware can reach" : "";
}

void add_fault_function(sqlite::Database& database) {
  const auto faults = std::make_shared<Faults>(database);
  database.keep(faults);
  const int code = sqlite3_create_function_v2(database.handle(), "deplo_fault", 1, SQLITE_UTF8, faults.get(),
                                              fault_function, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

}  // namespace deplo::measure
