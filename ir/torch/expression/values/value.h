// The values of expressions.
#pragma once
#include <cstdint>
#include <list>
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
/// A tuple, whose items never change, or a list or set, whose items belong to the session (Session::list). The items of
/// a set are in the order of their insertion.
struct List {
  std::shared_ptr<Values> items;
  int depth = 1;  // depth of nested tuples
  bool tuple = false;
  std::shared_ptr<const std::vector<std::string_view>> names = {};  // names of a named tuple's items; else null
  bool set = false;
};
/// A dict. The items are in the order of their first insertion. Belongs to the session.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  std::shared_ptr<const Value> factory = {};  // what makes the values of new keys, in a defaultdict; otherwise null
};
struct Tensor {
  Id id = 0;  // the node that made it
  // The result of max or min along a dimension: the tensor of values. The indices have no node, but are those of the
  // node `id`, even if the values were changed in place.
  bool pair = false;
  bool parameter = false;  // what nn.Parameter makes of a tensor that is not drawn
};
/// A tensor of random numbers, or a parameter. It becomes a node of the graph when it is used. A tensor of random
/// numbers also becomes a node when it gets a name.
struct Leaf {
  bool parameter = false;
  TensorType type;
  ValueSource source;
  std::string name;  // an attribute of `parent`, or a variable; may be empty
  const Object* parent = nullptr;
  std::optional<Id> id;
  std::string name_as_node = {};      // of a parameter: the name with which it became a node
  std::optional<Shape> strides = {};  // of a parameter in PyTorch's memory; nullopt if it is contiguous
};
struct Builtin {
  const Function* function = nullptr;
  std::shared_ptr<const Value> self;  // the object of a method; otherwise null
  bool in_place = false;              // relu_: the result replaces the first argument
};
/// The variables of a call, of a class or of the text. Belongs to the session.
struct Scope;
struct Class;
struct Closure {
  // property, functools.cached_property, classmethod, staticmethod
  enum class Kind : std::uint8_t { plain, property, cached, of_class, free };
  const Statement* definition = nullptr;
  Values defaults;               // one per parameter; Missing if there is no default
  Scope* outer = nullptr;        // the scope of the definition
  const Class* owner = nullptr;  // the class that this is a method of
  Kind kind = Kind::plain;
  const Closure* setter = nullptr;  // of a property: the function after `@name.setter`
  bool written = false;             // one of the language's own definitions (functions/written.cpp)
};
struct Method {
  const Closure* closure = nullptr;
  std::shared_ptr<const Value> self;  // null for a plain function
};
/// A class that the text defines. Belongs to the session.
struct Class {
  const Statement* definition = nullptr;
  std::vector<const Class*> bases;       // in their order; null stands for nn.Module or a module of torch.nn
  std::vector<const Class*> line;        // the class itself, and the classes after it in Python's order of lookup
  const ModuleType* module = nullptr;    // the base in torch.nn, or null
  bool is_module = false;                // a base is nn.Module
  bool is_record = false;                // @dataclass, or a base is NamedTuple: the constructor takes the fields
  bool is_tuple = false;                 // a base is NamedTuple
  bool is_function = false;              // a base is torch.autograd.Function: `apply` calls `forward`
  bool is_generic = false;               // a base is Generic or Protocol: a subscript is the class itself
  bool is_enum = false;                  // a base is Enum: variables of the class are its members
  bool is_text = false;                  // a base is str: members of the enumeration are strings, too
  Values members;                        // of an enumeration, in their order
  bool is_complex = false;               // Complex or complex64 of functions/written_complex.cpp
  std::vector<std::string_view> fields;  // the class's own variables with annotations
  std::map<std::string_view, Value> attributes;
};
struct Namespace {
  std::string_view name;  // "torch", "torch.nn", "torch.nn.functional", "math"
};
struct ModuleBase {};  // torch.nn.Module
struct Super {         // super() in a method of `owner`
  const Class* owner = nullptr;
  Object* self = nullptr;
  bool of_module = false;  // the method that it names is one of nn.Module or of a module of torch.nn
  bool is_call = false;    // the method that it names is __call__ of nn.Module
};
struct Opaque {  // a name without a meaning here, such as typing.Optional
  std::string_view name;
};
struct Missing {
  std::string_view what;
};
struct Value {
  std::variant<None, bool, std::int64_t, double, std::string_view, DType, Dots, Slice, List, Tensor, Leaf*, Object*,
               Builtin, Method, Class*, const ModuleType*, Namespace, ModuleBase, Super, Missing, Dict*, Opaque>
      is;
  template <class T>
  const T* as() const {
    return std::get_if<T>(&is);
  }
  bool none() const { return as<None>() != nullptr; }
};

/// The attributes of a module that hold the lists of functions to call before and after `forward`.
inline constexpr std::string_view hooks_attribute = "_forward_pre_hooks", hooks_after_attribute = "_forward_hooks";

/// The attributes of an object, in the order in which they were assigned first. As in PyTorch, a module or a tensor
/// counts as new if it replaces another kind of value.
class AttributeList {
 public:
  using Items = std::list<std::pair<const std::string, Value>>;

  AttributeList() = default;
  AttributeList(const AttributeList&) = delete;
  AttributeList& operator=(const AttributeList&) = delete;
  Items::const_iterator begin() const { return items_.begin(); }
  Items::const_iterator end() const { return items_.end(); }
  Items::const_iterator find(std::string_view name) const;
  void insert_or_assign(std::string name, Value);
  bool erase(std::string_view name);  // returns false if there is no such attribute

 private:
  Items items_;
  std::map<std::string_view, Items::iterator> places_;  // the keys are the names in items_
};

/// An instance of a class of the text, of a module of torch.nn, or of a class derived from such a module.
struct Object {
  const Class* type = nullptr;
  const ModuleType* module = nullptr;
  const Object* parent = nullptr;  // the first object that got this object as an attribute
  std::string name;                // the name of that attribute
  AttributeList attributes;
  // The names of attributes that register_buffer added, and whether a state_dict has them.
  std::map<std::string, bool, std::less<>> buffers;
  std::vector<std::pair<std::string, Value>> items;  // the named items of a Sequential, ModuleList or ModuleDict
};

/// Describes a value for messages: "a tensor", "the integer 3", "a tuple of 2".
std::string describe(const Value&);
/// to_integer accepts an integer or a truth value, but not a float. to_number accepts any number.
std::optional<std::int64_t> to_integer(const Value&);
std::optional<double> to_number(const Value&);
bool is_tensor(const Value&);
/// Whether a value is a member of an enumeration of strings.
bool is_text_member(const Value&);
bool is_parameter(const Value&);
/// Whether a value is an object of a module of torch.nn, or of a class that is derived from nn.Module.
bool is_module(const Value&);
/// Whether a value has complex numbers. It is an object of the class Complex (functions/written_complex.cpp).
bool is_complex(const Value&);
/// Returns the leaf that a value is, or that holds the parts of complex numbers; null for other values.
Leaf* leaf_of(const Value&);
bool holds_others(const Object&);      // whether the object is a container of modules or parameters
bool holds_parameters(const Object&);  // whether the object is a ParameterList or ParameterDict
Value make_list(Values items);         // a tuple; throws Error if tuples are nested too deeply
/// Python's `==` for values other than tensors. Values of different kinds are unequal.
bool equal(const Value&, const Value&);
/// Returns the attribute of the class or of the first base that has it, in Python's order of lookup. Returns null if
/// there is none, or if it is the constructor, `forward` or `__call__` of nn.Module or of a module of torch.nn.
const Value* find_attribute(const Class*, std::string_view name);
/// Whether the class is `base`, or is derived from it.
bool derives(const Class*, const Class* base);
/// Returns a tuple whose items have names as well. Throws Error if there are more or fewer names than items.
Value make_named(Values items, std::vector<std::string_view> names);
Value make_values_and_indices(Value values, Value indices);
Value make_tuple(const std::vector<std::int64_t>&);
const Value* find_item(const Dict&, const Value& key);  // null if there is no such key
void set_item(Dict&, const Value& key, Value);

}  // namespace deplo::ir::torch::python
