#include "engine/tune/proved_winner.h"

#include <vector>

#include "engine/tune/ties.h"

namespace deplo::engine {

std::optional<std::size_t> prove_winner(std::span<measure::TrialRecord> trials,
                                        const std::function<std::optional<ir::ProofVerdict>(std::size_t)>& prove) {
  for (;;) {
    std::vector<Timed> times;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i].status != Status::ok) continue;
      times.push_back({trials[i].timing.median_us, trials[i].changes, trials[i].trail});
      numbers.push_back(i);
    }
    if (times.empty()) return std::nullopt;
    const std::size_t best = numbers[winner(times)];
    const std::optional<ir::ProofVerdict> verdict = prove(best);
    if (!verdict) return best;
    trials[best].proof = print(*verdict);
    if (verdict->kind != ir::ProofVerdict::Kind::refuted) return best;
    trials[best].status = Status::wrong_result;
    trials[best].message = trials[best].proof;
  }
}

}  // namespace deplo::engine
