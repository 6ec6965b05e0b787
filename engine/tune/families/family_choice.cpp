#include "engine/tune/families/family_choice.h"

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
constexpr double max_sets = 200'000;  // number of sets of one size that are enumerated
// stands for an infinite loss, so that sums can be compared
constexpr double failed_loss = 1e6;
// bound on the allowed loss of the heuristic's schedule; smaller losses cannot be measured
constexpr double least_allowed = 1e-3;

/// Searches the sets of schedules that contain the heuristic's. Sets are rated by their loss, and then by the mean of
/// their losses.
class SetSearch {
 public:
  SetSearch(const Losses& losses, const FamilyGoal& goal)
      : losses_(losses), goal_(goal), count_(losses.front().size()) {}

  std::vector<std::size_t> run() {
    double sets = 1;
    for (std::size_t size = 1; size <= count_; ++size) {  // size of a set, including the heuristic's schedule
      if (size > 1) sets *= static_cast<double>(count_ - size + 1) / static_cast<double>(size - 1);
      if (sets > max_sets) return add_greedily();
      best_rating_ = {unbounded, unbounded};
      std::vector<std::size_t> chosen{heuristic_number};
      enumerate(chosen, heuristic_number + 1, size);
      if (best_rating_.first <= goal_.max_loss) return best_;
    }
    return best_;
  }

 private:
  using Rating = std::pair<double, double>;

  Rating rate(const std::vector<std::size_t>& chosen) const {
    std::vector<double> losses;
    for (const std::vector<double>& of_shape : losses_) {
      double& min_loss = losses.emplace_back(unbounded);
      for (const std::size_t schedule : chosen) min_loss = std::min(min_loss, of_shape[schedule]);
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

  /// Adds schedules one by one to the best set that was enumerated.
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

/// A subtree.
struct Branch {
  std::vector<std::size_t> shapes;
  std::size_t schedule = 0;  // the best single schedule for all its shapes
  std::size_t extent = 0;
  double below = 0;
  std::unique_ptr<Branch> yes, no;  // null: a leaf
};

class Forest {
 public:
  /// `allowed`: losses of the heuristic's schedule up to this bound count as 0 while a tree grows.
  Forest(const Losses& losses, const std::vector<FamilyShape>& shapes, const std::vector<std::size_t>& kept,
         const FamilyGoal& goal, double allowed)
      : losses_(losses), shapes_(shapes), kept_(kept), goal_(goal), allowed_(allowed) {
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].form >= roots_.size()) roots_.resize(shapes[i].form + 1);
      roots_[shapes[i].form].shapes.push_back(i);
    }
    for (Branch& root : roots_) grow(root);
    while (prune()) {
    }
  }

  bool meets_goal() const { return total().meets(goal_); }

  std::vector<std::vector<DispatchRule::Node>> trees() const {
    std::vector<std::vector<DispatchRule::Node>> all;
    for (const Branch& root : roots_) append(root, all.emplace_back());
    return all;
  }

 private:
  double loss(std::size_t shape, std::size_t schedule) const {
    const double loss = std::min(losses_[shape][schedule], failed_loss);
    return schedule == heuristic_number && loss <= allowed_ ? 0 : loss;
  }

  /// Returns the best single schedule, and the sum of its losses.
  std::pair<double, std::size_t> best_single(const std::vector<std::size_t>& shapes) const {
    std::pair best{unbounded, kept_.front()};
    for (const std::size_t schedule : kept_) {
      double sum = 0;
      for (const std::size_t shape : shapes) sum += loss(shape, schedule);
      if (sum < best.first) best = {sum, schedule};
    }
    return best;
  }

  /// Returns the sum of the losses if each shape gets its best schedule.
  double least_sum(const std::vector<std::size_t>& shapes) const {
    double sum = 0;
    for (const std::size_t shape : shapes) {
      double best = unbounded;
      for (const std::size_t kept : kept_) best = std::min(best, loss(shape, kept));
      sum += best;
    }
    return sum;
  }

  void grow(Branch& branch) const {
    const auto [sum, schedule] = best_single(branch.shapes);
    branch.schedule = schedule;
    if (sum <= least_sum(branch.shapes) || !split(branch)) return;
    grow(*branch.yes);
    grow(*branch.no);
  }

  /// Splits at the extent and size whose two parts have the least sum of losses. Ties go to the split that leaves the
  /// fewest shapes in parts that must be split again. Returns false if no extent differs.
  bool split(Branch& branch) const {
    std::pair<double, std::size_t> best{unbounded, 0};
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
        std::pair<double, std::size_t> rating{0, 0};
        for (const auto* part : {&yes, &no}) {
          const double sum = best_single(*part).first;
          rating.first += sum;
          if (sum > least_sum(*part)) rating.second += part->size();
        }
        if (!(rating < best)) continue;
        best = rating;
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

  /// The loss over all trees.
  struct Total {
    double own = 0, between = 0;  // losses
    bool meets(const FamilyGoal& goal) const { return own <= goal.max_loss && between <= goal.max_loss; }
  };
  Total total() const {
    std::vector<double> own, between;
    for (const Branch& root : roots_) collect(root, own, between);
    return {loss_of(goal_, own), loss_of(goal_, between)};
  }
  void collect(const Branch& branch, std::vector<double>& own, std::vector<double>& between) const {
    if (branch.yes) {
      collect(*branch.yes, own, between);
      collect(*branch.no, own, between);
      return;
    }
    for (const std::size_t shape : branch.shapes)
      (shapes_[shape].between ? between : own).push_back(losses_[shape][branch.schedule]);
  }

  /// Calls f(branch) for each split whose two children are leaves.
  template <class F>
  static void for_each_last_split(Branch& branch, const F& f) {
    if (!branch.yes) return;
    if (!branch.yes->yes && !branch.no->yes) return f(branch);
    for_each_last_split(*branch.yes, f);
    for_each_last_split(*branch.no, f);
  }

  /// Removes the split whose removal costs least. Returns false if no removal meets the goal.
  bool prune() {
    Branch* best = nullptr;
    double min_loss = unbounded;
    for (Branch& root : roots_)
      for_each_last_split(root, [&](Branch& branch) {
        auto yes = std::exchange(branch.yes, nullptr), no = std::exchange(branch.no, nullptr);
        const Total without = total();
        branch.yes = std::move(yes);
        branch.no = std::move(no);
        const double loss = without.own + without.between;
        if (without.meets(goal_) && loss < min_loss) best = &branch, min_loss = loss;
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
  const double allowed_;
  std::vector<Branch> roots_;  // index: form
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
  CHECK(losses.size() == shapes.size() && !kept.empty() && kept.front() == heuristic_number);
  // If the goal bounds the mean loss, the heuristic's losses on all shapes together may exceed it.
  for (double allowed = goal.max_loss; allowed > least_allowed; allowed /= 2)
    if (const Forest forest(losses, shapes, kept, goal, allowed); forest.meets_goal()) return forest.trees();
  return Forest(losses, shapes, kept, goal, 0).trees();
}

}  // namespace deplo::engine
