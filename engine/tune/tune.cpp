#include "engine/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/interrupt.h"
#include "core/text/text.h"
#include "engine/compile/target.h"
#include "engine/compile/tuned.h"
#include "engine/learn/store_keys.h"
#include "engine/revision.h"
#include "engine/tune/board.h"
#include "engine/tune/families/family.h"
#include "engine/tune/kernel_sets.h"
#include "engine/tune/measurer.h"
#include "engine/tune/open_runner.h"
#include "engine/tune/tune_kernel.h"
#include "measure/check/inputs.h"
#include "measure/store/process_name.h"
#include "rules/rule.h"
#include "search/loop.h"

namespace deplo::engine {
namespace {

// If at least this share of the time is left, kernels that ran out of time get another pass. A shorter pass would be
// spent on set-up alone.
constexpr double worth_another_pass = 0.1;

// The heuristic's schedules of the kernels that graphs may become are measured first, while more than this share of the
// time is left. The rest is for the search.
constexpr double screening_ends_at = 0.5;

// The share of the time of an experiment with families that is spent on measuring the schedules of each shape on the
// other shapes.
constexpr double family_share = 0.4;

// A kernel's second pass starts from the stored results of the first, so its row replaces the first row. Only the
// counts are added.
Row merge(const Row& before, Row after) {
  after.trials += before.trials;
  if (before.trials + before.known > 0) after.known = before.known;
  for (const auto& [status, count] : before.failures) after.failures[status] += count;
  after.finished = before.finished;
  return after;
}

std::string report(const Row& row) {
  if (row.stop == untunable) return fmt::format("{}: {}", untunable, row.fault);
  const std::string why = row.stop == strategy_failed ? row.fault : std::string(stop_text(row.stop));
  if (row.best_us <= 0) return fmt::format("no valid measurement, {}: {}", counted(row.trials, "trial"), why);
  const std::string up = row.heuristic_us > 0 ? fmt::format(" ({:.2f}x)", row.heuristic_us / row.best_us) : "";
  return fmt::format("{} {} µs{}, {}{}: {}", row.confirmed ? "confirmed" : "best", significant(row.best_us), up,
                     counted(row.trials, "trial"), row.known > 0 ? fmt::format(", {} known", row.known) : "", why);
}

Summary blank_summary(const Experiment& experiment, const TuneOptions& options, const Session& session) {
  Summary summary;
  summary.experiment = experiment.file;
  summary.name = experiment.name;
  summary.device = session.runner.info().name;
  summary.target = session.target.name;
  const bool program = search::is_program(experiment.strategy);
  summary.strategy = program ? experiment.strategy : search::find_searcher(experiment.strategy).name;
  summary.store = options.store;
  summary.seed = experiment.options.seed;
  for (const KernelCase& kernel : experiment.kernels) summary.rows.push_back(blank_row(kernel));
  return summary;
}

/// Returns SearchRecord::settings without the part of each kernel: how the searches of the run work, apart from the
/// time that they have.
std::string settings_of(const Experiment& experiment, const TuneOptions& options, const Session& session) {
  std::string text = experiment.strategy;
  for (const auto& [name, value] : experiment.options.parameters) text += fmt::format(" {}={}", name, value);
  if (experiment.goal > 1) text += fmt::format(" goal={}", experiment.goal);
  return text +
         fmt::format(" seed={} trials={} patience={} winners={} analytic-prior={} warm-start={} target={} rules={}",
                     experiment.options.seed, experiment.trials, experiment.patience, options.winners,
                     options.analytic_prior, options.warm_start, session.target.name,
                     rules::version_of(rules::pipeline())) +
         describe(options.bits);
}

/// Returns the settings of a kernel's search. `more` is a digest of its restrictions and of the protocol, which are
/// long.
std::string settings_of(const KernelCase& kernel, const Session& session) {
  measure::Protocol protocol = session.protocol;
  protocol.inputs = describe_inputs(kernel);
  return fmt::format(
      "{} more={}", session.settings,
      digest(fmt::format("{}; {}; {}", describe(session.restrictions), describe(kernel.restrictions), protocol.text()) +
             (kernel.opaque ? kernel.opaque->space_text() : "") + print(kernel.objectives)));
}

class Tuner {
 public:
  using OnTrial = std::function<bool(const TrialNews&)>;
  Tuner(const Experiment& experiment, const std::vector<KernelSets>& graphs, Session& session, Progress& progress,
        Board& board, const OnTrial& on_trial)
      : experiment_(experiment),
        graphs_(graphs),
        session_(session),
        progress_(progress),
        board_(board),
        on_trial_(on_trial),
        rows_(board.read().rows),
        prospects_(rows_.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      prospects_[i].count = static_cast<double>(experiment.kernels[i].count());
      numbers_[rows_[i].name] = i;
      for (const std::string& name : rows_[i].same) numbers_[name] = i;
      recall(i);
    }
    session.cancelled = [this] { return stopped_ || interrupted() != 0; };
  }

  /// Tunes all kernels. Kernels whose search an earlier run finished get the time that the other kernels leave.
  void run() {
    screen_sets();
    std::vector<std::size_t> unfinished, finished;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].stop != not_needed) (rows_[i].finished ? finished : unfinished).push_back(i);
    run(std::move(unfinished));
    if (left() > worth_another_pass * experiment_.seconds) run(std::move(finished));
    choose_sets();
  }

  /// Keeps a few schedules for each family of shapes. `seconds` is the time of the whole run.
  void choose_family_schedules(double seconds) {
    if (experiment_.families.empty() || session_.cancelled()) return;
    const auto row_of = [&](const std::string& kernel) {
      const auto number = numbers_.find(kernel);
      return number == numbers_.end() ? nullptr : &rows_[number->second];
    };
    const double spent = experiment_.seconds - left();
    board_.set(tune_families(experiment_, session_, progress_, row_of, seconds - spent));
  }

 private:
  void run(std::vector<std::size_t> pending) {
    for (bool tuned = true; tuned && !pending.empty() && !session_.cancelled();) {
      tuned = pass(pending) && left() > worth_another_pass * experiment_.seconds;
      std::erase_if(pending, [&](std::size_t i) { return !wants_time(rows_[i].stop); });
    }
  }

  /// Measures the heuristic's schedules of all kernels that a graph may become. Sets the weights of the alternative
  /// kernels, by which their time is shared out.
  void screen_sets() {
    std::map<std::size_t, double> weights;
    for (const KernelSets& graph : graphs_)
      for (const KernelSet& set : graph.sets())
        for (const std::string& kernel : set.kernels) weights[numbers_.at(kernel)] = 0;
    for (const auto& [i, weight] : weights)
      if (!session_.cancelled() && rows_[i].heuristic_us <= 0 && left() > screening_ends_at * experiment_.seconds)
        screen(i);
    const auto time_of = [&](const std::string& kernel) { return rows_[numbers_.at(kernel)].heuristic_us; };
    for (const KernelSets& graph : graphs_)
      for (const auto& [kernel, weight] : graph.weights(time_of)) {
        double& max_weight = weights[numbers_.at(kernel)];
        max_weight = std::max(max_weight, weight);
      }
    for (const auto& [i, weight] : weights)
      if (rows_[i].alternative) give_weight(i, weight);
  }

  void give_weight(std::size_t i, double weight) {
    prospects_[i].count = weight;
    if (weight > 0) return;
    rows_[i].stop = not_needed;
    rows_[i].finished = true;
    board_.set(i, rows_[i]);
  }

  void screen(std::size_t i) {
    Narrator narrator = narrator_of(i);
    Prospect prospect;  // dropped afterwards: the kernel's own prospect starts with its turn
    try {
      rows_[i] = screen_kernel(experiment_.kernels[i], experiment_, session_, narrator, prospect);
    } catch (const measure::worker::Untunable&) {
      // The error is reported in the kernel's own turn.
    }
  }

  /// Stores the kernels that each graph becomes.
  void choose_sets() {
    const auto time_of = [&](const std::string& kernel) {
      const Row& row = rows_[numbers_.at(kernel)];
      return row.confirmed ? row.best_us : 0;
    };
    std::vector<GraphRow> chosen;
    for (const KernelSets& graph : graphs_) {
      const auto choice = graph.choose(time_of);
      if (!choice || session_.cancelled() || knows_less(graph, *choice)) continue;
      const auto& [set, sets, heuristic_us, best_us] = *choice;
      session_.store.append(measure::GraphRecord{session_.run_id, graph.key(), graph.name(), print(set.trail),
                                                 set.digest, heuristic_us, best_us});
      chosen.push_back(
          {graph.name(), sets, print(set.trail), std::ssize(set.changes), set.kernels, heuristic_us, best_us});
    }
    board_.set(std::move(chosen));
  }

  /// Returns true if an earlier run already chose for the graph, and this run has no times of some sets.
  bool knows_less(const KernelSets& graph, const KernelSets::Chosen& choice) const {
    const auto is_needed = [&](const KernelSet& set) {
      return std::ranges::none_of(
          set.kernels, [&](const std::string& kernel) { return rows_[numbers_.at(kernel)].stop == not_needed; });
    };
    const auto needed = static_cast<std::size_t>(std::ranges::count_if(graph.sets(), is_needed));
    return choice.sets < needed && session_.store.graph(graph.key(), session_.device_id).has_value();
  }

  Narrator narrator_of(std::size_t i) {
    const auto publish = [this, i](const Row& row) { board_.set(i, merge(rows_[i], row)); };
    const std::string label = fmt::format("[{}/{}] {}", i + 1, rows_.size(), experiment_.kernels[i].name);
    Narrator narrator{progress_, label, deadline_, publish};
    narrator.on_trial = [this](const Row& row, const search::Candidate& candidate, const search::Measured& measured) {
      if (on_trial_ && !on_trial_({row, candidate, measured})) stopped_ = true;
    };
    return narrator;
  }

  /// If an earlier run finished the search of the kernel, its result holds until the kernel's turn comes.
  void recall(std::size_t i) {
    if (search::is_program(experiment_.strategy)) return;  // the program may have changed
    const KernelCase& kernel = experiment_.kernels[i];
    const auto stop =
        session_.store.finished_search(stored_text(kernel), session_.device_id, settings_of(kernel, session_));
    if (!stop) return;
    rows_[i] = recall_kernel(kernel, session_);
    rows_[i].stop = *stop;
    rows_[i].finished = true;
    board_.set(i, rows_[i]);
  }

  /// Stores how the search of the kernel ended.
  void mark(std::size_t i) {
    const KernelCase& kernel = experiment_.kernels[i];
    Row& row = rows_[i];
    const bool cut_short = session_.cancelled() || wants_time(row.stop) || row.stop == strategy_failed;
    row.finished = row.finished || !cut_short;
    session_.store.append(measure::SearchRecord{
        session_.run_id, session_.store.add_kernel({kernel.name, stored_text(kernel)}), settings_of(kernel, session_),
        session_.cancelled() ? std::string(name(search::Stop::cancelled)) : row.stop, !cut_short,
        print(kernel.objectives)});
  }

  double left() const { return deadline_ - now(); }

  /// Returns whether the kernel gets a turn even when the time is up, because the heuristic's schedule is not measured
  /// yet. A kernel that only a graph may need does not.
  bool must_be_measured(std::size_t i) const { return rows_[i].best_us <= 0 && !rows_[i].alternative; }

  void set_out_of_time(std::size_t i) {
    if (rows_[i].stop == name(search::Stop::cancelled)) rows_[i].stop = name(search::Stop::seconds);
    board_.set(i, rows_[i]);
  }

  /// Sets Prospect::least_us of kernels without a turn, as soon as the device's ceilings are known.
  void update_least_times() {
    for (std::size_t i = 0; i < prospects_.size(); ++i)
      if (prospects_[i].least_us <= 0) prospects_[i].least_us = shortest_us(experiment_.kernels[i], session_);
  }

  // Tunes the kernels in the order of the gain that is expected of their next second, each until the other kernels are
  // expected to gain more. Unused time goes to the kernels that follow. Returns true if any kernel was tuned: kernels
  // that have reached their ceilings gain nothing.
  bool pass(std::vector<std::size_t> kernels) {
    bool any = false;
    while (!kernels.empty() && !session_.cancelled()) {
      update_least_times();
      const Expectation expectation(prospects_);
      const auto gain = [&](std::size_t i) { return gain_per_second(prospects_[i], expectation); };
      const auto next = std::ranges::max_element(kernels, {}, gain);  // max_element returns the first of equal kernels
      const std::size_t i = *next;
      std::vector<Prospect> waiting;
      double rows = 0;
      for (const std::size_t k : kernels) rows += waiting.emplace_back(prospects_[k]).count;
      kernels.erase(next);
      if (left() <= 0 && !must_be_measured(i)) {
        set_out_of_time(i);
        continue;
      }
      std::vector<Prospect> later;
      for (const std::size_t k : kernels) later.push_back(prospects_[k]);
      const double seconds = left() - reserve(later, expectation, left());
      const double least_gain = gain_to_stop_at(waiting, expectation, seconds * search_share);
      // the remaining kernels gain even less, also in a later pass
      if (prospects_[i].trials > 0 && gain(i) < least_gain) return any;
      any = true;
      const KernelCase& kernel = experiment_.kernels[i];
      const KernelBudget budget{seconds, seconds * prospects_[i].count / rows, experiment_.trials - rows_[i].trials,
                                least_gain, expectation};
      Narrator narrator = narrator_of(i);
      try {
        rows_[i] = merge(rows_[i], tune_kernel(kernel, experiment_, budget, session_, narrator, prospects_[i]));
      } catch (const measure::worker::Untunable& error) {  // other kernels may still be tunable
        rows_[i].stop = untunable;
        rows_[i].fault = error.what();
      }
      mark(i);
      board_.set(i, rows_[i]);
      progress_.line(narrator.label + "  " + report(rows_[i]));
    }
    return any;
  }

  const Experiment& experiment_;
  const std::vector<KernelSets>& graphs_;
  Session& session_;
  Progress& progress_;
  Board& board_;
  const OnTrial& on_trial_;
  bool stopped_ = false;
  const double deadline_ = now() + experiment_.seconds;
  std::vector<Row> rows_;
  std::vector<Prospect> prospects_;                          // parallel to rows_
  std::map<std::string, std::size_t, std::less<>> numbers_;  // row of each name, including the names in Row::same
};

/// Forgets the candidate in flight after a failure that is not the candidate's fault. This process may live on, and
/// other tuners would wait for its result.
void forget_begun(measure::Store& store, const std::string& host) {
  try {
    store.forget_process(host, measure::this_process());
  } catch (const Error&) {
    // The store itself may have failed. The caller reports the first failure, and a later run settles the unfinished
    // candidate.
  }
}

Restrictions restrictions_of(const Experiment& experiment, const Target& target) {
  const bool named = experiment.restrictions != "auto";
  return load_restrictions(named ? experiment.restrictions : std::string(default_restrictions(target)),
                           experiment.file);
}

/// Returns the text of a run for the store: the experiment, and the settings that are not in its file.
std::string text_of_run(const Experiment& experiment, const TuneOptions& options, const Restrictions& restrictions) {
  std::string text = experiment.text;
  if (!options.overrides.empty()) text += "\n#" + options.overrides + "\n";
  if (!restrictions.empty()) text += "\n# first restricted to " + describe(restrictions) + "\n";
  return text;
}

}  // namespace

std::string_view stop_text(std::string_view stop) {
  using search::Stop;
  if (stop == name(Stop::exhausted)) return "every schedule tried";
  if (stop == name(Stop::ended)) return "the strategy ended";
  if (stop == name(Stop::trials)) return "trial limit reached";
  if (stop == name(Stop::seconds)) return "time is up";
  if (stop == name(Stop::patience)) return "no improvement";
  if (stop == name(Stop::goal)) return "goal reached";
  if (stop == name(Stop::little_gain)) return "more time is expected to gain little";
  return stop;
}

void tune(Experiment experiment, const TuneOptions& options, Progress& progress, Board& board) {
  // Errors in the settings are reported before a store is created.
  if (!options.warm_start.empty()) store_keys(options.warm_start);
  const auto runner = open_runner(
      experiment.device, options.in_process, [] { return interrupted() != 0; },
      [&](const std::string& what) { progress.line("warning: " + what); });
  const Target target =
      pick_target(experiment.target, runner->info(), runner->dialect(), experiment.device, experiment.file);
  const Restrictions restrictions = restrictions_of(experiment, target);
  for (const GraphCase& graph : experiment.graphs)
    if (const std::string note = note_of(graph.source); !note.empty())
      progress.line(fmt::format("warning: {}: {}", graph.place, note));
  check_any_runs(experiment.kernels, *runner, options.bits, target, restrictions);
  const std::vector<KernelSets> graphs =
      add_kernel_sets(experiment, fusion_target(experiment.target, experiment.device));
  make_default_folder(options.store);
  auto store = measure::Store::open(options.store);
  const std::string host = measure::host_name();
  if (const std::int64_t lost = store.settle_lost(host); lost > 0)
    progress.line(fmt::format("{} in flight when an earlier run ended: stored as worker_lost",
                              lost == 1 ? "1 trial was" : fmt::format("{} trials were", lost)));
  Session session{*runner, store, target, {}, options.retry_failed, options.warm_start, options.analytic_prior};
  session.protocol = experiment.protocol;
  session.protocol.tolerance = options.tolerance;
  session.tried_winners = options.winners;
  session.bits = options.bits;
  session.host = host;
  session.device_id = store.add_device(runner->info());
  session.known = store.ceilings(session.device_id);
  session.restrictions = restrictions;
  session.settings = settings_of(experiment, options, session);
  session.run_id =
      store.add_run({session.device_id, std::string(revision()), text_of_run(experiment, options, session.restrictions),
                     experiment.strategy, experiment.options.seed, host, measure::this_process(),
                     rules::version_of(rules::pipeline())});
  board.start(blank_summary(experiment, options, session));
  const double seconds = experiment.seconds;
  if (!experiment.families.empty()) experiment.seconds *= 1 - family_share;
  try {
    Tuner tuner(experiment, graphs, session, progress, board, options.on_trial);
    tuner.run();
    tuner.choose_family_schedules(seconds);
    store.check_files();  // everything reported from here on is in the files
  } catch (...) {
    forget_begun(store, host);
    throw;
  }
}

void abandon(const TuneOptions& options) {
  if (!std::filesystem::exists(options.store)) return;
  constexpr std::chrono::seconds soon{1};  // a user who pressed Ctrl-C is waiting
  measure::Store::open(options.store, soon).forget_process(measure::host_name(), measure::this_process());
}

}  // namespace deplo::engine
