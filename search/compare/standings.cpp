
#include "core/error.h"
#include "search/compare/contest.h"
#include "search/quantile.h"

namespace deplo::search::compare {
namespace {

constexpr std::size_t bootstrap_draws = 10000;  // the ends of the interval are then stable to a hundredth of its length

Standing standing(const Contest& contest, std::span<const SpaceResult> spaces, std::size_t entrant) {
  Standing row;
  row.label = contest.entrants[entrant].label;
  std::vector<double> scores, short_scores, larger;
  std::vector<std::vector<double>> replicates;
  for (const SpaceResult& space : spaces) {
    const Cell& cell = space.cells[entrant];
    scores.push_back(cell.score);
    short_scores.push_back(cell.short_score);
    larger.push_back(a12(cell.runs, space.cells[0].runs));
    replicates.push_back(cell.replicates);
  }
  row.score = mean(scores);
  row.median_score = quantile(scores, 0.5);
  row.short_score = mean(short_scores);
  row.a12 = entrant == 0 ? 0.5 : mean(larger);
  Rng rng(contest.seed);  // all entrants have the same draws of spaces
  const Bootstrap bootstrap = hierarchical_bootstrap(replicates, bootstrap_draws, rng);
  row.score_interval = bootstrap.mean;
  row.median_interval = bootstrap.median;
  for (std::size_t i = 0; i < target_percent.size(); ++i) {
    std::vector<Event> events;
    for (const SpaceResult& space : spaces)
      events.insert(events.end(), space.cells[entrant].first[i].begin(), space.cells[entrant].first[i].end());
    row.evaluations[i] = time_to_share(reached(std::move(events)), 0.5);
  }
  if (!contest.regret) return row;
  std::vector<const Regrets*> regrets;
  for (const SpaceResult& space : spaces) regrets.push_back(&space.cells[entrant].regrets);
  row.regret = summarise(regrets, rng);
  return row;
}

}  // namespace

std::vector<Standing> standings(const Contest& contest, std::span<const SpaceResult> spaces) {
  CHECK(!spaces.empty());
  std::vector<Standing> rows;
  std::vector<double> p;
  for (std::size_t i = 0; i < contest.entrants.size(); ++i) {
    rows.push_back(standing(contest, spaces, i));
    std::vector<double> differences;
    for (const SpaceResult& space : spaces) differences.push_back(space.cells[i].score - space.cells[0].score);
    if (i > 0) p.push_back(wilcoxon(differences));
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < corrected.size(); ++i) rows[i + 1].p = corrected[i];
  return rows;
}

}  // namespace deplo::search::compare
