// Hyperparameters of the searchers with a learned model. Each searcher lists those that it reads.
#pragma once
#include "search/hyperparameters.h"

namespace deplo::search::strategies {

constexpr Hyperparameter kappa_parameter =
    number("kappa", "1.5", 0, 10, "0.5 1 1.5 2", "candidates are ranked by their mean minus kappa standard deviations");
constexpr Hyperparameter cost_parameter =
    number("cost", "0.5", 0, 10, "0 0.5 1", "weight of the log of an evaluation's expected seconds");
constexpr Hyperparameter clip_parameter = number("clip", "0.5", 0.01, 1, "0.3 0.5 0.75 1",
                                                 "times above this quantile count as equal, once there are 32 times");
constexpr Hyperparameter pool_parameter =
    integer("pool", "600", 1, 1000000, "300 600 1200",
            "random candidates ranked per round; half as many before 200 evaluations, all from 400 on");
constexpr Hyperparameter mutants_parameter =
    integer("mutants", "400", 0, 1000000, "0 200 400 800",
            "changed copies of the fastest (two to four changes), also ranked; scaled like pool");
constexpr Hyperparameter design_parameter =
    integer("design", "6", 1, 1000, "4 6 8", "evaluations before the model decides");
constexpr Hyperparameter climb_parameter =
    integer("climb", "20", 0, 1000, "0 10 20 40",
            "replaces design if the untuned schedule is known: evaluations of neighbours of the best");
// In a larger round the model would be out of date before the round ends.
constexpr double max_batch = 64;
constexpr Hyperparameter batch_parameter = number("batch", "0.08", 0, 1, "0.04 0.06 0.08 0.12",
                                                  "evaluations per round, as a share of all before it; 64 at most");
constexpr Hyperparameter random_parameter = number("random", "0.05", 0, 1, "0 0.05 0.1", "share of random evaluations");

}  // namespace deplo::search::strategies
