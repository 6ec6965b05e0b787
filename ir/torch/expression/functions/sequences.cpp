// Python's built-in functions of lists, sets and dicts, and their methods.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression/operators.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {
namespace sequences {
namespace {

Values items(const Call& c, std::string_view parameter) { return items_of(c.session, c.value(parameter)); }

// Evaluates range(stop) and range(start, stop, step).
Value range(const Call& c) {
  const bool one = !c.given("stop");
  const std::int64_t start = one ? 0 : c.integer("start"), stop = one ? c.integer("start") : c.integer("stop");
  const std::int64_t step = c.given("step") ? c.integer("step") : 1;
  if (step == 0) c.fail("step", "a step other than 0");
  Values numbers;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    c.session.spend();
    numbers.push_back({i});
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return make_list(std::move(numbers));
}

Value enumerate(const Call& c) {
  Values pairs;
  std::int64_t i = c.integer("start");
  for (const Value& item : items(c, "iterable")) pairs.push_back(make_list({{i++}, item}));
  return make_list(std::move(pairs));
}

Value zip(const Call& c) {
  std::vector<Values> all;
  for (const Value& sequence : *c.value("iterables").as<List>()->items) all.push_back(items_of(c.session, sequence));
  Values rows;
  for (std::size_t i = 0; !all.empty(); ++i) {
    Values row;
    for (const Values& one : all)
      if (i < one.size()) row.push_back(one[i]);
    if (row.size() < all.size()) break;
    rows.push_back(make_list(std::move(row)));
  }
  return make_list(std::move(rows));
}

Value to_list(const Call& c) { return c.session.list(c.given("iterable") ? items(c, "iterable") : Values{}); }
Value to_tuple(const Call& c) { return make_list(c.given("iterable") ? items(c, "iterable") : Values{}); }
Value to_set(const Call& c) { return make_set(c.session, c.given("iterable") ? items(c, "iterable") : Values{}); }

Value sum(const Call& c) {
  Value total = c.value("start");
  for (const Value& item : items(c, "iterable")) total = apply_binary(c.session, "+", total, item);
  return total;
}

Value reversed(const Call& c) {
  Values all = items(c, "sequence");
  std::ranges::reverse(all);
  return make_list(std::move(all));
}

// Whether a comes before b. Both must be numbers, both strings, or both sequences of such values.
bool before(const Value& a, const Value& b) {
  const List *p = a.as<List>(), *q = b.as<List>();
  if (p && q) {
    const auto [x, y] = std::ranges::mismatch(*p->items, *q->items, equal);
    return y != q->items->end() && (x == p->items->end() || before(*x, *y));
  }
  const auto x = to_number(a), y = to_number(b);
  if (x && y) return *x < *y;
  const auto *s = a.as<std::string_view>(), *t = b.as<std::string_view>();
  if (!s || !t)
    throw Error(
        fmt::format("sorted: expected numbers, strings or tuples of them, found {} and {}", describe(a), describe(b)));
  return *s < *t;
}

Values in_order(const Call& c, const Values& all) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : all)
    keyed.emplace_back(c.given("key") ? c.session.invoke(c.value("key"), {{item}, {}}) : item, item);
  const bool down = c.flag("reverse");
  std::ranges::stable_sort(
      keyed, [&](const auto& a, const auto& b) { return down ? before(b.first, a.first) : before(a.first, b.first); });
  Values sorted;
  for (const auto& [key, item] : keyed) sorted.push_back(item);
  return sorted;
}
Value sorted(const Call& c) { return c.session.list(in_order(c, items(c, "iterable"))); }

Value map(const Call& c) {
  const Values& rest = *c.value("iterables").as<List>()->items;
  Values mapped;
  std::vector<Values> all;
  for (const Value& sequence : rest) all.push_back(items_of(c.session, sequence));
  for (std::size_t i = 0; !all.empty() && std::ranges::all_of(all, [&](const Values& v) { return i < v.size(); });
       ++i) {
    Arguments arguments;
    for (const Values& one : all) arguments.positional.push_back(one[i]);
    mapped.push_back(c.session.invoke(c.value("function"), std::move(arguments)));
  }
  return make_list(std::move(mapped));
}

Value filter(const Call& c) {
  Values kept;
  for (const Value& item : items(c, "iterable")) {
    const Value taken = c.value("function").none() ? item : c.session.invoke(c.value("function"), {{item}, {}});
    if (is_true(c.session, taken)) kept.push_back(item);
  }
  return make_list(std::move(kept));
}

template <bool all>
Value quantified(const Call& c) {
  for (const Value& item : items(c, "iterable"))
    if (is_true(c.session, item) != all) return {!all};
  return {all};
}

// Functions of itertools and functools

Value repeat(const Call& c) {
  Values copies;
  for (std::int64_t i = 0; i < c.integer("times"); ++i) {
    c.session.spend();
    copies.push_back(c.value("object"));
  }
  return make_list(std::move(copies));
}

Value chain(const Call& c) {
  Values all;
  for (const Value& sequence : *c.value("iterables").as<List>()->items)
    for (Value& item : items_of(c.session, sequence)) all.push_back(std::move(item));
  return make_list(std::move(all));
}

Value product(const Call& c) {
  std::vector<Values> rows = {{}};
  for (const Value& sequence : *c.value("iterables").as<List>()->items) {
    std::vector<Values> longer;
    const Values choices = items_of(c.session, sequence);
    for (const Values& row : rows)
      for (const Value& item : choices) {
        c.session.spend(1 + row.size());
        longer.push_back(row);
        longer.back().push_back(item);
      }
    rows = std::move(longer);
  }
  Values all;
  for (Values& row : rows) all.push_back(make_list(std::move(row)));
  return make_list(std::move(all));
}

Value fold(const Call& c) {
  Values all = items(c, "iterable");
  if (c.given("initial")) all.insert(all.begin(), c.value("initial"));
  if (all.empty()) c.fail("iterable", "at least one value");
  Value result = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) result = c.session.invoke(c.value("function"), {{result, all[i]}, {}});
  return result;
}

// Named tuples. The type of a named tuple is a function that knows the names of the items.

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while ((text = text.substr(std::min(text.find_first_not_of(" ,"), text.size()))) != "") {
    words.push_back(text.substr(0, text.find_first_of(" ,")));
    text.remove_prefix(words.back().size());
  }
  return words;
}

std::vector<std::string_view> names_of(const Call& c, std::string_view parameter) {
  if (const auto* text = c.value(parameter).as<std::string_view>()) return words_of(*text);
  std::vector<std::string_view> names;
  for (const Value& name : items(c, parameter)) {
    if (!name.as<std::string_view>()) c.fail(parameter, "names");
    names.push_back(*name.as<std::string_view>());
  }
  return names;
}

Value with_names(const Call& c) {
  std::vector<std::string_view> names = names_of(c, "names");
  Values all = *c.value("objects").as<List>()->items;
  const Dict& named = **c.value("named").as<Dict*>();
  while (all.size() < names.size()) {
    const Value* found = find_item(named, {names[all.size()]});
    if (!found) throw Error(fmt::format("expected a value for {}, found none", names[all.size()]));
    all.push_back(*found);
  }
  return make_named(std::move(all), std::move(names));
}
constexpr Function named_tuple = {"named tuple", of_modules_only, "names, *objects, **named", with_names};

Value tuple_type(const Call& c) {
  return {Builtin{&named_tuple, std::make_shared<const Value>(c.value("field_names"))}};
}

// Methods of lists. Methods that change the list reject tuples.

Values& changeable(const Call& c) {
  const List* list = c.value("self").as<List>();
  if (!list || list->tuple) c.fail("self", "a list, because a tuple cannot be changed");
  return *list->items;
}

std::ptrdiff_t place(const Call& c, std::size_t count, std::int64_t max_place) {
  std::int64_t i = c.integer("index");
  if (i < 0) i += static_cast<std::int64_t>(count);
  if (i < 0 || i > max_place) c.fail("index", fmt::format("an index into {} elements", count));
  return static_cast<std::ptrdiff_t>(i);
}

Value append(const Call& c) {
  c.session.spend();
  changeable(c).push_back(c.value("item"));
  return {};
}
Value extend(const Call& c) {
  Values more = items(c, "iterable");
  Values& list = changeable(c);
  list.insert(list.end(), more.begin(), more.end());
  return {};
}
Value insert(const Call& c) {
  Values& list = changeable(c);
  c.session.spend(1 + list.size() / 64);
  list.insert(list.begin() + place(c, list.size(), static_cast<std::int64_t>(list.size())), c.value("item"));
  return {};
}
Value pop(const Call& c) {
  Values& list = changeable(c);
  c.session.spend(1 + list.size() / 64);
  const auto at = list.begin() + place(c, list.size(), static_cast<std::int64_t>(list.size()) - 1);
  Value item = *at;
  list.erase(at);
  return item;
}
Value reverse(const Call& c) {
  c.session.spend(changeable(c).size());
  std::ranges::reverse(changeable(c));
  return {};
}
Value clear(const Call& c) {
  if (auto* const* dict = c.value("self").as<Dict*>())
    (*dict)->items.clear();
  else
    changeable(c).clear();
  return {};
}
Value sort(const Call& c) {
  Values ordered = in_order(c, items(c, "self"));
  changeable(c) = std::move(ordered);
  return {};
}
Value copy_list(const Call& c) {
  return c.value("self").as<List>()->set ? make_set(c.session, items(c, "self")) : c.session.list(items(c, "self"));
}

// A method of lists and sets. Returns whether the item was there.
bool take_out(const Call& c) {
  Values& list = changeable(c);
  c.session.spend(1 + list.size() / 8);
  const auto found =
      std::ranges::find_if(list, [&](const Value& v) { return are_equal(c.session, v, c.value("item")); });
  if (found == list.end()) return false;
  list.erase(found);
  return true;
}
Value remove(const Call& c) {
  if (!take_out(c)) c.fail("item", "one of the elements");
  return {};
}
Value discard(const Call& c) {
  take_out(c);
  return {};
}
Value add(const Call& c) {
  Values& set = changeable(c);
  c.session.spend(1 + set.size() / 8);
  if (std::ranges::none_of(set, [&](const Value& v) { return equal(v, c.value("item")); }))
    set.push_back(c.value("item"));
  return {};
}
Value pop_first(const Call& c) {
  Values& set = changeable(c);
  if (set.empty()) c.fail("self", "a set of at least one element");
  Value item = set.front();
  set.erase(set.begin());
  return item;
}
Value index(const Call& c) {
  const Values all = items(c, "self");
  const auto found =
      std::ranges::find_if(all, [&](const Value& v) { return are_equal(c.session, v, c.value("item")); });
  if (found == all.end()) c.fail("item", "one of the elements");
  return {static_cast<std::int64_t>(found - all.begin())};
}
Value count(const Call& c) {
  return {static_cast<std::int64_t>(std::ranges::count_if(
      items(c, "self"), [&](const Value& v) { return are_equal(c.session, v, c.value("item")); }))};
}

// A method of torch.Size.
Value numel(const Call& c) {
  std::int64_t product = 1;
  for (const std::int64_t n : c.integers("self"))
    if (__builtin_mul_overflow(product, n, &product)) c.fail("self", "a product that fits in 64 bits");
  return {product};
}

// Functions and methods of dicts

Dict& dict_of(const Call& c) {
  auto* const* dict = c.value("self").as<Dict*>();
  CHECK(dict);
  return **dict;
}

Value to_dict(const Call& c) {
  Dict* dict = c.session.make_dict();
  if (auto* const* other = c.value("mapping").as<Dict*>()) {
    for (const auto& [key, item] : (*other)->items) insert_item(c.session, *dict, key, item);
  } else if (c.given("mapping")) {
    for (const Value& pair : items(c, "mapping")) {
      const Values both = items_to_unpack(c.session, pair);
      if (both.size() != 2) c.fail("mapping", "pairs of a key and a value");
      insert_item(c.session, *dict, both[0], both[1]);
    }
  }
  for (const auto& [key, item] : (*c.value("items").as<Dict*>())->items) insert_item(c.session, *dict, key, item);
  return {dict};
}

Value default_dict(const Call& c) {
  const Value made = to_dict(c);
  if (c.given("default_factory"))
    (*made.as<Dict*>())->factory = std::make_shared<const Value>(c.value("default_factory"));
  return made;
}

Value keys(const Call& c) { return make_list(items(c, "self")); }
Value values(const Call& c) {
  Values all;
  for (const auto& [key, item] : dict_of(c).items) all.push_back(item);
  c.session.spend(all.size());
  return make_list(std::move(all));
}
Value pairs(const Call& c) {
  Values all;
  for (const auto& [key, item] : dict_of(c).items) all.push_back(make_list({key, item}));
  c.session.spend(all.size());
  return make_list(std::move(all));
}
Value get(const Call& c) {
  const Value* found = find_item(dict_of(c), c.value("key"));
  return found ? *found : c.value("default");
}
Value pop_key(const Call& c) {
  const Value result = get(c);
  std::erase_if(dict_of(c).items, [&](const auto& item) { return equal(item.first, c.value("key")); });
  return result;
}
Value set_default(const Call& c) {
  if (!find_item(dict_of(c), c.value("key"))) insert_item(c.session, dict_of(c), c.value("key"), c.value("default"));
  return *find_item(dict_of(c), c.value("key"));
}
Value update(const Call& c) {
  const Value added = to_dict(c);
  for (const auto& [key, item] : (*added.as<Dict*>())->items) insert_item(c.session, dict_of(c), key, item);
  return {};
}
Value copy_dict(const Call& c) {
  Dict* copy = c.session.make_dict();
  c.session.spend(dict_of(c).items.size());
  copy->items = dict_of(c).items;
  copy->factory = dict_of(c).factory;
  return {copy};
}

// clang-format off
constexpr std::array rows = {
    Function{"range", in_python, "start, stop=None, step=None", range},
    Function{"enumerate", in_python, "iterable, start=0", enumerate},
    Function{"zip", in_python, "*iterables", zip},
    Function{"list", in_python, "iterable=None", to_list},
    Function{"tuple", in_python, "iterable=None", to_tuple},
    Function{"Size", in_torch, "iterable=None", to_tuple},
    Function{"set", in_python, "iterable=None", to_set},
    Function{"frozenset", in_python, "iterable=None", to_set},
    Function{"sum", in_python, "iterable, start=0", sum},
    Function{"reversed", in_python, "sequence", reversed},
    Function{"sorted", in_python, "iterable, *, key=None, reverse=False", sorted},
    Function{"map", in_python, "function, *iterables", map},
    Function{"filter", in_python, "function, iterable", filter},
    Function{"all", in_python, "iterable", quantified<true>},
    Function{"any", in_python, "iterable", quantified<false>},
    Function{"dict", in_python, "mapping=None, **items", to_dict},
    Function{"OrderedDict", in_library, "mapping=None, **items", to_dict},
    Function{"defaultdict", in_library, "default_factory=None, mapping=None, **items", default_dict},
    Function{"namedtuple", in_library, "typename, field_names", tuple_type},
    Function{"repeat", in_library, "object, times", repeat},
    Function{"chain", in_library, "*iterables", chain},
    Function{"product", in_library, "*iterables", product},
    Function{"reduce", in_library, "function, iterable, initial=None", fold},
    Function{"append", of_list, "self, item", append},
    Function{"extend", of_list, "self, iterable", extend},
    Function{"insert", of_list, "self, index, item", insert},
    Function{"pop", of_list, "self, index=-1", pop},
    Function{"reverse", of_list, "self", reverse},
    Function{"sort", of_list, "self, *, key=None, reverse=False", sort},
    Function{"remove", of_list | of_set, "self, item", remove},
    Function{"add", of_set, "self, item", add},
    Function{"discard", of_set, "self, item", discard},
    Function{"pop", of_set, "self", pop_first},
    Function{"clear", of_list | of_dict | of_set, "self", clear},
    Function{"copy", of_list | of_set, "self", copy_list},
    Function{"index", of_list, "self, item", index},
    Function{"count", of_list, "self, item", count},
    Function{"numel", of_list, "self", numel},
    Function{"keys", of_dict, "self", keys},
    Function{"values", of_dict, "self", values},
    Function{"items", of_dict, "self", pairs},
    Function{"get", of_dict, "self, key, default=None", get},
    Function{"pop", of_dict, "self, key, default=None", pop_key},
    Function{"setdefault", of_dict, "self, key, default=None", set_default},
    Function{"update", of_dict, "self, mapping=None, **items", update},
    Function{"copy", of_dict, "self", copy_dict},
};
// clang-format on

}  // namespace
}  // namespace sequences

std::span<const Function> sequence_functions() { return sequences::rows; }

}  // namespace deplo::ir::torch::python
