#include "engine/foreign/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/indices.h"
#include "core/interrupt.h"
#include "engine/foreign/range.h"

namespace deplo::engine::foreign {
namespace solver {
namespace {

using Node = Expression::Node;
using Row = std::vector<std::uint16_t>;

constexpr std::size_t max_group = 20'000'000;  // most legal configurations of one group; each takes 20 to 100 bytes
constexpr std::size_t max_known_bytes = 128 << 20;  // memory for the keys of remembered places: some million places
constexpr std::size_t known_bytes = 100;            // memory of a remembered place without its key

/// The value of a part of a condition during the search, after some parameters are decided.
struct Cell {
  Operand value = Scalar(std::int64_t{0});
  bool fails = false;  // true: the evaluation ends in an error
  Range range = {};
};

/// Computes the cell of a part from the cells of its operands.
struct Step {
  const Node* node;
  Operation operation;
  bool is_decided;  // true: all parameters of the part are decided, so it has a value; false: it has only a range
  std::size_t to;
  std::vector<std::size_t> from;
};

/// One evaluation of a condition, directly after a parameter is decided.
struct Test {
  const Condition* condition;
  bool is_decided;
  std::vector<Step> steps;  // the last step computes the condition's value
};

/// Computes common operations on integers without copying operands. Returns nullopt for other operations, and if the
/// result exceeds 64 bits.
std::optional<std::int64_t> quick(Operation operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (operation) {
    case Operation::add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Operation::subtract:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Operation::multiply:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Operation::remainder:
      return a >= 0 && b > 0 ? std::optional(a % b) : std::nullopt;
    case Operation::equal:
      return a == b;
    case Operation::differ:
      return a != b;
    case Operation::less:
      return a < b;
    case Operation::less_equal:
      return a <= b;
    case Operation::greater:
      return a > b;
    case Operation::greater_equal:
      return a >= b;
    default:
      return std::nullopt;
  }
}

const std::int64_t* integer_in(const Cell& cell) {
  const auto* scalar = std::get_if<Scalar>(&cell.value);
  return cell.fails || scalar == nullptr ? nullptr : std::get_if<std::int64_t>(scalar);
}

bool is_true(const Cell& cell) { return foreign::is_true(std::get<Scalar>(cell.value)); }
/// Returns true for a single value. As a condition or as an element of a list, a list is an error.
bool is_scalar(const Cell& cell) { return !cell.fails && std::holds_alternative<Scalar>(cell.value); }

/// Plans when each part of the conditions is evaluated, and holds the values. Depth 0 is before the first parameter is
/// decided.
class Evaluation {
 public:
  Evaluation(const std::vector<Parameter>& all, const std::vector<std::size_t>& order, const std::vector<Row>& domains,
             const std::vector<const Condition*>& conditions)
      : all_(all), order_(order), depth_of_(all.size(), 0) {
    for (std::size_t i = 0; i < order.size(); ++i) depth_of_[order[i]] = i + 1;
    for (std::size_t depth = 0; depth <= order.size(); ++depth) tests_.emplace_back();
    for (const std::size_t parameter : order) add_names(parameter, domains[parameter]);
    for (const Condition* condition : conditions) add(*condition);
    for (auto& tests : tests_)
      std::stable_partition(tests.begin(), tests.end(), [](const Test& test) { return test.is_decided; });
    find_keys();
  }

  /// Decides a parameter. Returns false if no configuration with the current values is legal. Sets `failing` to a
  /// condition that could not be evaluated, if there is one.
  bool decide(std::size_t depth, std::uint16_t option, const Condition*& failing) {
    const std::size_t parameter = order_[depth - 1];
    Cell& name = cells_[names_[parameter]];
    name.value = all_[parameter].values[option];
    name.range = range_of(name.value);
    for (const Test& test : tests_[depth]) {
      for (const Step& step : test.steps) take(step);
      const Cell& cell = cells_[test.steps.back().to];
      if (!test.is_decided) {
        if (is_false(cell.range)) return false;
      } else if (!is_scalar(cell)) {
        failing = test.condition;
      } else if (!is_true(cell)) {
        return false;
      }
    }
    return true;
  }

  /// Returns true if places at this depth can have equal keys although their decided parameters differ.
  bool has_key(std::size_t depth) const { return keys_[depth].has_value(); }
  /// Returns the values of all cells that deeper steps read, as one string.
  std::string key(std::size_t depth) const {
    std::string key;
    for (const std::size_t number : *keys_[depth]) {
      const Cell& cell = cells_[number];
      if (const std::int64_t* integer = integer_in(cell)) {
        key += 'i';
        key.append(reinterpret_cast<const char*>(integer), sizeof *integer);
      } else if (cell.fails) {
        key += 'f';
      } else if (const auto* scalar = std::get_if<Scalar>(&cell.value)) {
        append(*scalar, key);
      } else {
        const List& list = std::get<List>(cell.value);
        key += fmt::format("l{} ", list.size());
        for (const Scalar& element : list) append(element, key);
      }
    }
    return key;
  }

 private:
  /// The cells of a part, as pairs: the depth at which the cell is computed, and the cell.
  using Versions = std::vector<std::pair<std::size_t, std::size_t>>;
  struct Part {
    std::set<std::size_t> depths;  // depths at which the part's parameters are decided
    Versions versions;
    std::size_t decided_at() const { return depths.empty() ? 0 : *depths.rbegin(); }
  };

  static void append(const Scalar& scalar, std::string& to) {
    if (const auto* text = std::get_if<std::string>(&scalar))
      to += fmt::format("t{} {}", text->size(), *text);
    else if (const auto* integer = std::get_if<std::int64_t>(&scalar))
      to += fmt::format("i{} ", *integer);
    else
      to += fmt::format("d{} ", std::get<double>(scalar));
  }

  void add_names(std::size_t parameter, const Row& domain) {
    Range range = range_of(Operand(all_[parameter].values[domain.front()]));
    for (const std::uint16_t option : domain) range = join(range, range_of(Operand(all_[parameter].values[option])));
    open_names_[parameter] = cells_.size();
    cells_.push_back({Scalar(std::int64_t{0}), false, range});
    names_[parameter] = cells_.size();
    cells_.emplace_back();
    produced_at_.insert(produced_at_.end(), {0, depth_of_[parameter]});
  }

  /// Adds `node` to `parts` and `sorted`, after all its operands.
  const Part& describe(const Node& node, const Condition& condition, std::map<const Node*, Part>& parts,
                       std::vector<const Node*>& sorted) const {
    if (const auto known = parts.find(&node); known != parts.end()) return known->second;
    Part part;
    if (node.kind == Node::Kind::name) {
      const std::size_t parameter = condition.numbers[node.name];
      part.depths.insert(depth_of_[parameter]);
      part.versions = {{0, open_names_.at(parameter)}, {depth_of_[parameter], names_.at(parameter)}};
    }
    for (const auto& one : node.parts) {
      const Part& inner = describe(*one, condition, parts, sorted);
      part.depths.insert(inner.depths.begin(), inner.depths.end());
    }
    if (node.kind != Node::Kind::name) sorted.push_back(&node);
    return parts.emplace(&node, std::move(part)).first->second;
  }

  /// Returns the latest cell of the part that is computed at this depth or before.
  static std::size_t cell_at(const Part& part, std::size_t depth) {
    std::size_t cell = 0;
    for (const auto& [since, number] : part.versions)
      if (since <= depth) cell = number;
    return cell;
  }

  void add(const Condition& condition) {
    std::map<const Node*, Part> parts;
    std::vector<const Node*> sorted;
    std::set<std::size_t> depths = describe(*condition.expression.root(), condition, parts, sorted).depths;
    depths.insert(0);
    for (const std::size_t depth : depths) {
      Test test{&condition, depth == *depths.rbegin(), {}};
      for (const Node* node : sorted) {
        Part& part = parts.at(node);
        if (depth > 0 && part.depths.count(depth) == 0) continue;
        Step step{node, node->operation, part.decided_at() == depth, cells_.size(), {}};
        for (const auto& one : node->parts) add_sources(*one, step, parts, depth);
        part.versions.emplace_back(depth, step.to);
        cells_.emplace_back();
        produced_at_.push_back(depth);
        if (depth == 0) take(step);
        test.steps.push_back(std::move(step));
      }
      if (test.steps.empty())  // the condition is a single name
        test.steps.push_back({nullptr,
                              Operation::keep,
                              test.is_decided,
                              cell_at(parts.at(condition.expression.root().get()), depth),
                              {}});
      if (depth > 0) tests_[depth].push_back(std::move(test));
    }
  }

  /// For bounds of `in`, `min` and `max`, the elements of a list are sources instead of the list.
  static void add_sources(const Node& part, Step& step, const std::map<const Node*, Part>& parts, std::size_t depth) {
    const bool takes_elements =
        step.operation == Operation::in || step.operation == Operation::not_in ||
        ((step.operation == Operation::min || step.operation == Operation::max) && step.node->parts.size() == 1);
    if (step.is_decided || part.kind != Node::Kind::list || !takes_elements) {
      step.from.push_back(cell_at(parts.at(&part), depth));
      return;
    }
    for (const auto& element : part.parts) step.from.push_back(cell_at(parts.at(element.get()), depth));
  }

  void take(const Step& step) {
    if (step.node == nullptr) return;
    Cell& to = cells_[step.to];
    if (!step.is_decided) {
      to.range = range(step);
      return;
    }
    evaluate(step, to);
    to.range = to.fails ? Range{} : range_of(to.value);
  }

  Range range(const Step& step) {
    const auto of = [&](std::size_t i) -> const Range& { return cells_[step.from[i]].range; };
    switch (step.node->kind) {
      case Node::Kind::choice:
        return choose(of(0), of(1), of(2));
      case Node::Kind::both:
        return range_of_both(of(0), of(1));
      case Node::Kind::either:
        return range_of_either(of(0), of(1));
      case Node::Kind::call:
        ranges_.clear();
        for (std::size_t i = 0; i < step.from.size(); ++i) ranges_.push_back(of(i));
        return range_of(step.operation, ranges_);
      default:
        return {};
    }
  }

  void evaluate(const Step& step, Cell& to) {
    const auto from = [&](std::size_t i) -> const Cell& { return cells_[step.from[i]]; };
    to.fails = false;
    switch (step.node->kind) {
      case Node::Kind::constant:
        to.value = step.node->value;
        return;
      case Node::Kind::choice:
      case Node::Kind::both:
      case Node::Kind::either: {
        const Cell& taken = is_scalar(from(0)) ? from(step.node->choose(is_true(from(0)))) : from(0);
        to.fails = taken.fails || !is_scalar(from(0));
        if (!to.fails) to.value = taken.value;
        return;
      }
      case Node::Kind::list: {
        List list;
        for (std::size_t i = 0; i < step.from.size() && !to.fails; ++i) {
          to.fails = !is_scalar(from(i));
          if (!to.fails) list.push_back(std::get<Scalar>(from(i).value));
        }
        to.value = std::move(list);
        return;
      }
      default:
        break;
    }
    if (step.from.size() == 2) {
      const std::int64_t *a = integer_in(from(0)), *b = integer_in(from(1));
      if (const auto result = a && b ? quick(step.operation, *a, *b) : std::nullopt) {
        to.value = Scalar(*result);
        return;
      }
    }
    call(step, to);
  }

  void call(const Step& step, Cell& to) {
    operands_.clear();
    for (const std::size_t i : step.from) {
      to.fails = to.fails || cells_[i].fails;
      operands_.push_back(cells_[i].value);
    }
    if (to.fails) return;
    try {
      to.value = step.node->function(operands_);
    } catch (const Error&) {
      to.fails = true;
    }
  }

  /// Finds, for each depth, the cells that deeper steps read.
  void find_keys() {
    for (std::size_t depth = 0; depth < tests_.size(); ++depth) {
      std::set<std::size_t> read;
      for (std::size_t later = depth + 1; later < tests_.size(); ++later)
        for (const Test& test : tests_[later])
          for (const Step& step : test.steps) {
            if (!step.is_decided) continue;  // a range excludes no legal value
            std::vector<std::size_t> cells = step.from;
            if (step.node == nullptr) cells.push_back(step.to);
            for (const std::size_t cell : cells)
              if (produced_at_[cell] > 0 && produced_at_[cell] <= depth) read.insert(cell);
          }
      bool all_names = true;
      for (std::size_t i = 0; i < depth; ++i) all_names = all_names && read.count(names_[order_[i]]) > 0;
      keys_.emplace_back();
      // At the last depth nothing is left to read. If the key contains all decided parameters, no two keys are equal.
      if (!all_names && depth + 1 < tests_.size()) keys_.back().emplace(read.begin(), read.end());
    }
  }

  const std::vector<Parameter>& all_;
  const std::vector<std::size_t>& order_;
  std::vector<std::size_t> depth_of_;     // the depth at which each parameter is decided; 0: it is not in the group
  std::vector<Cell> cells_;               // the values of all parts of all conditions
  std::vector<std::size_t> produced_at_;  // the depth at which each cell is computed
  std::map<std::size_t, std::size_t> open_names_, names_;  // each parameter's cell before and after it is decided
  std::vector<std::vector<Test>> tests_;                   // index: depth
  std::vector<std::optional<std::vector<std::size_t>>> keys_;
  std::vector<Operand> operands_;  // operands of the current step
  std::vector<Range> ranges_;      // ranges of the current step
};

/// Returns the order in which parameters are decided: parameters that complete the most conditions come first. Ties go
/// to the parameter with the fewest values.
std::vector<std::size_t> order_of(const std::vector<Parameter>& all, std::vector<std::size_t> left,
                                  std::vector<const Condition*> conditions) {
  std::vector<std::size_t> order;
  std::vector<bool> known(all.size(), false);
  const auto missing = [&](const Condition* condition) {
    return std::ranges::count_if(condition->parameters, [&](std::size_t p) { return !known[p]; });
  };
  while (!left.empty()) {
    // Conditions with few undecided parameters weigh more, because they prune earlier. A condition whose only undecided
    // parameter is `p` prunes at once.
    const auto worth = [&](std::size_t p) {
      double sum = 0;
      for (const Condition* condition : conditions)
        if (std::ranges::count(condition->parameters, p) > 0) {
          const auto lacks = static_cast<double>(missing(condition));
          sum += 1 / (lacks * lacks * lacks);
        }
      return std::pair(sum, -static_cast<double>(all[p].values.size()));
    };
    const auto next = std::ranges::max_element(left, {}, worth);
    order.push_back(*next);
    known[*next] = true;
    left.erase(next);
    std::erase_if(conditions, [&](const Condition* condition) { return missing(condition) == 0; });
  }
  return order;
}

/// Returns, for each parameter of the group, the options that are allowed by the conditions on this parameter alone.
std::vector<Row> domains_of(const std::vector<Parameter>& all, const std::vector<std::size_t>& group,
                            const std::vector<const Condition*>& conditions) {
  std::vector<Row> domains(all.size());
  for (const std::size_t parameter : group) {
    std::vector<const Condition*> own;
    for (const Condition* condition : conditions)
      if (condition->parameters == std::vector{parameter}) own.push_back(condition);
    const std::vector<std::size_t> order = {parameter};
    domains[parameter] = indices<std::uint16_t>(all[parameter].values.size());
    Evaluation alone(all, order, domains, own);
    const Condition* failing = nullptr;
    std::erase_if(domains[parameter], [&](std::uint16_t option) { return !alone.decide(1, option, failing); });
  }
  return domains;
}

class Search {
 public:
  Search(const std::vector<Parameter>& all, const std::vector<std::size_t>& group,
         const std::vector<const Condition*>& conditions, const std::string& place)
      : all_(all),
        group_(group),
        place_(place),
        order_(order_of(all, group, conditions)),
        domains_(domains_of(all, group, conditions)),
        options_(all.size(), 0) {
    for (const std::size_t parameter : group)
      if (domains_[parameter].empty()) return;
    for (const std::size_t parameter : order_)
      columns_.push_back(static_cast<std::size_t>(std::ranges::find(group, parameter) - group.begin()));
    evaluation_.emplace(all_, order_, domains_, conditions);
  }

  Row solve() {
    if (!evaluation_) return {};
    descend(1, nullptr);
    if (order_ != group_) sort();
    return std::move(rows_);
  }

 private:
  void descend(std::size_t depth, const Condition* failing) {
    if (depth > order_.size()) return keep(failing);
    if (interrupted() != 0) throw Error(fmt::format("{}: interrupted while looking for legal configurations", place_));
    const std::size_t parameter = order_[depth - 1];
    for (const std::uint16_t option : domains_[parameter]) {
      options_[parameter] = option;
      const Condition* fails = failing;
      if (!evaluation_->decide(depth, option, fails)) continue;
      // Below a place with a failing condition there is an error or nothing, so its rows are not remembered.
      if (fails != nullptr || !evaluation_->has_key(depth))
        descend(depth + 1, fails);
      else
        descend_or_copy(depth);
    }
  }

  /// Finds the rows below this place, or copies them from an earlier place with the same key.
  void descend_or_copy(std::size_t depth) {
    std::string key = std::to_string(depth) + evaluation_->key(depth);
    if (const auto known = known_.find(key); known != known_.end()) return copy(known->second, depth);
    const std::size_t first = count();
    descend(depth + 1, nullptr);
    if (known_bytes_ >= max_known_bytes) return;
    known_bytes_ += known_bytes + key.size();
    known_.emplace(std::move(key), std::pair(first, count()));
  }

  /// Copies the rows of a place with the same key, and replaces the parameters that are already decided.
  void copy(std::pair<std::size_t, std::size_t> rows, std::size_t depth) {
    const std::size_t width = group_.size();
    for (std::size_t row = rows.first; row < rows.second; ++row) {
      make_room();
      for (std::size_t column = 0; column < width; ++column) rows_.push_back(rows_[row * width + column]);
      for (std::size_t i = 0; i < depth; ++i) rows_[rows_.size() - width + columns_[i]] = options_[order_[i]];
    }
  }

  void keep(const Condition* failing) {
    if (failing != nullptr) report(*failing);
    make_room();
    for (const std::size_t parameter : group_) rows_.push_back(options_[parameter]);
  }

  std::size_t count() const { return rows_.size() / group_.size(); }
  void make_room() const {
    if (count() == max_group)
      throw Error(
          fmt::format("{}: expected at most {} legal configurations of parameters that depend on each other, "
                      "found more",
                      place_, max_group));
  }

  [[noreturn]] void report(const Condition& failing) const {
    std::vector<Operand> operands;
    for (const std::size_t number : failing.numbers) operands.emplace_back(all_[number].values[options_[number]]);
    static_cast<void>(failing.expression.scalar(operands));
    check_failed("a condition that could not be evaluated can be evaluated now", __FILE__, __LINE__);
  }

  /// Sorts the rows into the order of the tree.
  void sort() {
    const std::size_t width = group_.size();
    double raw = 1;
    for (const std::size_t parameter : group_) raw *= static_cast<double>(all_[parameter].values.size());
    if (raw < 0x1p63) return sort_numbers();
    auto order = indices<std::uint32_t>(count());
    const auto row = [&](std::uint32_t i) { return rows_.begin() + static_cast<std::ptrdiff_t>(i * width); };
    const auto end = static_cast<std::ptrdiff_t>(width);
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return std::lexicographical_compare(row(a), row(a) + end, row(b), row(b) + end);
    });
    Row sorted;
    sorted.reserve(rows_.size());
    for (const std::uint32_t i : order) sorted.insert(sorted.end(), row(i), row(i) + end);
    rows_ = std::move(sorted);
  }

  /// A faster sort: encodes each row as one number.
  void sort_numbers() {
    const std::size_t width = group_.size();
    std::vector<std::uint64_t> numbers(count(), 0);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      numbers[i / width] = numbers[i / width] * all_[group_[i % width]].values.size() + rows_[i];
    std::ranges::sort(numbers);
    for (std::size_t i = rows_.size(); i-- > 0;) {
      const std::size_t values = all_[group_[i % width]].values.size();
      rows_[i] = static_cast<std::uint16_t>(numbers[i / width] % values);
      numbers[i / width] /= values;
    }
  }

  const std::vector<Parameter>& all_;
  const std::vector<std::size_t>& group_;
  const std::string& place_;
  std::vector<std::size_t> order_;  // the order in which the group's parameters are decided
  std::vector<Row> domains_;        // index: parameter; the options that are tried
  Row options_;                     // index: parameter; the current option
  std::optional<Evaluation> evaluation_;
  std::vector<std::size_t> columns_;  // the column of each parameter of order_ in a row
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> known_;  // key → the rows below the place
  std::size_t known_bytes_ = 0;
  Row rows_;
};

bool is_constant(const Node& node, bool value) {
  const auto* scalar = std::get_if<Scalar>(&node.value);
  return node.kind == Node::Kind::constant && scalar != nullptr && foreign::is_true(*scalar) == value;
}

/// Returns true if a part without parameters is true.
bool is_surely_true(const Node& node) {
  try {
    const Operand value = node.evaluate({});
    return std::holds_alternative<Scalar>(value) && foreign::is_true(std::get<Scalar>(value));
  } catch (const Error&) {
    return false;
  }
}

void add_parameters(const Node& node, const std::vector<std::size_t>& numbers, std::set<std::size_t>& to) {
  if (node.kind == Node::Kind::name) to.insert(numbers[node.name]);
  for (const auto& part : node.parts) add_parameters(*part, numbers, to);
}

/// Appends the operands of nested "and" to `to`. The parser represents "a && b" as the choice
/// `True if a and b else False`.
void split(const std::shared_ptr<const Node>& node, std::vector<std::shared_ptr<const Node>>& to) {
  const bool is_choice = node->kind == Node::Kind::choice && is_constant(*node->parts[2], false);
  if (!is_choice && node->kind != Node::Kind::both) {
    to.push_back(node);
    return;
  }
  split(node->parts[0], to);
  if (!is_constant(*node->parts[1], true)) split(node->parts[1], to);
}

}  // namespace
}  // namespace solver

std::vector<Condition> conditions_of(const Expression& constraint, const std::vector<Parameter>& all) {
  std::vector<std::size_t> numbers;
  for (const std::string& name : constraint.names()) {
    const auto found = std::ranges::find(all, name, &Parameter::name);
    CHECK(found != all.end());
    numbers.push_back(static_cast<std::size_t>(found - all.begin()));
  }
  std::vector<std::shared_ptr<const Expression::Node>> roots;
  solver::split(constraint.root(), roots);
  std::vector<Condition> conditions;
  for (const auto& root : roots) {
    std::set<std::size_t> parameters;
    solver::add_parameters(*root, numbers, parameters);
    if (parameters.empty()) {  // a condition without parameters would belong to no group
      if (solver::is_surely_true(*root)) continue;
      return {{constraint, numbers, numbers}};
    }
    conditions.push_back({constraint.part(root), numbers, {parameters.begin(), parameters.end()}});
  }
  return conditions;
}

std::vector<std::uint16_t> solve(const std::vector<Parameter>& all, const std::vector<std::size_t>& group,
                                 const std::vector<const Condition*>& conditions, const std::string& place) {
  return solver::Search(all, group, conditions, place).solve();
}

}  // namespace deplo::engine::foreign
