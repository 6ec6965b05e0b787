#include "engine/source/alternatives.h"

#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text/match.h"
#include "engine/source/tile_program/block_program.h"
#include "engine/source/tile_program/form.h"

namespace deplo::engine {
namespace {

Result<Alternative> follow_graph(const ir::torch::Graph& graph, const Passes& passes, const Trail& taken) {
  const Result<rules::Fused> fused = lower_by_trail(graph, passes, taken);
  if (!fused.ok()) return fused.failure();
  return Alternative{taken, fused.value().trail, kernels_digest(fused.value().module)};
}

/// Returns the digest of the launch as one kernel that runs block by block. Fails if the target's language cannot
/// express the kernel, or if the launch writes no array, because then no output shows whether a schedule is right.
Result<std::string> blocks_digest(const TileLaunch& launch, const Target& target) {
  try {
    const BlockProgram program(launch, target);
    program.check_tunable();
    return digest(program.identity());
  } catch (const Error& error) {
    return Failure{Status::invalid, error.what()};
  }
}

Result<Alternative> follow_launch(const TileLaunch& launch, const SourceOptions& options, const Target& target,
                                  const Trail& taken) {
  const LaunchForm form = choose_form(launch, options, taken);
  const Trail trail = form.fork ? take_form(form.module ? by_elements : by_blocks) : Trail{};
  for (const Choice& choice : taken)
    if (trail != Trail{choice}) return Failure{Status::invalid, "there is no decision " + print(Trail{choice})};
  if (form.module) return Alternative{taken, trail, kernels_digest(*form.module)};
  Result<std::string> blocks = blocks_digest(launch, target);
  if (!blocks.ok()) return blocks.failure();
  return Alternative{taken, trail, std::move(blocks.value())};
}

}  // namespace

bool Alternatives::exist_for(const Source& source) {
  return source.is_graph() || (source.tile() != nullptr && find_fixed(source.options, "form") == nullptr);
}

std::variant<Alternatives::Graph, Alternatives::Launch> Alternatives::read(const Source& source, const Target& target) {
  if (const TileSource* tile = source.tile()) return Launch{read_launch(*tile), source.options, target};
  return Graph{read_graph(source), passes_of(source.options, target)};
}

Alternatives::Alternatives(const Source& source, const Target& target) : source_(read(source, target)) {}

Alternatives::Alternatives(ir::torch::Graph graph, Passes passes)
    : source_(Graph{std::move(graph), std::move(passes)}) {}

std::string Alternatives::key() const {
  return match(
      source_, [](const Graph& s) { return graph_key(s.graph, s.passes); },
      [](const Launch& s) { return digest("a launch of a tile program\n" + identity(s.launch)); });
}

std::vector<Alternative> Alternatives::all() const {
  std::vector<Alternative> all;
  if (const auto* s = std::get_if<Graph>(&source_)) {
    for (const Variation& variation : vary_decisions(s->graph, s->passes))
      all.push_back({variation.changes, variation.fused.trail, kernels_digest(variation.fused.module)});
    return all;
  }
  const Launch& s = std::get<Launch>(source_);
  std::vector<Trail> trails = {{}};
  if (const auto fork = choose_form(s.launch, s.options, {}).fork) trails.push_back({{fork->knob, fork->options[1]}});
  for (const Trail& trail : trails)
    if (Result<Alternative> one = follow(trail); one.ok()) all.push_back(std::move(one.value()));
  return all;
}

Result<Alternative> Alternatives::follow(const Trail& taken) const {
  return match(
      source_, [&](const Graph& s) { return follow_graph(s.graph, s.passes, taken); },
      [&](const Launch& s) { return follow_launch(s.launch, s.options, s.target, taken); });
}

}  // namespace deplo::engine
