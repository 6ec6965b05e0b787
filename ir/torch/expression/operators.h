// Python's operators on numbers, lists and tensors. All throw Error.
#pragma once
#include <optional>
#include <string_view>

#include "ir/torch/expression/values/session.h"

namespace deplo::ir::torch::python {

/// Applies one of `+ - * / // % ** @ & | ^ << >>` or a comparison.
Value apply_binary(Session&, std::string_view op, const Value& left, const Value& right);
/// Calls left.__iadd__(right) or the like; nullopt if the class of `left` does not define it.
std::optional<Value> apply_in_place(Session&, std::string_view op, const Value& left, const Value& right);
/// Applies `+`, `-` or `~`.
Value apply_unary(Session&, std::string_view op, const Value&);
/// Evaluates `object[index]` of a tensor (slices, select, new dimensions), a list, a dict, a string, or a module that
/// holds other modules.
Value apply_subscript(Session&, const Value& object, const Value& index);
/// Evaluates `object[index]` of a module that holds others, as torch.nn does. A slice returns another such module.
Value held_module(Session&, Object&, const Value& index);
/// Executes `object[index] = value` for the same kinds of objects, except strings.
void set_subscript(Session&, const Value& object, const Value& index, const Value& value);
/// Executes `del object[index]` for a list, a dict, or a module that holds others.
void delete_subscript(Session&, const Value& object, const Value& index);
/// Names the modules that a module holds by their positions: 0, 1, …
void renumber(Object&);
/// Adds a module to a module that holds others. It replaces an existing module of this name.
void add_module(Session&, Object&, std::string_view name, const Value&);
/// Adds the items of a sequence to a module that holds others. Their names are their positions.
void append_modules(Session&, Object&, const Value& sequence);

}  // namespace deplo::ir::torch::python
