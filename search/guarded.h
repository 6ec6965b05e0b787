// A searcher that may fail: a strategy in another process. Its failure ends its run, and nothing else.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "search/searcher.h"

namespace deplo::search {

/// Passes all calls on to another searcher. After a StrategyFailed, it asks for nothing more and fault() gives the
/// reason.
class Guarded final : public Searcher {
 public:
  /// `make` may throw StrategyFailed, which also ends the run.
  explicit Guarded(const std::function<std::unique_ptr<Searcher>()>& make);

  std::vector<Candidate> ask(std::size_t n) override;
  bool has_ended() const override { return searcher_ == nullptr || searcher_->has_ended(); }
  void set_end(std::chrono::steady_clock::time_point end) override {
    if (searcher_ != nullptr) searcher_->set_end(end);
  }
  void tell(const Candidate&, const Outcome&) override;
  bool learns() const override { return searcher_ != nullptr && searcher_->learns(); }
  bool warm_start(std::span<const SourceTask>) override;

  /// The reason for the failure; "" if the searcher has not failed.
  const std::string& fault() const { return fault_; }

 private:
  std::unique_ptr<Searcher> searcher_;  // null after a failure
  std::string fault_;
};

}  // namespace deplo::search
