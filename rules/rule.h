// A rule is data: a name and two pure functions. The pipeline is one explicit array (pipeline.cpp).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/target.h"
#include "core/trail.h"
#include "ir/program.h"

namespace deplo::rules {

struct Skip {  // the pattern does not match: one line
  std::string reason;
};
struct Apply {};  // nothing (left) to decide
using Verdict = std::variant<Skip, Fork, Apply>;

/// `pins` are the choices already taken for this rule, in order. Knobs are written without the rule's name inside a
/// rule; the pipeline adds it.
struct Rule {
  std::string_view name;
  Verdict (*decide)(const ir::Program&, const Target&, std::span<const Choice> pins);
  ir::Program (*apply)(ir::Program, const Target&, std::span<const Choice> pins);
  /// For a rule that is newer than stored trails: the value of its knob with which it leaves the program as it was.
  /// Trails that do not name the knob take it (follow() in lower.h). nullopt: they no longer fit.
  std::optional<Value> as_before = std::nullopt;
};

using Pipeline = std::span<const Rule* const>;
/// The tile rules, in order.
Pipeline pipeline();

}  // namespace deplo::rules
