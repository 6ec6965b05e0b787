// Heuristic: options[0] of every fork, once; what the compiler does when nothing was tuned.
#include "search/searcher.h"

namespace deplo::search::strategies {
namespace {

class Heuristic final : public Searcher {
 public:
  Heuristic(const Space& space, const Settings&) : candidate_(heuristic(space)) {}

  std::vector<Candidate> ask(std::size_t n) override {
    if (done_ || n == 0) return {};
    done_ = true;
    return {candidate_};
  }

  bool has_ended() const override { return done_; }

  void tell(const Candidate& candidate, const Outcome&) override {
    if (candidate->trail() == candidate_->trail()) done_ = true;
  }

 private:
  Candidate candidate_;
  bool done_ = false;
};

}  // namespace

namespace kinds {

extern constinit const SearcherKind heuristic{
    "heuristic", "the first option of every fork: the untuned compiler", {}, construct<Heuristic>};

}  // namespace kinds

}  // namespace deplo::search::strategies
