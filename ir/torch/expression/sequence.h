// What Python asks of any value: its truth, its items, its text. All throw Error.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/evaluate.h"
#include "ir/torch/expression/values/session.h"

namespace deplo::ir::torch::python {

/// Python's truth. That of a tensor is known only if no input and no parameter has a part in it.
bool is_true(Session&, const Value&);
/// The values of a tensor that no input and no parameter has a part in; throws Error for others.
torch::Values known_values(Session&, const Value& tensor);
/// Values that a tensor may have, if inputs are drawn, and these inputs. Throws Error if a parameter has a part in it.
torch::Values sample_values(Session&, const Value& tensor, std::vector<Id>& inputs);
/// What a loop goes through: items of a list, keys of a dict, letters, modules, parts of a tensor along its first
/// dimension.
Values items_of(Session&, const Value&);
/// The same without strings and dicts.
Values items_to_unpack(Session&, const Value&);
bool contains(Session&, const Value& sequence, const Value&);
/// Python's `is`.
bool is_same(const Value&, const Value&);
Values without_repetitions(Session&, const Values&);
void insert_item(Session&, Dict&, const Value& key, const Value&);
/// `object.name = value`
void set_attribute(Session&, Object&, std::string_view name, const Value&);
/// str(value)
std::string to_text(const Value&);
/// The text of a value in an f-string with a format such as ":.2f".
std::string formatted(const Value&, std::string_view format);
/// text.format(…): values in the place of `{}`, `{0}` and `{name:.2f}`.
std::string filled_in(std::string_view text, const Values& items, const Dict& named);
/// text % value, or text % (value, …): values in the place of `%d` and `%s`.
std::string filled_in(std::string_view text, const Value& values);
/// The nodes of all tensors in a result: a tensor, or tensors in lists, tuples and dicts. None among them is ignored.
/// Throws Error if the result contains anything else, or no tensor.
std::vector<Id> outputs_of(Session&, const Value& result);

}  // namespace deplo::ir::torch::python
