#include "rules/lower.h"

#include <fmt/format.h>
#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "ir/walk.h"

namespace deplo::rules {

namespace {

std::string list(const std::vector<Value>& options) {
  return join(options, ", ", [](const Value& option) { return print(option); });
}

std::string knob_within(const Rule& rule, const std::string& knob) { return knob.substr(rule.name.size() + 1); }

// A bug in a rule ends the program with a message that names the rule.

void check_fork(const Rule& rule, const Fork& fork, const Trail& pins) {
  const bool is_open = std::ranges::find(pins, fork.knob, &Choice::knob) == pins.end();
  const bool is_right = is_open && !fork.options.empty() && declares(rule, fork);
  if (!is_right)
    fmt::print(stderr, "{} asks for {} out of [{}]: already decided, or not declared by its knobs\n", rule.name,
               fork.knob, list(fork.options));
  CHECK(is_right);
}

void check_program(const Rule& rule, const ir::Program& program) {
  const std::string violation = ir::verify(program);
  if (!violation.empty())
    fmt::print(stderr, "{} made an invalid program: {}\n{}", rule.name, violation, ir::print(program));
  CHECK(violation.empty());
}

}  // namespace

Lowering::Lowering(ir::Program loop, const Target& target, Observer observer, Pipeline rules)
    : program_(std::move(loop)), target_(target), rules_(rules), observer_(std::move(observer)) {
  advance();
}

std::optional<Value> Lowering::as_before() const {
  const Rule& rule = *rules_[rule_];
  return find_knob(rule, knob_within(rule, fork_->knob))->as_before;
}

void Lowering::choose(std::size_t option) {
  CHECK(fork_ && option < fork_->options.size());
  pins_.push_back({knob_within(*rules_[rule_], fork_->knob), fork_->options[option]});
  trail_.push_back({fork_->knob, fork_->options[option]});
  advance();
}

void Lowering::advance() {
  fork_.reset();
  for (; rule_ < rules_.size(); ++rule_, pins_.clear()) {
    const Rule& rule = *rules_[rule_];
    const Pins pins(pins_);
    Verdict verdict = rule.decide(program_, target_, pins);
    if (auto* fork = std::get_if<Fork>(&verdict)) {
      check_fork(rule, *fork, pins_);
      fork->knob = fmt::format("{}.{}", rule.name, fork->knob);
      fork_ = std::move(*fork);
      return;
    }
    Step step{.rule = rule, .skipped = {}, .before = {}, .after = {}};
    if (observer_) step.before = program_;
    if (const auto* skip = std::get_if<Skip>(&verdict)) {
      step.skipped = skip->reason;
    } else {
      program_ = rule.apply(std::move(program_), target_, pins);
      ir::renumber_axes(program_);
      check_program(rule, program_);
    }
    if (observer_) {
      step.after = program_;
      observer_(step);
    }
  }
}

namespace {

Failure misfit(const std::string& message) { return {Status::invalid, "schedule: " + message}; }

/// The choices of a trail that have not been taken yet.
class Open {
 public:
  Open(const Trail& trail, TrailIs is) : left_(trail.begin(), trail.end()), is_(is) {}

  /// The number of the option that the trail takes at the fork.
  Result<std::size_t> option(const Fork& fork, const std::optional<Value>& as_before) {
    if (left_.empty() && is_ == TrailIs::beginning) return std::size_t{0};
    const auto named = std::ranges::find(left_, fork.knob, &Choice::knob);
    if (named == left_.end() && as_before) return number_of(fork, {fork.knob, *as_before});
    if (named == left_.end() || (is_ == TrailIs::beginning && named != left_.begin()))
      return misfit(fmt::format("expected the knob {} next, found {}", fork.knob,
                                left_.empty() ? "the end" : print({left_.front()})));
    const Choice choice = *named;
    left_.erase(named);
    return number_of(fork, choice);
  }

  std::optional<Failure> fault() const {
    if (left_.empty()) return std::nullopt;
    return misfit(fmt::format("{} is left over: this kernel has no such decision", print({left_.front()})));
  }

 private:
  static Result<std::size_t> number_of(const Fork& fork, const Choice& choice) {
    const auto found = std::ranges::find(fork.options, choice.value);
    if (found == fork.options.end())
      return misfit(fmt::format("{} is not legal here; expected one of {}", print({choice}), list(fork.options)));
    return static_cast<std::size_t>(found - fork.options.begin());
  }

  std::vector<Choice> left_;
  TrailIs is_;
};

}  // namespace

Result<Lowering> follow(Lowering lowering, const Trail& trail, TrailIs is) {
  Open open(trail, is);
  while (lowering.fork()) {
    const Result<std::size_t> option = open.option(*lowering.fork(), lowering.as_before());
    if (!option.ok()) return option.failure();
    lowering.choose(option.value());
  }
  if (const auto fault = open.fault()) return *fault;
  return lowering;
}

}  // namespace deplo::rules
