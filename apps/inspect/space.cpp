#include "apps/inspect/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <set>

#include "core/error.h"
#include "core/hash.h"
#include "core/interrupt.h"
#include "core/text/text.h"
#include "engine/compile/candidate_space.h"
#include "engine/loop/kernel.h"

namespace deplo::apps {
namespace {

using search::Path;

std::string source_digest(const engine::CandidateSpace& space, const search::Position& candidate) {
  const ir::KernelSource source = space.compile(candidate).code.source;
  return digest(fmt::format("{} {}\n{}", source.blocks, source.threads, source.text));
}

/// Returns the space of a kernel. The kernel must outlive the space.
std::unique_ptr<engine::CandidateSpace> space_of(const engine::LoadedKernel& kernel, const Target& target,
                                                 const SpaceOptions& options) {
  return engine::candidate_space(kernel.loop, kernel.opaque.get(), target, options.restrictions);
}

RuleSkips ranked(std::string_view rule, const std::map<std::string, std::size_t>& reasons) {
  RuleSkips skips{std::string(rule), 0, {reasons.begin(), reasons.end()}};
  std::ranges::stable_sort(skips.reasons, std::greater<>(), [](const auto& reason) { return reason.second; });
  for (const auto& [reason, paths] : reasons) skips.paths += paths;
  return skips;
}

/// Gathers statistics from one path after another.
class Explorer {
 public:
  Explorer(const engine::LoadedKernel& kernel, const Target& target, const SpaceOptions& options)
      : kernel_(kernel), target_(target), space_(space_of(kernel, target, options)), rng_(options.seed) {}

  const search::Space& space() const { return *space_; }
  Path random_path() { return search::random_path(*space_, rng_); }
  std::size_t candidates() const { return candidates_.size(); }

  /// Adds a path. `closely`: also lower its candidate to source text, which takes some milliseconds.
  void add(const Path& path, bool closely) {
    levels_.add(path);
    const bool fresh = candidates_.insert(digest(print(path.leaf->trail()))).second;
    if (!closely) return;
    ++examined_;
    if (!kernel_.opaque) count_skips(path.leaf->trail());
    if (!fresh) return;
    ++compared_;
    const std::string kernel = source_digest(*space_, *path.leaf);
    kernels_.insert(kernel);
    compare_sibling(path, kernel);
  }

  void fill(SpaceReport& report) const {
    report.examined = examined_;
    report.candidates = compared_;
    report.kernels = kernels_.size();
    for (const search::Level& level : levels_.ordered()) report.levels.push_back(describe(level));
    for (const rules::Rule* rule : rules::pipeline())
      if (const auto found = skips_.find(rule->name); found != skips_.end())
        report.skips.push_back(ranked(rule->name, found->second));
  }

 private:
  // Walks the path again, because a position in the middle of the tree does not know which rules were skipped above it.
  void count_skips(const Trail& trail) {
    const auto count = [&](const rules::Lowering::Step& step) {
      if (!step.skipped.empty()) ++skips_[step.rule.name][step.skipped];
    };
    CHECK(rules::follow(rules::Lowering(kernel_.loop, target_, count), trail, rules::TrailIs::whole).ok());
  }

  // Compares the candidate with a random sibling. A sample of a large space seldom has two candidates that give the
  // same kernel, but siblings often do.
  void compare_sibling(const Path& path, const std::string& kernel) {
    const search::Sibling sibling = search::random_sibling(*space_, path, rng_);
    if (!sibling.leaf) return;
    const bool same = source_digest(*space_, *sibling.leaf) == kernel;
    ++(same ? unchanged_ : changed_)[path.leaf->trail()[sibling.level].knob];
  }

  SpaceLevel describe(const search::Level& level) const {
    const auto count = [&](const auto& counts) {
      const auto found = counts.find(level.knob);
      return found == counts.end() ? std::size_t{0} : found->second;
    };
    SpaceLevel result{level, {}, count(changed_), count(unchanged_)};
    for (auto position = space_->root(); position->fork(); position = position->choose(0))
      if (position->fork()->knob == level.knob) result.heuristic = position->fork()->options;
    return result;
  }

  const engine::LoadedKernel& kernel_;
  const Target& target_;
  std::unique_ptr<engine::CandidateSpace> space_;
  Rng rng_;
  search::Levels levels_;
  std::size_t examined_ = 0, compared_ = 0;  // number of paths that were examined closely; distinct candidates on them
  std::set<std::string> candidates_, kernels_;                            // digests
  std::map<std::string, std::size_t> changed_, unchanged_;                // by knob
  std::map<std::string_view, std::map<std::string, std::size_t>> skips_;  // rule → reason → paths
};

/// Returns the computing time of this process in seconds. It does not depend on the load of the machine, so a
/// repetition walks about as many paths.
double computing_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Shares usual_seconds among the kernels: what one does not need is left to the others.
class Allowance {
 public:
  explicit Allowance(std::size_t kernels) : kernels_(kernels) {}
  /// Returns the computing time at which the next kernel's walk ends.
  double next() {
    CHECK(kernels_ > 0);
    const double now = computing_seconds();
    return now + std::max(end_ - now, 0.0) / static_cast<double>(kernels_--);
  }

 private:
  std::size_t kernels_;  // those that are left
  double end_ = computing_seconds() + usual_seconds;
};

void draw(Explorer& explorer, const SpaceOptions& options, Allowance& allowance, Progress& progress,
          SpaceReport& report) {
  constexpr std::size_t closely = 250;  // number of paths; shares over them are exact to about 3%
  const std::size_t wanted = options.paths ? static_cast<std::size_t>(*options.paths) : usual_paths;
  const double end = options.paths ? std::numeric_limits<double>::infinity() : allowance.next();
  std::vector<double> weights;
  while (weights.size() < wanted && !interrupted() && (weights.empty() || computing_seconds() < end)) {
    const Path path = explorer.random_path();
    explorer.add(path, weights.size() < closely);
    weights.push_back(weight(path));
    progress.status(report.kernel, fmt::format("{} of {} paths", weights.size(), wanted));
  }
  report.interrupted = weights.size() < wanted && interrupted() != 0;
  report.shortened = weights.size() < wanted && !report.interrupted;
  if (!weights.empty()) report.leaves = search::estimate_leaves(weights, explorer.candidates());
}

/// Throws Error if a few random paths show that the space is larger than the limit, before it is walked.
void check_limit(Explorer& explorer, std::size_t limit) {
  constexpr std::size_t paths = 200;  // number of paths, which take a fraction of a second
  std::vector<double> weights;
  while (weights.size() < paths && !interrupted()) weights.push_back(weight(explorer.random_path()));
  if (weights.empty()) return;
  const search::Estimate estimate = search::estimate_leaves(weights, 1);
  if (estimate.low > static_cast<double>(limit))
    throw Error(fmt::format("--enumerate: expected at most {} candidates, found about {:.2g} (--limit N allows more)",
                            limit, estimate.leaves));
}

void enumerate(Explorer& explorer, const SpaceOptions& options, Progress& progress, SpaceReport& report) {
  check_limit(explorer, options.limit);
  std::size_t found = 0;
  const bool all = search::for_each_path(explorer.space(), [&](const Path& path) {
    if (interrupted()) return false;
    if (++found > options.limit)
      throw Error(fmt::format("--enumerate: expected at most {} candidates, found more (--limit N allows more)",
                              options.limit));
    explorer.add(path, true);
    progress.status(report.kernel, counted(found, "candidate"));
    return true;
  });
  report.interrupted = !all;
  const auto count = static_cast<double>(found);
  report.leaves = {found, count, count, count, 0};
}

SpaceReport explore_kernel(const engine::LoadedKernel& kernel, const Target& target, const SpaceOptions& options,
                           Allowance& allowance, Progress& progress, SpaceReport report) {
  Explorer explorer(kernel, target, options);
  if (options.enumerate)
    enumerate(explorer, options, progress, report);
  else
    draw(explorer, options, allowance, progress, report);
  explorer.fill(report);
  return report;
}

std::string title_of(const engine::LoadedKernel& kernel, const SpaceOptions& options) {
  const auto* source = std::get_if<engine::LoopKernel>(&options.selection.source.from);
  if (source == nullptr) return title(kernel.loop, kernel.number);
  const std::string symbols = engine::print(source->symbols);
  return kernel.loop.name + (symbols.empty() ? "" : " ") + symbols;
}

}  // namespace

std::vector<KernelSetReport> explore_graph(const SpaceOptions& options, Progress& progress) {
  const engine::Source& source = options.selection.source;
  if (!source.is_graph() || interrupted()) return {};
  progress.status("graph", "fused in other ways");  // once for each decision
  std::vector<KernelSetReport> reports;
  for (const engine::Variation& variation : engine::vary_decisions(
           engine::read_graph(source), engine::passes_of(source.options, engine::fusion_target(options.target, ""))))
    if (allows(options.restrictions, variation.changes))
      reports.push_back({print(variation.changes), variation.fused.module.kernels.size()});
  return reports.size() > 1 ? reports : std::vector<KernelSetReport>();
}

std::vector<SpaceReport> explore(const SpaceOptions& options, const std::vector<engine::LoadedKernel>& kernels,
                                 Progress& progress) {
  const Target target = load_target(options.target);
  std::vector<ir::Program> loops;
  for (const engine::LoadedKernel& kernel : kernels) loops.push_back(kernel.loop);
  const std::vector<std::size_t> first = engine::first_equals(loops);
  std::vector<SpaceReport> reports;
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < first.size(); ++i) distinct += first[i] == i ? 1 : 0;
  Allowance allowance(distinct);
  for (std::size_t i = 0; i < kernels.size() && !interrupted(); ++i) {
    SpaceReport report;
    report.kernel = title_of(kernels[i], options);
    report.number = kernels[i].number;
    if (first[i] != i)
      report.as = kernels[first[i]].number;
    else
      report = explore_kernel(kernels[i], target, options, allowance, progress, std::move(report));
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string sample(const SpaceOptions& options, const std::vector<engine::LoadedKernel>& kernels) {
  const Target target = load_target(options.target);
  std::string text;
  for (const engine::LoadedKernel& kernel : kernels) {
    if (kernels.size() > 1) text += fmt::format("# {}\n", title_of(kernel, options));
    const auto space = space_of(kernel, target, options);
    Rng rng(options.seed);
    std::set<std::string> drawn;
    // Stops after many draws in a row that give no new trail, because the space may be smaller than the sample.
    for (std::size_t stale = 0; drawn.size() < options.sample && stale < 100 + options.sample && !interrupted();) {
      const std::string trail = print(search::random_path(*space, rng).leaf->trail());
      const bool fresh = drawn.insert(trail).second;
      stale = fresh ? 0 : stale + 1;
      if (fresh) text += trail + "\n";
    }
  }
  return text;
}

}  // namespace deplo::apps
