#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/report/tuning.h"
#include "core/error.h"
#include "core/text/text.h"
#include "core/trail.h"
#include "engine/learn/recorded.h"
#include "engine/source/experiment.h"
#include "measure/store/file/open.h"
#include "measure/store/objective.h"
#include "measure/store/rows/device_row.h"
#include "measure/store/upkeep/choice.h"
#include "measure/store/upkeep/front.h"
#include "measure/store/upkeep/report.h"

namespace deplo::apps::report {
namespace {

using measure::sqlite::Database;
using measure::sqlite::Statement;

std::vector<TunedStore::Entry> read_entries(Database& database, const std::string& name) {
  Statement rows(database,
                 "SELECT DISTINCT k.id, d.id, k.key, k.name, d.name FROM trial t JOIN run r ON r.id = t.run "
                 "JOIN kernel k ON k.id = t.kernel JOIN device d ON d.id = r.device "
                 "WHERE k.id IN (SELECT value FROM json_each(?1)) ORDER BY k.id, d.id");
  const std::string chosen = measure::upkeep::chosen_ids(database, "kernel", name);
  rows.bind(1, std::string_view(chosen));
  std::vector<TunedStore::Entry> entries;
  while (rows.step()) entries.push_back({rows.integer(0), rows.integer(1), rows.text(2), rows.text(3), rows.text(4)});
  return entries;
}

std::string cut_line(std::string_view text) {
  constexpr std::size_t longest = 160;  // letters; a message about a row may quote all of the row
  return cut(text, longest);
}

// Throws Error for a number that is not the time of a kernel, between a femtosecond and a year. The store accepts any
// number, also from other programs. Such a number would leave no room for the others on an axis.
void require_time(double us) {
  if (!(us > 1e-9 && us < 3e13)) throw Error(fmt::format("expected a time, found {} µs", us));
}

/// Reads a trial. Throws Error if a tuner cannot have written the row.
ReportTrial trial_of(const Statement& row) {
  ReportTrial trial;
  trial.id = row.integer(0);
  trial.trail = row.text(1);
  trial.status = parse_status(row.text(2));
  const std::string protocol = row.text(6);
  trial.us = row.is_null(3) ? 0 : measure::objective_value(protocol, row.real(3));
  trial.confirmed = row.integer(4) != 0;
  trial.stopped = row.integer(5) != 0;
  trial.digest = row.text(10);
  trial.proof = row.text(11);
  trial.fingerprint = row.text(12);
  parse_trail(trial.trail);
  if (trial.ok() && !measure::is_other_objective(protocol)) require_time(trial.us);
  if (row.integer(8) == 0) throw Error("expected samples as a JSON array");
  return trial;
}

/// Returns the classes of instructions in the hot loop, the most frequent first: "fp32 1024, LDS.128 64".
std::string print_classes(Database& database, const std::string& classes) {
  Statement rows(database, "SELECT key, value FROM json_each(?) ORDER BY value DESC, key");
  rows.bind(1, std::string_view(classes));
  std::vector<std::string> words;
  while (rows.step()) words.push_back(fmt::format("{} {}", rows.text(0), rows.integer(1)));
  return cut_line(join(words, ", "));
}

/// Computes the effects of knobs and pairs from the protocol that most valid trials have. Protocols of low-effort
/// estimates are left out; every valid time under them is `stopped`.
void add_effects(const std::string& place, const std::map<std::string, std::vector<const ReportTrial*>>& protocols,
                 TunedKernel& kernel) {
  constexpr std::size_t max_pairs = 3;
  std::vector<const ReportTrial*> chosen;
  for (const auto& [protocol, trials] : protocols) {
    if (std::ranges::all_of(trials, [](const ReportTrial* t) { return t->stopped || !t->ok(); })) continue;
    std::map<std::string_view, const ReportTrial*> latest;
    for (const ReportTrial* trial : trials) latest[trial->trail] = trial;
    std::erase_if(latest, [](const auto& entry) { return !entry.second->ok(); });
    if (latest.size() <= chosen.size()) continue;
    chosen.clear();
    for (const auto& [trail, trial] : latest) chosen.push_back(trial);
  }
  kernel.valid = chosen.size();
  engine::TrailRecords records(place, kernel.text);
  for (const ReportTrial* trial : chosen) records.meet(parse_trail(trial->trail));
  if (chosen.empty() || !records.has_knobs()) return;
  for (const ReportTrial* trial : chosen) {
    search::Record record;
    record.outcome = {trial->status, trial->us, ""};
    records.add(parse_trail(trial->trail), std::move(record));
  }
  const search::Records all = records.finish();
  kernel.knobs = search::model::knob_effects(all);
  kernel.pairs = search::model::pair_effects(all, max_pairs);
}

}  // namespace

SpeedUp KernelSummary::speed_up() const {
  if (best.confirmed > 0 && untuned.confirmed > 0) return {untuned.confirmed, best.confirmed, true};
  if (best.screened > 0 && untuned.screened > 0) return {untuned.screened, best.screened, false};
  return best.confirmed > 0 ? SpeedUp{0, best.confirmed, true} : SpeedUp{0, best.screened, false};
}

StageTimes TunedKernel::times_of(std::string_view trail) const {
  StageTimes times;
  std::string_view digest;
  for (const ReportTrial& trial : trials) {
    if (trial.trail != trail) continue;
    if (trial.digest != digest) times = {};
    digest = trial.digest;
    if (trial.ok() && !trial.stopped) (trial.confirmed ? times.confirmed : times.screened) = trial.us;
  }
  return times;
}

TunedStore::TunedStore(const std::string& file, const std::string& name) : file_(file) {
  database_ = measure::open_to_read(file);
  database_->execute("BEGIN");  // all reads see the same moment
  entries_ = read_entries(*database_, name);
  if (entries_.empty())
    throw Error(fmt::format("{}: expected a store with trials{}, found none", file,
                            name.empty() ? "" : fmt::format(" of a kernel '{}'", name)));
  if (const std::int64_t lost = database_->integer(
          "SELECT count(*) FROM trial t LEFT JOIN run r ON r.id = t.run LEFT JOIN device d ON d.id = "
          "r.device LEFT JOIN kernel k ON k.id = t.kernel WHERE d.id IS NULL OR k.id IS NULL"))
    damaged_.push_back(fmt::format("{} trials whose run, device or kernel is missing", lost));
}

TunedKernel TunedStore::read(const Entry& entry) {
  TunedKernel kernel;
  Statement row(*database_, fmt::format("SELECT k.text, {} FROM kernel k JOIN device d ON d.id = ?2 WHERE k.id = ?1",
                                        measure::device_columns()));
  row.bind(1, entry.kernel).bind(2, entry.device);
  CHECK(row.step());
  kernel.text = row.text(0);
  kernel.summary.device = measure::read_device(row, 1);
  read_trials(entry, kernel);
  read_best(entry, kernel);
  read_library(entry, kernel);
  try {
    kernel.front = measure::upkeep::stored_front(*database_, entry.kernel, entry.device);
  } catch (const Error& error) {
    damaged_.push_back(fmt::format("front of {}: {}", entry.name, cut_line(error.what())));
  }
  explain_schedule(kernel);
  return kernel;
}

// A trial took the time since the previous trial of its run, of whatever kernel, or since the run's start. If the clock
// was set back, that time is 0, not negative.
void TunedStore::read_trials(const Entry& entry, TunedKernel& kernel) {
  Statement rows(*database_,
                 "SELECT t.id, t.trail, t.status, t.median_us, t.stage = 'confirm', t.stopped, t.protocol, "
                 "max(0, (julianday(t.created) - julianday(coalesce((SELECT p.created FROM trial p WHERE p.run = t.run "
                 "AND p.id < t.id ORDER BY p.id DESC LIMIT 1), r.started))) * 86400), "
                 "CASE WHEN json_valid(t.samples) THEN json_type(t.samples) = 'array' ELSE 0 END, t.message, t.digest, "
                 "t.proof, t.fingerprint "
                 "FROM trial t JOIN run r ON r.id = t.run WHERE t.kernel = ? AND r.device = ? ORDER BY t.id");
  rows.bind(1, entry.kernel).bind(2, entry.device);
  std::vector<std::string> protocols;
  double seconds = 0;
  while (rows.step()) {
    seconds += rows.real(7);
    try {
      kernel.trials.push_back(trial_of(rows));
    } catch (const Error& error) {
      damaged_.push_back(fmt::format("trial {} of {}: {}", rows.integer(0), entry.name, cut_line(error.what())));
      continue;
    }
    ReportTrial& trial = kernel.trials.back();
    trial.seconds = seconds;
    protocols.push_back(rows.text(6));
    kernel.summary.objective = measure::objective_of(protocols.back());
    if (trial.ok()) continue;
    FailureKind& kind = kernel.failures[std::string(status_name(trial.status))];
    ++kind.count;
    kind.message = rows.text(9);
    kind.trail = trial.trail;
    ++kernel.summary.failures;
  }
  kernel.summary.trials = kernel.trials.size();
  std::map<std::string, std::vector<const ReportTrial*>> of_protocol;
  for (std::size_t i = 0; i < protocols.size(); ++i) of_protocol[protocols[i]].push_back(&kernel.trials[i]);
  try {
    add_effects(file_, of_protocol, kernel);
  } catch (const Error& error) {  // more knobs or values than search::Records can hold
    damaged_.push_back(fmt::format("knobs of {}: {}", entry.name, cut_line(error.what())));
  }
}

void TunedStore::read_best(const Entry& entry, TunedKernel& kernel) {
  for (const std::int64_t id : measure::upkeep::ranked_trials(*database_, entry.kernel, entry.device)) {
    const auto trial = std::ranges::lower_bound(kernel.trials, id, {}, &ReportTrial::id);
    if (trial == kernel.trials.end() || trial->id != id) continue;  // the trial is damaged
    kernel.best_trail = trial->trail;
    kernel.proof = trial->proof;
    kernel.fingerprint = trial->fingerprint;
    if (!kernel.summary.objective.empty()) {
      kernel.summary.best_value = fmt::format("{:.4g} {}", trial->us, kernel.summary.objective);
      return;
    }
    kernel.summary.best = kernel.times_of(kernel.best_trail);
    if (kernel.summary.device.backend == "cuda") try {
        kernel.machine_code = describe_code(id);
      } catch (const Error& error) {
        damaged_.push_back(fmt::format("machine code of trial {} of {}: {}", id, entry.name, cut_line(error.what())));
      }
    return;
  }
}

std::string TunedStore::describe_code(std::int64_t trial) {
  Statement row(*database_,
                "SELECT t.registers, t.spill_bytes, t.occupancy, t.limiter, m.instructions, m.calls, "
                "m.loop_instructions, m.arithmetic_share, m.issue_cycles, m.issue_limiter, m.classes, t.compiler_notes "
                "FROM trial t "
                "LEFT JOIN machine_code m ON m.binary_digest = t.binary_digest WHERE t.id = ?");
  row.bind(1, trial);
  CHECK(row.step());
  std::string text;
  if (!row.is_null(0)) text += fmt::format("{} registers, {} bytes spilled", row.integer(0), row.integer(1));
  if (!row.is_null(2))
    text += fmt::format("{}occupancy {:.0f} % (limited by {})", text.empty() ? "" : ", ", 100 * row.real(2),
                        cut_line(row.text(3)));
  if (!text.empty()) text += ". ";
  if (const std::string notes = row.text(11); !notes.empty()) text += fmt::format("ptxas says: {}. ", cut_line(notes));
  if (row.is_null(4)) return text + fmt::format("`deplo db instructions {}` adds counts of its instructions.", file_);
  text +=
      fmt::format("{}, {} of slow paths. ", counted(row.integer(4), "instruction"), counted(row.integer(5), "call"));
  if (row.integer(6) == 0) return text + "No loop.";
  return text + fmt::format("Hot loop: {}, {:.1f} % arithmetic, at least {} per iteration (bound by {}): {}.",
                            counted(row.integer(6), "instruction"), 100 * row.real(7), counted(row.integer(8), "cycle"),
                            cut_line(row.text(9)), print_classes(*database_, row.text(10)));
}

void TunedStore::read_library(const Entry& entry, TunedKernel& kernel) {
  for (const auto& row : measure::upkeep::library_times(*database_, entry.kernel, entry.device).rows) try {
      if (parse_status(measure::sqlite::text_of(row[2])) != Status::ok) continue;
      const double us = measure::sqlite::real_of(row[3]);
      require_time(us);
      if (kernel.summary.library_us > 0) continue;
      kernel.summary.library = measure::sqlite::text_of(row[1]);
      kernel.summary.library_us = us;
    } catch (const Error& error) {
      damaged_.push_back(fmt::format("baseline {} of {}: {}", measure::sqlite::integer_of(row[0]), entry.name,
                                     cut_line(error.what())));
    }
}

std::vector<TunedGraph> TunedStore::graphs() {
  Statement rows(*database_,
                 "SELECT g.name, d.name, g.trail, g.heuristic_us, g.median_us FROM graph g JOIN run r ON r.id = g.run "
                 "JOIN device d ON d.id = r.device WHERE g.id IN (SELECT max(h.id) FROM graph h JOIN run q ON q.id = "
                 "h.run GROUP BY h.key, q.device) ORDER BY g.id");
  std::vector<TunedGraph> graphs;
  while (rows.step()) graphs.push_back({rows.text(0), rows.text(1), rows.text(2), rows.real(3), rows.real(4)});
  return graphs;
}

std::vector<TunedRun> TunedStore::runs() {
  Statement rows(*database_,
                 "SELECT r.started, r.searcher, r.revision, r.host, d.name, r.config, r.seed, "
                 "(SELECT count(*) FROM trial t WHERE t.run = r.id) FROM run r JOIN device d ON d.id = r.device "
                 "ORDER BY r.id");
  std::vector<TunedRun> runs;
  while (rows.step())
    runs.push_back({rows.text(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4),
                    engine::experiment_name(rows.text(5)), static_cast<std::uint64_t>(rows.integer(6)),
                    rows.integer(7)});
  return runs;
}

}  // namespace deplo::apps::report
