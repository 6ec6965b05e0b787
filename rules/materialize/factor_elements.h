// Makes fragments of a matrix product's factor in registers, if each thread loads or computes the elements itself.
// Private to rules/materialize.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/hardware/mma.h"
#include "rules/materialize/kernel_builder.h"
#include "rules/materialize/replication.h"
#include "rules/materialize/stage_lowering.h"

namespace deplo::rules::materializer {

class FactorElements {
 public:
  /// `axis`: the axis of the loop of products. The positions of elements contain it as the turn.
  FactorElements(std::string axis, KernelBuilder& kernel, const Replication& replication, const StagePlaces& stages)
      : axis_(std::move(axis)), kernel_(kernel), replication_(replication), stages_(stages) {}

  /// Makes a fragment of type `type`, with the elements at `place` for each lane, and returns its name. Two neighbours
  /// are loaded at once if one access can load both.
  std::string pack(const ir::mma::Factor&, ir::Type type, const ir::Substitution& place, const ir::Expr& turn,
                   const Instance&, ir::Body& to);
  /// Returns the position of one lane's element in a turn.
  ir::Substitution at_lane(const ir::Substitution& place, int lane, const ir::Expr& turn) const;
  /// Returns an index at such a position.
  std::vector<ir::Expr> placed(const std::vector<ir::Expr>& index, const ir::Substitution& place,
                               const Instance& instance) const {
    return placed(index, place, {}, instance);
  }

 private:
  using Values = std::map<std::string, std::string, std::less<>>;  // names in the Tile program → names in the kernel
  std::pair<std::string, int> made_at(const ir::mma::Factor&, ir::DType, const ir::Substitution& place, int width,
                                      const Instance&, ir::Body& to);
  std::vector<ir::Expr> placed(const std::vector<ir::Expr>& index, const ir::Substitution& place, const Values&,
                               const Instance&) const;
  bool loads_neighbours(const ir::mma::Factor&, const ir::Substitution& place, const ir::Expr& turn,
                        const Instance&) const;

  std::string axis_;
  KernelBuilder& kernel_;
  const Replication& replication_;
  const StagePlaces& stages_;
};

}  // namespace deplo::rules::materializer
