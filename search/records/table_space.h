// A recorded space as a tree of decisions: knobs are the levels, a node offers just the values with at least one
// recorded configuration below it.
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

/// Immutable: threads may share it. Positions point to it and must not outlive it; each is for one thread at a time.
/// Of configurations that were recorded more than once the last record counts.
class TableSpace final : public Space {
 public:
  /// `order`: which knob each level decides, a permutation. Empty: as recorded. At least one record.
  explicit TableSpace(std::shared_ptr<const Records>, std::vector<std::size_t> order = {});

  PositionPtr root() const override;
  const Records& records() const { return *records_; }
  std::span<const std::size_t> order() const { return order_; }
  /// How many configurations there are.
  std::size_t size() const { return rows_.size(); }
  /// The numbers in records() of the configurations, in the tree's order.
  std::span<const std::uint32_t> rows() const { return rows_; }

  /// A candidate of this space. Constant time.
  const Record& at(const Candidate& candidate) const { return records_->records[row(candidate)]; }
  /// Its number in records().
  std::uint32_t row(const Candidate&) const;
  /// The number of the record with these options (in the order of records().knobs); none: not recorded.
  std::optional<std::uint32_t> find_record(std::span<const std::uint16_t> options) const;

 private:
  friend class TablePosition;
  // Nodes of a level in the tree's order, so that a node's children are neighbours on the next level. Nodes of the last
  // level are the configurations: node i is rows_[i].
  struct Level {
    std::vector<std::uint32_t> first_row;    // one per node, and the end
    std::vector<std::uint32_t> first_child;  // on the next level; one per node, and the end
    std::vector<std::uint32_t> fork;         // in forks_
  };
  void sort_rows();
  void add_level(std::size_t knob);
  std::uint32_t option_at(std::size_t row, std::size_t knob) const;

  std::shared_ptr<const Records> records_;
  std::vector<std::size_t> order_;
  std::vector<std::uint32_t> rows_;
  std::vector<Level> levels_;               // one more than knobs
  std::vector<std::optional<Fork>> forks_;  // shared by the nodes that offer the same
};

}  // namespace deplo::search
