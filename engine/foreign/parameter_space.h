// The legal configurations of a kernel file's parameters, as a tree of decisions.
//
// Parameters that share a constraint, directly or through others, form a group. The space is a chain of the groups'
// trees, so that the product of independent groups is never enumerated (chain of trees: Rasch, Haidl, Gorlatch, ATF: A
// Generic Auto-Tuning Framework, ICPADS 2017). engine/foreign/solver.h finds the configurations of a group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/foreign/expression.h"
#include "search/space.h"

namespace deplo::engine::foreign {

struct Parameter {
  std::string name;
  std::vector<Scalar> values;  // distinct
  std::size_t fallback = 0;    // the index of the default
  std::string meaning = {};    // for people; "": not known
  bool operator==(const Parameter&) const = default;
};

/// A value in forks and trails: an integer or a word. Blanks of a text are written as %20, an empty text as %.
Value value_of(const Scalar&);

/// "BLOCK_X=16,MATH=-O2": values of some parameters, separated by commas or by blanks, as in a trail. A comma that no
/// name follows is part of a value. Throws Error, prefixed by `place`.
Trail parse_configuration(std::string_view text, std::string_view place);

class ParameterSpace final : public search::Space {
 public:
  /// Throws Error if a constraint names no parameter of these, if no configuration is legal, if a group has more than
  /// 20 million legal configurations, or if a constraint cannot be evaluated for a configuration that meets all others.
  /// `place` begins messages.
  ParameterSpace(std::vector<Parameter>, const std::vector<Expression>& constraints, const std::string& place);

  search::PositionPtr root() const override;
  /// All parameters with all their values, even those that no legal configuration has.
  std::vector<search::KnobInfo> knobs() const override;
  /// The choices may have any order.
  search::PositionPtr find(const Trail&) const override;

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// For people: defaults that are not legal, and constraints that may not mean what their author thinks.
  std::vector<std::string> notes() const;
  /// The number of legal configurations, and of all.
  double legal() const;
  double raw() const;
  /// The candidate with these values, and the defaults of all other parameters. If that is not legal, the others have
  /// the values that are first at the forks, as in search::heuristic(). Throws Error, prefixed by `place`: an unknown
  /// parameter, a value that it does not have, or that no legal configuration has these values.
  search::PositionPtr candidate(const Trail& values, std::string_view place) const;
  /// For people: which defaults candidate() replaced, and the constraint that they do not meet; "": none.
  std::string replaced_defaults(const Trail& values, std::string_view place) const;
  /// The value of each parameter in a candidate of this space, in the order of parameters().
  std::vector<Scalar> configuration(const search::Position& candidate) const;

  /// Parameters that depend on each other, in the order of the tree, and their legal options, sorted.
  struct Group {
    std::vector<std::size_t> parameters;
    std::vector<std::uint16_t> rows;  // configurations × parameters: indices of values
    std::size_t size() const { return rows.size() / parameters.size(); }
  };
  const std::vector<Group>& groups() const { return groups_; }

 private:
  const Parameter& named(const std::string& name, std::string_view place) const;
  std::string violated(const Trail& values) const;
  void check(const Trail& values, std::string_view place) const;
  Trail with_defaults(const Trail& values) const;

  std::vector<Parameter> parameters_;
  std::vector<Expression> constraints_;
  std::vector<Group> groups_;
};

}  // namespace deplo::engine::foreign
