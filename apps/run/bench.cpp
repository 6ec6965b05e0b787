#include "apps/run/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "apps/run/bench_store.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "engine/compile/candidate_space.h"
#include "engine/compile/target.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/loop/kernel.h"
#include "engine/revision.h"
#include "engine/source/experiment.h"
#include "engine/tune/measurer.h"
#include "engine/tune/open_runner.h"
#include "engine/tune/ties.h"
#include "measure/check/inputs.h"
#include "rules/cost/least_work.h"
#include "rules/cost/roofline.h"
#include "rules/lower.h"

namespace deplo::apps {
namespace {

BenchTime bench_time(const Result<measure::Timing>& result) {
  if (result.ok()) return {result.value(), ""};
  return {{}, fmt::format("{}: {}", status_name(result.failure().status), result.failure().message)};
}

void compare(BenchBaseline& baseline, const BenchTime& ours) {
  if (!baseline.time.failure.empty() || !ours.failure.empty()) return;
  if (!baseline.date.empty()) {
    baseline.ratio = baseline.time.median_us / ours.median_us;
    return;
  }
  const std::size_t rounds = std::min(baseline.time.samples.size(), ours.samples.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i) ratios.push_back(baseline.time.samples[i] / ours.samples[i]);
  baseline.ratio = measure::median(ratios);
  baseline.interval = measure::median_interval(ratios);
}

/// A kernel of the list, and the index of the first kernel that it equals.
struct Listed {
  engine::KernelCase kernel;  // without its loop if it equals an earlier kernel
  std::size_t first = 0;
};

using DecisionsOf = std::function<Trail(const engine::Source&, const Target&)>;

std::vector<Listed> read_kernels(const BenchOptions& options, const DecisionsOf& decisions_of) {
  std::vector<Listed> listed;
  if (options.config) {
    for (engine::KernelCase& kernel : engine::load_experiment(*options.config, options.inputs, options.source_options,
                                                              {options.target, options.device, decisions_of})
                                          .kernels) {
      const std::size_t first = listed.size();
      const std::vector<std::string> same = std::move(kernel.same);
      listed.push_back({std::move(kernel), first});
      for (const std::string& name : same) listed.push_back({{name, "", {}}, first});
    }
    return listed;
  }
  const Target for_fusion = engine::fusion_target(options.target, options.device);
  engine::KernelSelection selection = options.selection;
  if (engine::Alternatives::exist_for(selection.source))
    selection.source.decisions = decisions_of(selection.source, for_fusion);
  std::vector<engine::LoadedKernel> kernels = engine::load(selection, for_fusion, options.inputs);
  std::vector<ir::Program> programs;
  for (const engine::LoadedKernel& kernel : kernels) programs.push_back(kernel.loop);
  const std::vector<std::size_t> first = engine::first_equals(programs);
  for (std::size_t i = 0; i < programs.size(); ++i)
    listed.push_back({{.name = kernels[i].name(),
                       .place = "",
                       .loop = std::move(programs[i]),
                       .files = std::move(kernels[i].files),
                       .tile = std::move(kernels[i].tile),
                       .opaque = std::move(kernels[i].opaque)},
                      first[i]});
  return listed;
}

// Returns the store that provides the schedules. By default it is the store that receives the results, if that exists.
std::optional<std::string> schedules_of(const BenchOptions& options) {
  std::error_code error;
  if (!options.tuned && options.store && std::filesystem::exists(*options.store, error)) return options.store;
  return options.tuned;
}

class Bencher {
 public:
  Bencher(const BenchOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        runner_(engine::open_runner(
            options.device, options.in_process, [] { return interrupted() != 0; },
            [&](const std::string& what) { progress.line("warning: " + what); })),
        target_(engine::pick_target(options.target, runner_->info(), runner_->dialect(), options.device, "--target")),
        cache_(schedules_of(options), runner_->info(), target_, options.nearest, options.tolerance) {
    protocol_.tolerance = options.tolerance;
  }

  BenchReport run(const std::function<void(const BenchReport&)>& on_kernel) {
    const std::vector<Listed> kernels =
        read_kernels(options_, [this](const engine::Source& graph, const Target& for_fusion) {
          if (const std::string note = engine::note_of(graph); !note.empty()) progress_.line("warning: " + note);
          engine::GraphSchedule schedule = cache_.find_graph({graph, for_fusion});
          if (!schedule.note.empty()) progress_.line("warning: " + schedule.note);
          return std::move(schedule.trail);
        });
    if (options_.require_tuned) require_tuned(kernels);
    if (options_.store) store_.emplace(*options_.store, runner_->info(), options_);
    if (!options_.ab.empty() && kernels.size() != 1)
      throw Error(fmt::format("--ab: expected a single kernel, found {}; choose one with --only", kernels.size()));
    const std::string& device = runner_->info().name;
    BenchReport report{
        device, target_.name, options_.store.value_or(""), cache_.file(), protocol_.text(), kernels.size(), {}};
    on_kernel(report);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const auto& [kernel, first] = kernels[i];
      const std::string label = fmt::format("[{}/{}] {}", i + 1, kernels.size(), kernel.name);
      progress_.status(label, "timing");
      BenchKernel row = first == i ? bench(kernel) : report.kernels[first];
      if (interrupted() != 0) break;  // an interrupted measurement would look like a time
      row.name = kernel.name;
      row.first = first;
      report.kernels.push_back(std::move(row));
      if (first == i) progress_.line(label + "  " + describe(report.kernels.back()));
      on_kernel(report);
    }
    if (store_) store_->add_ceilings(runner_->ceilings());
    return report;
  }

 private:
  void require_tuned(const std::vector<Listed>& kernels) {
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].first == i) choose(kernels[i].kernel);
    cache_.require_tuned("--require-tuned");
  }

  /// Returns a map from the names of the kernel's buffers to their names in the measured kernel, which may differ.
  static std::map<std::string, std::string> names_of(const engine::KernelCase& kernel,
                                                     const engine::Schedule& schedule) {
    std::map<std::string, std::string> names;
    for (std::size_t i = 0; i < schedule.arguments.size(); ++i)
      names[kernel.loop.buffers[schedule.arguments[i]].name] = schedule.loop.buffers[i].name;
    return names;
  }
  static measure::InputFiles files_of(const engine::KernelCase& kernel, const engine::Schedule& schedule) {
    measure::InputFiles files;
    for (const auto& [ours, theirs] : names_of(kernel, schedule))
      if (const auto file = kernel.files.find(ours); file != kernel.files.end()) files[theirs] = file->second;
    return files;
  }
  static std::optional<measure::TileCall> tile_of(const engine::KernelCase& kernel, const engine::Schedule& schedule) {
    std::optional<measure::TileCall> tile = kernel.tile;
    if (!tile) return tile;
    const std::map<std::string, std::string> names = names_of(kernel, schedule);
    for (measure::TileCall::Argument& argument : tile->arguments)
      if (!argument.buffer.empty()) argument.buffer = names.at(argument.buffer);
    return tile;
  }

  /// Returns the known schedule of a kernel or, with --ab, the schedule of the first trail.
  engine::Schedule choose(const engine::KernelCase& kernel) {
    const ir::Program& loop = kernel.loop;
    engine::Schedule schedule;
    if (options_.ab.empty() && !kernel.opaque) {
      schedule = cache_.find(loop);
      for (std::size_t i = 0; i < schedule.arguments.size(); ++i)
        schedule.loop.buffers[i].fill = loop.buffers[schedule.arguments[i]].fill;
      return schedule;
    }
    schedule.loop = loop;
    for (std::size_t i = 0; i < loop.buffers.size(); ++i) schedule.arguments.push_back(i);
    std::string trail = options_.ab.empty() ? "" : options_.ab[0];
    if (options_.ab.empty()) {
      const engine::OpaqueSchedule found = cache_.find(*kernel.opaque);
      static_cast<engine::Provenance&>(schedule) = found;
      if (found.origin == engine::Origin::heuristic && found.note.empty())
        schedule.note = kernel.opaque->replaced_defaults("", "--space");
      trail = print(found.trail);
    }
    schedule.compiled = by_trail(kernel, loop, trail);
    return schedule;
  }

  /// Compiles a kernel with a trail. The heuristic makes the decisions that follow after the end of the trail.
  engine::Compiled by_trail(const engine::KernelCase& kernel, const ir::Program& loop, const std::string& trail) const {
    if (!kernel.opaque) return engine::compile(rules::follow(loop, target_, parse_trail(trail)).value_or_throw());
    engine::Compiled compiled =
        engine::candidate_space(kernel, target_, {})->compile(*kernel.opaque->candidate(trail, "--ab"));
    if (compiled.fault) throw Error(compiled.fault->message);
    return compiled;
  }

  /// Returns the same kernel with the other schedule that is timed against `schedule`: the second trail of --ab, or the
  /// heuristic's schedule; nullopt if there is none.
  std::optional<engine::Compiled> other(const engine::KernelCase& kernel, const engine::Schedule& schedule) const {
    if (!options_.ab.empty()) return by_trail(kernel, schedule.loop, options_.ab[1]);
    if (schedule.origin == engine::Origin::heuristic) return std::nullopt;
    engine::Compiled heuristic = by_trail(kernel, schedule.loop, "");
    if (heuristic.digest == schedule.compiled.digest) return std::nullopt;  // tuning found nothing faster
    return heuristic;
  }

  BenchKernel bench(const engine::KernelCase& kernel) {
    const engine::Schedule schedule = choose(kernel);
    BenchKernel row;
    static_cast<engine::Provenance&>(row) = schedule;
    const engine::Compiled& compiled = schedule.compiled;
    row.allow_tf32 = kernel.loop.allow_tf32;
    row.trail = print(compiled.trail);
    files_ = files_of(kernel, schedule);
    tile_ = tile_of(kernel, schedule);
    protocol_.inputs = measure::describe_inputs(measure::with_index_ranges(schedule.loop), files_);
    if (kernel.opaque) protocol_.inputs = engine::describe_inputs(kernel);
    if (store_)
      store_->enter(kernel.name, kernel.opaque ? stored_text(kernel) : engine::stored_text(schedule.loop),
                    protocol_.text());
    const std::optional<engine::Compiled> second = other(kernel, schedule);
    measure::worker::Reply reply{Failure{}};
    try {
      reply = time(kernel, schedule, second, row);
    } catch (const Error& error) {  // no finite result, too little memory or a lost device: go on to the next kernel
      row.baselines.clear();
      row.ours.failure = error.what();
      return row;
    }
    row.ours = bench_time(reply.timing);
    if (interrupted() != 0) return row;
    if (store_) {
      store_->add(compiled, engine::changes(compiled.trail, by_trail(kernel, schedule.loop, "").trail), reply);
      store_->enter(kernel.name, stored_text(kernel), protocol_.text());
      std::ranges::move(store_->earlier(row.baselines), std::back_inserter(row.baselines));
    }
    for (BenchBaseline& baseline : row.baselines) compare(baseline, row.ours);
    return row;
  }

  /// Times the kernel with `schedule`, and returns its reply. Adds the times of the libraries and of the other schedule
  /// (`second`) to `row`.
  measure::worker::Reply time(const engine::KernelCase& kernel, const engine::Schedule& schedule,
                              const std::optional<engine::Compiled>& second, BenchKernel& row) {
    runner_->open({.loop = schedule.loop,
                   .seed = options_.seed,
                   .protocol = protocol_,
                   .known = known_ceilings(),
                   .files = files_,
                   .memory_rates = !kernel.opaque,
                   .libraries = !kernel.opaque,
                   .expected = kernel.opaque ? kernel.opaque->expectation() : measure::Expectation{},
                   .tile = tile_});
    std::vector<measure::KernelCode> candidates{schedule.compiled.code};
    if (second) candidates.push_back(second->code);
    auto replies = runner_->confirm(candidates, {options_.seed, options_.seconds, [] { return interrupted() != 0; }});
    const measure::worker::Libraries& libraries = runner_->libraries();
    row.no_baseline = libraries.none;
    if (kernel.opaque && !second)
      row.no_baseline =
          schedule.origin == engine::Origin::tuned ? "the untuned configuration is the same" : "not tuned";
    if (!kernel.opaque) {
      const rules::Ceilings ceilings = rules::highest(known_ceilings(), runner_->ceilings());
      row.model_us = model_us(schedule, ceilings);
      const bool matrices = measure::has_matrix_instructions(runner_->info().backend, runner_->info().architecture);
      row.bound_us = rules::least_us(rules::least_work(schedule.loop, matrices), ceilings, 0, 1);
    }
    for (std::size_t i = 0; i < libraries.found.size(); ++i) {
      const auto& [library, version, precision, threads] = libraries.found[i];
      const Result<measure::Timing>& timing = replies[candidates.size() + i].timing;
      row.baselines.push_back({library, version, precision, threads, bench_time(timing)});
      if (store_ && interrupted() == 0) store_->add(row.baselines.back(), timing);
    }
    if (second) row.baselines.push_back(own_row(bench_time(replies[1].timing)));
    return std::move(replies[0]);
  }

  rules::Ceilings known_ceilings() { return store_ ? store_->known_ceilings() : rules::Ceilings{}; }

  /// Returns the analytic model's time, which uses no measured time of this kernel; 0: not known.
  double model_us(const engine::Schedule& schedule, const rules::Ceilings& ceilings) {
    if (ceilings.gb_s() == 0) return 0;  // without a bandwidth, the unit is arbitrary
    const auto lowered = rules::follow(schedule.loop, target_, schedule.compiled.trail).value_or_throw();
    return rules::roofline_us(rules::features(lowered.program(), target_), target_, ceilings);
  }

  BenchBaseline own_row(BenchTime time) const {
    return {options_.ab.empty() ? "untuned" : "B", std::string(engine::revision()), own_precision, 0, std::move(time)};
  }

  const BenchOptions& options_;
  Progress& progress_;
  std::unique_ptr<measure::worker::Runner> runner_;
  Target target_;
  measure::Protocol protocol_;  // of the current kernel, like files_ and tile_
  measure::InputFiles files_;
  std::optional<measure::TileCall> tile_;
  std::optional<BenchStore> store_;
  engine::TunedCache cache_;
};

}  // namespace

bool BenchReport::right() const {
  return std::ranges::all_of(kernels, [](const BenchKernel& kernel) { return kernel.ours.failure.empty(); });
}

BenchReport bench_kernels(const BenchOptions& options, Progress& progress,
                          const std::function<void(const BenchReport&)>& on_kernel) {
  return Bencher(options, progress).run(on_kernel);
}

}  // namespace deplo::apps
