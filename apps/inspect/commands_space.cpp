#include <fmt/format.h>

#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/cli/source_flags.h"
#include "apps/inspect/kernel_file_space.h"
#include "apps/inspect/space.h"
#include "core/interrupt.h"
#include "engine/source/experiment.h"
#include "measure/device.h"

namespace deplo::apps {
namespace {

struct SpaceFlags {
  SpaceOptions options;
  SourceFlags source;
  std::vector<std::string> restrictions;
  bool json = false;
};

int run_file_space(const SpaceFlags& flags) {
  const engine::foreign::KernelFile file(flags.source.file_kernel);
  print_result(flags.options.sample > 0 ? sample_configurations(file, flags.options.sample, flags.options.seed)
               : flags.json             ? print_configurations_json(file)
                                        : print_configurations(file));
  return 0;
}

std::string result_text(const SpaceFlags& flags, const std::vector<KernelSetReport>& sets,
                        const std::vector<SpaceReport>& reports) {
  return flags.json ? print_json(flags.options, sets, reports)
                    : print_table(flags.options, sets, reports, window_width());
}

int run_space(SpaceFlags flags) {
  if (!flags.source.file_kernel.space.empty()) return run_file_space(flags);
  flags.options.selection = flags.source.selection();
  const RestrictFlags restrict_flags = parse_restrictions(flags.restrictions);
  flags.options.restrictions =
      joined(engine::load_restrictions(restrict_flags.set.empty() ? "none" : restrict_flags.set, "--restrict"),
             restrict_flags.own);
  engine::KernelCase any;  // stands for a kernel that is not from a kernel file
  any.restrictions = restrict_flags.own;
  engine::check_parameters({any});
  if (flags.options.target == "auto") flags.options.target = measure::target_of(measure::find_device("opencl")).name;
  load_target(flags.options.target);
  const std::vector<engine::LoadedKernel> kernels =
      engine::load(flags.options.selection, engine::fusion_target(flags.options.target, ""));
  catch_interrupts();
  Progress progress(stderr, flags.json);
  // An interrupt ends the walk between two paths, but one path or one fusion of a large graph may take seconds.
  Deadline walk([&] { progress.line("interrupted before there were results"); });
  std::string text;
  if (flags.options.sample > 0) {
    text = sample(flags.options, kernels);
    walk.lift();
  } else {
    const std::vector<SpaceReport> reports = explore(flags.options, kernels, progress);
    walk.lift();
    Deadline fusion([&] {
      progress.end();
      print_result(result_text(flags, {}, reports));
    });
    const std::vector<KernelSetReport> sets = explore_graph(flags.options, progress);
    fusion.lift();
    text = result_text(flags, sets, reports);
  }
  progress.end();
  print_result(text);
  return interrupted() == 0 ? 0 : 128 + interrupted();
}

}  // namespace

void add_space(Command command, int& exit_code) {
  auto flags = std::make_shared<SpaceFlags>();
  SpaceOptions& options = flags->options;
  command.describe(
      "Count the schedules of a kernel, and show its decisions.\nThe counts are estimated from random paths (Knuth "
      "1975); --enumerate makes them exact. The output also shows how many schedules give the same kernel, and why "
      "rules do not apply. For a graph, it also shows the sets of kernels that fusion can make of the graph. The "
      "column \"no effect\" shows how often another value of the knob gave the same kernel.");
  add_selection_flags(command, flags->source);
  add_inputs_function(command, flags->source);
  command
      .option("--target", options.target, "TARGET",
              "Compile for this target: a name under configs/targets, or auto for the OpenCL device here.")
      .show_default();
  add_restrictions(command, flags->restrictions, "none");
  command.seldom()
      .option(
          "--probes", options.paths, "N",
          fmt::format("Estimate from N random paths [{}, or as many as all kernels take {} s of computing time for].",
                      usual_paths, usual_seconds))
      .between(std::int64_t{1}, engine::max_count);
  add_seed(command, options.seed, "Draw the random paths from this seed.");
  command.flag("--enumerate", options.enumerate, "Walk every schedule instead of random paths.");
  command.seldom()
      .option("--limit", options.limit, "N", "Enumerate at most N schedules.")
      .between(std::int64_t{1}, engine::max_count)
      .show_default();
  command.option("--sample", options.sample, "N", "Print only N random schedules, one per line.")
      .between(std::int64_t{1}, engine::max_count);
  command.flag("--json", flags->json, "Print one JSON document instead of the tables.");
  command.excludes("--sample", {"--enumerate", "--json"});
  command.excludes("--space", {"--enumerate", "--restrict"});
  command.examples(
      "deplo space -c \"nn.Linear(3584, 3584)(torch.randn(512, 3584))\" --target sm_90\n"
      "deplo space -k softmax -s M=32 -s N=2048 --sample 5");
  command.run([flags, &exit_code] { exit_code = run_space(*flags); });
}

}  // namespace deplo::apps
