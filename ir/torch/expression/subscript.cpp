#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"
#include "ir/torch/expression/slices.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {
namespace {

std::int64_t in_range(std::int64_t index, std::int64_t count) {
  if (index < -count || index >= count)
    throw Error(fmt::format("expected an index from {} to {}, found {}", -count, count - 1, index));
  return index < 0 ? index + count : index;
}

// Returns an integer that is an index, or the value of a tensor without dimensions if it is known. As in PyTorch, both
// select a view.
std::optional<std::int64_t> known_index(Session& session, const Value& index) {
  if (const auto* i = index.as<std::int64_t>()) return *i;
  if (!is_tensor(index)) return std::nullopt;
  const Id id = session.tensor(index);
  const TensorType& type = session.type(id);
  if (!type.shape.empty() || !is_integer(type.dtype) || type.dtype == DType::boolean) return std::nullopt;
  const auto values = known_values(caller_of(session, "[]"), id);
  return values ? std::optional(static_cast<std::int64_t>((*values)[0])) : std::nullopt;
}

Id one_index(Session& session, Id x, const Value& index, std::int64_t& dim) {
  if (index.none()) return session.call("unsqueeze", {x}, {{"dim", dim++}});
  if (const Slice* s = index.as<Slice>()) return slice(session, x, dim++, *s);
  if (const std::optional<std::int64_t> i = known_index(session, index)) {
    const std::int64_t at = in_range(*i, session.type(x).shape[static_cast<std::size_t>(dim)]);
    return session.call("select", {x}, {{"dim", dim}, {"index", at}});
  }
  if (is_tensor(index)) {
    Id indices = session.tensor(index);
    if (session.type(indices).dtype == DType::boolean) {
      if (session.type(indices).shape.size() != 1 || !known_values(caller_of(session, "[]"), indices))
        throw Error(
            "expected integers in a tensor of indices, found truth values: the number of elements that they select "
            "depends on data; use torch.where");
      indices = *without_masks(caller_of(session, "[]"), {indices})[0];
    }
    const Id selected = session.call("index_select", {x, indices},
                                     {{"dim", dim}, {"wraps", may_be_negative(caller_of(session, "[]"), indices)}});
    dim += static_cast<std::int64_t>(session.type(indices).shape.size());
    return selected;
  }
  throw Error(
      fmt::format("expected an integer, a slice, None, ... or a tensor as an index, found {}", describe(index)));
}

// Returns the number of dimensions that an index takes.
std::int64_t dims_of(Session& session, const Value& index) {
  if (index.none() || index.as<Dots>()) return 0;
  if (!is_tensor(index)) return 1;
  const TensorType& type = session.type(session.tensor(index));
  return type.dtype == DType::boolean ? static_cast<std::int64_t>(type.shape.size()) : 1;
}

// Returns the number of dimensions, of `rank`, that no index takes. Throws Error if there are too many indices.
std::int64_t dims_left(Session& session, const Values& indices, std::int64_t rank) {
  std::int64_t taken = 0;
  for (const Value& index : indices) taken += dims_of(session, index);
  if (taken > rank) throw Error(fmt::format("expected at most {} indices, found {}", rank, taken));
  if (std::ranges::count_if(indices, [](const Value& v) { return v.as<Dots>() != nullptr; }) > 1)
    throw Error("expected at most one `...`, found several");
  return rank - taken;
}

// Evaluates an index with several tensors, such as x[i, 1:, j]. As in PyTorch, the other indices select first.
// `left`: the number of dimensions that `...` stands for.
Value by_tensors(Session& session, Id x, const Values& indices, std::int64_t left) {
  const Caller caller = caller_of(session, "[]");
  std::vector<std::optional<Id>> tensors;
  for (const Value& index : indices) {
    auto dim = static_cast<std::int64_t>(tensors.size());
    if (is_tensor(index)) {
      std::ranges::copy(without_masks(caller, {session.tensor(index)}), std::back_inserter(tensors));
      continue;
    }
    if (index.as<Dots>())
      dim += left;
    else
      x = one_index(session, x, index, dim);
    tensors.resize(static_cast<std::size_t>(dim));
  }
  return {Tensor{pick_by_tensors(caller, x, tensors)}};
}

Value of_tensor(Session& session, Id x, const Values& indices) {
  const std::int64_t left = dims_left(session, indices, static_cast<std::int64_t>(session.type(x).shape.size()));
  if (std::ranges::count_if(indices, is_tensor) > 1) return by_tensors(session, x, indices, left);
  std::int64_t dim = 0;
  for (const Value& index : indices) {
    if (index.as<Dots>())
      dim += left;
    else
      x = one_index(session, x, index, dim);
  }
  return {Tensor{x}};
}

Value element_of(Session& session, const List& list, const Value& index) {
  const auto count = static_cast<std::int64_t>(list.items->size());
  if (const auto i = known_integer(session, index)) return (*list.items)[static_cast<std::size_t>(in_range(*i, count))];
  const Slice* s = index.as<Slice>();
  if (!s) throw Error(fmt::format("expected an integer or a slice as an index, found {}", describe(index)));
  Values part;
  for (const std::int64_t i : places_of(*s, count)) part.push_back((*list.items)[static_cast<std::size_t>(i)]);
  session.spend(part.size());
  return list.tuple ? make_list(std::move(part)) : session.list(std::move(part));
}

Value letters_of(Session& session, std::string_view text, const Value& index) {
  const auto count = static_cast<std::int64_t>(text.size());
  if (const auto* i = index.as<std::int64_t>()) return {text.substr(static_cast<std::size_t>(in_range(*i, count)), 1)};
  const Slice* s = index.as<Slice>();
  if (!s) throw Error(fmt::format("expected an integer or a slice as an index, found {}", describe(index)));
  std::string part;
  for (const std::int64_t i : places_of(*s, count)) part += text[static_cast<std::size_t>(i)];
  return {session.text(std::move(part))};
}

// Returns the indices as a list. A list of integers becomes a tensor.
Values indices_of(Session& session, const Value& index) {
  const List* several = index.as<List>();
  Values indices = several && several->tuple ? *several->items : Values{index};
  for (Value& i : indices)
    if (const List* list = i.as<List>()) {
      std::vector<Id> numbers;
      for (const Value& item : *list->items) {
        if (!item.as<std::int64_t>())
          throw Error(fmt::format("expected integers in a list of indices, found {}", describe(item)));
        numbers.push_back(
            session.call("full", {}, {{"shape", Shape{1}}, {"value", *to_number(item)}, {"dtype", DType::i64}}));
      }
      if (numbers.empty()) throw Error("expected integers in a list of indices, found none");
      i = {Tensor{numbers.size() == 1 ? numbers[0] : session.call("cat", numbers, {{"dim", std::int64_t{0}}})}};
    }
  return indices;
}

Id fitting(Session& session, Id part, Id place) {
  const TensorType type = session.type(place);
  part = session.cast(part, type.dtype);
  Shape shape = session.type(part).shape;
  const auto extra = static_cast<std::ptrdiff_t>(shape.size()) - static_cast<std::ptrdiff_t>(type.shape.size());
  if (extra > 0 && std::all_of(shape.begin(), shape.begin() + extra, [](std::int64_t n) { return n == 1; })) {
    shape.erase(shape.begin(), shape.begin() + extra);
    part = session.call("reshape", {part}, {{"shape", shape}});
  }
  return shape == type.shape ? part : session.call("expand", {part}, {{"shape", type.shape}});
}

// A place in a tensor, while the indices are applied one after the other.
struct Position {
  std::int64_t dim = 0;                    // to which the next index belongs
  std::vector<std::optional<Id>> tensors;  // indices of the dimensions before; none for a dimension without a tensor

  Position after(std::int64_t dims, std::optional<Id> tensor = std::nullopt) const {
    Position next = *this;
    next.dim += dims;
    next.tensors.resize(tensors.size() + static_cast<std::size_t>(tensor ? 1 : dims), tensor);
    return next;
  }
};

// Returns x after `x[indices] = part`, where the first of `indices` belongs to `place`. Each index other than a tensor
// selects a part of x, to which the remaining indices are applied recursively. Then the tensors select in that part.
Id with_part(Session& session, Id x, const Values& indices, const Position& place, Id part) {
  const std::int64_t dim = place.dim;
  if (indices.empty()) {
    const bool chosen = std::ranges::any_of(place.tensors, [](const auto& tensor) { return tensor.has_value(); });
    return chosen ? put_by_tensors(caller_of(session, "[]"), x, place.tensors, part, false) : fitting(session, part, x);
  }
  const std::int64_t left = dims_left(session, indices, static_cast<std::int64_t>(session.type(x).shape.size()) - dim);
  const Values rest(indices.begin() + 1, indices.end());
  const Value& index = indices[0];
  if (is_tensor(index))
    return with_part(session, x, rest, place.after(dims_of(session, index), session.tensor(index)), part);
  if (index.as<Dots>()) return with_part(session, x, rest, place.after(left), part);
  if (const Slice* s = index.as<Slice>())
    return with_slice(session, x, dim, *s,
                      [&](Id inner) { return with_part(session, inner, rest, place.after(1), part); });
  if (index.none()) {
    const Id inner = session.call("unsqueeze", {x}, {{"dim", dim}});
    return session.call("squeeze", {with_part(session, inner, rest, place.after(1), part)}, {{"dims", Shape{dim}}});
  }
  const auto* i = index.as<std::int64_t>();
  if (!i)
    throw Error(
        fmt::format("expected an integer, a slice, None, ... or a tensor as an index, found {}", describe(index)));
  const std::int64_t at = in_range(*i, session.type(x).shape[static_cast<std::size_t>(dim)]);
  return with_slice(session, x, dim, {at, at + 1, {}}, [&](Id inner) {
    const Id one = session.call("select", {inner}, {{"dim", dim}, {"index", std::int64_t{0}}});
    return session.call("unsqueeze", {with_part(session, one, rest, place, part)}, {{"dim", dim}});
  });
}

// Executes `list[slice] = value`.
void set_items(Session& session, Values& items, const Slice& s, const Value& value) {
  const Values more = items_of(session, value);
  const auto count = static_cast<std::int64_t>(items.size()), start = s.start.value_or(0);
  const std::vector<std::int64_t> places = places_of(s, count);
  session.spend(items.size() + more.size());
  if (s.step.value_or(1) != 1) {
    if (more.size() != places.size())
      throw Error(fmt::format("expected {} values for a slice with a step, found {}", places.size(), more.size()));
    for (std::size_t i = 0; i < places.size(); ++i) items[static_cast<std::size_t>(places[i])] = more[i];
    return;
  }
  const auto first = items.begin() + std::clamp<std::int64_t>(start < 0 ? start + count : start, 0, count);
  const auto next = items.erase(first, first + static_cast<std::ptrdiff_t>(places.size()));
  items.insert(next, more.begin(), more.end());
}

void set_module(Session& session, Object& object, const Value& index, const Value& value) {
  const auto* i = index.as<std::int64_t>();
  const auto* name = index.as<std::string_view>();
  if (name) return add_module(session, object, *name, value);
  if (!i) throw Error(fmt::format("expected an integer or a name as an index, found {}", describe(index)));
  const auto count = static_cast<std::int64_t>(object.items.size());
  add_module(session, object, std::string(object.items[static_cast<std::size_t>(in_range(*i, count))].first), value);
}

// Returns the member of an enumeration with a name.
Value member_called(const Class& type, const Value& name) {
  const auto found = std::ranges::find_if(
      type.members, [&](const Value& m) { return equal((*m.as<Object*>())->attributes.find("name")->second, name); });
  if (found == type.members.end())
    throw Error(fmt::format("expected the name of a member of {}, found {}", describe(Value{const_cast<Class*>(&type)}),
                            describe(name)));
  return *found;
}

}  // namespace

void add_module(Session& session, Object& object, std::string_view name, const Value& value) {
  const bool of_parameters = holds_parameters(object);
  if (of_parameters ? !is_tensor(value) : value.as<Object*>() == nullptr)
    throw Error(fmt::format("{}: expected {}, found {}", object.module->name, of_parameters ? "parameters" : "modules",
                            describe(value)));
  session.give_name(value, &object, name);
  const auto found = std::ranges::find(object.items, name, &std::pair<std::string, Value>::first);
  if (found != object.items.end())
    found->second = value;
  else
    object.items.emplace_back(name, value);
}

void append_modules(Session& session, Object& object, const Value& sequence) {
  for (const Value& item : items_of(session, sequence))
    add_module(session, object, std::to_string(object.items.size()), item);
}

Value held_module(Session& session, Object& object, const Value& index) {
  const auto count = static_cast<std::int64_t>(object.items.size());
  if (const auto* i = index.as<std::int64_t>())
    return object.items[static_cast<std::size_t>(in_range(*i, count))].second;
  if (const auto* name = index.as<std::string_view>()) {
    const auto found = std::ranges::find(object.items, *name, &std::pair<std::string, Value>::first);
    if (found != object.items.end()) return found->second;
  }
  const Slice* s = index.as<Slice>();
  if (!s) throw Error(fmt::format("expected an integer, a slice or a name as an index, found {}", describe(index)));
  Object* part = session.make_object();
  part->module = object.module;
  for (const std::int64_t i : places_of(*s, count)) part->items.push_back(object.items[static_cast<std::size_t>(i)]);
  return {part};
}

Value apply_subscript(Session& session, const Value& object, const Value& index) {
  if (const List* list = object.as<List>(); list && !list->set) return element_of(session, *list, index);
  if (const auto* text = object.as<std::string_view>()) return letters_of(session, *text, index);
  if (object.as<Opaque>()) return object;  // such as Optional[int]
  if (auto* const* type = object.as<Class*>(); type && (*type)->is_enum) return member_called(**type, index);
  if (auto* const* type = object.as<Class*>(); type && (*type)->is_generic) return object;
  if (std::optional<Value> own = call_own(session, object, "__getitem__", {index})) return *std::move(own);
  if (auto* const* o = object.as<Object*>(); o && holds_others(**o)) return held_module(session, **o, index);
  if (auto* const* dict = object.as<Dict*>()) {
    if (const Value* found = find_item(**dict, index)) return *found;
    if ((*dict)->factory) {
      const Value made = session.invoke(*(*dict)->factory, {});
      insert_item(session, **dict, index, made);
      return made;
    }
    throw Error(fmt::format("expected a key of the dict, found {}", describe(index)));
  }
  if (!is_tensor(object))
    throw Error(fmt::format("expected a tensor, a tuple or a list before `[`, found {}", describe(object)));
  if (const Tensor* t = object.as<Tensor>(); t && t->pair) {  // such as max(dim)[0]
    const auto* i = index.as<std::int64_t>();
    if (i && *i == 0) return {Tensor{t->id}};
    if (i && *i == 1) return {Tensor{extreme_index(caller_of(session, "[]"), session.node(t->id))}};
  }
  return of_tensor(session, session.tensor(object), indices_of(session, index));
}

void set_subscript(Session& session, const Value& object, const Value& index, const Value& value) {
  if (const List* list = object.as<List>(); list && !list->tuple && !list->set) {
    if (const Slice* s = index.as<Slice>()) return set_items(session, *list->items, *s, value);
    const auto* i = index.as<std::int64_t>();
    if (!i) throw Error(fmt::format("expected an integer as the index of an element, found {}", describe(index)));
    (*list->items)[static_cast<std::size_t>(in_range(*i, static_cast<std::int64_t>(list->items->size())))] = value;
    return;
  }
  if (auto* const* dict = object.as<Dict*>()) {
    session.spend(1 + (*dict)->items.size() / 8);
    return set_item(**dict, index, value);
  }
  auto* const* o = object.as<Object*>();
  if (call_own(session, object, "__setitem__", {index, value})) return;
  if (o && holds_others(**o)) return set_module(session, **o, index, value);
  if (!is_tensor(object))
    throw Error(fmt::format("expected a tensor, a list or a dict before `[`, found {}", describe(object)));
  const Id first_new = session.size(), x = session.tensor(object);
  const Id part = session.operand(value, "[]", 1);
  session.assign(object, with_part(session, x, indices_of(session, index), {}, part), first_new);
}

namespace {

// Returns the positions that an integer or a slice selects, the last one first.
std::vector<std::int64_t> places_to_delete(const Value& index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (const auto* i = index.as<std::int64_t>()) return {in_range(*i, count)};
  const Slice* s = index.as<Slice>();
  if (!s) throw Error(fmt::format("expected an integer or a slice as an index after `del`, found {}", describe(index)));
  std::vector<std::int64_t> places = places_of(*s, count);
  std::ranges::sort(places, std::greater());
  return places;
}

void delete_module(Object& object, const Value& index) {
  const auto* name = index.as<std::string_view>();
  if (!name) {
    for (const std::int64_t place : places_to_delete(index, object.items.size()))
      object.items.erase(object.items.begin() + place);
    return renumber(object);
  }
  if (std::erase_if(object.items, [&](const auto& item) { return item.first == *name; }) == 0)
    throw Error(fmt::format("expected the name of a module after `del`, found '{}'", *name));
}

}  // namespace

void renumber(Object& object) {
  for (std::size_t i = 0; i < object.items.size(); ++i) {
    auto& [name, value] = object.items[i];
    name = std::to_string(i);
    if (auto* const* item = value.as<Object*>(); item && (*item)->parent == &object) (*item)->name = name;
  }
}

void delete_subscript(Session& session, const Value& object, const Value& index) {
  const List* list = object.as<List>();
  auto* const* dict = object.as<Dict*>();
  auto* const* module = object.as<Object*>();
  if (list && !list->tuple && !list->set) {
    session.spend(1 + list->items->size() / 64);
    for (const std::int64_t place : places_to_delete(index, list->items->size()))
      list->items->erase(list->items->begin() + place);
  } else if (dict) {
    if (std::erase_if((*dict)->items, [&](const auto& item) { return equal(item.first, index); }) == 0)
      throw Error(fmt::format("expected a key of the dict after `del`, found {}", describe(index)));
  } else if (module && holds_others(**module)) {
    delete_module(**module, index);
  } else {
    throw Error(
        fmt::format("expected an element of a list, of a dict or of a module that holds others after `del`, "
                    "found an element of {}",
                    describe(object)));
  }
}

}  // namespace deplo::ir::torch::python
