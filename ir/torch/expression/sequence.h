// Python's operations on values of any type: truth, items, text. All throw Error.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/evaluate.h"
#include "ir/torch/expression/values/session.h"

namespace deplo::ir::torch::python {

/// Calls a method that the class of an object defines, such as `__len__`. Returns nullopt if the class has none, or if
/// the method returns NotImplemented.
std::optional<Value> call_own(Session&, const Value& object, std::string_view method, Values arguments);
/// Returns Python's truth value. For a tensor, throws Error if the tensor depends on an input or a parameter.
bool is_true(Session&, const Value&);
/// Returns the values of a tensor that depends on no input and no parameter. Throws Error for other tensors.
torch::Values known_values(Session&, const Value& tensor);
/// Returns an integer, or the element of a tensor of one integer, as PyTorch accepts it for a size. Returns nullopt for
/// other values. Throws Error for a tensor that depends on an input or a parameter.
std::optional<std::int64_t> known_integer(Session&, const Value&);
/// Returns values that a tensor may have if its inputs are drawn, and sets `inputs` to these inputs. Throws Error if
/// the tensor depends on a parameter.
torch::Values sample_values(Session&, const Value& tensor, std::vector<Id>& inputs);
/// Returns what the `__iter__` of torch.nn gives for a module that holds others: for a dict, the names of the others.
Values held_items(const Object& holder);
/// Returns the values that a loop iterates over: items of a list, keys of a dict, letters, modules, parts of a tensor
/// along its first dimension, or what `__iter__` of an object returns.
Values items_of(Session&, const Value&);
/// Returns the same as items_of, but throws Error for strings and dicts.
Values items_to_unpack(Session&, const Value&);
bool contains(Session&, const Value& sequence, const Value&);
/// Whether Python's `==` holds between values other than tensors. Objects are compared by `__eq__`, or by their fields
/// if they are of one dataclass.
bool are_equal(Session&, const Value&, const Value&, int levels = max_levels);
/// Whether Python's `is` holds.
bool is_same(const Value&, const Value&);
/// Returns a set of the values.
Value make_set(Session&, const Values&);
void insert_item(Session&, Dict&, const Value& key, const Value&);
/// Executes `object.name = value`.
void set_attribute(Session&, Object&, std::string_view name, const Value&);
/// Returns str(value).
std::string to_text(const Value&);
/// Returns the text of a value in an f-string with a format such as ":.2f".
std::string formatted(const Value&, std::string_view format);
/// Returns text.format(…), with values in place of `{}`, `{0}` and `{name:.2f}`.
std::string filled_in(std::string_view text, const Values& items, const Dict& named);
/// Returns text % value, or text % (value, …), with values in place of `%d` and `%s`.
std::string filled_in(std::string_view text, const Value& values);
/// The nodes of all tensors in a result: a tensor, or tensors in lists, tuples and dicts. None among them is ignored.
/// Throws Error if the result contains anything else, or no tensor.
std::vector<Id> outputs_of(Session&, const Value& result);

}  // namespace deplo::ir::torch::python
