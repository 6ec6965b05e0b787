#include "rules/raise/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace deplo::rules::raising {
namespace {

std::string print_index(const Index& index) {
  std::string text;
  for (const ir::Expr& e : index) text += ir::print(e) + ",";
  return text;
}

}  // namespace

Raiser find_raiser(const tp::Form& form) {
  static const tp::RowsByForm<NamedRaiser> rows(
      {integer_raisers(), float_raisers(), shape_raisers(), memory_raisers(), loop_raisers()});
  const NamedRaiser* const found = rows.find(form);
  return found == nullptr ? nullptr : found->raise;
}

std::optional<ir::DType> loop_type(ir::DType element) {
  if (element == ir::DType::tf32) return ir::DType::f32;
  const bool taken = ir::is_kernel_type(element) && element != ir::DType::i64 && !ir::is_narrow_integer(element);
  return taken ? std::optional(element) : std::nullopt;
}

bool has_attribute(const tp::Operation& op, std::string_view name) {
  return std::ranges::find(op.form->attributes, name, &tp::AttributeForm::name) != op.form->attributes.end();
}

ir::DType computed_in(ir::DType element) {
  if (element == ir::DType::boolean) return element;
  return ir::is_integral(element) ? ir::DType::i32 : ir::DType::f32;
}

Element element_of(ir::DType computed, ValueId id) {
  return computed == ir::DType::i32 ? Element{ir::var(loaded_name(id))} : Element{0, id};
}

bool through_view(const tp::Operation& op) { return op.form->name.ends_with("_view_tko"); }

std::optional<ir::Op> reducing(std::string_view operation) {
  if (operation == "addf" || operation == "addi") return ir::Op::add;
  if (operation == "mulf" || operation == "muli") return ir::Op::multiply;
  if (operation == "maxf" || operation == "maxi") return ir::Op::maximum;
  if (operation == "minf" || operation == "mini") return ir::Op::minimum;
  return std::nullopt;
}

Evaluator::Evaluator(const tp::Program& of, const tp::Entry& in, const TileLaunch& given)
    : program(of), entry(in), launch(given), definitions_(in.values.size()), regions_(in.values.size()) {
  locate(entry.body);
  for (const tp::ValueId id : entry.parameters) regions_[id] = &entry.body;
  frames_.push_back({&entry.body, {}, {}});
  bind_arguments();
}

void Evaluator::locate(const tp::Region& region) {
  for (const tp::ValueId id : region.arguments) regions_[id] = &region;
  for (const tp::Operation& op : region.operations) {
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      definitions_[op.results[i]] = {&op, i};
      regions_[op.results[i]] = &region;
    }
    for (const tp::Region& inner : op.regions) locate(inner);
  }
}

void Evaluator::bind_arguments() {
  const auto fail = [&](std::size_t i, const std::string& expected, std::string_view found) {
    throw Error(fmt::format("{}: expected {} for parameter {} of {}, found {}", tp::place(program, entry.location),
                            expected, i + 1, entry.name, found));
  };
  if (launch.arguments.size() != entry.parameters.size())
    throw Error(fmt::format("{}: expected {} arguments of {}, found {}", tp::place(program, entry.location),
                            entry.parameters.size(), entry.name, launch.arguments.size()));
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const tp::ValueId id = entry.parameters[i];
    const tp::Type& wanted = type(id);
    Element element;
    if (const auto* array = std::get_if<TileArray>(&launch.arguments[i])) {
      if (!wanted.pointer) fail(i, "a number", "an array");
      const auto dtype = loop_type(wanted.element);
      if (!dtype)
        throw Refused(fmt::format(
            "{}: cannot raise {}: expected arrays of f32, tf32, f16, bf16, i32 or i1, found {} (parameter {})",
            tp::place(program, entry.location), entry.name, ir::tile_name(wanted.element), i + 1));
      const auto extent = [](std::int64_t e) { return e > 0; };
      if (array->shape.empty() || array->shape.size() != array->strides.size() ||
          !std::ranges::all_of(array->shape, extent) || !std::ranges::all_of(array->strides, extent))
        fail(i, "as many strides as extents, all above 0", ir::print(array->shape));
      if (std::ranges::find(arrays, array->name, &Array::name) != arrays.end())
        fail(i, "an array with a name of its own", array->name);
      element.array = static_cast<int>(arrays.size());
      arrays.push_back({array->name, *dtype, array->shape, array->strides, wanted.element});
    } else if (wanted.pointer) {
      fail(i, "an array", "a number");
    } else if (const auto* whole = std::get_if<std::int64_t>(&launch.arguments[i])) {
      if (!ir::is_integral(wanted.element)) element.value = elements.constant(static_cast<double>(*whole));
      element.index = *whole;
    } else {
      const double number = std::get<double>(launch.arguments[i]);
      if (ir::is_integral(wanted.element)) fail(i, "a whole number", std::to_string(number));
      element.value = elements.constant(ir::round_to(number, wanted.element));
    }
    frames_.front().arguments.emplace(id, [element](const Index&) { return element; });
  }
}

void Evaluator::refuse(const tp::Operation& op, const std::string& why) const {
  throw Refused(fmt::format("{}: cannot raise {}: {}", tp::place(program, op.location), op.form->name, why));
}

void Evaluator::fail(const tp::Operation& op, const std::string& why) const {
  throw Error(fmt::format("{}: {}: {}", tp::place(program, op.location), op.form->name, why));
}

void Evaluator::enter(const tp::Region& region, std::map<tp::ValueId, ElementAt> arguments) {
  frames_.push_back({&region, std::move(arguments), {}});
}

void Evaluator::forget() {
  for (Frame& frame : frames_) frame.known.clear();
}

Element Evaluator::at(tp::ValueId id, const Index& index) {
  const auto frame =
      std::find_if(frames_.rbegin(), frames_.rend(), [&](const Frame& f) { return f.region == regions_[id]; });
  if (frame == frames_.rend()) {
    const tp::Operation& op = *definition(id);
    refuse(op, "its value is needed outside the region that computes it");
  }
  const std::size_t number = static_cast<std::size_t>(frames_.rend() - frame) - 1;
  if (const auto argument = frames_[number].arguments.find(id); argument != frames_[number].arguments.end()) {
    const ElementAt element = argument->second;
    return element(index);
  }
  std::pair<tp::ValueId, std::string> key{id, print_index(index)};
  if (const auto known = frames_[number].known.find(key); known != frames_[number].known.end()) return known->second;
  const auto& [op, result] = definitions_[id];
  const Raiser raiser = find_raiser(*op->form);
  if (raiser == nullptr) refuse(*op, "Loop IR cannot express it");
  const Element element = raiser(*this, *op, result, index);
  frames_[number].known.emplace(std::move(key), element);
  return element;
}

std::int64_t Evaluator::number(const tp::Operation& op, tp::ValueId id, std::string_view what) {
  const ir::Expr e = elements.simplify(scalar(id));
  if (e.kind() != ir::Expr::Kind::constant)
    refuse(op, fmt::format("expected {} known from the arguments, found {}", what, ir::print(e)));
  return e.value();
}

ValueId Evaluator::value_of(const tp::Type& of, const Element& element) {
  if (element.value != ValueId::none) return element.value;
  return elements.index(element.index, of.element == ir::DType::boolean ? ir::DType::boolean : ir::DType::i32);
}

ir::Expr Evaluator::unknown(const std::string& key, std::optional<ir::Interval> range) {
  const auto [known, fresh] = unknowns_.try_emplace(key, "s" + std::to_string(unknowns_.size()));
  if (fresh) elements.declare(known->second, range);
  for (const auto& [name, e] : solved)
    if (name == known->second) return e;
  return ir::var(known->second);
}

ir::Expr Evaluator::unknown(const std::string& name, std::int64_t extent) {
  if (extent == 1) return 0;
  for (const auto& [solved_name, e] : solved)
    if (solved_name == name) return e;
  elements.declare(name, ir::Interval{0, extent - 1});
  return ir::var(name);
}

ir::Expr Evaluator::block(std::size_t dimension) {
  static const std::array<std::string, 3> names = {"bx", "by", "bz"};
  return unknown(names.at(dimension), launch.grid.at(dimension));
}

}  // namespace deplo::rules::raising
