#include "ir/torch/expression/sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "core/mapped.h"
#include "core/rng.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/operations/family.h"

namespace deplo::ir::torch::python {
namespace {

constexpr std::int64_t max_known = 1'000'000;  // largest number of elements of a tensor whose values are computed
constexpr std::size_t max_text = 1000;

/// A graph of one node and of all nodes that it depends on, which computes the values of that node.
class Known {
 public:
  /// If `drawn`, inputs get random values. Otherwise values() throws Error for a tensor that depends on an input.
  Known(Session& session, bool drawn) : session_(session), drawn_(drawn) { session.spend(100); }
  torch::Values values(const Value& tensor) {
    graph_.outputs.push_back(copy(session_.tensor(tensor)));
    return evaluate(graph_, sources_)[0];
  }
  std::vector<Id> inputs;

 private:
  Id copy(Id id) {
    if (const auto found = copies_.find(id); found != copies_.end()) return found->second;
    Node node = session_.node(id);
    const bool input = drawn_ && node.kind == Node::Kind::input;
    const bool table = node.kind == Node::Kind::parameter && node.source.values;
    const bool known = input || table || node.kind == Node::Kind::scalar || node.kind == Node::Kind::call;
    if (!known || element_count(node.type.shape) > max_known)
      throw Error(
          "expected a number that does not depend on the values of inputs and parameters: use torch.where, or export "
          "the module to a .pt2 file (docs/expressions.md)");
    for (Id& arg : node.args) arg = copy(arg);
    sources_.push_back(table ? node.source.values->doubles() : torch::Values());
    if (input) {
      inputs.push_back(id);
      sources_.back() = draw(node.source.fill, node.type.dtype, element_count(node.type.shape), rng_);
    }
    graph_.nodes.push_back(std::move(node));
    return copies_[id] = static_cast<Id>(graph_.nodes.size()) - 1;
  }

  Session& session_;
  bool drawn_;
  Graph graph_;
  Rng rng_{0};
  std::vector<torch::Values> sources_;  // one entry per node; empty except for inputs
  std::map<Id, Id> copies_;
};

std::string quoted(const Value& value) {
  const auto* s = value.as<std::string_view>();
  return s ? fmt::format("'{}'", *s) : to_text(value);
}

std::string list_text(const List& list) {
  std::string text;
  for (const Value& item : *list.items) {
    if (text.size() > max_text) return text + "…";
    text += (text.empty() ? "" : ", ") + (item.as<List>() ? describe(item) : quoted(item));
  }
  if (list.set) return text.empty() ? "set()" : "{" + text + "}";
  if (!list.tuple) return "[" + text + "]";
  return "(" + text + (list.items->size() == 1 ? ",)" : ")");
}

}  // namespace

torch::Values known_values(Session& session, const Value& tensor) { return Known(session, false).values(tensor); }

std::optional<std::int64_t> known_integer(Session& session, const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  if (!is_tensor(value)) return std::nullopt;
  const TensorType type = session.type_of(value);
  if (!is_integer(type.dtype) || element_count(type.shape) != 1) return std::nullopt;
  return static_cast<std::int64_t>(known_values(session, value)[0]);
}

torch::Values sample_values(Session& session, const Value& tensor, std::vector<Id>& inputs) {
  Known known(session, true);
  torch::Values values = known.values(tensor);
  inputs = known.inputs;
  return values;
}

std::optional<Value> call_own(Session& session, const Value& object, std::string_view method, Values arguments) {
  auto* const* o = object.as<Object*>();
  if (!o || !find_attribute((*o)->type, method)) return std::nullopt;
  Value result = session.invoke(session.attribute(object, method), {std::move(arguments), {}});
  const Opaque* opaque = result.as<Opaque>();
  if (opaque && opaque->name == "NotImplemented") return std::nullopt;
  return result;
}

namespace {

// Returns what `__bool__` or else `__len__` of an object gives as its truth; nullopt if its class has neither.
std::optional<bool> own_truth(Session& session, const Value& value) {
  for (const std::string_view name : {"__bool__", "__len__"}) {
    const std::optional<Value> result = call_own(session, value, name, {});
    if (!result) continue;
    const std::optional<std::int64_t> truth = to_integer(*result);
    if (!truth) throw Error(fmt::format("{}: expected True, False or an integer, found {}", name, describe(*result)));
    return *truth != 0;
  }
  return std::nullopt;
}

}  // namespace

bool is_true(Session& session, const Value& value) {
  if (value.none()) return false;
  if (const auto number = to_number(value)) return *number != 0;
  if (const auto* s = value.as<std::string_view>()) return !s->empty();
  if (const List* list = value.as<List>()) return !list->items->empty();
  if (auto* const* dict = value.as<Dict*>()) return !(*dict)->items.empty();
  if (is_complex(value)) {
    const Value not_zero = session.attribute(value, "__ne__");
    return is_true(session, session.invoke(not_zero, {{{std::int64_t{0}}}, {}}));
  }
  if (const std::optional<bool> own = own_truth(session, value)) return *own;
  if (auto* const* object = value.as<Object*>(); object && holds_others(**object)) return !(*object)->items.empty();
  if (!is_tensor(value)) return true;
  const torch::Values values = known_values(session, value);
  if (values.size() != 1)
    throw Error(fmt::format("expected a tensor of one element as a condition, found {}", values.size()));
  return values[0] != 0;
}

Values items_to_unpack(Session& session, const Value& value) {
  const Tensor* tensor = value.as<Tensor>();
  const List* list = value.as<List>();
  if (list) {
    session.spend(list->items->size());
    return *list->items;
  }
  if (tensor && tensor->pair)
    return {{Tensor{tensor->id}}, {Tensor{extreme_index(caller_of(session, "[]"), session.node(tensor->id))}}};
  if (value.as<Object*>() && !is_complex(value)) return items_of(session, value);
  if (is_complex(value)) return items_of(session, session.invoke(session.attribute(value, "unbind"), {}));
  if (!is_tensor(value)) throw Error(fmt::format("expected a tuple or a list to unpack, found {}", describe(value)));
  const Id id = session.tensor(value);
  const Shape shape = session.type(id).shape;
  if (shape.empty()) throw Error("expected a tensor of at least one dimension to unpack, found one without dimensions");
  session.spend(static_cast<std::size_t>(std::min<std::int64_t>(shape[0], max_known)));
  Values parts;
  for (std::int64_t i = 0; i < shape[0]; ++i)
    parts.push_back({Tensor{session.call("select", {id}, {{"dim", std::int64_t{0}}, {"index", i}})}});
  return parts;
}

Values held_items(const Object& holder) {
  const bool by_name = holder.module->name.ends_with("Dict");
  return mapped(holder.items,
                [&](const auto& held) { return by_name ? Value{std::string_view(held.first)} : held.second; });
}

Values items_of(Session& session, const Value& value) {
  if (const std::optional<Value> own = call_own(session, value, "__iter__", {})) {
    if (!own->as<List>()) throw Error(fmt::format("__iter__: expected a list or iter(…), found {}", describe(*own)));
    return items_to_unpack(session, *own);
  }
  Values items;
  if (auto* const* dict = value.as<Dict*>()) {
    for (const auto& [key, item] : (*dict)->items) items.push_back(key);
  } else if (const auto* s = value.as<std::string_view>()) {
    for (std::size_t i = 0; i < s->size(); ++i) items.push_back({s->substr(i, 1)});
  } else if (auto* const* object = value.as<Object*>(); object && holds_others(**object)) {
    items = held_items(**object);
  } else if (auto* const* type = value.as<Class*>(); type && (*type)->is_enum) {
    items = (*type)->members;
  } else if (value.as<List>() || is_tensor(value) || is_complex(value)) {
    return items_to_unpack(session, value);
  } else {
    throw Error(fmt::format("expected a tuple, a list or another sequence, found {}", describe(value)));
  }
  session.spend(items.size());
  return items;
}

namespace {

// Returns the value of a member of an enumeration of strings. Returns other values unchanged.
const Value& text_of_member(const Value& value) {
  return is_text_member(value) ? (*value.as<Object*>())->attributes.find("value")->second : value;
}

// Compares two records by the fields of their class.
bool are_equal_records(Session& session, const Value& a, const Value& b, int levels) {
  const Value fields = session.attribute(a, "__dataclass_fields__");
  return std::ranges::all_of(*fields.as<List>()->items, [&](const Value& field) {
    const std::string_view name = *field.as<std::string_view>();
    return are_equal(session, session.attribute(a, name), session.attribute(b, name), levels);
  });
}

// Whether two dicts have the same keys with equal values, in any order.
bool are_equal_dicts(Session& session, const Dict& a, const Dict& b, int levels) {
  return a.items.size() == b.items.size() && std::ranges::all_of(a.items, [&](const auto& item) {
           session.spend(1 + b.items.size() / 8);
           const Value* other = find_item(b, item.first);
           return other && are_equal(session, item.second, *other, levels);
         });
}

}  // namespace

bool are_equal(Session& session, const Value& a, const Value& b, int levels) {
  if (levels == 0) throw Error(fmt::format("expected at most {} nested values", max_levels));
  if (is_text_member(a) || is_text_member(b)) return equal(text_of_member(a), text_of_member(b));
  const List *p = a.as<List>(), *q = b.as<List>();
  if (p && q && !p->set && !q->set && p->tuple == q->tuple) {
    session.spend(p->items->size());
    return std::ranges::equal(*p->items, *q->items,
                              [&](const Value& x, const Value& y) { return are_equal(session, x, y, levels - 1); });
  }
  if (a.as<Dict*>() && b.as<Dict*>()) return are_equal_dicts(session, **a.as<Dict*>(), **b.as<Dict*>(), levels - 1);
  auto *const *x = a.as<Object*>(), *const *y = b.as<Object*>();
  if (is_complex(a) || is_complex(b)) return equal(a, b);
  if (const std::optional<Value> own = call_own(session, a, "__eq__", {b})) return is_true(session, *own);
  if (const std::optional<Value> own = call_own(session, b, "__eq__", {a})) return is_true(session, *own);
  if (!x) return equal(a, b);
  const Class* type = (*x)->type;
  const bool are_records = y && type && type == (*y)->type && type->is_record && !find_attribute(type, "__eq__");
  return are_records ? are_equal_records(session, a, b, levels - 1) : equal(a, b);
}

bool contains(Session& session, const Value& sequence, const Value& value) {
  const auto *text = sequence.as<std::string_view>(), *part = value.as<std::string_view>();
  if (text && part) return text->find(*part) != std::string_view::npos;
  if (const std::optional<Value> own = call_own(session, sequence, "__contains__", {value}))
    return is_true(session, *own);
  const Values items = items_of(session, sequence);
  return std::ranges::any_of(items, [&](const Value& item) { return are_equal(session, item, value); });
}

bool is_same(const Value& a, const Value& b) {
  const List *p = a.as<List>(), *q = b.as<List>();
  if (p && q) return p->items.get() == q->items.get();
  return a.is.index() == b.is.index() && equal(a, b);
}

Value make_set(Session& session, const Values& values) {
  Values kept;
  for (const Value& value : values) {
    session.spend(1 + kept.size() / 8);
    if (std::ranges::none_of(kept, [&](const Value& k) { return equal(k, value); })) kept.push_back(value);
  }
  Value set = session.list(std::move(kept));
  std::get<List>(set.is).set = true;
  return set;
}

void insert_item(Session& session, Dict& dict, const Value& key, const Value& value) {
  session.spend(1 + dict.items.size() / 8);
  const List* list = key.as<List>();
  if (key.as<Dict*>() || (list && !list->tuple))
    throw Error(fmt::format("expected an immutable key, found {}", describe(key)));
  set_item(dict, key, value);
}

void set_attribute(Session& session, Object& object, std::string_view name, const Value& value) {
  session.give_name(value, &object, name);
  object.attributes.insert_or_assign(std::string(name), value);
}

std::string to_text(const Value& value) {
  if (const auto* s = value.as<std::string_view>()) return std::string(*s);
  if (const auto* i = value.as<std::int64_t>()) return std::to_string(*i);
  if (const auto* d = value.as<double>()) {
    std::string text = fmt::format("{}", *d);
    const bool whole = std::isfinite(*d) && text.find_first_of(".e") == std::string::npos;
    return whole ? text + ".0" : text;
  }
  if (const List* list = value.as<List>()) return list_text(*list);
  return describe(value);
}

namespace {

/// A format of Python: [[fill]align][sign][0][width][,][.precision][type].
struct Format {
  char fill = ' ', align = 0, sign = '-', group = 0, type = 0;  // 0: not given
  std::size_t width = 0;
  std::optional<int> precision;
};

Format parse_format(std::string_view spec) {
  Format f;
  std::string_view rest = spec;
  const auto next_of = [&](std::string_view letters) {
    return !rest.empty() && letters.find(rest[0]) != std::string_view::npos;
  };
  const auto take = [&] {
    const char letter = rest[0];
    rest.remove_prefix(1);
    return letter;
  };
  const auto number = [&] {
    std::size_t n = 0;
    while (next_of("0123456789") && n <= max_text) n = n * 10 + static_cast<std::size_t>(take() - '0');
    return n;
  };
  constexpr std::string_view aligns = "<>^=";
  if (rest.size() > 1 && aligns.find(rest[1]) != std::string_view::npos) f.fill = take();
  if (next_of(aligns)) f.align = take();
  if (next_of("+- ")) f.sign = take();
  if (next_of("0")) {
    take();
    if (f.align == 0) f.fill = '0', f.align = '=';
  }
  f.width = number();
  if (next_of(",_")) f.group = take();
  if (next_of(".")) {
    take();
    f.precision = static_cast<int>(std::min<std::size_t>(number(), 60));
  }
  if (next_of("bdeEfFgGosxX%")) f.type = take();
  if (!rest.empty() || f.width > max_text)
    throw Error(fmt::format("expected a format such as .2f, 3d or >8, found {}", spec));
  return f;
}

// Return the digits of a number of 0 or more.
std::string digits_of(const Format& f, double number) {
  const int precision = f.precision.value_or(6);
  if (f.type == '%') return fmt::format("{:.{}f}%", number * 100, precision);
  if (f.type != 0) {
    const char type = std::string_view("eEgG").find(f.type) == std::string_view::npos ? 'f' : f.type;
    return fmt::format(fmt::runtime(std::string("{:.{}") + type + "}"), number, precision);
  }
  if (!f.precision) return to_text({number});
  std::string text = fmt::format("{:.{}g}", number, precision);
  return text.find_first_of(".ein") == std::string::npos ? text + ".0" : text;
}
std::string digits_of(const Format& f, std::uint64_t number) {
  const char type = std::string_view("boxX").find(f.type) == std::string_view::npos ? 'd' : f.type;
  return fmt::format(fmt::runtime(std::string("{:") + type + "}"), number);
}

std::string grouped(std::string digits, char separator) {
  std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  for (; end > 3; end -= 3) digits.insert(end - 3, 1, separator);
  return digits;
}

std::string padded(const Format& f, const std::string& sign, const std::string& text, char default_align) {
  const std::size_t size = sign.size() + text.size(), more = f.width - std::min(f.width, size);
  const char align = f.align == 0 ? default_align : f.align;
  if (align == '=') return sign + std::string(more, f.fill) + text;
  const std::size_t before = align == '>' ? more : align == '^' ? more / 2 : 0;
  return std::string(before, f.fill) + sign + text + std::string(more - before, f.fill);
}

std::string number_text(const Format& f, const Value& value) {
  constexpr std::string_view of_integers = "bdoxX";
  const std::optional<std::int64_t> integer = to_integer(value);
  const double number = *to_number(value);
  const bool whole = of_integers.find(f.type) != std::string_view::npos;
  if (f.type == 's' || (whole && !integer))
    throw Error(fmt::format("expected {} for the format `{}`, found {}", whole ? "an integer" : "a string", f.type,
                            describe(value)));
  const bool negative = std::signbit(number), as_integer = integer && (whole || f.type == 0);
  const std::uint64_t magnitude = !integer ? 0 : negative ? 0 - static_cast<std::uint64_t>(*integer) : *integer;
  std::string digits = as_integer ? digits_of(f, magnitude) : digits_of(f, std::abs(number));
  if (f.group != 0) digits = grouped(std::move(digits), f.group);
  return padded(f, negative ? "-" : f.sign == '-' ? "" : std::string(1, f.sign), digits, '>');
}

}  // namespace

std::string formatted(const Value& value, std::string_view format) {
  const std::size_t colon = format.find(':');
  const std::string_view spec = colon == std::string_view::npos ? std::string_view() : format.substr(colon + 1);
  const bool converted = format.starts_with('!');
  const std::string plain = format.starts_with("!r") ? quoted(value) : to_text(value);
  if (spec.empty()) return plain;
  Format f = parse_format(spec);
  if (to_number(value) && !converted) return number_text(f, value);
  if (f.type != 0 && f.type != 's')
    throw Error(fmt::format("expected a number for the format `{}`, found {}", f.type, describe(value)));
  if (f.align == '=') f.align = '<';  // `08` pads a string on the right
  return padded(f, "", plain.substr(0, f.precision ? static_cast<std::size_t>(*f.precision) : plain.size()), '<');
}

namespace {

/// Returns the value that a field of a format names: `0`, `name`, or an empty field for the next value.
const Value& field_value(std::string_view name, const Values& items, const Dict& named, std::size_t& next) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) {
    std::size_t at = next;
    if (name.empty())
      ++next;
    else
      std::from_chars(name.data(), name.data() + name.size(), at);
    if (at < items.size()) return items[at];
    throw Error(fmt::format("format: expected a value for each {{}}, found {}", items.size()));
  }
  if (const Value* found = find_item(named, {name})) return *found;
  throw Error(fmt::format("format: expected a value for {{{}}}, found none", name));
}

}  // namespace

std::string filled_in(std::string_view text, const Values& items, const Dict& named) {
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool doubled = (c == '{' || c == '}') && text.substr(at + 1, 1) == text.substr(at, 1);
    if (doubled || c != '{') {
      out += c;
      at += doubled ? 1 : 0;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) throw Error("format: expected `}` after `{`");
    const std::string_view field = text.substr(at + 1, end - at - 1);
    const std::size_t stop = std::min(field.find_first_of(":!"), field.size());
    out += formatted(field_value(field.substr(0, stop), items, named, next), field.substr(stop));
    at = end;
  }
  return out;
}

namespace {

// Returns the text of a value for a conversion of `%`, such as "-5s" or "05.1f".
std::string converted(const Value& value, std::string_view conversion) {
  const char type = conversion.back();
  const std::size_t count = std::min(conversion.find_first_not_of("-+ 0#"), conversion.size());
  const std::string_view flags = conversion.substr(0, count);
  const auto has = [&](char flag) { return flags.find(flag) != std::string_view::npos; };
  const bool is_text = type == 's' || type == 'r', is_decimal = type == 'd' || type == 'i';
  std::string spec = has('-') ? "<" : is_text || !has('0') ? ">" : "";
  if (!is_text && (has('+') || has(' '))) spec += has('+') ? '+' : ' ';
  if (!is_text && has('0') && !has('-')) spec += '0';
  spec += conversion.substr(count, conversion.size() - count - 1);
  if (is_text) return formatted(value, (type == 'r' ? "!r:" : "!s:") + spec);
  const auto* real = value.as<double>();
  const bool fits = real && is_decimal && std::abs(*real) < 0x1p63;
  return formatted(fits ? Value{static_cast<std::int64_t>(*real)} : value, ":" + spec + (is_decimal ? 'd' : type));
}

}  // namespace

std::string filled_in(std::string_view text, const Value& values) {
  const List* several = values.as<List>();
  const Values items = several && several->tuple ? *several->items : Values{values};
  std::string out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '%' ? text.find_first_of("%disrfFeEgGxXo", at + 1) : std::string_view::npos;
    if (end == std::string_view::npos || text[end] == '%') {
      out += text[at];
      at = end == std::string_view::npos ? at : end;
      continue;
    }
    if (next == items.size()) throw Error(fmt::format("`%`: expected a value for each %, found {}", items.size()));
    out += converted(items[next++], text.substr(at + 1, end - at));
    at = end;
  }
  return out;
}

namespace {

// An output of complex numbers becomes a real tensor whose last dimension holds the two parts.
Id output(Session& session, const Value& value) {
  if (is_complex(value)) return output(session, session.invoke(session.attribute(value, "as_real"), {}));
  if (!is_tensor(value)) throw Error(fmt::format("expected a tensor as output, found {}", describe(value)));
  const Id id = session.tensor(value);
  if (session.node(id).kind == Node::Kind::scalar) throw Error("expected a tensor as output, found a number");
  return id;
}

}  // namespace

std::vector<Id> outputs_of(Session& session, const Value& result) {
  std::vector<Id> outputs;
  // The next value is the last of `rest`. A list may contain itself, so this does not recurse, and spend() ends it.
  Values rest{result};
  for (bool nested = false; !rest.empty(); nested = true) {
    const Value value = std::move(rest.back());
    rest.pop_back();
    Values items;
    if (const List* list = value.as<List>()) {
      items = *list->items;
    } else if (auto* const* dict = value.as<Dict*>()) {
      for (const auto& [key, item] : (*dict)->items) items.push_back(item);
    } else if (const Tensor* tensor = value.as<Tensor>(); tensor && tensor->pair) {
      items = items_to_unpack(session, value);
    } else if (!value.as<None>() || (outputs.empty() && rest.empty())) {
      outputs.push_back(output(session, value));
    }
    if (nested) session.spend(items.size());
    rest.insert(rest.end(), items.rbegin(), items.rend());
  }
  if (outputs.empty()) throw Error("expected a tensor as output, found nothing");
  return outputs;
}

}  // namespace deplo::ir::torch::python
