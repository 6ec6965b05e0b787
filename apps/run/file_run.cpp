#include "apps/run/file_run.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "apps/run/output_files.h"
#include "core/error.h"
#include "engine/compile/target.h"
#include "engine/compile/tuned.h"
#include "engine/source/load.h"
#include "engine/tune/open_runner.h"
#include "measure/check/npy.h"
#include "measure/check/output_check.h"
#include "measure/protocol/problem.h"
#include "measure/worker/isolated_device.h"

namespace deplo::apps {
namespace {

class FileRunner {
 public:
  FileRunner(const RunOptions& options, Progress& progress)
      : options_(options),
        progress_(progress),
        kernel_(std::move(
            engine::load({options.source, {}}, engine::fusion_target(options.target, options.device), options.inputs)
                .front())),
        file_(*kernel_.opaque),
        device_(engine::worker_command({"--device", options.device, "--once"}), options.limit),
        target_(engine::pick_target(options.target, device_.info(), device_.dialect(), options.device, "--target")),
        report_(begin_report(options, device_.info(), target_, kernel_.loop.buffers)) {
    engine::check_language(file_, device_.info(), kernel_.name());
  }

  RunReport run() {
    const engine::OpaqueSchedule schedule = choose();
    const measure::KernelCode code = file_.code(*file_.space().find(schedule.trail));
    measure::Problem problem(kernel_.loop, device_, options_.seed, nullptr, options_.tolerance, kernel_.files,
                             file_.expectation());
    progress_.status(kernel_.name(), "the reference");
    problem.reference();
    progress_.status(kernel_.name(), "building and running");
    problem.poison_outputs();
    add_row(schedule, code, launch(code, problem.arrays()));
    add_outputs(problem);
    return std::move(report_);
  }

 private:
  /// Returns the decisions: those of --configuration, or else of the store, or else the defaults.
  engine::OpaqueSchedule choose() {
    if (!options_.configuration.empty()) {
      Trail trail = file_.candidate(options_.configuration, "--configuration")->trail();
      return {{.note = file_.replaced_defaults(options_.configuration, "--configuration")}, std::move(trail)};
    }
    engine::TunedCache cache(options_.tuned, device_.info(), target_, false, options_.tolerance);
    report_.store = cache.file();
    engine::OpaqueSchedule schedule = cache.find(file_);
    if (options_.require_tuned) cache.require_tuned("--require-tuned");
    if (schedule.origin == engine::Origin::heuristic && schedule.note.empty())
      schedule.note = file_.replaced_defaults("", "--space");
    return schedule;
  }

  double launch(const measure::KernelCode& code, measure::Arrays& arrays) {
    const auto built = device_.build(code);
    Result<double> time = built.ok() ? Result<double>(0.0) : Result<double>(built.failure());
    if (built.ok() && !options_.no_measure) time = built.value()->launch(arrays, code.source.blocks);
    if (built.ok() && options_.no_measure)
      if (const auto failed = built.value()->execute(arrays, code.source.blocks)) time = *failed;
    if (!time.ok()) throw Error(fmt::format("kernel {}: {}", kernel_.name(), time.failure().message));
    return time.value();
  }

  void add_row(const engine::OpaqueSchedule& schedule, const measure::KernelCode& code, double microseconds) {
    KernelLaunch& row = report_.kernels.emplace_back();
    static_cast<engine::Provenance&>(row) = schedule;
    row.name = kernel_.name();
    row.trail = print(schedule.trail);
    row.microseconds = microseconds;
    row.launch = describe(*code.launch);
    row.configuration = !options_.configuration.empty()                ? "given"
                        : schedule.origin == engine::Origin::heuristic ? "default"
                                                                       : std::string(name(schedule.origin));
    report_.printed = device_.printed();
  }

  void add_outputs(measure::Problem& problem) {
    OutputFiles files(options_.outputs);
    for (const measure::Reference::Output& expected : problem.reference().outputs) {
      const ir::Buffer& buffer = problem.loop().buffers[expected.buffer];
      const ir::Numbers found = problem.arrays().read(expected.buffer);
      OutputCheck& check = report_.outputs.emplace_back(compare_output(found, expected, buffer, options_.tolerance));
      if (!expected.sum && !expected.partial) find_unwritten(buffer, problem.arrays(), expected.buffer, check);
      if (files.wanted()) files.add(buffer.name, measure::npy_bytes(found, {buffer.dtype, buffer.shape}));
    }
    files.finish();
    // Also check that the elements which are not compared were written.
    if (const auto failure = problem.check(measure::Coverage::whole); failure && report_.right())
      throw Error(fmt::format("kernel {}: {}", kernel_.name(), failure->message));
  }

  /// An element that was not written is a NaN or -1, which does not say what is wrong.
  static void find_unwritten(const ir::Buffer& buffer, measure::Arrays& arrays, std::size_t index, OutputCheck& check) {
    const auto unwritten = measure::find_unwritten(buffer, {buffer.dtype, arrays.read_bytes(index)});
    if (!unwritten) return;
    check.right = false;
    check.error = std::numeric_limits<double>::infinity();
    check.worst = unwritten->message.substr(buffer.name.size());  // the table has the name
  }

  const RunOptions& options_;
  Progress& progress_;
  engine::LoadedKernel kernel_;
  const engine::OpaqueKernel& file_;
  measure::worker::IsolatedDevice device_;
  Target target_;
  RunReport report_;
};

}  // namespace

RunReport run_file(const RunOptions& options, Progress& progress) { return FileRunner(options, progress).run(); }

}  // namespace deplo::apps
