// The searchers of the explicit list in searchers.cpp; one file per searcher, which defines its kind.
#pragma once
#include "search/searcher.h"

namespace deplo::search::kinds {

extern const SearcherKind model, puct, evolve, portfolio, mcts, local, ils, anneal, genetic, beam, hyperband, random,
    exhaustive, heuristic;

}  // namespace deplo::search::kinds
