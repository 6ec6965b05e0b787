#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>
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

namespace deplo::apps {
namespace {

constexpr std::int64_t max_repeats = 100000;

struct TuningFlags {
  bool on = false;
  std::vector<std::string> scored;
  std::size_t rounds = 3;
};

int run_tuning(const CompareFlags& flags, const TuningFlags& tuning, Progress& progress) {
  const TunedParameters tuned = tune_hyperparameters(flags, tuning.scored, tuning.rounds, progress);
  progress.end();
  print_result(print_tuned(tuned, flags, window_width()));
  return interrupted() != 0 ? 128 + interrupted() : 0;
}

/// Throws Error if a strategy failed on a space.
void check_runs(const Comparison& comparison) {
  for (const Ordered& ordered : comparison.orders)
    for (const search::compare::SpaceResult& space : ordered.spaces)
      for (std::size_t i = 0; i < space.cells.size(); ++i)
        if (space.cells[i].failed > 0)
          throw Error(fmt::format("{}: {}", comparison.contest.entrants[i].label, space.cells[i].fault));
}

/// Throws Error if writing the file would destroy a store or one of the recorded spaces.
void expect_no_data(const std::string& file, const std::vector<std::string>& spaces) {
  expect_no_store(file);
  std::error_code ignored;
  for (const std::string& space : spaces)
    if (!file.empty() && std::filesystem::equivalent(file, space, ignored))
      throw Error(fmt::format("{}: expected a file that may be overwritten, found a space of --spaces", file));
}

/// Keeps the files of an earlier comparison if this one has no results.
void write_files(const Comparison& comparison, const CompareFlags& flags) {
  if (comparison.orders.front().spaces.empty()) return;  // interrupted
  if (!flags.csv.empty()) write_file(flags.csv, print_comparison_csv(comparison));
  if (!flags.output.empty()) write_file(flags.output, print_comparison_json(comparison));
  if (!flags.html.empty()) report::write_report(report::comparison_page(comparison), {flags.html, "", "", ""});
}

int run_compare(const CompareFlags& flags, const TuningFlags& tuning) {
  catch_interrupts();
  Progress progress(stderr, flags.quiet);
  if (tuning.on) return run_tuning(flags, tuning, progress);
  for (const std::string& file : {flags.csv, flags.output, flags.html}) expect_no_data(file, flags.spaces);
  const Comparison comparison = compare_strategies(flags, progress);
  const auto print = [&] {
    progress.end();
    print_result(flags.json ? print_comparison_json(comparison)
                            : print_comparison(comparison, flags.verbose, window_width()));
  };
  try {
    write_files(comparison, flags);
  } catch (const Error&) {
    print();  // the figures of hours must not be lost because of a wrong path or a full disk
    throw;
  }
  if (flags.verbose)  // not part of the results, which are the same in every run
    for (const search::compare::SpaceResult& space : comparison.orders.front().spaces)
      for (std::size_t i = 0; i < space.cells.size(); ++i)
        progress.line(fmt::format("{}, {}: {:.3g} s of CPU per 1,000 evaluations", space.name,
                                  comparison.contest.entrants[i].label, space.cells[i].cpu_per_1000));
  print();
  if (comparison.interrupted) return 128 + interrupted();
  check_runs(comparison);
  return 0;
}

void add_contest(Command command, CompareFlags& flags) {
  search::compare::Contest& contest = flags.contest;
  command.option("--repeats", contest.repeats, "N", "Run each strategy N times on each space.")
      .between(std::int64_t{1}, max_repeats)
      .show_default();
  add_seed(command, contest.seed, "Set the seed. The same seed gives the same figures, for any --jobs.");
  command.option("--jobs", contest.threads, "N", "Use N threads [one per processor].")
      .between(std::int64_t{1}, std::int64_t{1024});
  command.seldom()
      .option("--cutoff", contest.cutoff, "P",
              "Set the budget to the time that random search needs to cover this share of the way from the median to "
              "the optimum.")
      .between(0.05, 0.9999)
      .show_default();
  command.seldom()
      .option("--short-cutoff", contest.short_cutoff, "P", "Set the short budget in the same way.")
      .between(0.05, 0.9999)
      .show_default();
  command.seldom()
      .option("--evaluations", contest.evaluations, "N",
              "Make at least N evaluations per run, to fill the columns 'to 10%' and 'to 5%'.")
      .between(std::int64_t{0}, std::int64_t{100'000'000});
  command.seldom().flag("--noise", contest.noisy,
                        "Give strategies times drawn from the recorded launches instead of their mean.");
  command.seldom()
      .option("--compilers", contest.workers, "N",
              "Simulate N compilers that work in parallel with the device; 0: compile and measure in turn [0].")
      .between(std::int64_t{0}, std::int64_t{1024});
}

void add_beginnings(Command command, CompareFlags& flags) {
  const auto add = [&](const char* name, std::size_t& records, const char* what) {
    command.seldom().option(name, records, "N", what).between(std::int64_t{0}, std::int64_t{1'000'000});
  };
  add("--warm-start", flags.contest.warm_start,
      "Train models on N random records of the same kernel from each other device in --spaces [0].");
  add("--analytic-prior", flags.analytic_prior,
      "Train models on the analytic model's estimates of N random records (docs/model.md). Only for stores of `deplo "
      "tune` [0].");
  add("--learned-prior", flags.learned_prior,
      "Train models on the estimates of boosted trees for N random records. The trees learn from the stores' other "
      "kernels [0].");
}

void add_tuning(Command command, TuningFlags& tuning) {
  command.seldom().flag(
      "--tune-hyperparameters", tuning.on,
      "Find the best hyperparameters on --spaces for the one strategy in --search, among the values of its "
      "grid. 25 repeats are enough.");
  command.seldom()
      .option("--score-on", tuning.scored, "FILES|FOLDERS",
              "With --tune-hyperparameters: compare the best values with the defaults on these other spaces.")
      .take_all();
  command.seldom()
      .option("--rounds", tuning.rounds, "N",
              "With --tune-hyperparameters: change each hyperparameter at most N times.")
      .between(std::int64_t{1}, std::int64_t{100})
      .show_default();
}

void add_outputs(Command command, CompareFlags& flags) {
  command.option("-o,--output", flags.output, "FILE", "Also write the results to FILE, for `deplo report FILE`.");
  command.option("--html", flags.html, "FILE", "Also write a report with plots to FILE.");
  command.option("--csv", flags.csv, "FILE", "Also write the figures of every run to FILE (CSV).");
  command.flag("-v", flags.verbose, "Also show the results of each space.");
  command.flag("--json", flags.json, "Print one JSON document instead of the table.");
  command.flag("--quiet", flags.quiet, "Show no progress.");
}

}  // namespace

void add_compare(Command command, int& exit_code) {
  auto flags = std::make_shared<CompareFlags>();
  flags->contest.threads = std::max(1u, std::thread::hardware_concurrency());
  command.describe(
      "Compare search strategies on recorded spaces, without a device.\nEach strategy runs many times on each space. "
      "The score is 0 for random search and 1 for finding the best schedule at once, averaged over time and spaces "
      "(docs/comparing.md).");
  command
      .option("--spaces", flags->spaces, "FILES|FOLDERS",
              "Read recorded spaces (see `deplo db import --list-formats`), folders of them, and stores.")
      .take_all();
  add_objective(command, flags->objective);
  flags->search = {"random", "default"};
  command
      .option("--search", flags->search, "STRATEGIES",
              "Compare these strategies, separated by commas (see `deplo strategies`). NAME:PARAMETER=VALUE sets a "
              "hyperparameter. All are tested against the first one [random,default].")
      .take_lists();
  command.seldom()
      .option("--set", flags->set, "NAME=VALUE", "Set a hyperparameter of each strategy that has it. May be repeated.")
      .take_all();
  flags->orders = {"recorded"};
  command.seldom()
      .option("--order", flags->orders, "ORDERS",
              "Order the levels: recorded, importance, reversed or shuffled. Several orders, separated by commas, "
              "show how much the order moves each score [recorded].")
      .take_lists();
  add_contest(command, *flags);
  command.flag("--regret", flags->contest.regret,
               "Also show how far the best schedule is from the best known one after 5 to 60 trials, and what noise "
               "costs when the best is chosen (docs/comparing.md).");
  add_beginnings(command, *flags);
  auto tuning = std::make_shared<TuningFlags>();
  add_tuning(command, *tuning);
  add_outputs(command, *flags);
  // --tune-hyperparameters prints text only
  command.excludes("--tune-hyperparameters", {"--json", "--csv", "--html", "--output", "--regret"});
  command.needs("--score-on", "--tune-hyperparameters");
  command.needs("--rounds", "--tune-hyperparameters");
  command.examples("deplo compare --spaces spaces/ --search random,mcts,mcts:c=0.2 --repeats 25 -v");
  command.run([flags, tuning, &exit_code] { exit_code = run_compare(*flags, *tuning); });
}

}  // namespace deplo::apps
