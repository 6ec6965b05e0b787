#include "engine/tune/family_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/error.h"

namespace deplo::engine {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double max_sets = 200'000;  // of one size
constexpr double failed_loss = 1e6;   // stands for an infinite one, so that sums compare

/// Sets of schedules, rated by their loss and then by the mean of their losses.
class SetSearch {
 public:
  SetSearch(const Losses& losses, const FamilyGoal& goal)
      : losses_(losses), goal_(goal), count_(losses.front().size()) {}

  std::vector<std::size_t> run() {
    double sets = 1;
    for (std::size_t size = 1; size <= count_; ++size) {
      sets *= static_cast<double>(count_ - size + 1) / static_cast<double>(size);
      if (sets > max_sets) return add_greedily();
      best_rating_ = {unbounded, unbounded};
      std::vector<std::size_t> chosen;
      enumerate(chosen, 0, size);
      if (best_rating_.first <= goal_.max_loss) return best_;
    }
    return best_;
  }

 private:
  using Rating = std::pair<double, double>;

  Rating rate(const std::vector<std::size_t>& chosen) const {
    std::vector<double> losses;
    for (const std::vector<double>& of_shape : losses_) {
      double& least = losses.emplace_back(unbounded);
      for (const std::size_t schedule : chosen) least = std::min(least, of_shape[schedule]);
    }
    return {loss_of(goal_, losses), loss_of({FamilyGoal::Over::mean, 0}, losses)};
  }

  void enumerate(std::vector<std::size_t>& chosen, std::size_t next, std::size_t size) {
    if (chosen.size() == size) {
      const Rating rating = rate(chosen);
      if (best_.size() == size && !(rating < best_rating_)) return;
      best_rating_ = rating;
      best_ = chosen;
      return;
    }
    for (std::size_t schedule = next; schedule + (size - chosen.size()) <= count_; ++schedule) {
      chosen.push_back(schedule);
      enumerate(chosen, schedule + 1, size);
      chosen.pop_back();
    }
  }

  /// From the best set that was enumerated on.
  std::vector<std::size_t> add_greedily() {
    while (best_.size() < count_ && !(rate(best_).first <= goal_.max_loss)) {
      std::optional<std::pair<Rating, std::size_t>> next;
      for (std::size_t schedule = 0; schedule < count_; ++schedule) {
        if (std::ranges::count(best_, schedule) > 0) continue;
        std::vector<std::size_t> longer = best_;
        longer.push_back(schedule);
        const std::pair rated{rate(longer), schedule};
        if (!next || rated < *next) next = rated;
      }
      best_.push_back(next->second);
    }
    std::ranges::sort(best_);
    return best_;
  }

  const Losses& losses_;
  const FamilyGoal& goal_;
  const std::size_t count_;
  std::vector<std::size_t> best_;
  Rating best_rating_{unbounded, unbounded};
};

/// A part of a tree.
struct Branch {
  std::vector<std::size_t> shapes;
  std::size_t schedule = 0;  // the best single one for all its shapes
  std::size_t extent = 0;
  double below = 0;
  std::unique_ptr<Branch> yes, no;  // null: a leaf
};

class Forest {
 public:
  Forest(const Losses& losses, const std::vector<FamilyShape>& shapes, const std::vector<std::size_t>& kept,
         const FamilyGoal& goal)
      : losses_(losses), shapes_(shapes), kept_(kept), goal_(goal) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].form >= roots_.size()) roots_.resize(shapes[i].form + 1);
      roots_[shapes[i].form].shapes.push_back(i);
    }
    for (Branch& root : roots_) grow(root);
    while (prune()) {
    }
  }

  std::vector<std::vector<DispatchRule::Node>> trees() const {
    std::vector<std::vector<DispatchRule::Node>> all;
    for (const Branch& root : roots_) append(root, all.emplace_back());
    return all;
  }

 private:
  double loss(std::size_t shape, std::size_t schedule) const { return std::min(losses_[shape][schedule], failed_loss); }

  /// The best single schedule, and the sum of its losses.
  std::pair<double, std::size_t> best_single(const std::vector<std::size_t>& shapes) const {
    std::pair best{unbounded, kept_.front()};
    for (const std::size_t schedule : kept_) {
      double sum = 0;
      for (const std::size_t shape : shapes) sum += loss(shape, schedule);
      if (sum < best.first) best = {sum, schedule};
    }
    return best;
  }

  void grow(Branch& branch) const {
    const auto [sum, schedule] = best_single(branch.shapes);
    branch.schedule = schedule;
    double least = 0;
    for (const std::size_t shape : branch.shapes) {
      double best = unbounded;
      for (const std::size_t kept : kept_) best = std::min(best, loss(shape, kept));
      least += best;
    }
    if (sum <= least || !split(branch)) return;
    grow(*branch.yes);
    grow(*branch.no);
  }

  /// By the extent and size whose two parts have the least losses; false if no extent differs.
  bool split(Branch& branch) const {
    double best = unbounded;
    std::vector<std::size_t> best_yes, best_no;
    for (std::size_t extent = 0; extent < shapes_[branch.shapes.front()].extents.size(); ++extent) {
      std::set<double> sizes;
      for (const std::size_t shape : branch.shapes) sizes.insert(shapes_[shape].extents[extent]);
      for (auto size = sizes.begin(); size != sizes.end() && std::next(size) != sizes.end(); ++size) {
        const double below = std::sqrt(*size * *std::next(size));
        std::vector<std::size_t> yes, no;
        for (const std::size_t shape : branch.shapes)
          (shapes_[shape].extents[extent] < below ? yes : no).push_back(shape);
        if (yes.empty() || no.empty()) continue;
        const double sum = best_single(yes).first + best_single(no).first;
        if (!(sum < best)) continue;
        best = sum;
        branch.extent = extent;
        branch.below = below;
        best_yes = std::move(yes);
        best_no = std::move(no);
      }
    }
    if (best_yes.empty()) return false;
    branch.yes = std::make_unique<Branch>();
    branch.no = std::make_unique<Branch>();
    branch.yes->shapes = std::move(best_yes);
    branch.no->shapes = std::move(best_no);
    return true;
  }

  /// The loss by all trees.
  double total() const {
    std::vector<double> losses;
    for (const Branch& root : roots_) collect(root, losses);
    return loss_of(goal_, losses);
  }
  void collect(const Branch& branch, std::vector<double>& losses) const {
    if (branch.yes) {
      collect(*branch.yes, losses);
      collect(*branch.no, losses);
      return;
    }
    for (const std::size_t shape : branch.shapes) losses.push_back(losses_[shape][branch.schedule]);
  }

  /// Calls f(branch) for each split of two leaves.
  template <class F>
  static void for_each_last_split(Branch& branch, const F& f) {
    if (!branch.yes) return;
    if (!branch.yes->yes && !branch.no->yes) return f(branch);
    for_each_last_split(*branch.yes, f);
    for_each_last_split(*branch.no, f);
  }

  /// Removes the split whose removal costs least; false if each costs too much.
  bool prune() {
    Branch* best = nullptr;
    double least = unbounded;
    for (Branch& root : roots_)
      for_each_last_split(root, [&](Branch& branch) {
        auto yes = std::exchange(branch.yes, nullptr), no = std::exchange(branch.no, nullptr);
        const double loss = total();
        branch.yes = std::move(yes);
        branch.no = std::move(no);
        if (loss <= goal_.max_loss && loss < least) best = &branch, least = loss;
      });
    if (best == nullptr) return false;
    best->yes.reset();
    best->no.reset();
    return true;
  }

  static void append(const Branch& branch, std::vector<DispatchRule::Node>& nodes) {
    const std::size_t at = nodes.size();
    nodes.push_back({std::nullopt, 0, 0, 0, branch.schedule});
    if (!branch.yes) return;
    append(*branch.yes, nodes);
    const std::size_t no = nodes.size();
    append(*branch.no, nodes);
    nodes[at] = {branch.extent, branch.below, at + 1, no, 0};
  }

  const Losses& losses_;
  const std::vector<FamilyShape>& shapes_;
  const std::vector<std::size_t>& kept_;
  const FamilyGoal& goal_;
  std::vector<Branch> roots_;  // by form
};

}  // namespace

double loss_of(const FamilyGoal& goal, const std::vector<double>& losses) {
  if (losses.empty()) return 0;
  if (goal.over == FamilyGoal::Over::worst) return std::ranges::max(losses);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

std::vector<std::size_t> keep_schedules(const Losses& losses, const FamilyGoal& goal) {
  CHECK(!losses.empty() && !losses.front().empty());
  return SetSearch(losses, goal).run();
}

std::vector<std::vector<DispatchRule::Node>> grow_trees(const Losses& losses, const std::vector<FamilyShape>& shapes,
                                                        const std::vector<std::size_t>& kept, const FamilyGoal& goal) {
  CHECK(losses.size() == shapes.size() && !kept.empty());
  return Forest(losses, shapes, kept, goal).trees();
}

}  // namespace deplo::engine
