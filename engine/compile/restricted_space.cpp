#include "engine/compile/restricted_space.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"

namespace deplo::engine {
namespace {

class RestrictedPosition final : public search::Position {
 public:
  RestrictedPosition(search::PositionPtr whole, std::shared_ptr<const Restrictions> restrictions)
      : whole_(std::move(whole)), restrictions_(std::move(restrictions)) {
    if (!whole_->fork()) return;
    options_ = allowed_options(*whole_->fork(), *restrictions_);
    fork_ = with_options(*whole_->fork(), options_);
  }

  const std::optional<Fork>& fork() const override { return fork_; }
  const Trail& trail() const override { return whole_->trail(); }
  search::PositionPtr choose(std::size_t option) const override {
    CHECK(option < options_.size());
    return std::make_shared<RestrictedPosition>(whole_->choose(options_[option]), restrictions_);
  }
  // leaves() is 1 for every option: the counts of the unrestricted space do not hold under restrictions.

  const search::Position& whole() const { return *whole_; }

 private:
  search::PositionPtr whole_;
  std::shared_ptr<const Restrictions> restrictions_;  // shared by the whole tree
  std::optional<Fork> fork_;
  std::vector<std::size_t> options_;  // indices of the allowed options in the unrestricted fork
};

}  // namespace

search::PositionPtr restricted(search::PositionPtr root, const Restrictions& restrictions) {
  return std::make_shared<RestrictedPosition>(std::move(root), std::make_shared<const Restrictions>(restrictions));
}

const search::Position& unrestricted(const search::Position& position) {
  const auto* const restricted = dynamic_cast<const RestrictedPosition*>(&position);
  return restricted == nullptr ? position : restricted->whole();
}

}  // namespace deplo::engine
