// Python's operators on numbers, lists and tensors. All throw Error.
#pragma once
#include <string_view>

#include "ir/torch/expression/values/session.h"

namespace deplo::ir::torch::python {

/// `+ - * / // % ** @ & |` and the comparisons.
Value apply_binary(Session&, std::string_view op, const Value& left, const Value& right);
/// `+ - ~`
Value apply_unary(Session&, std::string_view op, const Value&);
/// `object[index]` of a tensor (slices, select, new dimensions), of a list, a dict, a string, or of a module that holds
/// other modules.
Value apply_subscript(Session&, const Value& object, const Value& index);
/// `object[index] = value` of the same, except strings.
void set_subscript(Session&, const Value& object, const Value& index, const Value& value);
/// A module among those that a module holds; it replaces one with this name.
void add_module(Session&, Object&, std::string_view name, const Value&);

}  // namespace deplo::ir::torch::python
