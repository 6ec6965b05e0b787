// How good a model's order of candidates is, and its intervals. Pure functions.
#pragma once
#include <cstddef>
#include <span>

namespace deplo::search::compare {

/// Spearman's rank correlation, equal values sharing ranks; 0 where one of them does not vary.
double spearman(std::span<const double> a, std::span<const double> b);
/// The share of the `count` fastest that is among the `count` that the model says are fastest. Equal ones in their
/// order.
double top_recall(std::span<const double> logs, std::span<const double> predicted, std::size_t count);
/// How much slower the fastest of the `count` that the model would try is than the fastest of all: 0.1 is 10 %.
double top_regret(std::span<const double> logs, std::span<const double> predicted, std::size_t count);

}  // namespace deplo::search::compare
