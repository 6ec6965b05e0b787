// The legal configurations of a kernel file's parameters, as a tree of decisions.
//
// Parameters that share a constraint, directly or through other parameters, form a group. The space is a chain of the
// groups' trees, so that the product of independent groups is never enumerated (chain of trees: Rasch, Haidl, Gorlatch,
// ATF: A Generic Auto-Tuning Framework, ICPADS 2017). engine/foreign/solver.h finds the configurations of a group.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/foreign/expression.h"
#include "search/space.h"

namespace deplo::engine::foreign {

struct Parameter {
  std::string name;
  std::vector<Scalar> values;  // distinct
  std::size_t fallback = 0;    // index of the default value
  std::string meaning = {};    // for people; "": unknown
  bool operator==(const Parameter&) const = default;
};

/// Returns the value as it appears in forks and trails: an integer or a word. Blanks in a text become %20, and an empty
/// text becomes %.
Value value_of(const Scalar&);

/// Parses the values of some parameters, "BLOCK_X=16,MATH=-O2", separated by commas, line ends or, as in a trail,
/// blanks. A comma belongs to the value if no name follows it. Throws Error, prefixed by `place`.
Trail parse_configuration(std::string_view text, std::string_view place);

class ParameterSpace final : public search::Space {
 public:
  /// Throws Error if a constraint contains an unknown name, if no configuration is legal, if a group has more than 20
  /// million legal configurations, or if a constraint cannot be evaluated for a configuration that meets all other
  /// constraints. Messages begin with `place`.
  ParameterSpace(std::vector<Parameter>, const std::vector<Expression>& constraints, const std::string& place);

  search::PositionPtr root() const override;
  /// Returns all parameters with all their values, including values that no legal configuration has.
  std::vector<search::KnobInfo> knobs() const override;
  /// The choices in the trail may be in any order.
  search::PositionPtr find(const Trail&) const override;

  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Returns notes for people: defaults that are not legal, and constraints that may not mean what their author
  /// intends.
  std::vector<std::string> notes() const;
  /// Return the number of legal configurations, and of all configurations.
  double legal() const;
  double raw() const;
  /// Returns the candidate with these values and the defaults of all other parameters. If it is not legal, the other
  /// parameters get the first possible values at the forks, as in search::heuristic(). Throws Error, prefixed by
  /// `place`, for an unknown parameter, for an unknown value of a parameter, or if no legal configuration has these
  /// values.
  search::PositionPtr candidate(const Trail& values, std::string_view place) const;
  /// Describes, for people, the defaults that candidate() replaced and the constraint that they violate. Returns "" if
  /// there are none.
  std::string replaced_defaults(const Trail& values, std::string_view place) const;
  /// Returns the value of each parameter in a candidate of this space, in the order of parameters().
  std::vector<Scalar> configuration(const search::Position& candidate) const;

  /// Parameters that depend on each other, in the order of the tree, and their legal configurations, sorted.
  struct Group {
    std::vector<std::size_t> parameters;
    std::vector<std::uint16_t> rows;  // indices of values; one row per configuration, one column per parameter
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
