#include "rules/tile/helpers/linear_epilogue.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "rules/analysis/names.h"

namespace deplo::rules {
namespace {

// value = linear + rest, where `linear` is homogeneous in the accumulator and `rest` does not depend on it.
struct Sum {
  ir::Arg linear;
  std::optional<ir::Arg> rest;
};

// The part to which a statement belongs. `free`: the partial epilogue if that needs the statement, otherwise `once`.
enum class Part { free, partial, once };

class Distribution {
 public:
  Distribution(const ir::Program& program, const std::string& acc) : names_(names_of(program)) {
    sums_[acc] = {acc, std::nullopt};
  }

  // Returns false if the epilogue is not linear.
  bool take(const ir::Stmt& stmt) {
    if (written_) return false;
    if (const auto* write = stmt.as<ir::Write>()) return take(*write);
    const auto* assign = stmt.as<ir::Assign>();
    if (assign != nullptr && std::ranges::any_of(assign->args, [&](auto& a) { return sum(a); })) return take(*assign);
    if (assign == nullptr && stmt.as<ir::Load>() == nullptr && stmt.as<ir::Index>() == nullptr) return false;
    statements_.emplace_back(stmt, Part::free);
    return true;
  }

  bool written() const { return written_; }

  LinearEpilogue result() {
    const bool adds = statements_.back().second == Part::once;
    std::set<std::string, std::less<>> needed;  // values that the partial epilogue needs
    for (auto it = statements_.rbegin(); it != statements_.rend(); ++it) {
      if (!adds) it->second = Part::partial;
      if (it->second == Part::free) it->second = needed.count(ir::defined(it->first)) > 0 ? Part::partial : Part::once;
      if (it->second != Part::partial) continue;
      for (const std::string& value : ir::reads(it->first).values) needed.insert(value);
    }
    LinearEpilogue result;
    for (auto& [stmt, part] : statements_)
      (part == Part::partial ? result.partial : result.once).push_back(std::move(stmt));
    return result;
  }

 private:
  const Sum* sum(const ir::Arg& arg) const {
    const auto* name = std::get_if<std::string>(&arg);
    const auto found = name == nullptr ? sums_.end() : sums_.find(*name);
    return found == sums_.end() ? nullptr : &found->second;
  }

  ir::Arg define(Part part, std::string dst, ir::Op op, std::vector<ir::Arg> args) {
    statements_.emplace_back(ir::Assign{dst, {}, op, std::move(args)}, part);
    return dst;
  }
  ir::Arg once(ir::Op op, std::vector<ir::Arg> args) { return define(Part::once, fresh(), op, std::move(args)); }
  std::string fresh() {
    std::string name;
    do name = "v" + std::to_string(next_++);
    while (!names_.insert(name).second);
    return name;
  }

  bool take(const ir::Assign& s) {
    if (s.type != ir::Type{}) return false;
    const Sum* x = sum(s.args[0]);
    const Sum* y = s.args.size() > 1 ? sum(s.args[1]) : nullptr;
    Sum result;
    switch (s.op) {
      case ir::Op::copy:
      case ir::Op::negative:
        result = mapped(s, *x, {});
        break;
      case ir::Op::multiply:
        if (x != nullptr && y != nullptr) return false;
        result = x != nullptr ? mapped(s, *x, s.args[1]) : mapped(s, *y, s.args[0]);
        break;
      case ir::Op::divide:
        if (x == nullptr || y != nullptr) return false;
        result = mapped(s, *x, s.args[1]);
        break;
      case ir::Op::add:
      case ir::Op::subtract:
        result = added(s, x, y);
        break;
      default:
        return false;
    }
    sums_[s.dst] = std::move(result);
    return true;
  }

  // op(linear + rest, scale) = op(linear, scale) + op(rest, scale)
  Sum mapped(const ir::Assign& s, const Sum& x, const std::optional<ir::Arg>& scale) {
    const auto args = [&](const ir::Arg& value) {
      return scale ? std::vector<ir::Arg>{value, *scale} : std::vector<ir::Arg>{value};
    };
    Sum result = {define(Part::partial, s.dst, s.op, args(x.linear)), std::nullopt};
    if (x.rest) result.rest = once(s.op, args(*x.rest));
    return result;
  }

  // Returns x + y or x - y. An argument is nullptr if it does not depend on the accumulator, which at most one may be.
  Sum added(const ir::Assign& s, const Sum* x, const Sum* y) {
    const bool minus = s.op == ir::Op::subtract;
    Sum result;
    if (x != nullptr && y != nullptr)
      result.linear = define(Part::partial, s.dst, s.op, {x->linear, y->linear});
    else if (x != nullptr)
      result.linear = x->linear;
    else
      result.linear = minus ? define(Part::partial, s.dst, ir::Op::negative, {y->linear}) : y->linear;
    const std::optional<ir::Arg> left = x != nullptr ? x->rest : s.args[0], right = y != nullptr ? y->rest : s.args[1];
    if (left && right)
      result.rest = once(s.op, {*left, *right});
    else if (right)
      result.rest = minus ? once(ir::Op::negative, {*right}) : *right;
    else
      result.rest = left;
    return result;
  }

  bool take(const ir::Write& s) {
    const Sum* value = sum(s.value);
    if (value == nullptr || s.mode != ir::WriteMode::assign) return false;
    written_ = true;
    const auto write = [&](const ir::Arg& v, Part part) {
      statements_.emplace_back(ir::Write{s.buffer, s.index, v, ir::WriteMode::add}, part);
    };
    write(value->linear, Part::partial);
    if (value->rest) write(*value->rest, Part::once);
    return true;
  }

  std::set<std::string, std::less<>> names_;
  std::map<std::string, Sum, std::less<>> sums_;
  std::vector<std::pair<ir::Stmt, Part>> statements_;
  int next_ = 0;
  bool written_ = false;
};

}  // namespace

std::optional<LinearEpilogue> distribute(const ir::Program& program, const ir::Body& epilogue, const std::string& acc) {
  Distribution distribution(program, acc);
  for (const ir::Stmt& stmt : epilogue)
    if (!distribution.take(stmt)) return std::nullopt;
  if (!distribution.written()) return std::nullopt;
  return distribution.result();
}

}  // namespace deplo::rules
