#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/tune/tuning_table.h"
#include "core/error.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "core/text/json.h"
#include "core/text/number.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "core/trail.h"
#include "engine/compile/tuned.h"
#include "engine/source/experiment.h"
#include "engine/source/experiment_text.h"
#include "engine/source/shapes.h"
#include "engine/source/shard.h"
#include "engine/source/source.h"
#include "engine/tune/board.h"
#include "engine/tune/tune.h"
#include "measure/store/quantity.h"
#include "search/searcher.h"

namespace deplo::apps {
namespace {

/// The shapes for which a single source is tuned.
struct FamilyFlags {
  std::vector<std::string> shapes;
  std::string held_out, loss_over;
  std::optional<double> max_loss;
};

struct TuneFlags {
  SourceFlags source;
  FamilyFlags family;
  engine::TuneOptions options{.store = engine::default_store(), .overrides = {}};
  std::string config, inputs;
  std::optional<std::string> search, device, target, shard, objectives;
  std::optional<std::int64_t> seed, trials, patience;
  std::optional<double> seconds, goal;
  std::vector<std::string> set, restrictions;
  bool json = false, quiet = false;
};

template <class T, class Field>
void override(Field& field, const std::optional<T>& flag, const char* name, std::string& overrides) {
  if (!flag) return;
  field = static_cast<Field>(*flag);
  overrides += fmt::format(" {} {}", name, *flag);
}

/// Sets the objectives of all kernels and graphs. `flag`: their names, such as "time,code_size".
void set_objectives(const std::string& flag, engine::Experiment& experiment) {
  const std::vector<std::string_view> names = lines_of(flag, ',');
  const measure::Objectives objectives = measure::objectives_of({names.begin(), names.end()}, "--objectives");
  if (!experiment.families.empty() && !objectives.empty())
    throw Error("--objectives cannot be combined with shapes, whose schedules are chosen by time");
  for (engine::KernelCase& kernel : experiment.kernels) kernel.objectives = objectives;
  for (engine::GraphCase& graph : experiment.graphs) graph.objectives = objectives;
}

std::string apply(const TuneFlags& flags, engine::Experiment& experiment) {
  if (flags.search) engine::check_strategy(*flags.search, "--search");
  const engine::TuneOptions& options = flags.options;
  std::string overrides;
  if (flags.search && *flags.search != experiment.strategy) experiment.options.parameters.clear();
  override(experiment.strategy, flags.search, "--search", overrides);
  const bool is_default = !flags.search && experiment.options.parameters.empty() &&
                          search::find_searcher(experiment.strategy).name == search::find_searcher("default").name;
  // With such a wish for bits, thousands of schedules may be left out. The default strategy learns nothing from them,
  // and takes long because it ranks playouts for each of them.
  if ((!options.bits.same_as.empty() || !options.bits.same_rows_as.empty()) && is_default) {
    experiment.strategy = "mcts";
    experiment.options.parameters = {{"share", "0"}, {"c", "0.5"}};
  }
  for (const std::string& assignment : flags.set) {
    engine::set_parameter(experiment, assignment, "--set");
    overrides += " --set " + assignment;
  }
  for (const std::string& text : flags.restrictions) overrides += " --restrict " + text;
  const RestrictFlags restrict_flags = parse_restrictions(flags.restrictions);
  if (!restrict_flags.set.empty()) experiment.restrictions = restrict_flags.set;
  for (engine::KernelCase& kernel : experiment.kernels)
    kernel.restrictions = joined(std::move(kernel.restrictions), restrict_flags.own);
  engine::check_parameters(experiment.kernels);
  for (engine::GraphCase& graph : experiment.graphs)
    graph.restrictions = joined(std::move(graph.restrictions), restrict_flags.own);
  override(experiment.device, flags.device, "--device", overrides);
  override(experiment.target, flags.target, "--target", overrides);
  override(experiment.options.seed, flags.seed, "--seed", overrides);
  override(experiment.trials, flags.trials, "--trials", overrides);
  override(experiment.patience, flags.patience, "--patience", overrides);
  override(experiment.goal, flags.goal, "--goal", overrides);
  override(experiment.seconds, flags.seconds, "--time", overrides);
  if (flags.objectives) {
    set_objectives(*flags.objectives, experiment);
    overrides += " --objectives " + *flags.objectives;
  }
  overrides += flags.source.options.command_line();
  if (!options.warm_start.empty()) overrides += " --warm-start " + options.warm_start;
  if (options.tolerance != measure::default_tolerance) overrides += fmt::format(" --tolerance {}", options.tolerance);
  if (!flags.inputs.empty()) overrides += " --inputs " + flags.inputs;
  if (options.bits.deterministic) overrides += " --deterministic";
  if (!options.bits.same_as.empty()) overrides += fmt::format(" --same-bits-as \"{}\"", options.bits.same_as);
  if (!options.bits.same_rows_as.empty()) overrides += " --same-rows-as " + options.bits.same_rows_as;
  if (options.analytic_prior > 0) overrides += fmt::format(" --analytic-prior {}", options.analytic_prior);
  if (options.winners != engine::default_winners) overrides += fmt::format(" --winners {}", options.winners);
  return overrides;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return cut(text, 300);
}

/// Throws Error if a kernel has no time, or if its strategy failed.
void check_tuned(const engine::Summary& summary) {
  std::vector<const engine::Row*> left_out;
  for (const engine::Row& row : summary.rows) {
    if (row.stop == engine::untunable && !row.alternative)
      left_out.push_back(&row);
    else if (row.best_us <= 0 && !row.alternative)
      throw Error(
          fmt::format("no candidate of {} gave a valid time; the last failure: {}", row.name, one_line(row.fault)),
          row.is_own_fault ? Exit::user : Exit::environment);
  }
  if (!left_out.empty())
    throw Error(fmt::format("{} of {} kernels cannot be tuned; {}: {}", left_out.size(), summary.rows.size(),
                            left_out.front()->name, one_line(left_out.front()->fault)));
  for (const engine::Row& row : summary.rows)
    if (row.stop == engine::strategy_failed)
      throw Error(fmt::format("{}: {}; its earlier measurements are kept", row.name, one_line(row.fault)));
}

/// Returns the text of an experiment with a single source.
std::string text_of(const engine::Source& source, const FamilyFlags& flags) {
  Json entry = engine::entry_of(source);
  if (source.kind() == engine::SourceKind::expression) entry.set("name", "graph");
  if (const auto* file = std::get_if<engine::ExpressionFile>(&source.from))
    entry.set("name", std::filesystem::path(file->file).stem().string());
  if (!flags.shapes.empty()) entry.set("shapes", Json::array(flags.shapes));
  if (!flags.held_out.empty()) entry.set("held_out", parse_value(flags.held_out));
  Json experiment = Json::object({{"kernels", Json::array({entry})}});
  Json family = Json::object();
  if (flags.max_loss) family.set("loss", *flags.max_loss);
  if (!flags.loss_over.empty()) family.set("over", flags.loss_over);
  if (flags.max_loss || !flags.loss_over.empty()) experiment.set("family", family);
  return experiment.print();
}

/// Returns the name of the experiment of a single source: the file's name, the kernel's or the model's.
std::string name_of(const SourceFlags& flags) {
  if (flags.code) return "-c";
  for (const auto& name : {flags.file, flags.pt2, flags.model})
    if (name) return *name;
  return flags.kernel + flags.tile.file + flags.file_kernel.space;  // one of them is given
}

/// Reports errors that would be reported for the source, and not for the flag, later.
void check_family(const FamilyFlags& flags) {
  std::size_t shapes = 0;
  for (const std::string& sizes : flags.shapes) shapes += engine::parse_shapes(sizes, "--shapes").size();
  if (flags.held_out.empty()) return;
  if (flags.held_out.find('=') != std::string::npos) {
    engine::parse_shapes(flags.held_out, "--held-out");
    return;
  }
  const std::optional<std::int64_t> drawn = parse_number<std::int64_t>(flags.held_out);
  if (!drawn || *drawn < 0 || *drawn > static_cast<std::int64_t>(shapes))
    throw Error(fmt::format("--held-out: expected shapes such as M=3, or their number, between 0 and {}, found '{}'",
                            shapes, flags.held_out));
}

/// Makes the experiment of a single source. Its text is in no file, so messages name the source instead of a line.
engine::Experiment experiment_of(const TuneFlags& flags, const engine::Place& place, engine::Inputs inputs) {
  check_family(flags.family);
  const engine::Source source = flags.source.selection().source;
  const std::string name = name_of(flags.source);
  const bool is_empty = (flags.source.code && flags.source.code->empty()) ||
                        (flags.source.file && read_text(find_data(*flags.source.file)).empty());
  if (is_empty)
    throw Error(fmt::format("{}: expected an expression such as torch.exp(torch.randn(8)), found none", name));
  if (source.tile() != nullptr && source.tile()->grid.empty())
    throw Error("--tile requires --grid, the number of blocks in each dimension");
  try {
    return engine::parse_experiment(text_of(source, flags.family), name, ".", std::move(inputs), source.options, place);
  } catch (const Error& error) {
    std::string_view message = error.what();
    const std::string line = name + ":1: ";
    // a file may have such a line
    if (name.ends_with(".loop") || !message.starts_with(line)) throw;
    message.remove_prefix(line.size());
    if (message.starts_with("expression:"))
      throw Error(fmt::format("{}:{}", name, message.substr(message.find(':') + 1)), error.exit());
    throw Error(fmt::format("{}: {}", flag_of(source.kind()), message), error.exit());
  }
}

/// Reads the experiment of --config, or makes one for a single source.
engine::Experiment read_experiment(const TuneFlags& flags) {
  const engine::Place place{flags.target, flags.device};
  engine::Inputs inputs = flags.inputs.empty() ? engine::Inputs{} : engine::load_inputs(flags.inputs);
  if (!flags.source.is_empty()) return experiment_of(flags, place, std::move(inputs));
  require(flags.config,
          "--config FILE, --kernel NAME, -c CODE, --file FILE, --pt2 FILE, --model NAME, --tile FILE or "
          "--space FILE");
  return engine::load_experiment(flags.config, std::move(inputs), flags.source.options.read(), place);
}

int run_tune(const TuneFlags& flags) {
  const std::optional<engine::Shard> shard =
      flags.shard ? std::optional(engine::parse_shard(*flags.shard)) : std::nullopt;
  if (flags.device) engine::check_device(*flags.device, "--device");
  if (flags.target) engine::check_target(*flags.target, "--target");
  engine::Experiment experiment = read_experiment(flags);
  engine::TuneOptions options = flags.options;
  options.overrides = apply(flags, experiment);
  catch_interrupts();
  engine::Board board;
  Progress progress(stderr, flags.quiet);
  for (const engine::KernelCase& kernel : experiment.kernels)
    if (kernel.opaque)
      for (const std::string& note : kernel.opaque->notes()) progress.line(fmt::format("{}: {}", kernel.name, note));
  const auto report = [&] {
    progress.end();
    const engine::Summary summary = board.read();
    print_result(flags.json ? print_json(summary) : print_table(summary, window_width()));
  };
  Deadline deadline([&] {
    try {
      engine::abandon(options);
    } catch (const Error&) {
      // Another process holds the store. The next run settles the trials that were begun.
    }
    report();
  });
  if (shard && !experiment.families.empty())
    throw Error("--shard cannot be combined with shapes, whose kernels are tuned together");
  if (shard) {
    progress.line(engine::describe_shards(experiment, *shard));
    options.overrides += " --shard " + *flags.shard;
    engine::take_shard(experiment, *shard);
  }
  tune(experiment, options, progress, board);
  deadline.lift();
  report();
  const engine::Summary summary = board.read();
  if (summary.interrupted) return 128 + interrupted();
  check_tuned(summary);
  return 0;
}

void add_search(Command command, TuneFlags& flags) {
  command.option("--search", flags.search, "STRATEGY", "Use this strategy (see `deplo strategies`) [default].");
  command.seldom()
      .option("--set", flags.set, "NAME=VALUE",
              "Set a hyperparameter of the strategy (see `deplo strategies NAME`). May be repeated. A strategy other "
              "than the experiment's has none of the experiment's hyperparameters.")
      .repeated();
  add_restrictions(command, flags.restrictions, "gpu on GPUs, else none");
  command.seldom()
      .option("--seed", flags.seed, "N", "Set the seed of all random choices [0].")
      .between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
}

void add_budget(Command command, TuneFlags& flags) {
  const engine::Experiment defaults;
  command
      .option("--time", flags.seconds, "SECONDS",
              fmt::format("Search for SECONDS in total. Every kernel is measured at least once, with the heuristic's "
                          "schedule [{}].",
                          defaults.seconds))
      .between(0.0, engine::max_seconds);
  command
      .option("--trials", flags.trials, "N",
              fmt::format("Make at most N new measurements per kernel [{}].", defaults.trials))
      .between(std::int64_t{1}, engine::max_count);
  command.seldom()
      .option("--patience", flags.patience, "N",
              fmt::format("Stop a kernel after N new measurements without a new best [{}].", defaults.patience))
      .between(std::int64_t{1}, engine::max_count);
  command.seldom()
      .option("--goal", flags.goal, "RATIO",
              "Stop a kernel when doubling its measurements is expected to speed it up by a factor below RATIO, such "
              "as 1.02: when the second half of its measurements did (after at least 16).")
      .between(1.0, engine::largest_goal);
  command.seldom().option(
      "--shard", flags.shard, "I/N",
      "Tune share I of N of the kernels, to split an experiment over N processes. `deplo db merge` joins "
      "their stores.");
}

void add_family(Command command, FamilyFlags& family) {
  command
      .option("--shapes", family.shapes, "SIZES",
              "Keep few schedules for many shapes, such as \"M=1..4096:pow2 N=8,16\" (docs/shapes.md). Repeatable.")
      .repeated();
  command.seldom().option(
      "--held-out", family.held_out, "SIZES",
      "With --shapes: also measure the kept schedules on these shapes. A number draws that many random shapes "
      "[half as many as tuned shapes, at most 6].");
  command.seldom()
      .option("--max-loss", family.max_loss, "PERCENT",
              "With --shapes: allow a kept schedule to be this much slower than the shape's best schedule [5].")
      .between(0.0, engine::max_loss_percent);
  command.seldom().option("--loss-over", family.loss_over, "worst|mean",
                          "With --shapes: apply --max-loss to the worst loss of all shapes, or to their mean [worst].");
  for (const char* flag : {"--held-out", "--max-loss", "--loss-over"}) command.needs(flag, "--shapes");
  command.excludes("--shapes", {"--config", "--file", "--model", "--tile", "--space"});
}

void add_beginnings(Command command, TuneFlags& flags) {
  command.option("--warm-start", flags.options.warm_start, "STORE",
                 "First measure the fastest schedules in STORE for the same kernels and the nearest sizes.");
  command.seldom()
      .option("--analytic-prior", flags.options.analytic_prior, "N",
              "Without a warm start, train the strategy's model, if it has one, on the analytic model's estimates of N "
              "random schedules; each takes 2 ms (docs/model.md) [0].")
      .between(std::int64_t{0}, std::int64_t{100'000});
  command.seldom()
      .option("--winners", flags.options.winners, "N",
              "Without a warm start, first measure N schedules that won for other kernels of this run. With 0, a "
              "kernel's result does not depend on the others [4].")
      .between(std::int64_t{0}, engine::max_count);
}

/// Adds the flags for the bits that schedules may give.
void add_bits(Command& command, engine::BitsWish& bits) {
  command.seldom().option("--same-bits-as", bits.same_as, "TRAIL",
                          "Find only schedules that give the same bits as this one: heuristic, stored, or a trail "
                          "(docs/determinism.md).");
  command.seldom().option("--same-rows-as", bits.same_rows_as, "FINGERPRINT",
                          "Find only schedules that compute each row in this order, whatever the number of rows.");
  command.seldom().flag("--deterministic", bits.deterministic,
                        "Find only schedules that give the same bits in each launch: no atomic sums of floats.");
}

}  // namespace

void add_tune(Command command, int& exit_code) {
  auto flags = std::make_shared<TuneFlags>();
  command.describe(
      "Search for the fastest schedule of every kernel of a source or an experiment.\nFlags override the experiment's "
      "file. Ctrl-C "
      "prints the results so far; the same command continues from there.");
  command.option("--config", flags->config, "FILE", "Read an experiment (YAML): kernels, search and budget.");
  add_source_flags(command, flags->source);
  command.excludes("--config", {"--code", "--file", "--pt2", "--model", "--kernel", "--symbol", "--tile", "--space"});
  command.seldom().option(
      "--objectives", flags->objectives, "NAME,…",
      "Minimize these together: time, energy, code_size, registers, spills or shared_memory, as far as the "
      "device reports them (docs/strategies.md).");
  add_family(command, flags->family);
  add_budget(command, *flags);
  add_search(command, *flags);
  command.option("--device", flags->device, "DEVICE",
                 "Use this device: cuda, cuda:N, opencl, opencl:N or interpreter (see `deplo devices`) [opencl].");
  command.seldom().option("--target", flags->target, "TARGET",
                          "Compile for this target: a name under configs/targets, or auto (that of the device) "
                          "[auto].");
  command
      .option("--store", flags->options.store, "FILE",
              "Store all measurements in this SQLite file. Those already in it are not repeated.")
      .show_default();
  add_beginnings(command, *flags);
  add_inputs(command, flags->inputs);
  add_tolerance(command, flags->options.tolerance);
  add_bits(command, flags->options.bits);
  command.seldom().flag("--retry-failed", flags->options.retry_failed,
                        "Measure failures of earlier runs again. They may hang or crash again.");
  command.seldom().flag("--in-process", flags->options.in_process,
                        "Run candidates in this process, for a debugger. If one crashes, so does the process.");
  command.flag("--json", flags->json, "Print one JSON document instead of the table.");
  command.flag("--quiet", flags->quiet, "Show no progress.");
  command.examples(
      fmt::format("{0} --config experiments/smoke.yaml --time 10\n"
                  "{0} --file model.py --search mcts --device cuda\n"
                  "{0} -k matmul -s N=512 -s K=512 --shapes \"M=1..2048:pow2\"",
                  command.full_name()));
  command.run([flags, &exit_code] { exit_code = run_tune(*flags); });
}

}  // namespace deplo::apps
