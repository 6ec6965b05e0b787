// A rule is data: its name, its texts and two pure functions. The pipeline is one explicit array (pipeline.cpp).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/target.h"
#include "core/trail.h"
#include "ir/program.h"

namespace deplo::rules {

struct Skip {          // the rule does not match
  std::string reason;  // one line
};
struct Apply {};  // no decision is (left) open
using Verdict = std::variant<Skip, Fork, Apply>;

enum class KnobType { integer, text, on_off };  // on_off: 1 and 0 in trails

/// A decision that a rule may leave open.
struct Knob {
  /// The name without the rule's name. A final `*` matches any ending, for knobs that a kernel may have several times,
  /// such as `copy_*`.
  std::string_view name;
  KnobType type;
  /// Set if the knob is newer than stored trails: the value with which the rule leaves the program unchanged. Trails
  /// that do not name the knob take this value (follow() in lower.h). nullopt: such trails no longer fit.
  std::optional<Value> as_before = std::nullopt;
};
/// Does the pattern name the knob? It is the knob's name, or ends with a `*` as Knob::name may.
bool names_knob(std::string_view pattern, std::string_view knob);
/// The open decision of an on_off knob. The heuristic takes `first`.
Fork on_off_fork(std::string knob, bool first);

/// The choices already made for a rule, in order. Knobs are looked up without the rule's name; the result is nullopt
/// while a knob is open. The knob must have the requested type.
class Pins {
 public:
  Pins() = default;
  explicit Pins(std::span<const Choice> choices) : choices_(choices) {}

  bool empty() const { return choices_.empty(); }
  std::size_t size() const { return choices_.size(); }
  std::optional<std::int64_t> integer(std::string_view knob) const;
  std::optional<std::string> text(std::string_view knob) const;
  std::optional<bool> on_off(std::string_view knob) const;

 private:
  template <typename T>
  const T* find(std::string_view knob) const;
  std::span<const Choice> choices_;
};

/// Forks name their knobs without the rule's name; the pipeline adds it.
struct Rule {
  std::string_view name;
  std::string_view summary;  // a few words for the user
  std::vector<Knob> knobs;   // all knobs that forks of `decide` name
  Verdict (*decide)(const ir::Program&, const Target&, const Pins&);
  ir::Program (*apply)(ir::Program, const Target&, const Pins&);
};
/// Finds a knob by its name without the rule's name. Returns nullptr if the rule has no such knob.
const Knob* find_knob(const Rule&, std::string_view name);
/// Does the rule have the fork's knob, and do all options have the knob's type?
bool declares(const Rule&, const Fork&);

using Pipeline = std::span<const Rule* const>;
/// The tile rules, in order.
Pipeline pipeline();
/// Returns nullptr if there is no such rule.
const Rule* find_rule(std::string_view name);
/// A digest of the rules' names, order and knobs. It does not cover what a rule does to a kernel; the digest of the
/// kernel's source does.
std::string version_of(Pipeline);

}  // namespace deplo::rules
