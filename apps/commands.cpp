#include "apps/commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include "apps/board.h"
#include "apps/compile.h"
#include "apps/experiment.h"
#include "apps/interrupt.h"
#include "apps/table.h"
#include "apps/tune.h"
#include "core/error.h"
#include "core/text.h"
#include "measure/device.h"

namespace deplo::apps {
namespace {

void print_result(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) throw Error("cannot write to standard output", Exit::environment);
}

struct TuneFlags {
  std::string config, store = "deplo.db";
  std::optional<std::string> search, device, target;
  std::optional<std::int64_t> seed, trials, patience;
  std::optional<double> seconds;
  bool json = false, quiet = false;
};

template <class T, class Field>
void override(Field& field, const std::optional<T>& flag, const char* name, std::string& overrides) {
  if (!flag) return;
  field = static_cast<Field>(*flag);
  overrides += fmt::format(" {} {}", name, *flag);
}

std::string apply(const TuneFlags& flags, Experiment& experiment) {
  if (flags.search) check_strategy(*flags.search, "--search");
  if (flags.device) check_device(*flags.device, "--device");
  if (flags.target) check_target(*flags.target, "--target");
  std::string overrides;
  override(experiment.strategy, flags.search, "--search", overrides);
  override(experiment.device, flags.device, "--device", overrides);
  override(experiment.target, flags.target, "--target", overrides);
  override(experiment.options.seed, flags.seed, "--seed", overrides);
  override(experiment.trials, flags.trials, "--trials", overrides);
  override(experiment.patience, flags.patience, "--patience", overrides);
  override(experiment.seconds, flags.seconds, "--time", overrides);
  return overrides;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return cut(text, 300);
}

// In place of CLI11's own, which take NaN for a number in every range and print bounds as 0.000000.
template <class Number>
CLI::Validator between(Number least, Number most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // A NaN is in no range.
    if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return "";
    const char* const kind = std::is_integral_v<Number> ? "an integer" : "a number";
    return fmt::format("expected {} between {} and {}, found '{}'", kind, least, most, text);
  };
  return CLI::Validator(check, "");
}

// Not left to CLI11, which would speak of a missing flag before one that is misspelt.
void require(const std::string& value, const char* flag) {
  if (value.empty()) throw Error(fmt::format("expected the flag {}, found none; see --help", flag));
}

int run_tune(const TuneFlags& flags) {
  require(flags.config, "--config FILE");
  Experiment experiment = load_experiment(flags.config);
  const std::string overrides = apply(flags, experiment);
  catch_interrupts();
  Board board;
  const auto report = [&] {
    const Summary summary = board.read();
    print_result(flags.json ? print_json(summary) : print_table(summary, terminal_width(STDOUT_FILENO)));
  };
  Deadline deadline(report);
  Progress progress(stderr, flags.quiet);
  tune(experiment, {flags.store, overrides}, progress, board);
  deadline.lift();
  report();
  const Summary summary = board.read();
  if (summary.interrupted) return 128 + interrupted();
  for (const Row& row : summary.rows)
    if (row.best_us <= 0)
      throw Error(
          fmt::format("no candidate of {} gave a valid time; the latest said: {}", row.name, one_line(row.fault)),
          Exit::environment);
  return 0;
}

// "M=33" → {"M", 33}
std::pair<std::string, std::int64_t> parse_symbol(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int64_t value = 0;
  if (equals != std::string::npos && equals > 0) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error == std::errc() && stop == end && value >= 1 && value <= most_extent)
      return {text.substr(0, equals), value};
  }
  throw Error(fmt::format("--symbol: expected NAME=SIZE with a size between 1 and {}, found '{}'", most_extent, text));
}

}  // namespace

void add_tune(CLI::App& command, int& exit_code) {
  auto flags = std::make_shared<TuneFlags>();
  command.add_option("-c,--config", flags->config, "the experiment (YAML): kernels, search, budget")->type_name("FILE");
  command.add_option("--search", flags->search, "mcts, random, exhaustive or heuristic")->type_name("NAME");
  command.add_option("--seed", flags->seed, "the same seed asks for the same schedules in the same order")
      ->check(between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N");
  command.add_option("--time", flags->seconds, "seconds for all kernels together; each gets at least its heuristic")
      ->check(between(0.0, most_seconds))
      ->type_name("SECONDS");
  command.add_option("--trials", flags->trials, "new measurements per kernel")
      ->check(between(std::int64_t{1}, most_count))
      ->type_name("N");
  command.add_option("--patience", flags->patience, "stop a kernel after so many new measurements without a new best")
      ->check(between(std::int64_t{1}, most_count))
      ->type_name("N");
  command.add_option("--device", flags->device, "opencl, opencl:N (see `deplo devices`) or interpreter")
      ->type_name("NAME");
  command.add_option("--target", flags->target, "a name under configs/targets, or auto: what the device is")
      ->type_name("NAME");
  command
      .add_option("--store", flags->store, "SQLite file that every trial goes to; known ones are not measured again")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_flag("--json", flags->json, "print one JSON document instead of the table");
  command.add_flag("--quiet", flags->quiet, "no progress");
  command.callback([flags, &exit_code] { exit_code = run_tune(*flags); });
}

void add_compile(CLI::App& command) {
  auto options = std::make_shared<CompileOptions>();
  auto symbols = std::make_shared<std::vector<std::string>>();
  command.add_option("-k,--kernel", options->kernel, "a name under configs/kernels, or the path of a .loop file")
      ->type_name("NAME");
  command.add_option("-s,--symbol", *symbols, "once for each symbol of the kernel")->type_name("NAME=SIZE")->take_all();
  command.add_option("--target", options->target, "a name under configs/targets [sm_90 for cuda, else opencl-cpu]")
      ->type_name("NAME");
  command.add_option("--ir", options->level, "what to print: loop, tile, kernel, cuda or opencl")
      ->type_name("LEVEL")
      ->capture_default_str();
  command.add_option("--schedule", options->schedule, "a trail, such as the table of `deplo tune` prints; quoted")
      ->type_name("TRAIL");
  command.add_flag("-v", options->verbose, "what each rule did; -vv: with the difference it made");
  command.callback([options, symbols] {
    require(options->kernel, "--kernel NAME");
    check_name("--ir", "a level", options->level, {"loop", "tile", "kernel", "cuda", "opencl"});
    for (const std::string& symbol : *symbols) {
      const auto [name, value] = parse_symbol(symbol);
      if (!options->symbols.emplace(name, value).second)
        throw Error(fmt::format("--symbol: expected each symbol once, found {} twice", name));
    }
    print_result(compile(*options));
  });
}

void add_devices(CLI::App& command) {
  command.callback([] {
    std::string text;
    for (const auto& [name, info] : measure::list_devices())
      text += fmt::format("{:<12} {} ({}, {}; {} units, {} KiB local memory)\n", name, info.name, info.platform,
                          info.driver, info.units, info.shared_bytes / 1024);
    print_result(text);
  });
}

}  // namespace deplo::apps
