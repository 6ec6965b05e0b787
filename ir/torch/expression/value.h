// What an expression may evaluate to.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/torch/expression/syntax/syntax.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::python {

struct Value;
using Values = std::vector<Value>;
struct Function;  // function.h
struct ModuleType;
struct Object;
struct None {};
struct Dots {};
struct Slice {
  std::optional<std::int64_t> start, stop, step;
};
struct List {
  std::shared_ptr<const Values> items;
  int depth = 1;  // of lists inside each other
  bool tuple = false;
  bool pair = false;  // what sort and topk give: values and indices, which have names, too
};
struct Tensor {
  Id id = 0;
  bool pair = false;  // what max and min of a dimension give: a tensor of values, and indices that there are not
};
/// A tensor of random numbers or a parameter: becomes a node of the graph when it gets a name or is used.
struct Leaf {
  bool parameter = false;
  TensorType type;
  ValueSource source;
  std::string name;  // the attribute of `parent`, or a variable; may be empty
  const Object* parent = nullptr;
  std::optional<Id> id;
};
struct Builtin {
  const Function* function = nullptr;
  std::shared_ptr<const Value> self;  // of a method, else null
};
struct Closure {
  const Statement* definition = nullptr;
  Values defaults;  // of the last parameters
};
struct Method {
  const Closure* closure = nullptr;
  Object* self = nullptr;  // null: a plain function
};
struct Class {
  const Statement* definition = nullptr;
  std::map<std::string_view, Closure> methods;
};
struct Namespace {
  std::string_view name;  // "torch", "torch.nn", "torch.nn.functional", "math"
};
struct ModuleBase {};  // torch.nn.Module
struct Super {};       // super()
struct Missing {
  std::string_view what;
};
struct Value {
  std::variant<None, bool, std::int64_t, double, std::string_view, DType, Dots, Slice, List, Tensor, Leaf*, Object*,
               Builtin, Method, const Class*, const ModuleType*, Namespace, ModuleBase, Super, Missing>
      is;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
  bool none() const { return as<None>() != nullptr; }
};

/// A module: of a class of the text, or of torch.nn.
struct Object {
  const Class* type = nullptr;
  const ModuleType* module = nullptr;
  const Object* parent = nullptr;  // the first object that has it as an attribute
  std::string name;                // that attribute
  std::map<std::string, Value, std::less<>> attributes;
  Values items;  // Sequential, ModuleList
};

/// "a tensor", "the integer 3", "a tuple of 2": for messages.
std::string describe(const Value&);
/// An integer or a truth value, not a float; any number.
std::optional<std::int64_t> to_integer(const Value&);
std::optional<double> to_number(const Value&);
bool is_tensor(const Value&);
bool holds_others(const Object&);           // Sequential, ModuleList
Value make_list(Values items, bool tuple);  // throws Error where lists nest too deep
Value make_pair(Value values, Value indices);
Value make_tuple(const std::vector<std::int64_t>&);

}  // namespace deplo::ir::torch::python
