#include "engine/tune/families/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/mapped.h"
#include "core/rng.h"
#include "engine/compile/dispatch.h"
#include "engine/compile/kernel_space.h"
#include "engine/loop/kernel.h"
#include "engine/tune/board.h"
#include "engine/tune/families/family_choice.h"
#include "engine/tune/measurer.h"
#include "search/trails.h"

namespace deplo::engine {
namespace {

constexpr double no_time = std::numeric_limits<double>::infinity();
/// A schedule that takes more than this times the best time in screening is not confirmed. Its screened time is used.
constexpr double worth_confirming = 1.5;
/// A shape's best schedule is tried on the other shapes, and so are its other schedules if they take at most this times
/// the best time. Each of them costs a build on every shape.
constexpr double nearly_as_fast = 1.05;
/// Time for the shapes between the family's own: the first share, of the time that is left after measuring the own
/// shapes, but at least the second share, of the family's whole time.
constexpr double between_share = 0.7, least_between_share = 0.15;
constexpr std::size_t tried_of_each = 3, max_candidates = 24;

/// A shape of a family, and its kernel.
struct Member {
  enum class Part : std::uint8_t { own, held_out, between } part;
  const ir::Symbols* shape;
  const KernelCase* kernel;
  const Row* row;  // null: the shape lies between the family's shapes and is not tuned
  ShapeForm form;
};

/// Measures schedules on one shape. Times are in µs; the time of a failed schedule is infinite.
class ShapeTimes {
 public:
  ShapeTimes(const Member& member, Session& session)
      : session_(session), space_(member.kernel->loop, session.target), measurer_(*member.kernel, session) {}

  std::vector<double> measure(const std::vector<std::string>& trails, double seconds) {
    std::map<std::string, double> times;  // key: digest of the source
    std::vector<std::string> digests;
    std::vector<search::Candidate> candidates;  // with distinct digests
    for (const std::string& trail : trails) {
      search::Candidate candidate = search::replay(space_, parse_trail(trail));
      digests.push_back(space_.compile(*candidate).digest);
      if (times.emplace(digests.back(), no_time).second) candidates.push_back(std::move(candidate));
    }
    const double best = screen(candidates, times);
    confirm(std::move(candidates), times, best, seconds);
    return mapped(digests, [&](const std::string& digest) { return times.at(digest); });
  }

 private:
  /// Screens the candidates, and returns the best time.
  double screen(const std::vector<search::Candidate>& candidates, std::map<std::string, double>& times) {
    measurer_.prepare(candidates);
    double best = no_time;
    for (const search::Candidate& candidate : candidates) {
      if (session_.cancelled()) break;
      const Outcome outcome = measurer_.screen(candidate, best).outcome;
      if (!outcome.ok()) continue;
      times[space_.compile(*candidate).digest] = outcome.microseconds;
      best = std::min(best, outcome.microseconds);
    }
    return best;
  }

  void confirm(std::vector<search::Candidate> candidates, std::map<std::string, double>& times, double best,
               double seconds) {
    std::erase_if(candidates, [&](const search::Candidate& candidate) {
      return times.at(space_.compile(*candidate).digest) > worth_confirming * best;
    });
    if (session_.cancelled() || candidates.empty() || std::isinf(best)) return;
    for (const Measurer::Final& final : measurer_.confirm(candidates, seconds))
      times[space_.compile(*final.candidate).digest] = final.outcome.ok() ? final.outcome.microseconds : no_time;
  }

  Session& session_;
  const KernelSpace space_;  // without restrictions, as in engine/compile/tuned.h
  Measurer measurer_;
};

/// Returns the sizes of a form that differ between its members. Columns that are equal in all members form one extent.
std::vector<DispatchRule::Extent> extents_of(const std::vector<const Member*>& members) {
  std::vector<DispatchRule::Extent> extents;
  std::map<std::vector<double>, std::size_t> known;  // the values of a column in all members
  for (std::size_t column = 0; column < members.front()->form.numbers.size(); ++column) {
    std::vector<double> values;
    for (const Member* member : members) values.push_back(member->form.numbers[column]);
    const auto [min, max] = std::ranges::minmax(values);
    if (min == max) continue;
    const auto [found, fresh] = known.emplace(values, extents.size());
    if (!fresh) {
      extents[found->second].columns.push_back(column);
      continue;
    }
    std::string name = fmt::format("n{}", column);
    for (const auto& [symbol, size] : *members.front()->shape) {
      const auto is_equal = [&, symbol = symbol](const Member* member) {
        return static_cast<double>(member->shape->at(symbol)) == member->form.numbers[column];
      };
      if (std::ranges::all_of(members, is_equal)) name = symbol;
    }
    extents.push_back({std::move(name), {column}, min, max});
  }
  return extents;
}

/// Tunes one kernel of a family at all its shapes.
class FamilyTuner {
 public:
  FamilyTuner(const Experiment& experiment, Session& session, Progress& progress, std::string name,
              const std::vector<Member>& members)
      : goal_(experiment.family_goal), session_(session), progress_(progress) {
    row_.name = std::move(name);
    row_.goal = engine::name(goal_.over);
    row_.max_loss = goal_.max_loss;
    for (const Member& member : members) {
      if (member.part == Member::Part::between)
        between_.push_back(&member);
      else if (member.row->best_us <= 0)
        without_time_ += (without_time_.empty() ? "" : "; ") + print(*member.shape);
      else
        (member.part == Member::Part::held_out ? held_out_ : own_).push_back(&member);
    }
  }

  /// Returns the results, or nullopt if the session was cancelled.
  std::optional<FamilyRow> run(double seconds) {
    const double end = now() + seconds;
    if (own_.size() < 2) {
      row_.fault = "fewer than two shapes have valid times";
      return std::move(row_);
    }
    collect_trails();
    measure_own(end);
    if (session_.cancelled()) return std::nullopt;
    sort_by_form();
    rate_own();
    keep(keep_schedules(losses_, goal_), std::max(between_share * (end - now()), least_between_share * seconds));
    if (session_.cancelled()) return std::nullopt;
    make_rules();
    for (std::size_t i = 0; i < held_out_.size(); ++i) {
      measure_held_out(*held_out_[i], (end - now()) / static_cast<double>(held_out_.size() - i));
      if (session_.cancelled()) return std::nullopt;
    }
    store();
    if (!without_time_.empty()) row_.fault = "no valid times: " + without_time_;
    return std::move(row_);
  }

 private:
  /// Collects the heuristic's schedule, the best schedule of each shape, and then other schedules that are about as
  /// fast there, because one of them may suit more shapes.
  void collect_trails() {
    trails_ = {""};
    std::vector<std::vector<std::string>> fastest;
    for (const Member* member : own_) fastest.push_back(fastest_trails(*member));
    for (std::size_t place = 0; place < tried_of_each; ++place)
      for (const std::vector<std::string>& of_shape : fastest) {
        if (place >= of_shape.size() || (place > 0 && trails_.size() >= max_candidates)) continue;
        if (std::ranges::count(trails_, of_shape[place]) == 0) trails_.push_back(of_shape[place]);
      }
    row_.candidates = trails_.size();
  }

  /// Returns the trails of the best schedule and of those that are nearly as fast. "" stands for the heuristic's trail.
  std::vector<std::string> fastest_trails(const Member& member) const {
    const std::string untuned = print(KernelSpace(member.kernel->loop, session_.target).untuned());
    measure::Protocol protocol = session_.protocol;
    protocol.inputs = describe_inputs(*member.kernel);
    std::vector<std::pair<double, std::string>> timed;
    if (const auto kernel = session_.store.find_kernel(stored_text(*member.kernel)))
      for (const auto& [trial, failures] : session_.store.known_trials(*kernel, session_.device_id, protocol.text()))
        if (trial.status == Status::ok && !trial.timing.stopped)
          timed.emplace_back(trial.timing.median_us, trial.trail);
    std::ranges::sort(timed);
    std::vector<std::string> trails{member.row->trail};
    for (const auto& [us, trail] : timed)
      if (us <= nearly_as_fast * timed.front().first && trail != member.row->trail) trails.push_back(trail);
    std::ranges::replace(trails, untuned, "");
    return trails;
  }

  void measure_own(double end) {
    for (std::size_t i = 0; i < own_.size() && !session_.cancelled(); ++i) {
      tell(*own_[i], trails_.size());
      const double seconds = (end - now()) / static_cast<double>(own_.size() + between_.size() + held_out_.size() - i);
      times_.push_back(ShapeTimes(*own_[i], session_).measure(trails_, std::max(0.0, seconds)));
    }
  }

  void tell(const Member& member, std::size_t count) const {
    progress_.status(fmt::format("{} {}", row_.name, print(*member.shape)),
                     fmt::format("measuring {} schedules of the family", count));
  }

  /// Computes the losses of all schedules on the family's own shapes.
  void rate_own() {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      losses_.push_back(losses_of(times_[i]));
      shapes_.push_back({forms_[i], extents_at(forms_[i], *own_[i])});
    }
  }

  static std::vector<double> losses_of(const std::vector<double>& times) {
    const double best = std::ranges::min(times);
    return mapped(times, [&](double us) { return std::isfinite(us) ? us / best - 1 : no_time; });
  }

  std::vector<double> extents_at(std::size_t form, const Member& member) const {
    std::vector<double> extents;
    for (const DispatchRule::Extent& extent : rules_[form].extents)
      extents.push_back(member.form.numbers[extent.columns.front()]);
    return extents;
  }

  std::optional<std::size_t> form_of(const Member& member) const {
    for (std::size_t form = 0; form < examples_.size(); ++form)
      if (examples_[form]->form.mask == member.form.mask) return form;
    return std::nullopt;
  }

  /// Keeps these schedules, and measures them on the shapes between. The order of the shapes is random, so that no
  /// large range of sizes is missing if the time runs out.
  void keep(std::vector<std::size_t> schedules, double seconds) {
    kept_ = std::move(schedules);
    if (kept_.size() == 1) return;  // there is only one schedule to choose
    const std::vector<std::string> trails = mapped(kept_, [&](std::size_t schedule) { return trails_[schedule]; });
    Rng rng(0);
    shuffle(between_, rng);
    const double end = now() + seconds;
    for (std::size_t i = 0; i < between_.size() && now() < end && !session_.cancelled(); ++i) {
      const Member& member = *between_[i];
      const std::optional<std::size_t> form = form_of(member);
      if (!form) continue;
      tell(member, trails.size());
      const double share = (end - now()) / static_cast<double>(between_.size() - i);
      const std::vector<double> times = ShapeTimes(member, session_).measure(trails, share);
      if (std::isinf(std::ranges::min(times))) continue;
      const std::vector<double> losses = losses_of(times);
      std::vector<double>& all = losses_.emplace_back(trails_.size(), no_time);
      for (std::size_t k = 0; k < kept_.size(); ++k) all[kept_[k]] = losses[k];
      shapes_.push_back({*form, extents_at(*form, member), true});
      ++row_.between;
    }
  }

  void make_rules() {
    std::vector<std::vector<DispatchRule::Node>> trees = grow_trees(losses_, shapes_, kept_, goal_);
    renumber(trees);
    for (std::size_t form = 0; form < rules_.size(); ++form) {
      rules_[form].nodes = std::move(trees[form]);
      rules_[form].schedules = row_.schedules;
      row_.rule += (form == 0 ? "" : "\n") + describe(rules_[form]);
    }
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const std::size_t schedule = *dispatch(rules_[forms_[i]], own_[i]->form.numbers, own_[i]->form.numbers);
      add_shape(*own_[i], schedule, times_[i][kept_[schedule]], std::ranges::min(times_[i]),
                times_[i][heuristic_number]);
    }
  }

  /// Assigns each member to the rule of its form.
  void sort_by_form() {
    std::map<std::string, std::size_t> numbers;
    std::vector<std::vector<const Member*>> members;
    for (const Member* member : own_) {
      const std::size_t form = numbers.emplace(member->form.mask, numbers.size()).first->second;
      forms_.push_back(form);
      members.resize(numbers.size());
      members[form].push_back(member);
    }
    for (const std::vector<const Member*>& of_form : members) {
      rules_.push_back({extents_of(of_form), {}, {}});
      examples_.push_back(of_form.front());
    }
  }

  /// Drops schedules that no tree uses, and renumbers the others.
  void renumber(std::vector<std::vector<DispatchRule::Node>>& trees) {
    std::set<std::size_t> used;
    for (const auto& tree : trees)
      for (const DispatchRule::Node& node : tree)
        if (!node.extent) used.insert(node.schedule);
    kept_.assign(used.begin(), used.end());
    for (auto& tree : trees)
      for (DispatchRule::Node& node : tree)
        if (!node.extent)
          node.schedule = static_cast<std::size_t>(std::ranges::find(kept_, node.schedule) - kept_.begin());
    for (const std::size_t schedule : kept_) row_.schedules.push_back(trails_[schedule]);
  }

  void add_shape(const Member& member, std::size_t schedule, double us, double best_us, double heuristic_us) {
    const auto known = [](double time) { return std::isfinite(time) ? time : 0; };
    row_.shapes.push_back({print(*member.shape), member.part == Member::Part::held_out, schedule, known(us),
                           known(best_us), known(heuristic_us)});
  }

  /// Measures the schedule that the rule of the shape's form chooses. A shape of another form has no rule and gets the
  /// heuristic's schedule.
  void measure_held_out(const Member& member, double seconds) {
    std::optional<std::size_t> schedule;
    if (const auto form = form_of(member))
      schedule = dispatch(rules_[*form], member.form.numbers, examples_[*form]->form.numbers);
    const std::vector<std::string> trails = {"", schedule ? row_.schedules[*schedule] : "", member.row->trail};
    tell(member, trails.size());
    const std::vector<double> times = ShapeTimes(member, session_).measure(trails, std::max(0.0, seconds));
    add_shape(member, schedule.value_or(row_.schedules.size()), times[1], std::ranges::min(times), times[0]);
  }

  void store() {
    const double loss = loss_of(goal_, row_.losses(false));
    for (std::size_t form = 0; form < rules_.size(); ++form) {
      const Member& example = *examples_[form];
      session_.store.append(measure::FamilyRecord{.run = session_.run_id,
                                                  .kernel = {example.kernel->name, stored_text(*example.kernel)},
                                                  .key = example.form.key(),
                                                  .name = row_.name,
                                                  .rule = print(rules_[form]),
                                                  .goal = print(goal_),
                                                  .loss = loss});
    }
  }

  const FamilyGoal& goal_;
  Session& session_;
  Progress& progress_;
  FamilyRow row_;
  std::vector<const Member*> own_, between_, held_out_;
  std::string without_time_;                // shapes without a valid time
  std::vector<std::string> trails_;         // all schedules that are tried; trails_[0] is the heuristic's
  std::vector<std::vector<double>> times_;  // [index in own_][index in trails_]
  std::vector<std::size_t> forms_;          // form of each member of own_: index in rules_ and examples_
  Losses losses_;                           // losses on own_, followed by losses on the measured shapes of between_
  std::vector<FamilyShape> shapes_;         // parallel to losses_
  std::vector<DispatchRule> rules_;
  std::vector<const Member*> examples_;  // one member of own_ for each form
  std::vector<std::size_t> kept_;        // indices in trails_, in the order of row_.schedules
};

/// Returns the members of a family, grouped by what their kernels compute, in the order of the first shape. Each kernel
/// occurs once.
std::vector<std::pair<std::string, std::vector<Member>>> members_of(const FamilyCase& family,
                                                                    const Experiment& experiment, const RowOf& row_of) {
  std::vector<std::pair<std::string, std::vector<Member>>> groups;
  std::set<std::pair<std::string, const Row*>> seen;
  using Group = std::pair<std::string, std::vector<Member>>;
  for (const FamilyCase::Member& shape : family.members)
    for (const FamilyCase::Kernel& kernel : shape.kernels) {
      const Row* row = row_of(kernel.name);
      if (row == nullptr || !seen.emplace(kernel.what, row).second) continue;
      const auto found = std::ranges::find(experiment.kernels, row->name, &KernelCase::name);
      auto group = std::ranges::find(groups, kernel.what, &Group::first);
      if (group == groups.end()) group = groups.insert(group, {kernel.what, {}});
      const auto part = shape.held_out ? Member::Part::held_out : Member::Part::own;
      group->second.push_back({part, &shape.shape, &*found, row, shape_form(found->loop)});
    }
  for (const FamilyCase::Between& shape : family.between)
    for (const KernelCase& kernel : shape.kernels)
      if (const auto group = std::ranges::find(groups, kernel.loop.name, &Group::first); group != groups.end())
        group->second.push_back({Member::Part::between, &shape.shape, &kernel, nullptr, shape_form(kernel.loop)});
  return groups;
}

}  // namespace

std::vector<FamilyRow> tune_families(const Experiment& experiment, Session& session, Progress& progress,
                                     const RowOf& row_of, double seconds) {
  const double end = now() + seconds;
  std::vector<FamilyRow> rows;
  for (std::size_t i = 0; i < experiment.families.size(); ++i) {
    const FamilyCase& family = experiment.families[i];
    const auto groups = members_of(family, experiment, row_of);
    const auto families_left = static_cast<double>(experiment.families.size() - i);
    for (std::size_t group = 0; group < groups.size() && !session.cancelled(); ++group) {
      const auto& [what, members] = groups[group];
      const auto is_tuned = [](const Member& member) { return member.row != nullptr; };
      if (std::ranges::count_if(members, is_tuned) < 2) continue;  // the kernel has the same sizes in all shapes
      const std::string name = groups.size() == 1 ? family.name : family.name + "." + what;
      const double share = (end - now()) / families_left / static_cast<double>(groups.size() - group);
      if (auto row = FamilyTuner(experiment, session, progress, name, members).run(std::max(0.0, share)))
        rows.push_back(std::move(*row));
    }
  }
  return rows;
}

}  // namespace deplo::engine
