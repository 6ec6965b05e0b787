// Every searcher (search/strategies/NAME.cpp), in the order in which they are listed.
#include "search/searcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text/nearest.h"
#include "search/strategies/exec/exec.h"

namespace deplo::search {
namespace strategies::kinds {

extern const SearcherKind model, puct, evolve, portfolio, mcts, local, ils, anneal, genetic, beam, hyperband, random,
    cover, exhaustive, heuristic;

}  // namespace strategies::kinds
namespace {

namespace kinds = strategies::kinds;

constexpr std::array all = {&kinds::model,     &kinds::puct,   &kinds::evolve, &kinds::portfolio,  &kinds::mcts,
                            &kinds::local,     &kinds::ils,    &kinds::anneal, &kinds::genetic,    &kinds::beam,
                            &kinds::hyperband, &kinds::random, &kinds::cover,  &kinds::exhaustive, &kinds::heuristic};
constexpr const SearcherKind* chosen = &kinds::model;

}  // namespace

std::span<const SearcherKind* const> searchers() { return all; }

bool is_program(std::string_view name) { return name.starts_with("exec:"); }

void check_hyperparameter(const SearcherKind& kind, std::string_view name, const std::string& value,
                          std::string_view place) {
  if (kind.takes_any && std::ranges::find(kind.parameters, name, &Hyperparameter::name) == kind.parameters.end())
    return;
  check_hyperparameter(kind.name, kind.parameters, name, value, place);
}

const SearcherKind& find_searcher(std::string_view name) {
  if (is_program(name)) return exec::kind(name);
  if (name == "default") return *chosen;
  const auto found = std::ranges::find(all, name, [](const SearcherKind* kind) { return kind->name; });
  if (found != all.end()) return **found;
  std::string known = "exec:CMD, default";
  std::vector<std::string> names{"default"};
  for (const SearcherKind* kind : all) {
    known += ", " + std::string(kind->name);
    names.emplace_back(kind->name);
  }
  throw Error(fmt::format("expected a strategy ({}), found '{}'{}", known, name, did_you_mean(name, names)));
}

std::unique_ptr<Searcher> make_searcher(std::string_view name, const Space& space, const SearchOptions& options) {
  if (is_program(name)) return exec::make(name, space, options);
  const SearcherKind& kind = find_searcher(name);
  return kind.make(space, Settings(kind.name, kind.parameters, options));
}

}  // namespace deplo::search
