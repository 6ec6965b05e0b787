// The values of expressions.
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
  int depth = 1;  // of nested lists
  bool tuple = false;
  bool pair = false;  // the result of sort or topk: values and indices, which also have names
};
struct Tensor {
  Id id = 0;
  bool pair = false;  // the result of max or min along a dimension: the tensor of values; the indices do not exist
};
/// A tensor of random numbers, or a parameter. It becomes a node of the graph when it is used; a tensor of random
/// numbers already when it gets a name.
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
  std::shared_ptr<const Value> self;  // of a method; else null
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

/// A module: an instance of a class in the text, or of a module of torch.nn.
struct Object {
  const Class* type = nullptr;
  const ModuleType* module = nullptr;
  const Object* parent = nullptr;  // the first object with this object as an attribute
  std::string name;                // the name of that attribute
  std::map<std::string, Value, std::less<>> attributes;
  Values items;  // Sequential, ModuleList
};

/// "a tensor", "the integer 3", "a tuple of 2": for messages.
std::string describe(const Value&);
/// to_integer takes an integer or a truth value, but not a float; to_number takes any number.
std::optional<std::int64_t> to_integer(const Value&);
std::optional<double> to_number(const Value&);
bool is_tensor(const Value&);
bool holds_others(const Object&);           // Sequential, ModuleList
Value make_list(Values items, bool tuple);  // throws Error if lists are nested too deeply
Value make_pair(Value values, Value indices);
Value make_tuple(const std::vector<std::int64_t>&);

}  // namespace deplo::ir::torch::python
