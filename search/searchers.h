// The makers of the explicit list in searchers.cpp; one file per searcher.
#pragma once
#include <memory>

#include "search/searcher.h"

namespace deplo::search {

std::unique_ptr<Searcher> make_heuristic(const Space&, const SearchOptions&);
std::unique_ptr<Searcher> make_random(const Space&, const SearchOptions&);
std::unique_ptr<Searcher> make_exhaustive(const Space&, const SearchOptions&);
std::unique_ptr<Searcher> make_mcts(const Space&, const SearchOptions&);

}  // namespace deplo::search
