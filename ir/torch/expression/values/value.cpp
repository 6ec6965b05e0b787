#include "ir/torch/expression/values/value.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/match.h"
#include "ir/torch/expression/values/function.h"

namespace deplo::ir::torch::python {

std::string describe(const Value& value) {
  using std::string;
  return match(
      value.is, [](const None&) -> string { return "None"; },
      [](const bool& b) -> string { return b ? "True" : "False"; },
      [](const std::int64_t& i) { return fmt::format("the integer {}", i); },
      [](const double& d) { return fmt::format("the float {}", d); },
      [](const std::string_view& s) { return fmt::format("the string '{}'", s.substr(0, 40)); },
      [](const DType& d) { return fmt::format("torch.{}", torch_name(d)); },
      [](const Dots&) -> string { return "..."; }, [](const Slice&) -> string { return "a slice"; },
      [](const List& l) {
        return fmt::format("a {} of {}", l.tuple ? "tuple" : l.set ? "set" : "list", l.items->size());
      },
      [](const Tensor&) -> string { return "a tensor"; },
      [](const Leaf* l) -> string { return l->parameter ? "a parameter" : "a tensor"; },
      [](const Object* o) {
        const bool is_complex = o->type && o->type->is_complex;
        return fmt::format("a {}", is_complex  ? "complex tensor"
                                   : o->type   ? o->type->definition->name
                                   : o->module ? o->module->name
                                               : "plain object");
      },
      [](const Builtin& b) { return fmt::format("the function {}", b.function->name); },
      [](const Method& m) { return fmt::format("the function {}", m.closure->definition->name); },
      [](Class* c) { return fmt::format("{}{}", c->is_complex ? "torch." : "the class ", c->definition->name); },
      [](const ModuleType* m) { return fmt::format("the class {}", m->name); },
      [](const Namespace& n) { return fmt::format("the module {}", n.name); },
      [](const ModuleBase&) -> string { return "the class Module"; }, [](const Super&) -> string { return "super()"; },
      [](const Missing& m) { return fmt::format("{} (not supported)", m.what); },
      [](Dict* d) { return fmt::format("a dict of {}", d->items.size()); },
      [](const Opaque& o) { return fmt::format("{} (not supported)", o.name); });
}

std::optional<std::int64_t> to_integer(const Value& value) {
  if (const bool* b = value.as<bool>()) return *b ? 1 : 0;
  if (const auto* i = value.as<std::int64_t>()) return *i;
  return {};
}

std::optional<double> to_number(const Value& value) {
  if (const auto* d = value.as<double>()) return *d;
  if (const auto i = to_integer(value)) return static_cast<double>(*i);
  return {};
}

bool is_tensor(const Value& value) { return value.as<Tensor>() || value.as<Leaf*>(); }
bool is_module(const Value& value) {
  auto* const* object = value.as<Object*>();
  return object && ((*object)->module || ((*object)->type && (*object)->type->is_module));
}

bool is_complex(const Value& value) {
  auto* const* object = value.as<Object*>();
  return object && (*object)->type && (*object)->type->is_complex;
}

Leaf* leaf_of(const Value& value) {
  if (auto* const* leaf = value.as<Leaf*>()) return *leaf;
  if (!is_complex(value)) return nullptr;
  const AttributeList& attributes = (*value.as<Object*>())->attributes;
  const auto joined = attributes.find("joined");
  const List* tuple = joined == attributes.end() ? nullptr : joined->second.as<List>();
  auto* const* leaf = tuple && !tuple->items->empty() ? tuple->items->front().as<Leaf*>() : nullptr;
  return leaf ? *leaf : nullptr;
}

bool is_parameter(const Value& value) {
  if (const Tensor* tensor = value.as<Tensor>()) return tensor->parameter;
  const Leaf* leaf = leaf_of(value);
  return leaf && leaf->parameter;
}

bool is_text_member(const Value& value) {
  auto* const* object = value.as<Object*>();
  return object && (*object)->type && (*object)->type->is_enum && (*object)->type->is_text;
}

bool holds_others(const Object& o) { return o.module && o.module->function.empty(); }
bool holds_parameters(const Object& o) { return o.module && o.module->name.starts_with("Parameter"); }

namespace {

bool equal_lists(const List& a, const List& b, int levels) {
  if (levels == 0) throw Error(fmt::format("expected at most {} nested lists", max_levels));
  const auto same = [&](const Value& x, const Value& y) {
    const List *p = x.as<List>(), *q = y.as<List>();
    return p && q ? equal_lists(*p, *q, levels - 1) : equal(x, y);
  };
  if (a.tuple != b.tuple || a.set != b.set || a.items->size() != b.items->size()) return false;
  const auto has_equal = [&](const Value& x) {
    return std::ranges::any_of(*b.items, [&](const Value& y) { return same(x, y); });
  };
  return a.set ? std::ranges::all_of(*a.items, has_equal)
               : std::equal(a.items->begin(), a.items->end(), b.items->begin(), same);
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (const auto x = to_number(a), y = to_number(b); x && y) return *x == *y;
  if (a.is.index() != b.is.index()) return false;
  const auto same = [&]<class T>(const T& x) {
    if constexpr (requires { x == x; })
      return x == *b.as<T>();
    else
      return false;
  };
  return match(
      a.is, [&](const None&) { return true; }, [&](const Dots&) { return true; },
      [&](const List& x) { return equal_lists(x, *b.as<List>(), max_levels); },
      [&](const Builtin& x) { return x.function == b.as<Builtin>()->function && x.self == b.as<Builtin>()->self; },
      [&](const Method& x) { return x.closure == b.as<Method>()->closure && x.self == b.as<Method>()->self; },
      [&](const Opaque& x) { return x.name == b.as<Opaque>()->name; },
      [&](const Tensor& x) { return x.id == b.as<Tensor>()->id; }, [&](const ModuleBase&) { return true; }, same);
}

const Value* find_attribute(const Class* type, std::string_view name) {
  if (!type) return nullptr;
  for (const Class* c : type->line) {
    if (!c && (name == "__init__" || name == "forward" || name == "__call__")) return nullptr;
    if (!c) continue;
    if (const auto found = c->attributes.find(name); found != c->attributes.end()) return &found->second;
  }
  return nullptr;
}

bool derives(const Class* type, const Class* base) {
  return type && std::ranges::find(type->line, base) != type->line.end();
}

AttributeList::Items::const_iterator AttributeList::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? items_.end() : place->second;
}

void AttributeList::insert_or_assign(std::string name, Value value) {
  const auto is_registered = [](const Value& v) { return is_tensor(v) || v.as<Object*>(); };
  if (const auto place = places_.find(name); place != places_.end()) {
    Value& old = place->second->second;
    if (is_registered(old) || !is_registered(value)) {
      old = std::move(value);
      return;
    }
    erase(name);
  }
  items_.emplace_back(std::move(name), std::move(value));
  places_.emplace(items_.back().first, std::prev(items_.end()));
}

bool AttributeList::erase(std::string_view name) {
  const auto place = places_.find(name);
  if (place == places_.end()) return false;
  const Items::iterator item = place->second;
  places_.erase(place);
  items_.erase(item);
  return true;
}

const Value* find_item(const Dict& dict, const Value& key) {
  for (const auto& [k, value] : dict.items)
    if (equal(k, key)) return &value;
  return nullptr;
}

void set_item(Dict& dict, const Value& key, Value value) {
  for (auto& [k, old] : dict.items)
    if (equal(k, key)) {
      old = std::move(value);
      return;
    }
  dict.items.emplace_back(key, std::move(value));
}

Value make_list(Values items) {
  List list;
  list.tuple = true;
  for (const Value& item : items)
    if (const List* inner = item.as<List>()) list.depth = std::max(list.depth, inner->depth + 1);
  if (list.depth > max_levels) throw Error(fmt::format("expected at most {} nested lists", max_levels));
  list.items = std::make_shared<Values>(std::move(items));
  return {std::move(list)};
}

Value make_named(Values items, std::vector<std::string_view> names) {
  if (items.size() != names.size())
    throw Error(fmt::format("expected {} items, one for each name, found {}", names.size(), items.size()));
  Value tuple = make_list(std::move(items));
  std::get<List>(tuple.is).names = std::make_shared<const std::vector<std::string_view>>(std::move(names));
  return tuple;
}

Value make_values_and_indices(Value values, Value indices) {
  return make_named({std::move(values), std::move(indices)}, {"values", "indices"});
}

Value make_tuple(const std::vector<std::int64_t>& integers) {
  Values items;
  for (const std::int64_t i : integers) items.push_back({i});
  return make_list(std::move(items));
}

}  // namespace deplo::ir::torch::python
