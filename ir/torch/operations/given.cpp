#include "ir/torch/operations/given.h"

#include <fmt/format.h>

#include "core/error.h"

namespace deplo::ir::torch {

bool Given::has(std::string_view argument) const {
  if (expression_ != nullptr) return expression_->given(argument) || expression_->is_misplaced_none(argument);
  return file_->has(argument) || (argument == "input" && file_->has("self"));
}

// Returns the name of an argument in the file.
std::string_view Given::in_file(std::string_view argument) const {
  return argument == "input" && !file_->has("input") ? "self" : argument;
}

Id Given::tensor(std::string_view argument) const {
  const Id id = expression_ != nullptr ? expression_->tensor(argument) : file_->tensor(in_file(argument));
  return vectors_ && rank(id) == 0 ? reshape(id, {1}) : id;
}

std::optional<Id> Given::optional_tensor(std::string_view argument) const {
  return has(argument) ? std::optional(tensor(argument)) : std::nullopt;
}

std::vector<Id> Given::tensors(std::string_view argument) const {
  return expression_ != nullptr ? expression_->tensors(argument) : file_->tensors(argument);
}

std::vector<std::optional<Id>> Given::optional_tensors(std::string_view argument) const {
  if (expression_ == nullptr) return file_->optional_tensors(argument);
  const auto* list = expression_->value(argument).as<python::List>();
  if (list == nullptr) fail(argument, "a tuple or list of tensors");
  std::vector<std::optional<Id>> result;
  for (const python::Value& item : *list->items) {
    if (!item.none() && !is_tensor(item)) fail(argument, "a tuple or list of tensors");
    result.push_back(item.none() ? std::nullopt : std::optional(expression_->session.tensor(item)));
  }
  return result;
}

Id Given::converted_input() const {
  ignore({"dtype"});
  const Id x = tensor("input");
  return to(x, dtype_or(dtype(x)));
}

Id Given::operand(std::string_view argument, int position) const {
  return expression_ != nullptr ? expression_->operand(argument, position) : file_->operand(in_file(argument));
}

double Given::number(std::string_view argument, double fallback) const {
  if (!has(argument)) return fallback;
  return expression_ != nullptr ? expression_->number(argument) : file_->number(argument, fallback);
}

std::int64_t Given::integer(std::string_view argument) const {
  return expression_ != nullptr ? expression_->integer(argument) : file_->integer(argument);
}

std::int64_t Given::integer(std::string_view argument, std::int64_t fallback) const {
  return has(argument) ? integer(argument) : fallback;
}

bool Given::flag(std::string_view argument, bool fallback) const {
  if (!has(argument)) return fallback;
  return expression_ != nullptr ? expression_->flag(argument) : file_->flag(argument, fallback);
}

bool Given::truth(std::string_view argument, bool fallback) const {
  return expression_ != nullptr ? expression_->truth(argument) : file_->flag(argument, fallback);
}

std::string Given::text(std::string_view argument, std::string_view fallback) const {
  if (!has(argument)) return std::string(fallback);
  return expression_ != nullptr ? std::string(expression_->text(argument)) : file_->text(argument, fallback);
}

bool Given::is_text(std::string_view argument) const {
  if (!has(argument)) return false;
  return expression_ != nullptr ? expression_->value(argument).as<std::string_view>() != nullptr
                                : file_->is_text(argument);
}

Shape Given::integers(std::string_view argument, const Shape& fallback) const {
  if (!has(argument)) return fallback;
  return expression_ != nullptr ? expression_->integers(argument) : file_->integers(argument);
}

Shape Given::integers(std::string_view argument, std::size_t count, std::int64_t fallback) const {
  Shape list = integers(argument, {fallback});
  if (list.empty()) list.push_back(fallback);
  if (list.size() == 1) list.resize(count, list[0]);
  if (list.size() != count) fail(argument, fmt::format("one number or {}", count));
  return list;
}

Shape Given::integers_or(std::string_view argument, const Shape& extents) const {
  const python::List* list = expression_ != nullptr ? expression_->value(argument).as<python::List>() : nullptr;
  if (list == nullptr || list->items->size() != extents.size()) return integers(argument, extents.size(), 1);
  Shape result = extents;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const python::Value& item = (*list->items)[i];
    if (item.none()) continue;
    if (!item.as<std::int64_t>()) fail(argument, "integers or None");
    result[i] = *item.as<std::int64_t>();
  }
  return result;
}

DType Given::dtype_or(DType fallback) const {
  if (!has("dtype")) return fallback;
  return expression_ != nullptr ? expression_->dtype("dtype") : file_->output_type().dtype;
}

void Given::ignore(std::initializer_list<std::string_view> arguments) const {
  if (file_ != nullptr) file_->ignore(arguments);
}

void Given::fail(std::string_view argument, std::string_view expected) const {
  if (expression_ != nullptr) expression_->fail(argument, expected);
  file_->fail(argument, expected);
}

DType Given::result_dtype() const {
  if (file_ != nullptr) return file_->output_type().dtype;
  return expression_->dtype("dtype", expression_->session.default_dtype);
}

Id Given::size() const {
  return expression_ != nullptr ? expression_->session.size() : static_cast<Id>(file_->builder().size());
}

void Given::assign(std::string_view argument, Id value, Id first_new) const {
  if (file_ != nullptr) return file_->assign(argument, value);
  expression_->session.assign(expression_->value(argument), value, first_new);
}

std::size_t Given::dim(std::int64_t dim, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (dim < -r || dim >= r)
    throw Error(fmt::format("{}: expected a dimension from {} to {}, found {}", name(), -r, r - 1, dim));
  return static_cast<std::size_t>(dim < 0 ? dim + r : dim);
}

void Given::require_float(Id id) const {
  if (!is_float(dtype(id))) refuse("floating-point numbers", id);
}

void Given::refuse(std::string_view what, Id found) const {
  throw Error(fmt::format("{}: expected {}, found {}", name(), what, print(type(found))));
}

Id converted_call(const Given& g, Attributes attributes) {
  const Id result = g.call(g.op(), {g.converted_input()}, std::move(attributes));
  return g.to(result, g.dtype_or(g.dtype(result)));
}

namespace {

/// The part of log(1 + x) that is lost if 1 + x is rounded to `sum`: log(1 + x) = log(sum) + (1 + x - sum) / sum, to
/// first order.
Id lost_digits(const Given& g, Id x, Id sum) {
  return g.apply("div", g.apply("sub", x, g.apply("sub", sum, 1.0)), sum);
}

}  // namespace

// From |x| = 1 on no digits are lost, and the lost part would be NaN for -1 and infinity.
Id log_of_1_plus(const Given& g, Id x) {
  const Id sum = g.apply("add", x, 1.0);
  const Id lost = g.where(g.apply("lt", g.apply("abs", x), 1.0), lost_digits(g, x, sum), g.scalar(0));
  return g.apply("add", g.apply("log", sum), lost);
}

Id exp_minus_1(const Given& g, Id x) {
  return g.apply("mul", g.apply("tanh", g.apply("mul", x, 0.5)), g.apply("add", g.apply("exp", x), 1.0));
}

Id log_sum(const Given& g, Id x, bool negated) {
  const Id power = g.apply("exp", g.apply("neg", g.apply("abs", x)));
  const Id sum = g.apply("add", power, 1.0);
  const Id rest = g.apply("add", g.apply("log", sum), lost_digits(g, power, sum));
  return g.apply("add", g.apply("maximum", negated ? g.apply("neg", x) : x, 0.0), rest);
}

python::Value results_of(const std::vector<Id>& ids) {
  python::Values values;
  for (const Id id : ids) values.push_back({python::Tensor{id}});
  return python::make_list(std::move(values));
}

Id moved_last(const Caller& c, Id x, std::size_t dim) {
  Shape order;
  for (std::size_t d = 0; d < c.rank(x); ++d)
    if (d != dim) order.push_back(static_cast<std::int64_t>(d));
  order.push_back(static_cast<std::int64_t>(dim));
  return c.permute(x, order);
}

Composites composites_of(const std::vector<Made>& rows, std::vector<pt2::Function> readers) {
  Composites result = {{}, std::move(readers)};
  for (const Made& row : rows) {
    result.functions.push_back(row.function);
    if (row.reader.read != nullptr) result.readers.push_back(row.reader);
  }
  return result;
}

}  // namespace deplo::ir::torch
