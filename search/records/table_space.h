// A recorded space as a tree of decisions. Knobs are the levels; a node offers only values with at least one recorded
// configuration below it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "search/records/records.h"
#include "search/searcher.h"

namespace deplo::search {

/// Immutable, so threads may share it. Positions point to it and must not outlive it; one thread at a time may use a
/// position. If a configuration was recorded more than once, the last record counts.
class TableSpace final : public Space {
 public:
  /// `order`: the knob that each level decides, a permutation; empty: the order of the records. At least one record.
  explicit TableSpace(std::shared_ptr<const Records>, std::vector<std::size_t> order = {});

  PositionPtr root() const override;
  /// All knobs with all values of the records.
  std::vector<KnobInfo> knobs() const override;
  const Records& records() const { return *records_; }
  std::span<const std::size_t> order() const { return order_; }
  /// The number of configurations.
  std::size_t size() const { return rows_.size(); }
  /// The index in records() of each configuration, in the tree's order.
  std::span<const std::uint32_t> rows() const { return rows_; }

  /// The record of a candidate of this space. Constant time.
  const Record& at(const Candidate& candidate) const { return records_->records[row(candidate)]; }
  /// The index in records() of a candidate of this space.
  std::uint32_t row(const Candidate&) const;
  /// The candidate of a record, by its index in records().
  Candidate candidate(std::uint32_t record) const;

 private:
  friend class TablePosition;
  // The nodes of a level are in the tree's order, so that a node's children are adjacent on the next level. The nodes
  // of the last level are the configurations: node i is rows_[i].
  struct Level {
    std::vector<std::uint32_t> first_row;    // one per node, and the end
    std::vector<std::uint32_t> first_child;  // an index on the next level; one per node, and the end
    std::vector<std::uint32_t> fork;         // an index into forks_
  };
  void sort_rows();
  void add_level(std::size_t knob);
  std::uint32_t option_at(std::size_t row, std::size_t knob) const;

  std::shared_ptr<const Records> records_;
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> rows_;
  std::vector<Level> levels_;               // one more than there are knobs
  std::vector<std::optional<Fork>> forks_;  // nodes that offer the same options share a fork
};

}  // namespace deplo::search
