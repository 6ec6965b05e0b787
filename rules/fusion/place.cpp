// Turns a kernel's values into statements: each in its body (nest.h), loads first, deeper operands before shallower
// ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/error.h"
#include "ir/walk.h"
#include "rules/fusion/loop_op.h"
#include "rules/fusion/nest.h"

namespace deplo::rules::fusion {
namespace {

// Until the kernel is complete, value 12 is called t12. Axes are single letters, or r and a number, so the names
// differ.
std::string temporary_name(ValueId id) { return "t" + std::to_string(static_cast<int>(id)); }
std::string temporary_name(ValueId softmax, std::size_t part) {
  return temporary_name(softmax) + "_" + std::to_string(part);
}

// Does an index expression of the statement contain a value?
bool gathers(const ir::Stmt& stmt) {
  bool found = false;
  const auto see = [&](const std::string& name) { found = found || (name[0] == 't' && name.size() > 1); };
  ir::visit_reads(
      stmt, [&](const ir::Expr& e) { ir::for_each_variable(e, see); }, [](const std::string&) {});
  return found;
}

class Placer {
 public:
  Placer(const Fusion& fusion, const LoopOp& op)
      : fusion_(fusion),
        values_(fusion.values),
        op_(op),
        nest_(values_, roots(op), fusion.shape(op)),
        free_(static_cast<std::size_t>(nest_.rank()) + 1) {
    for (const ValueId id : nest_.values()) measure(id);
  }

  ir::Body run() {
    if (values_[op_.root].kind == Value::Kind::scatter)
      scatter(values_[op_.root]);
    else
      for (const Result& result : results(op_)) write(result);
    for (ir::Body& body : free_) loads_first(body);
    for (std::size_t d = free_.size() - 1; d-- > 0;) {
      const std::int64_t extent = fusion_.shape(op_)[d];
      const bool scans = scan_axis(values_, roots(op_)) == static_cast<int>(d);
      const ir::Axis axis{ir::tensor::coordinate(d).name(), extent, scans ? ir::Bind::scan : ir::Bind::free};
      if (extent == 1)
        std::move(free_[d + 1].begin(), free_[d + 1].end(), std::back_inserter(free_[d]));
      else
        free_[d].push_back(ir::Loop{.axis = axis, .body = std::move(free_[d + 1])});
    }
    return std::move(free_.front());
  }

 private:
  // Measures the longest chain of operations below a value. Operands with longer chains are emitted first, which keeps
  // fewer values alive (Sethi and Ullman 1970). A reduction counts as longer than any chain.
  void measure(ValueId id) {
    int height = 0;
    for (const ValueId arg : values_[id].args) height = std::max(height, height_[arg] + 1);
    height_[id] = height + (values_[id].reduces() ? 1 << 20 : 0);
  }

  void write(const Result& result) {
    ir::Arg value = emit(result.root);
    write(result.output, stored(result.output, written(fusion_, op_, result.output)), std::move(value),
          body(place_of_write(fusion_, op_, nest_, result.output)));
  }
  void write(int tensor, std::vector<ir::Expr> index, ir::Arg value, ir::Body& to) const {
    to.push_back(ir::Write{fusion_.name(tensor), std::move(index), std::move(value)});
  }

  void scatter(const Value& root) {
    std::vector<ir::Arg> args;
    for (const ValueId arg : root.args) args.push_back(emit(arg));
    const ir::Arg value = std::move(args.back());
    args.pop_back();
    std::vector<ir::Expr> index = root.index;
    const ir::Expr condition = ir::substitute(index.back(), gathered(args));
    index.pop_back();
    index = stored(op_.output, index);
    for (ir::Expr& e : index) e = ir::substitute(e, gathered(args));
    if (condition.is_constant(1)) return write(op_.output, std::move(index), value, free_.back());
    ir::If chosen = {condition, {}};
    write(op_.output, std::move(index), value, chosen.then);
    free_.back().emplace_back(std::move(chosen));
  }

  ir::Body& body(Place place) {
    return place.reduce >= 0 ? reduces_[place.reduce] : free_[static_cast<std::size_t>(place.free)];
  }

  ir::Arg emit(ValueId id) {
    const Value& value = values_[id];
    if (value.kind == Value::Kind::constant && !std::isnan(value.constant)) return value.constant;
    if (const auto known = names_.find(id); known != names_.end()) return known->second;
    std::vector<ValueId> order = value.args;
    std::stable_sort(order.begin(), order.end(), [&](ValueId a, ValueId b) { return height_[a] > height_[b]; });
    for (const ValueId arg : order) emit(arg);
    std::vector<ir::Arg> args;
    const bool indexes = value.kind == Value::Kind::load || value.kind == Value::Kind::index;
    for (const ValueId arg : value.args) args.push_back(indexes ? emit_number(arg) : emit(arg));
    if (value.kind == Value::Kind::part)
      return names_[id] = temporary_name(value.args[0], static_cast<std::size_t>(value.part));
    const std::string name = temporary_name(id);
    define(id, value, name, std::move(args));
    names_[id] = name;
    return name;
  }

  // Emits a value that an index names. An index may not name an accumulator (ir/verify), so accumulated values are
  // copied.
  ir::Arg emit_number(ValueId id) {
    ir::Arg number = emit(id);
    if (!values_[id].accumulates()) return number;
    const std::string name = temporary_name(id) + "_number";
    if (copied_.insert(id).second)
      body(nest_.place(id)).push_back(ir::Assign{name, {values_[id].dtype, 1}, ir::Op::copy, {std::move(number)}});
    return name;
  }

  void define(ValueId id, const Value& value, const std::string& name, std::vector<ir::Arg> args) {
    const ir::Type type{value.dtype, 1};
    ir::Body& at = body(nest_.place(id));
    switch (value.kind) {
      case Value::Kind::load:
        at.push_back(ir::Load{name, type, fusion_.name(value.tensor), load_index(value, args)});
        break;
      case Value::Kind::index:
        at.push_back(ir::Index{name, type, ir::substitute(value.index[0], gathered(args))});
        break;
      case Value::Kind::assign:
        if (ir::is_commutative(value.op) && std::holds_alternative<double>(args[0])) std::swap(args[0], args[1]);
        at.push_back(ir::Assign{name, type, value.op, std::move(args)});
        break;
      case Value::Kind::reduce:
        at.push_back(loop(value, ir::Accum{name, type, value.op, std::move(args)}));
        break;
      case Value::Kind::scan:  // later statements in the body read the accumulator
        at.push_back(ir::Accum{name, type, value.op, std::move(args)});
        break;
      case Value::Kind::softmax: {
        ir::SoftmaxSum step{temporary_name(id, 0), {}, args[0], {args.begin() + 1, args.end()}};
        for (std::size_t i = 1; i < args.size(); ++i) step.sums.push_back(temporary_name(id, i));
        at.push_back(loop(value, std::move(step)));
        break;
      }
      case Value::Kind::part:     // only a name
      case Value::Kind::scatter:  // only a Write
        break;
      case Value::Kind::constant: {  // NaN, which the text of a program cannot express
        constexpr double infinity = std::numeric_limits<double>::infinity();
        at.push_back(ir::Assign{name, type, ir::Op::subtract, {infinity, infinity}});
        break;
      }
    }
  }

  ir::Loop loop(const Value& reduction, ir::Stmt accumulate) {
    ir::Body inner = std::move(reduces_[reduction.axis]);
    inner.push_back(std::move(accumulate));
    loads_first(inner);
    const ir::Axis axis{values_.axis(reduction.axis).name(), values_.extent(reduction.axis), ir::Bind::reduce};
    return {.axis = axis, .body = std::move(inner)};
  }

  std::vector<ir::Expr> stored(int tensor, const std::vector<ir::Expr>& index) const {
    const Layout& layout = fusion_.layouts[static_cast<std::size_t>(tensor)];
    return stored_index(fusion_, tensor, layout, index, fusion_.shape(op_));
  }

  // Maps g1, g2, … to the gathered values `args`.
  static ir::Substitution gathered(const std::vector<ir::Arg>& args) {
    ir::Substitution gathered;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const auto* name = std::get_if<std::string>(&args[i]);
      const ir::Expr e =
          name != nullptr ? ir::var(*name) : ir::Expr(static_cast<std::int64_t>(std::get<double>(args[i])));
      gathered.emplace_back("g" + std::to_string(i + 1), e);
    }
    return gathered;
  }
  std::vector<ir::Expr> load_index(const Value& load, const std::vector<ir::Arg>& args) const {
    std::vector<ir::Expr> index = stored(load.tensor, load.index);
    if (!args.empty())
      for (ir::Expr& e : index) e = ir::substitute(e, gathered(args));
    return index;
  }

  // Moves loads to the front of each stretch between loops, as the articles print them. A gather stays after the value
  // that it gathers by.
  static void loads_first(ir::Body& body) {
    const auto is_plain_load = [](const ir::Stmt& s) { return s.as<ir::Load>() != nullptr && !gathers(s); };
    for (auto first = body.begin(); first != body.end();) {
      const auto is_loop = [](const ir::Stmt& s) { return s.as<ir::Loop>() != nullptr; };
      const auto last = std::find_if(first, body.end(), is_loop);
      std::stable_partition(first, last, is_plain_load);
      first = last == body.end() ? last : last + 1;
    }
  }

  const Fusion& fusion_;
  const Values& values_;
  const LoopOp& op_;
  Nest nest_;
  std::vector<ir::Body> free_;
  std::map<int, ir::Body> reduces_;  // by reduce axis
  std::map<ValueId, std::string> names_;
  std::set<ValueId> copied_;
  std::map<ValueId, int> height_;
};

// Renames values in order of appearance: in0, in1, … for loads, acc0, … for accumulators, v0, … for all others.
void rename_values(ir::Body& top) {
  std::map<std::string, std::string> names;
  ir::Substitution in_indices;  // the same renaming for the indices of gathers
  int loads = 0, accumulators = 0, others = 0;
  ir::for_each(top, [&](ir::Stmt& stmt) {
    const auto* load = stmt.as<ir::Load>();
    const bool gather = gathers(stmt);
    const bool accumulates = stmt.as<ir::Accum>() != nullptr || stmt.as<ir::SoftmaxSum>() != nullptr;
    const char* prefix = load != nullptr ? "in" : accumulates ? "acc" : "v";
    int& number = load != nullptr ? loads : accumulates ? accumulators : others;
    const auto rename = [&](ir::Use use, std::string& name) {
      if (use == ir::Use::value) name = names.at(name);
      if (use != ir::Use::defines) return;
      std::string fresh = prefix + std::to_string(number++);
      in_indices.emplace_back(name, ir::var(fresh));
      names[name] = fresh;
      name = std::move(fresh);
    };
    const auto in_index = [&](ir::Expr& e) { e = gather ? ir::substitute(e, in_indices) : e; };
    ir::for_each_part(stmt, cases{in_index, rename, [](const ir::Axis&) {}, [](const ir::Body&) {}});
  });
}

ir::Buffer buffer(const Fusion& fusion, int tensor, ir::Role role) {
  const ir::TensorType& type = fusion.type(tensor);
  ir::Buffer result{fusion.name(tensor),
                    type.dtype,
                    role,
                    stored_shape(type.shape, fusion.layouts[static_cast<std::size_t>(tensor)]),
                    {}};
  result.strides = ir::row_major_strides(result.shape);
  return result;
}

}  // namespace

ir::Program place(const Fusion& fusion, const LoopOp& op) {
  ir::Program program;
  program.name = fusion.name(op.output);
  program.body = Placer(fusion, op).run();
  rename_values(program.body);
  // Inputs come in order of appearance.
  ir::for_each<ir::Load>(program.body, [&](const ir::Load& load) {
    if (program.find(load.buffer) != nullptr) return;
    const auto tensor = std::ranges::find_if(op.reads, [&](int t) { return fusion.name(t) == load.buffer; });
    program.buffers.push_back(buffer(fusion, *tensor, ir::Role::input));
  });
  for (const Result& result : results(op)) program.buffers.push_back(buffer(fusion, result.output, ir::Role::output));
  ir::renumber_axes(program);
  return program;
}

}  // namespace deplo::rules::fusion
