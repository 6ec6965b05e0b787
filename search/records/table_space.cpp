#include "search/records/table_space.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/indices.h"

namespace deplo::search {

class TablePosition final : public Position {
 public:
  TablePosition(const TableSpace& space, std::uint32_t level, std::uint32_t node)
      : space_(space), level_(level), node_(node) {}

  const std::optional<Fork>& fork() const override {
    static const std::optional<Fork> none;
    return complete() ? none : space_.forks_[level().fork[node_]];
  }

  // Created at the first call, because most positions are only passed through.
  const Trail& trail() const override {
    if (trail_.size() < level_) {
      trail_.reserve(level_);
      const std::uint32_t row = space_.rows_[level().first_row[node_]];
      for (std::size_t i = 0; i < level_; ++i) {
        const std::size_t knob = space_.order_[i];
        trail_.push_back({space_.records_->knobs[knob].name, space_.records_->value(row, knob)});
      }
    }
    return trail_;
  }

  PositionPtr choose(std::size_t option) const override {
    return std::make_shared<TablePosition>(space_, level_ + 1, child(option));
  }

  double leaves(std::size_t option) const override {
    const auto& rows = space_.levels_[level_ + 1].first_row;
    const std::uint32_t node = child(option);
    return rows[node + 1] - rows[node];
  }

  const TableSpace& space() const { return space_; }
  std::uint32_t node() const { return node_; }
  bool complete() const { return level_ + 1 == space_.levels_.size(); }

 private:
  const TableSpace::Level& level() const { return space_.levels_[level_]; }
  std::uint32_t child(std::size_t option) const {
    CHECK(!complete() && option < level().first_child[node_ + 1] - level().first_child[node_]);
    return level().first_child[node_] + static_cast<std::uint32_t>(option);
  }

  const TableSpace& space_;
  std::uint32_t level_, node_;
  mutable Trail trail_;
};

TableSpace::TableSpace(std::shared_ptr<const Records> records, std::vector<std::size_t> order)
    : records_(std::move(records)), order_(std::move(order)) {
  CHECK(!records_->records.empty());
  const std::size_t knobs = records_->knobs.size();
  if (order_.empty()) order_ = indices(knobs);
  CHECK(std::ranges::is_permutation(order_, indices(knobs)));
  sort_rows();
  levels_.push_back({.first_row = {0, static_cast<std::uint32_t>(size())}, .first_child = {}, .fork = {}});
  for (const std::size_t knob : order_) add_level(knob);
}

std::uint32_t TableSpace::option_at(std::size_t row, std::size_t knob) const {
  return records_->options[rows_[row] * records_->knobs.size() + knob];
}

void TableSpace::sort_rows() {
  rows_ = indices<std::uint32_t>(records_->records.size());
  const auto compare = [this](std::uint32_t a, std::uint32_t b) {
    const auto left = records_->options_of(a), right = records_->options_of(b);
    for (const std::size_t p : order_)
      if (left[p] != right[p]) return left[p] < right[p] ? -1 : 1;
    return 0;
  };
  // Of equal rows, the last record comes first and is kept.
  std::ranges::sort(rows_, [&](std::uint32_t a, std::uint32_t b) {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a > b;
  });
  // clang 14 (`make lint`) does not compile std::ranges::unique.
  rows_.erase(std::unique(rows_.begin(), rows_.end(), [&](auto a, auto b) { return compare(a, b) == 0; }), rows_.end());
}

// Splits every node of the last level by the knob's value.
void TableSpace::add_level(std::size_t number) {
  const Knob& knob = records_->knobs[number];
  Level& level = levels_.back();
  Level next;
  std::map<std::vector<std::uint32_t>, std::uint32_t> forks;  // offered options → index into forks_
  std::vector<std::uint32_t> offered;
  for (std::size_t node = 0; node + 1 < level.first_row.size(); ++node) {
    level.first_child.push_back(static_cast<std::uint32_t>(next.first_row.size()));
    offered.clear();
    for (std::uint32_t row = level.first_row[node]; row < level.first_row[node + 1]; ++row) {
      const std::uint32_t option = option_at(row, number);
      if (!offered.empty() && offered.back() == option) continue;
      offered.push_back(option);
      next.first_row.push_back(row);
    }
    const auto [fork, fresh] = forks.try_emplace(offered, static_cast<std::uint32_t>(forks_.size()));
    level.fork.push_back(fork->second);
    if (!fresh) continue;
    Fork made{knob.name, {}};
    for (const std::uint32_t option : offered) made.options.push_back(knob.values[option]);
    forks_.emplace_back(std::move(made));
  }
  level.first_child.push_back(static_cast<std::uint32_t>(next.first_row.size()));
  next.first_row.push_back(static_cast<std::uint32_t>(size()));
  levels_.push_back(std::move(next));
}

PositionPtr TableSpace::root() const { return std::make_shared<TablePosition>(*this, 0, 0); }

std::vector<KnobInfo> TableSpace::knobs() const {
  std::vector<KnobInfo> knobs;
  for (const std::size_t number : order_) {
    const Knob& knob = records_->knobs[number];
    knobs.push_back({knob.name, knob.values, kind_of(knob.values), ""});
  }
  return knobs;
}

std::uint32_t TableSpace::row(const Candidate& candidate) const {
  const auto* position = dynamic_cast<const TablePosition*>(candidate.position.get());
  CHECK(position && &position->space() == this && position->complete());
  return rows_[position->node()];
}

Candidate TableSpace::candidate(std::uint32_t record) const {
  Trail trail;
  for (const std::size_t knob : order_) trail.push_back({records_->knobs[knob].name, records_->value(record, knob)});
  PositionPtr position = walk(*this, trail);
  CHECK(position != nullptr);
  return position;
}

}  // namespace deplo::search
