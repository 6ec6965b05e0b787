// The searchers of the explicit list in searchers.cpp; one file per searcher, which defines its kind.
#pragma once
#include "search/searcher.h"

namespace deplo::search::kinds {

extern const SearcherKind model, mcts, random, exhaustive, heuristic;

}  // namespace deplo::search::kinds
