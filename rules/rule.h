// A rule is data: a name and two pure functions. The pipeline is one explicit array (pipeline.cpp).
#pragma once
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
};

/// The tile rules, in order.
std::span<const Rule* const> pipeline();

}  // namespace deplo::rules
