#include "ir/torch/expression/values/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/text/nearest.h"
#include "core/text/one_of.h"
#include "ir/torch/expression/sequence.h"

namespace deplo::ir::torch::python {

struct Call::Formal {
  std::string_view name;
  std::string_view fallback;  // the default, as Python writes it; empty if the argument is required
  bool collects = false;      // `*size`: takes the remaining positional arguments
  bool keywords = false;      // `**options`: takes the remaining keyword arguments
  bool keyword_only = false;
};

namespace {

std::string_view trim(std::string_view s) {
  while (s.starts_with(' ')) s.remove_prefix(1);
  return s;
}

// Converts the default value in a signature: None, True, False, a number or a quoted string. `?` stands for an argument
// that has no default but is not required.
Value literal(std::string_view s) {
  if (s == "?") return {Missing{"?"}};
  if (s == "None") return {};
  if (s == "True" || s == "False") return {s == "True"};
  if (s.starts_with('\'')) return {s.substr(1, s.size() - 2)};
  if (s.find_first_of(".e") == std::string_view::npos) {
    std::int64_t i = 0;
    CHECK(std::from_chars(s.data(), s.data() + s.size(), i).ec == std::errc());
    return {i};
  }
  double d = 0;
  CHECK(std::from_chars(s.data(), s.data() + s.size(), d).ec == std::errc());
  return {d};
}

// Returns PyTorch's name for a keyword of NumPy that PyTorch also accepts.
std::string_view synonym(std::string_view keyword) {
  if (keyword == "axis") return "dim";
  if (keyword == "keepdims") return "keepdim";
  return keyword;
}

}  // namespace

std::vector<Call::Formal> Call::formals(std::string_view signature) {
  std::vector<Formal> out;
  bool keyword_only = false;
  for (std::string_view rest = signature; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = trim(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    Formal f;
    f.keyword_only = keyword_only;
    f.keywords = one.starts_with("**");
    f.collects = !f.keywords && one.starts_with('*') && one.size() > 1;
    if (f.keywords) {
      f.name = one.substr(2);
      f.keyword_only = true;
      out.push_back(f);
      continue;
    }
    if (one.starts_with('*')) {
      keyword_only = true;
      one.remove_prefix(1);
      if (one.empty()) continue;
    }
    const std::size_t equals = one.find('=');
    f.name = one.substr(0, equals);
    if (equals != std::string_view::npos) f.fallback = one.substr(equals + 1);
    out.push_back(f);
  }
  return out;
}

bool Call::takes(std::string_view signature, std::string_view parameter) {
  const std::vector<Formal> all = formals(signature);
  return std::ranges::find(all, parameter, &Formal::name) != all.end();
}

Call::Call(Session& s, std::string_view callee, std::string_view signature, Arguments arguments,
           std::string_view op_name)
    : session(s), name(callee), op(op_name.empty() ? callee : op_name), signature_(signature) {
  const std::vector<Formal> expected = formals(signature);
  for (const Formal& f : expected) values_.emplace_back(f.name, Value{});
  std::vector<bool> bound(expected.size());
  bind_positions(expected, arguments.positional, bound);
  bind_keywords(expected, arguments, bound);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (bound[i]) continue;
    const Formal& f = expected[i];
    if (f.keywords) continue;
    if (!f.collects && f.fallback.empty()) misfit(fmt::format("a value for {}", f.name), "none");
    values_[i].second = f.collects ? make_list({}) : literal(f.fallback);
  }
}

Call::Call(Session& s, const Function& function, Arguments arguments)
    : Call(s, function.name, function.signature, std::move(arguments), function.op) {}

void Call::bind_positions(const std::vector<Formal>& expected, Values& positional, std::vector<bool>& bound) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < expected.size() && next < positional.size() && !expected[i].keyword_only; ++i) {
    bound[i] = true;
    // These parameters work like Python's `*`: a single list is not unpacked.
    const bool apart = expected[i].name == "iterables" || expected[i].name == "objects";
    if (expected[i].collects && (apart || positional.size() - next > 1 || !positional[next].as<List>())) {
      const auto first = positional.begin() + static_cast<std::ptrdiff_t>(next);
      values_[i].second = make_list(Values(first, positional.end()));
      next = positional.size();
    } else {
      values_[i].second = positional[next++];
    }
  }
  if (next < positional.size())
    misfit(fmt::format("at most {} positional arguments", next), std::to_string(positional.size()));
}

void Call::bind_keywords(const std::vector<Formal>& expected, Arguments& arguments, std::vector<bool>& bound) {
  Dict* rest = nullptr;
  if (!expected.empty() && expected.back().keywords) {
    rest = session.make_dict();
    values_.back().second = Value{rest};
  }
  for (auto& [keyword, value] : arguments.keywords) {
    auto at = std::ranges::find(expected, keyword, &Formal::name);
    if (at == expected.end()) at = std::ranges::find(expected, synonym(keyword), &Formal::name);
    if (rest && (at == expected.end() || at->keywords)) {
      set_item(*rest, {keyword}, std::move(value));
      continue;
    }
    if (at == expected.end()) {
      std::vector<std::string> known;
      for (const Formal& f : expected) known.emplace_back(f.name);
      misfit("one of its arguments", fmt::format("{}={}", keyword, did_you_mean(keyword, known)));
    }
    const auto i = static_cast<std::size_t>(at - expected.begin());
    if (bound[i]) misfit(fmt::format("{} once", at->name), "it twice");
    bound[i] = true;
    values_[i].second = std::move(value);
  }
}

std::optional<Shape> Call::requested_strides(const Shape& shape) const {
  const Opaque* format = has("memory_format") ? value("memory_format").as<Opaque>() : nullptr;
  if (format && format->name == "contiguous_format") return row_major_strides(shape);
  if (!format || !format->name.starts_with("channels_last")) return std::nullopt;
  const std::size_t rank = format->name == "channels_last" ? 4 : 5;
  if (shape.size() != rank) fail("memory_format", fmt::format("another format than that of {} dimensions", rank));
  Shape moved = shape;  // (N, C, H, W) → (N, H, W, C)
  std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
  Shape strides = row_major_strides(moved);
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

Value Call::result_of(const Function& function) const {
  // Functions whose name gives the type of their result.
  constexpr auto typed = std::to_array<std::string_view>({"FloatTensor", "double", "float", "to"});
  const Id first_new = session.size();
  Value result = function.run(*this);
  const auto gives_type = [&](const auto& argument) { return session.gives_float_type(argument.second); };
  const bool has_type = session.default_dtype == DType::f32 || session.in_written || is_one_of(name, typed);
  return has_type || std::ranges::any_of(values_, gives_type) ? result : session.in_default_type(result, first_new);
}

void Call::misfit(std::string_view expected, std::string_view found) const {
  throw Error(
      fmt::format("{}: expected {}, found {}; the signature is {}({})", name, expected, found, name, signature_));
}

void Call::fail(std::string_view parameter, std::string_view expected) const {
  misfit(fmt::format("{} for {}", expected, parameter), describe(value(parameter)));
}

const Value* Call::find(std::string_view parameter) const {
  const auto at = std::ranges::find(values_, parameter, &std::pair<std::string_view, Value>::first);
  return at == values_.end() ? nullptr : &at->second;
}

const Value& Call::value(std::string_view parameter) const {
  const Value* v = find(parameter);
  CHECK(v);
  return *v;
}

bool Call::is_misplaced_none(std::string_view parameter) const {
  if (!has(parameter) || given(parameter)) return false;
  const std::vector<Formal> all = formals(signature_);
  const std::string_view fallback = std::ranges::find(all, parameter, &Formal::name)->fallback;
  return !fallback.empty() && fallback != "None";
}

Id Call::tensor(std::string_view parameter) const {
  if (!is_tensor(value(parameter))) fail(parameter, "a tensor");
  return session.tensor(value(parameter));
}

std::vector<Id> Call::tensors(std::string_view parameter) const {
  const List* list = value(parameter).as<List>();
  if (!list || list->items->empty()) fail(parameter, "a tuple or list of tensors");
  std::vector<Id> out;
  for (const Value& item : *list->items) {
    if (!is_tensor(item)) misfit(fmt::format("tensors in {}", parameter), describe(item));
    out.push_back(session.tensor(item));
  }
  return out;
}

Id Call::operand(std::string_view parameter, int position) const {
  if (!is_tensor(value(parameter)) && !to_number(value(parameter))) fail(parameter, "a tensor or a number");
  return session.operand(value(parameter), op, position);
}

std::int64_t Call::integer(std::string_view parameter) const {
  const std::optional<std::int64_t> i = known_integer(session, value(parameter));
  if (!i) fail(parameter, "an integer");
  return *i;
}

std::vector<std::int64_t> Call::integers(std::string_view parameter) const {
  const List* list = value(parameter).as<List>();
  if (!list) return {integer(parameter)};
  std::vector<std::int64_t> out;
  for (const Value& item : *list->items) {
    const std::optional<std::int64_t> i = known_integer(session, item);
    if (!i) misfit(fmt::format("integers in {}", parameter), describe(item));
    out.push_back(*i);
  }
  return out;
}

Value Call::scalar(std::string_view parameter) const {
  const Value& given = value(parameter);
  if (!is_tensor(given)) return given;
  const TensorType type = session.type_of(given);
  if (!type.shape.empty()) return given;
  const double number = known_values(session, given)[0];
  if (type.dtype == DType::boolean) return {number != 0};
  return is_integer(type.dtype) ? Value{static_cast<std::int64_t>(number)} : Value{number};
}

double Call::number(std::string_view parameter) const {
  const std::optional<double> d = to_number(scalar(parameter));
  if (!d || std::isnan(*d)) fail(parameter, "a number");
  return *d;
}

bool Call::flag(std::string_view parameter) const {
  const bool* b = value(parameter).as<bool>();
  if (!b) fail(parameter, "True or False");
  return *b;
}

bool Call::truth(std::string_view parameter) const { return is_true(session, value(parameter)); }

std::string_view Call::text(std::string_view parameter) const {
  const auto* s = value(parameter).as<std::string_view>();
  if (!s || s->size() > max_name_bytes) fail(parameter, "a short string");
  return *s;
}

DType Call::dtype(std::string_view parameter) const {
  const DType* d = value(parameter).as<DType>();
  const Builtin* b = value(parameter).as<Builtin>();  // one of Python's types
  if (b && b->function->name == "bool") return DType::boolean;
  if (b && b->function->name == "int") return DType::i64;
  if (b && b->function->name == "float") return session.computed(DType::f64);
  if (!d) fail(parameter, "a dtype such as torch.float16");
  return session.computed(*d);
}

DType Call::dtype(std::string_view parameter, DType fallback) const {
  return given(parameter) ? dtype(parameter) : fallback;
}

Id Call::as_requested(Id x) const { return given("dtype") ? session.cast(x, dtype("dtype")) : x; }

Id Call::converted(std::string_view parameter) const { return as_requested(tensor(parameter)); }

std::size_t Call::dim(std::string_view parameter, std::size_t rank) const {
  const std::int64_t d = integer(parameter), r = static_cast<std::int64_t>(rank);
  if (d < -r || d >= r) fail(parameter, fmt::format("a dimension of the {} that there are", rank));
  return static_cast<std::size_t>(d < 0 ? d + r : d);
}

Value Call::node(std::vector<Id> args, Attributes attributes) const {
  // The sum of an int32 is an int64 unless another type is requested.
  return {Tensor{as_requested(session.call(op, std::move(args), std::move(attributes)))}};
}

}  // namespace deplo::ir::torch::python
