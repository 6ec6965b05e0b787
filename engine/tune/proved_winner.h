// Makes sure that the winning schedule computes the right formulas.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "ir/interpret/proof.h"
#include "measure/store/rows/records.h"

namespace deplo::engine {

/// Proves the winner (ties.h) of confirmed trials, and stores the verdict in its record. A refuted schedule becomes a
/// wrong_result, and the next winner is proved. `prove(i)` returns the verdict on trial i, or nullopt if there is
/// nothing to prove. Returns the index of the winner, or nullopt if no trial is left.
std::optional<std::size_t> prove_winner(std::span<measure::TrialRecord>,
                                        const std::function<std::optional<ir::ProofVerdict>(std::size_t)>& prove);

}  // namespace deplo::engine
