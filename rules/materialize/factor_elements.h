// The elements of a factor of a product by matrix instructions that each thread makes itself: it loads or computes them,
// and packs them into the registers of a fragment. Private to rules/materialize.
#pragma once
#include <cstdint>
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
  /// `axis`: of the loop of products, whose turns the places of elements name.
  FactorElements(std::string axis, KernelBuilder& kernel, const Replication& replication, const StagePlaces& stages)
      : axis_(std::move(axis)), kernel_(kernel), replication_(replication), stages_(stages) {}

  /// A fragment of type `type`, whose elements are at `place` in their lane: two neighbours at once where they lie so
  /// that one access loads them.
  std::string pack(const ir::mma::Factor&, ir::Type type, const ir::Substitution& place, const ir::Expr& turn,
                   const Instance&, ir::Body& to);
  /// The place of one lane in a turn.
  ir::Substitution at_lane(const ir::Substitution& place, int lane, const ir::Expr& turn) const;
  /// An index at such a place.
  std::vector<ir::Expr> placed(const std::vector<ir::Expr>& index, const ir::Substitution& place,
                               const Instance& instance) const {
    return placed(index, place, {}, instance);
  }

 private:
  using Values = std::map<std::string, std::string, std::less<>>;  // of the Tile program, and what they are called here
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
