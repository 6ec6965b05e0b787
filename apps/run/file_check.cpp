#include "apps/run/file_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/inspect/kernel_file_space.h"
#include "core/error.h"
#include "core/text/json.h"
#include "core/text/text.h"
#include "engine/compile/target.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/source/load.h"
#include "measure/protocol/problem.h"
#include "measure/worker/redirected_output.h"
#include "search/count.h"

namespace deplo::apps {
namespace {

constexpr double max_all = 10'000;  // configurations

double count(const search::Space& space) {
  const search::PositionPtr root = space.root();
  double sum = 0;
  for (std::size_t option = 0; option < root->fork()->options.size(); ++option) sum += root->leaves(option);
  return sum;
}

std::vector<search::PositionPtr> choose(const engine::OpaqueKernel& kernel, const FileCheckOptions& options) {
  const search::Space& space = kernel.space();
  if (options.sample > 0)
    return draw_configurations(space, std::min(static_cast<double>(options.sample), count(space)), options.seed);
  if (!options.all) return {kernel.candidate(options.configuration, "--configuration")};
  if (count(space) > max_all)
    throw Error(fmt::format("--all: expected at most {} configurations, found {:.10g}; --sample N checks some of them",
                            max_all, count(space)));
  std::vector<search::PositionPtr> all;
  search::for_each_path(space, [&](const search::Path& path) {
    all.push_back(path.leaf);
    return true;
  });
  return all;
}

/// Returns what is wrong with a configuration in one interleaving; "": nothing.
std::string finding_of(measure::Problem& problem, const measure::KernelCode& code, bool& is_built) {
  const auto built = problem.device().build(code);
  is_built = built.ok();
  if (!built.ok()) return built.failure().message;
  problem.poison_outputs();
  if (const auto failed = built.value()->execute(problem.arrays(), 1)) return failed->message;
  const auto wrong = problem.check(measure::Coverage::whole);
  return wrong ? wrong->message : "";
}

}  // namespace

bool FileCheckReport::right() const {
  return std::ranges::all_of(configurations, [](const Configuration& one) { return one.finding.empty(); });
}

FileCheckReport check_file(const FileCheckOptions& options, Progress& progress) {
  const engine::LoadedKernel kernel =
      std::move(engine::load({{options.file}, {}}, engine::fusion_target("auto", "ptx"), options.inputs).front());
  const engine::OpaqueKernel& file = *kernel.opaque;
  if (file.language() != Dialect::cuda)
    throw Error(
        fmt::format("{}: expected a kernel in CUDA C++, which the PTX machine executes, found one in OpenCL C; "
                    "`deplo run` checks it on its device",
                    file.name()));
  FileCheckReport report{file.name(), {}, {}, options.seed, options.runs, {}};
  const std::vector<search::PositionPtr> candidates = choose(file, options);
  if (options.sample == 0 && !options.all)
    report.note = file.replaced_defaults(options.configuration, "--configuration");
  for (const search::PositionPtr& candidate : candidates)
    report.configurations.push_back({.trail = print(candidate->trail()), .launch = {}, .finding = {}});
  for (std::int64_t run = 0; run < options.runs; ++run) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(run);
    const auto device = measure::open_device(fmt::format("ptx:{}:{}", options.target, seed));
    report.device = device->info().name;
    measure::Problem problem(kernel.loop, *device, options.seed, nullptr, options.tolerance, kernel.files,
                             file.expectation());
    measure::worker::printed_by([&] { problem.reference(); });
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      FileCheckReport::Configuration& one = report.configurations[i];
      if (!one.finding.empty()) continue;
      progress.status(file.name(), fmt::format("order {} of {}, configuration {} of {}", run + 1, options.runs, i + 1,
                                               candidates.size()));
      const Result<measure::KernelCode> code = file.launchable(*candidates[i]);
      if (!code.ok()) {
        one.launch = "no launch";
        one.finding = code.failure().message;
        one.built = false;
        continue;
      }
      one.launch = describe(*code.value().launch);
      const std::string printed =
          measure::worker::printed_by([&] { one.finding = finding_of(problem, code.value(), one.built); });
      if (run == 0 && i == 0) report.printed = printed;
      if (!one.finding.empty()) one.seed = seed, one.printed = printed;
    }
  }
  return report;
}

std::string print_table(const FileCheckReport& report) {
  std::string text;
  // The first configuration's text is shown once, with its finding if it has one.
  if (!report.configurations.empty() && report.configurations.front().finding.empty())
    text = whole_lines(report.printed);
  std::int64_t wrong = 0, unbuilt = 0;
  for (const FileCheckReport::Configuration& one : report.configurations) {
    if (one.finding.empty()) continue;
    ++(one.built ? wrong : unbuilt);
    text += whole_lines(one.printed);
    text += fmt::format("{}\n  {}, seed {}: {}\n", one.trail, one.launch, one.seed, one.finding);
  }
  const std::int64_t count = std::ssize(report.configurations);
  std::string found = wrong + unbuilt == 0 ? "nothing found" : "";
  if (wrong > 0) found = fmt::format("{} of them {} wrong", wrong, wrong == 1 ? "is" : "are");
  if (unbuilt > 0)
    found += fmt::format("{}{} cannot be built", wrong > 0 ? ", " : "",
                         wrong > 0 ? fmt::format("{}", unbuilt) : fmt::format("{} of them", unbuilt));
  text += fmt::format("{} on the {}: {} in {} each: {}\n", report.kernel, report.device,
                      counted(count, "configuration"), counted(report.runs, "order"), found);
  if (count == 1 && report.right())
    text += fmt::format("  {}, {}\n", report.configurations.front().trail, report.configurations.front().launch);
  if (!report.note.empty()) text += "  " + report.note + "\n";
  return text;
}

std::string print_json(const FileCheckReport& report) {
  return Json::object({{"kernel", report.kernel},
                       {"device", report.device},
                       {"seed", report.seed},
                       {"runs", report.runs},
                       {"right", report.right()},
                       {"note", report.note},
                       {"printed", report.printed},
                       {"configurations", Json::array(report.configurations,
                                                      [](const FileCheckReport::Configuration& one) {
                                                        return Json::object({{"trail", one.trail},
                                                                             {"launch", one.launch},
                                                                             {"finding", one.finding},
                                                                             {"built", one.built},
                                                                             {"seed", one.seed},
                                                                             {"printed", one.printed}});
                                                      })}})
      .print_lines(2);
}

}  // namespace deplo::apps
