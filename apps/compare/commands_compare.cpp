#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <thread>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/write_file.h"
#include "apps/compare/strategy_compare.h"
#include "apps/compare/tune_hyperparameters.h"
#include "apps/report/comparison.h"
#include "apps/report/export.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/text/text.h"

namespace deplo::apps {
namespace {

constexpr std::int64_t most_repeats = 100000;

struct TuningFlags {
  bool on = false;
  std::vector<std::string> scored;
  std::size_t rounds = 3;
};

int run_tuning(const CompareFlags& flags, const TuningFlags& tuning, Progress& progress) {
  if (flags.json || !flags.csv.empty() || !flags.html.empty() || !flags.output.empty())
    throw Error("--tune-hyperparameters: expected no --json, --csv, --html or --output: it prints text");
  const TunedParameters tuned = tune_hyperparameters(flags, tuning.scored, tuning.rounds, progress);
  progress.end();
  print_result(print_tuned(tuned, flags, terminal_width(STDOUT_FILENO)));
  return interrupted() != 0 ? 128 + interrupted() : 0;
}

int run_compare(const CompareFlags& flags, const TuningFlags& tuning) {
  catch_interrupts();
  Progress progress(stderr, flags.quiet);
  if (tuning.on) return run_tuning(flags, tuning, progress);
  if (!tuning.scored.empty()) throw Error("--score-on: expected --tune-hyperparameters beside it");
  for (const std::string& file : {flags.csv, flags.output, flags.html}) expect_no_store(file);
  const Comparison comparison = compare(flags, progress);
  if (!flags.csv.empty()) write_file(flags.csv, print_comparison_csv(comparison));
  if (!flags.output.empty()) write_file(flags.output, print_comparison_json(comparison));
  if (!flags.html.empty()) write_report(comparison_page(comparison), {flags.html, "", "", ""});
  if (flags.verbose)  // not among the results: those are the same every time
    for (const search::SpaceResult& space : comparison.orders.front().spaces)
      for (std::size_t i = 0; i < space.cells.size(); ++i)
        progress.line(fmt::format("{}, {}: {:.3g} s of CPU per 1,000 evaluations", space.name,
                                  comparison.contest.entrants[i].label, space.cells[i].cpu_per_1000));
  progress.end();
  print_result(flags.json ? print_comparison_json(comparison)
                          : print_comparison(comparison, flags.verbose, terminal_width(STDOUT_FILENO)));
  return comparison.interrupted ? 128 + interrupted() : 0;
}

void add_contest(CLI::App& command, CompareFlags& flags) {
  search::Contest& contest = flags.contest;
  command.add_option("--repeats", contest.repeats, "Run each strategy N times on each space.")
      ->check(between(std::int64_t{1}, most_repeats))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", contest.seed, "The same seed gives the same figures, whatever --jobs is.")
      ->check(between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->capture_default_str()
      ->group(seldom);
  command.add_option("--jobs", contest.threads, "Use N threads [one for each processor].")
      ->check(between(std::int64_t{1}, std::int64_t{1024}))
      ->type_name("N");
  command
      .add_option("--cutoff", contest.cutoff,
                  "The budget is the time in which random search comes this far from the median to the optimum.")
      ->check(between(0.05, 0.9999))
      ->type_name("P")
      ->capture_default_str()
      ->group(seldom);
  command.add_option("--short-cutoff", contest.short_cutoff, "The same of the short budget.")
      ->check(between(0.05, 0.9999))
      ->type_name("P")
      ->capture_default_str()
      ->group(seldom);
  command
      .add_option("--evaluations", contest.evaluations,
                  "Make at least N evaluations in a run, so that evaluations to 10% and 5% are known.")
      ->check(between(std::int64_t{0}, std::int64_t{100'000'000}))
      ->type_name("N")
      ->group(seldom);
  command.add_flag("--noise", contest.noisy, "Tell times drawn anew from the recorded launches, not their mean.")
      ->group(seldom);
  command
      .add_option("--compilers", contest.workers,
                  "Let N compilers work beside the device; 0: one step after the other [0].")
      ->check(between(std::int64_t{0}, std::int64_t{1024}))
      ->type_name("N")
      ->group(seldom);
}

void add_beginnings(CLI::App& command, CompareFlags& flags) {
  const auto add = [&](const char* name, std::size_t& records, const char* what) {
    command.add_option(name, records, what)
        ->check(between(std::int64_t{0}, std::int64_t{1'000'000}))
        ->type_name("N")
        ->group(seldom);
  };
  add("--warm-start", flags.contest.warm_start,
      "Teach models N random records of each other device's space of the same kernel among --spaces [0].");
  add("--analytic-prior", flags.analytic_prior,
      "Teach models what the analytic model (docs/model.md) says of N random records, of spaces from stores of `deplo "
      "tune` [0].");
  add("--learned-prior", flags.learned_prior,
      "Teach models what boosted trees, learned from the other kernels of these stores, say of N random records [0].");
}

void add_tuning(CLI::App& command, TuningFlags& tuning) {
  command
      .add_flag(
          "--tune-hyperparameters", tuning.on,
          "Search the grid of the one strategy of --search for its best hyperparameters on --spaces; 25 repeats are "
          "enough.")
      ->group(seldom);
  command
      .add_option("--score-on", tuning.scored,
                  "With --tune-hyperparameters: compare the found values with the defaults on these other spaces.")
      ->type_name("FILES|FOLDERS")
      ->take_all()
      ->group(seldom);
  command.add_option("--rounds", tuning.rounds, "With --tune-hyperparameters: change each one at most N times.")
      ->check(between(std::int64_t{1}, std::int64_t{100}))
      ->type_name("N")
      ->capture_default_str()
      ->group(seldom);
}

void add_outputs(CLI::App& command, CompareFlags& flags) {
  command.add_option("-o,--output", flags.output, "Also write everything to FILE, for `deplo report FILE`.")
      ->type_name("FILE");
  command.add_option("--html", flags.html, "Also write a report with plots to FILE.")->type_name("FILE");
  command.add_option("--csv", flags.csv, "Also write the figures of every run to FILE.")->type_name("FILE");
  command.add_flag("-v", flags.verbose, "Show every space by itself too.");
  command.add_flag("--json", flags.json, "Print one JSON document instead of the table.");
  command.add_flag("--quiet", flags.quiet, "Show no progress.");
}

}  // namespace

void add_compare(CLI::App& command, int& exit_code) {
  auto flags = std::make_shared<CompareFlags>();
  flags->contest.threads = std::max(1u, std::thread::hardware_concurrency());
  command.description(
      "Compare search strategies on recorded spaces; no device is needed.\n"
      "It replays many runs of each strategy. The score is 0 for random search and 1 for finding the best at once, "
      "averaged "
      "over time and spaces (docs/comparing.md).");
  command
      .add_option("--spaces", flags->spaces,
                  "Recorded spaces: Kernel Tuner caches, T4, CSV, .gz or .zip of them; stores.")
      ->type_name("FILES|FOLDERS")
      ->take_all();
  flags->search = {"random", "default"};
  command
      .add_option("--search", flags->search,
                  "Compare these strategies (see `deplo strategies`), with commas between. NAME:PARAMETER=VALUE sets a "
                  "hyperparameter. The others are tested against the first [random,default].")
      ->type_name("STRATEGIES")
      ->delimiter(',')
      ->take_all();
  command.add_option("--set", flags->set, "Set a hyperparameter of every strategy that has it. May be repeated.")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->group(seldom);
  flags->orders = {"recorded"};
  command
      .add_option(
          "--order", flags->orders,
          "Order the levels as recorded, by importance, reversed or shuffled. Several with commas between show how "
          "much it moves each strategy [recorded].")
      ->type_name("ORDERS")
      ->delimiter(',')
      ->take_all()
      ->group(seldom);
  add_contest(command, *flags);
  add_beginnings(command, *flags);
  auto tuning = std::make_shared<TuningFlags>();
  add_tuning(command, *tuning);
  add_outputs(command, *flags);
  command.footer("deplo compare --spaces spaces/ --search random,mcts,mcts:c=0.2 --repeats 25 -v");
  command.callback([flags, tuning, &exit_code] { exit_code = run_compare(*flags, *tuning); });
}

}  // namespace deplo::apps
