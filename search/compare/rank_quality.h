// Rates the order of candidates that a model predicts. Pure functions.
#pragma once
#include <cstddef>
#include <span>

namespace deplo::search::compare {

/// Spearman's rank correlation. Equal values share their ranks. 0 if `a` or `b` does not vary.
double spearman(std::span<const double> a, std::span<const double> b);
/// The share of the `count` fastest candidates that is among the `count` fastest by the model. Equal values count in
/// the order of their indices.
double top_recall(std::span<const double> logs, std::span<const double> predicted, std::size_t count);
/// How much slower the best of the `count` fastest by the model is than the fastest of all: 0.1 means 10 %.
double top_regret(std::span<const double> logs, std::span<const double> predicted, std::size_t count);

}  // namespace deplo::search::compare
