#include "rules/materialize/factor_elements.h"

#include <algorithm>
#include <set>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/cost/fragments.h"
#include "rules/cost/resources.h"

namespace deplo::rules::materializer {
namespace {

// Returns a name that no program has.
std::string unnamed(const std::string& value) { return "value of " + value; }

}  // namespace

std::string FactorElements::pack(const ir::mma::Factor& factor, ir::Type type, const ir::Substitution& place,
                                 const ir::Expr& turn, const Instance& instance, ir::Body& to) {
  const bool has_pairs = ir::is_float16(type.dtype);
  const int width = has_pairs && loads_neighbours(factor, place, turn, instance) ? 2 : 1;
  std::vector<std::string> values;
  for (int lane = 0; lane < type.lanes; lane += width) {
    const auto [value, lanes] = made_at(factor, type.dtype, at_lane(place, lane, turn), width, instance, to);
    for (int i = 0; i < width; i += lanes) values.push_back(value);
  }
  std::string name = kernel_.fresh("v");
  to.emplace_back(ir::Pack{name, type, std::move(values)});
  return name;
}

// Emits the factor's value at one element, or at `width` of them. Returns its name and its number of lanes.
std::pair<std::string, int> FactorElements::made_at(const ir::mma::Factor& factor, ir::DType element,
                                                    const ir::Substitution& place, int width, const Instance& instance,
                                                    ir::Body& to) {
  Values names;
  std::map<std::string, int, std::less<>> lanes;
  for (const ir::Stmt* stmt : factor.made_by) {
    const std::string& value = ir::defined(*stmt);
    int& own = lanes[value];
    own = 1;
    if (const auto* load = stmt->as<ir::Load>()) {
      if (width > 1 && ir::depends_on(load->index, axis_)) own = width;
      const ir::DType dtype = stmt == factor.made_by.back() && ir::is_float16(element) ? element : load->type.dtype;
      std::vector<ir::Expr> index = stages_.place(load->buffer, placed(load->index, place, names, instance));
      names[value] = kernel_.fresh(value);
      to.emplace_back(ir::Load{names[value], {dtype, own}, load->buffer, std::move(index)});
    } else if (const auto* index = stmt->as<ir::Index>()) {
      const ir::Expr at = placed({index->value}, place, names, instance).front();
      names[value] = kernel_.fresh(value);
      to.emplace_back(ir::Index{names[value], index->type, at});
    } else {
      const auto& assign = *stmt->as<ir::Assign>();
      std::vector<ir::Arg> args = assign.args;
      for (ir::Arg& arg : args)
        if (auto* name = std::get_if<std::string>(&arg)) own = std::max(own, lanes.at(*name)), *name = names.at(*name);
      if (stmt == factor.made_by.back()) return {std::get<std::string>(args.front()), own};  // Pack rounds the value
      names[value] = kernel_.fresh(value);
      to.emplace_back(ir::Assign{names[value], {assign.type.dtype, own}, assign.op, std::move(args)});
    }
  }
  return {names.at(factor.value), lanes.at(factor.value)};
}

ir::Substitution FactorElements::at_lane(const ir::Substitution& place, int lane, const ir::Expr& turn) const {
  ir::Substitution result;
  for (const auto& [axis, e] : place)
    result.emplace_back(axis, ir::substitute(e, {{ir::lane_variable, ir::Expr(lane)}, {axis_, turn}}));
  return result;
}

std::vector<ir::Expr> FactorElements::placed(const std::vector<ir::Expr>& index, const ir::Substitution& place,
                                             const Values& names, const Instance& instance) const {
  // The kernel may give one value the name that another value has in the tile, so each name is replaced in two steps.
  ir::Substitution all = place, named;
  for (const auto& [before, after] : names) {
    all.emplace_back(before, ir::var(unnamed(before)));
    named.emplace_back(unnamed(before), ir::var(after));
  }
  std::vector<ir::Expr> result;
  for (const ir::Expr& e : index) result.push_back(ir::simplify(ir::substitute(e, all), kernel_.scope));
  result = replication_.at(result, instance);
  for (ir::Expr& e : result) e = ir::substitute(e, named);
  return result;
}

// Returns whether one access can load the elements of two neighbouring turns: each load whose index contains the turn
// must load an aligned pair from memory. A value computed from such a pair has two lanes. No index may contain it,
// because indices are scalars.
bool FactorElements::loads_neighbours(const ir::mma::Factor& factor, const ir::Substitution& place,
                                      const ir::Expr& turn, const Instance& instance) const {
  Values values;  // values that have no names yet
  for (const ir::Stmt* stmt : factor.made_by) values[ir::defined(*stmt)] = unnamed(ir::defined(*stmt));
  const auto is_pair = [&](const ir::Load& load) {
    const auto in_lane = [&](int lane) {
      return stages_.place(load.buffer, placed(load.index, at_lane(place, lane, turn), values, instance));
    };
    const std::vector<ir::Expr> low = in_lane(0), high = in_lane(1);
    const std::vector<std::int64_t> strides = stages_.strides(load.buffer);
    bool along_last = strides.back() == 1;
    for (std::size_t d = 0; d < low.size(); ++d)
      along_last &= ir::simplify(high[d] - low[d], kernel_.scope).is_constant(d + 1 == low.size() ? 1 : 0);
    return along_last && aligned(ir::flat_offset(low, strides, kernel_.scope), 2, kernel_.target);
  };
  std::set<std::string, std::less<>> pairs;  // values that differ between the two turns
  for (const ir::Stmt* stmt : factor.made_by) {
    bool has_turn = false, of_pairs = false;
    ir::visit_reads(
        *stmt,
        [&](const ir::Expr& e) {
          has_turn |= ir::depends_on(e, axis_);
          ir::for_each_variable(e, [&](const std::string& name) { of_pairs |= pairs.contains(name); });
        },
        [&](const std::string& value) { of_pairs |= pairs.contains(value); });
    const auto* load = stmt->as<ir::Load>();
    if (stmt->as<ir::Assign>() == nullptr && of_pairs) return false;
    if (has_turn && (load == nullptr || !is_pair(*load))) return false;
    if (has_turn || of_pairs) pairs.insert(ir::defined(*stmt));
  }
  return true;
}

}  // namespace deplo::rules::materializer
