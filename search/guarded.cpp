#include "search/guarded.h"

namespace deplo::search {
namespace {

/// Calls `work`. Returns the message of its StrategyFailed, or "".
template <class Work>
std::string fault_of(const Work& work) {
  try {
    work();
    return "";
  } catch (const StrategyFailed& error) {
    return error.what();
  }
}

}  // namespace

Guarded::Guarded(const std::function<std::unique_ptr<Searcher>()>& make)
    : fault_(fault_of([&] { searcher_ = make(); })) {}

std::vector<Candidate> Guarded::ask(std::size_t n) {
  std::vector<Candidate> asked;
  if (searcher_ != nullptr) fault_ = fault_of([&] { asked = searcher_->ask(n); });
  if (!fault_.empty()) searcher_.reset();
  return asked;
}

void Guarded::tell(const Candidate& candidate, const Outcome& outcome) {
  if (searcher_ != nullptr) fault_ = fault_of([&] { searcher_->tell(candidate, outcome); });
  if (!fault_.empty()) searcher_.reset();
}

bool Guarded::warm_start(std::span<const SourceTask> sources) {
  bool learned = false;
  if (searcher_ != nullptr) fault_ = fault_of([&] { learned = searcher_->warm_start(sources); });
  if (!fault_.empty()) searcher_.reset();
  return learned;
}

}  // namespace deplo::search
