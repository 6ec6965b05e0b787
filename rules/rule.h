// A rule is data: names, words and two pure functions. The pipeline is one explicit array (pipeline.cpp).
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

struct Skip {  // the pattern does not match: one line
  std::string reason;
};
struct Apply {};  // nothing (left) to decide
using Verdict = std::variant<Skip, Fork, Apply>;

enum class KnobType { integer, text, on_off };  // on_off: 1 and 0 in trails

/// A decision that a rule may leave open.
struct Knob {
  std::string_view name;  // without the rule's; a last `*` stands for what a kernel has several of, as in `copy_*`
  KnobType type;
  /// Where the knob is newer than stored trails: the value with which the rule leaves the program as it was. Trails
  /// that do not name the knob take it (follow() in lower.h). nullopt: they no longer fit.
  std::optional<Value> as_before = std::nullopt;
};
/// The open decision of an on_off knob; the heuristic takes `first`.
Fork on_off_fork(std::string knob, bool first);

/// The choices already taken for a rule, in order, by the knob without the rule's name: nullopt while it is open. The
/// knob is of the type that is asked for.
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

/// Knobs of forks are written without the rule's name; the pipeline adds it.
struct Rule {
  std::string_view name;
  std::string_view summary;  // a few words for people
  std::vector<Knob> knobs;   // of every fork of `decide`
  Verdict (*decide)(const ir::Program&, const Target&, const Pins&);
  ir::Program (*apply)(ir::Program, const Target&, const Pins&);
};
/// By the name without the rule's; nullptr: the rule has no such knob.
const Knob* find_knob(const Rule&, std::string_view name);
/// Does the rule have the fork's knob, and are the options of its type?
bool declares(const Rule&, const Fork&);

using Pipeline = std::span<const Rule* const>;
/// The tile rules, in order.
Pipeline pipeline();
/// nullptr: there is none.
const Rule* find_rule(std::string_view name);
/// Which rules there are: another digest for another rule, order or knob. It says nothing of what a rule does with a
/// kernel; the digest of the kernel's source does.
std::string version_of(Pipeline);

}  // namespace deplo::rules
