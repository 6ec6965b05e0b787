#include "rules/lower.h"

#include <fmt/format.h>
#include <algorithm>

#include "core/error.h"
#include "ir/walk.h"

namespace deplo::rules {

Lowering::Lowering(ir::Program loop, const Target& target) : Lowering(std::move(loop), target, {}) {}

Lowering::Lowering(ir::Program loop, const Target& target, Observer observer)
    : program_(std::move(loop)), target_(target), observer_(std::move(observer)) {
  advance();
}

void Lowering::choose(std::size_t option) {
  CHECK(fork_ && option < fork_->options.size());
  const std::string_view rule = pipeline()[rule_]->name;
  pins_.push_back({fork_->knob.substr(rule.size() + 1), fork_->options[option]});
  trail_.push_back({fork_->knob, fork_->options[option]});
  advance();
}

void Lowering::advance() {
  fork_.reset();
  for (; rule_ < pipeline().size(); ++rule_, pins_.clear()) {
    const Rule& rule = *pipeline()[rule_];
    Verdict verdict = rule.decide(program_, target_, pins_);
    if (auto* fork = std::get_if<Fork>(&verdict)) {
      CHECK(!fork->options.empty());
      fork->knob = fmt::format("{}.{}", rule.name, fork->knob);
      fork_ = std::move(*fork);
      return;
    }
    Step step{.rule = rule.name, .skipped = {}, .before = {}, .after = {}};
    if (observer_) step.before = program_;
    if (const auto* skip = std::get_if<Skip>(&verdict)) {
      step.skipped = skip->reason;
    } else {
      program_ = rule.apply(std::move(program_), target_, pins_);
      ir::renumber_axes(program_);
      if (const std::string violation = ir::verify(program_); !violation.empty()) {
        fmt::print(stderr, "{} made an invalid program: {}\n{}", rule.name, violation, ir::print(program_));
        CHECK(violation.empty());
      }
    }
    if (observer_) {
      step.after = program_;
      observer_(step);
    }
  }
}

namespace {

std::string list(const std::vector<Value>& options) {
  std::string text;
  for (const Value& option : options) text += (text.empty() ? "" : ", ") + print(option);
  return text;
}

}  // namespace

Lowering follow(ir::Program loop, const Target& target, const Trail& trail, Lowering::Observer observer) {
  Lowering lowering(std::move(loop), target, std::move(observer));
  std::size_t next = 0;
  while (const auto& fork = lowering.fork()) {
    std::size_t option = 0;
    if (next < trail.size()) {
      const Choice& choice = trail[next++];
      if (choice.knob != fork->knob)
        throw Error(fmt::format("schedule: expected the knob {} next, found {}={}", fork->knob, choice.knob,
                                print(choice.value)));
      const auto found = std::find(fork->options.begin(), fork->options.end(), choice.value);
      if (found == fork->options.end())
        throw Error(fmt::format("schedule: {}={} is not legal here; expected one of {}", choice.knob,
                                print(choice.value), list(fork->options)));
      option = static_cast<std::size_t>(found - fork->options.begin());
    }
    lowering.choose(option);
  }
  if (next < trail.size())
    throw Error(fmt::format("schedule: {}={} is left over: this kernel has no such decision", trail[next].knob,
                            print(trail[next].value)));
  return lowering;
}

}  // namespace deplo::rules
