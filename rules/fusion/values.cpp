#include "rules/fusion/values.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/error.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules::fusion {
namespace {

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  // The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
  std::uint64_t z = seed * 0x9e3779b97f4a7c15U + value + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::uint64_t hash(std::uint64_t seed, const ir::Expr& e) {
  switch (e.kind()) {
    case ir::Expr::Kind::constant:
      return mix(seed, static_cast<std::uint64_t>(e.value()));
    case ir::Expr::Kind::variable:
      return mix(seed, std::hash<std::string>()(e.name()));
    case ir::Expr::Kind::binary:
      return mix(hash(hash(seed, e.lhs()), e.rhs()), static_cast<std::uint64_t>(e.op()));
  }
  return seed;
}

std::uint64_t hash(const Value& v) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(v.kind), static_cast<std::uint64_t>(v.op));
  h = mix(h, static_cast<std::uint64_t>(v.dtype));
  h = mix(h, std::bit_cast<std::uint64_t>(v.constant));
  h = mix(h, static_cast<std::uint64_t>(v.tensor));
  h = mix(h, static_cast<std::uint64_t>(v.axis));
  h = mix(h, static_cast<std::uint64_t>(v.part));
  for (const ir::Expr& e : v.index) h = hash(h, e);
  for (const ValueId arg : v.args) h = mix(h, static_cast<std::uint64_t>(arg));
  return h;
}

// Returns 12 for r12, and -1 for names of any other form.
int reduce_axis(const std::string& name) {
  int number = -1;
  if (name.size() > 1 && name[0] == 'r') std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return number;
}

// Returns the number of a free axis, whose names are the letters of tensor::coordinate, and -1 for other names.
int free_axis(const std::string& name) {
  return name.size() == 1 && name[0] >= 'i' && name[0] <= 'z' ? name[0] - 'i' : -1;
}

void insert_sorted(std::vector<int>& list, int value) {
  const auto at = std::lower_bound(list.begin(), list.end(), value);
  if (at == list.end() || *at != value) list.insert(at, value);
}

void add_live(const ir::Expr& e, Live& live) {
  if (e.kind() == ir::Expr::Kind::binary) {
    add_live(e.lhs(), live);
    add_live(e.rhs(), live);
  } else if (e.kind() == ir::Expr::Kind::variable) {
    if (const int d = free_axis(e.name()); d >= 0) live.free |= 1U << d;
    if (const int r = reduce_axis(e.name()); r >= 0) insert_sorted(live.reduces, r);
  }
}

std::uint32_t free_axes(const ir::Substitution& sigma) {
  std::uint32_t result = 0;
  for (const auto& [name, e] : sigma)
    if (const int d = free_axis(name); d >= 0) result |= 1U << d;
  return result;
}

std::string gather_name(std::size_t i) { return "g" + std::to_string(i + 1); }

/// Applies a substitution to a value and all values below it.
class Substituter {
 public:
  Substituter(Values& values, ir::Substitution sigma, const ir::Shape& shape, const std::vector<ValueId>& gathered)
      : values_(values), sigma_(std::move(sigma)), shape_(shape), gathered_(gathered), changed_(free_axes(sigma_)) {
    for (const auto& [name, e] : sigma_)
      if (const int r = reduce_axis(name); r >= 0) renamed_.push_back(r);
  }

  ValueId run(ValueId id) {
    const Live& live = values_.live(id);
    const auto renamed = [&](int r) { return std::find(renamed_.begin(), renamed_.end(), r) != renamed_.end(); };
    if ((live.free & changed_) == 0 && std::none_of(live.reduces.begin(), live.reduces.end(), renamed)) return id;
    if (const auto known = memo_.find(id); known != memo_.end()) return known->second;
    Value value = values_[id];
    if (value.reduces()) {
      const int fresh = values_.new_axis(values_.extent(value.axis));
      sigma_.emplace_back(values_.axis(value.axis).name(), values_.axis(fresh));
      renamed_.push_back(value.axis);
      value.axis = fresh;
    }
    if (value.kind == Value::Kind::scan) value.axis = moved(value.axis);
    const ir::Substitution sigma = behind(value.args.size());
    for (ir::Expr& e : value.index) e = values_.substitute(e, sigma, shape_);
    for (ValueId& arg : value.args) arg = run(arg);
    if (names_gathered(value)) value.args.insert(value.args.end(), gathered_.begin(), gathered_.end());
    const std::optional<ValueId> chosen = chosen_of(value);
    return memo_[id] = chosen ? *chosen : values_.add(std::move(value));
  }

 private:
  /// The argument that a select chooses if its condition has become a constant, else nullopt.
  std::optional<ValueId> chosen_of(const Value& value) const {
    if (value.kind != Value::Kind::assign || value.op != ir::Op::select) return std::nullopt;
    const Value& condition = values_[value.args[0]];
    if (condition.kind != Value::Kind::index || condition.index[0].kind() != ir::Expr::Kind::constant)
      return std::nullopt;
    return value.args[condition.index[0].value() != 0 ? 1 : 2];
  }

  // The axis along which a scan runs after the substitution.
  int moved(int axis) const {
    const ir::Expr to = ir::substitute(ir::tensor::coordinate(static_cast<std::size_t>(axis)), sigma_);
    CHECK(to.kind() == ir::Expr::Kind::variable && free_axis(to.name()) >= 0);
    return free_axis(to.name());
  }

  // A value that already gathers has names g1, … of its own. The new names are numbered after them.
  ir::Substitution behind(std::size_t own) const {
    if (gathered_.empty() || own == 0) return sigma_;
    ir::Substitution numbers, sigma = sigma_;
    for (std::size_t i = 0; i < gathered_.size(); ++i)
      numbers.emplace_back(gather_name(i), ir::var(gather_name(own + i)));
    for (auto& [name, e] : sigma) e = ir::substitute(e, numbers);
    return sigma;
  }

  bool names_gathered(const Value& value) const {
    for (std::size_t i = 0; i < gathered_.size(); ++i)
      if (ir::depends_on(value.index, gather_name(value.args.size() + i))) return true;
    return false;
  }

  Values& values_;
  ir::Substitution sigma_;
  const ir::Shape& shape_;
  const std::vector<ValueId>& gathered_;
  std::uint32_t changed_;
  std::vector<int> renamed_;  // reduce axes
  std::map<ValueId, ValueId> memo_;
};

}  // namespace

Live Values::find_live(const Value& value) const {
  Live live;
  for (const ir::Expr& e : value.index) add_live(e, live);
  for (const ValueId arg : value.args) {
    const Live& inner = live_[static_cast<std::size_t>(arg)];
    live.free |= inner.free;
    for (const int r : inner.reduces) insert_sorted(live.reduces, r);
  }
  if (value.reduces()) std::erase(live.reduces, value.axis);
  if (value.kind == Value::Kind::scan) live.free |= 1U << value.axis;
  return live;
}

ValueId Values::add(Value value) {
  const std::uint64_t h = hash(value);
  const auto [first, last] = by_hash_.equal_range(h);
  for (auto it = first; it != last; ++it)
    if ((*this)[it->second] == value) return it->second;
  live_.push_back(find_live(value));
  values_.push_back(std::move(value));
  const auto id = static_cast<ValueId>(values_.size() - 1);
  by_hash_.emplace(h, id);
  return id;
}

bool Values::equivalent(ValueId first, ValueId second, ir::Substitution renamed) const {
  std::set<std::pair<ValueId, ValueId>> known;
  const std::function<bool(ValueId, ValueId)> same = [&](ValueId a, ValueId b) {
    if (known.contains({a, b}) || (a == b && renamed.empty())) return true;
    Value one = (*this)[a];
    const Value& other = (*this)[b];
    if (one.reduces() && other.reduces() && extent(one.axis) == extent(other.axis)) {
      if (one.axis != other.axis) renamed.emplace_back(axis(one.axis).name(), axis(other.axis));
      one.axis = other.axis;
    }
    const std::vector<ValueId> args = std::exchange(one.args, other.args);
    const std::vector<ir::Expr> index = std::exchange(one.index, other.index);
    if (args.size() != other.args.size() || index.size() != other.index.size() || !(one == other)) return false;
    for (std::size_t i = 0; i < index.size(); ++i) {  // simplified, because the order of a sum depends on names
      const ir::Expr e = ir::substitute(index[i], renamed);
      if (!(e == other.index[i]) && !(ir::simplify(e) == ir::simplify(other.index[i]))) return false;
    }
    if (!std::equal(args.begin(), args.end(), other.args.begin(), same)) return false;
    known.emplace(a, b);
    return true;
  };
  return same(first, second);
}

int Values::new_axis(std::int64_t extent) {
  axes_.push_back({extent, ir::var("r" + std::to_string(axes_.size()))});
  return static_cast<int>(axes_.size()) - 1;
}

ir::Ranges Values::ranges(const ir::Expr& e, const ir::Shape& shape) const {
  ir::Ranges ranges;
  for (const std::string& name : ir::variables(e)) {
    if (const int d = free_axis(name); d >= 0)
      ranges.emplace_back(name, ir::Interval{0, shape[static_cast<std::size_t>(d)] - 1});
    else if (const int r = reduce_axis(name); r >= 0)
      ranges.emplace_back(name, ir::Interval{0, extent(r) - 1});
  }
  return ranges;
}

ir::Expr Values::substitute(const ir::Expr& e, const ir::Substitution& sigma, const ir::Shape& shape) const {
  const ir::Expr result = ir::substitute(e, sigma);
  return result.kind() == ir::Expr::Kind::binary ? ir::simplify(result, ranges(result, shape)) : result;
}

ValueId Values::substitute(ValueId value, const ir::Substitution& sigma, const ir::Shape& shape,
                           const std::vector<ValueId>& gathered) {
  return sigma.empty() ? value : Substituter(*this, sigma, shape, gathered).run(value);
}

ValueId Values::replace(ValueId root, const std::function<std::optional<ValueId>(const Value&)>& other) {
  std::map<ValueId, ValueId> memo;
  const std::function<ValueId(ValueId)> run = [&](ValueId id) {
    if (const auto known = memo.find(id); known != memo.end()) return known->second;
    Value value = (*this)[id];
    for (ValueId& arg : value.args) arg = run(arg);
    const std::optional<ValueId> instead = other(value);
    return memo[id] = instead ? *instead : value.args.empty() ? id : add(std::move(value));
  };
  return run(root);
}

}  // namespace deplo::rules::fusion
