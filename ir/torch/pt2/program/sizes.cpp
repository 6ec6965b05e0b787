#include "ir/torch/pt2/program/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/text/characters.h"
#include "ir/torch/graph.h"

namespace deplo::ir::torch::pt2 {
namespace {

// Returns the value that the file states for the example, if it does.
std::optional<SizeValue> hint_of(const Json& expression) {
  if (!expression.has("hint")) return std::nullopt;
  const Json hint = expression.at("hint");
  if (hint.has("as_int")) return hint.at("as_int").integer();
  if (hint.has("as_float")) return hint.at("as_float").number();
  if (hint.has("as_bool")) return hint.at("as_bool").flag();
  return std::nullopt;
}

std::string expression_of(const Json& number) { return number.at("as_expr").at("expr_str").text(); }

// Calls use(size, place) for each size of an input, and for each input that is an integer.
template <class Use>
void each_input_size(const Json& module, const Use& use) {
  const Json graph = module.at("graph");
  module.at("signature").at("input_specs").each([&](const Json& spec) {
    if (!spec.has("user_input")) return;
    const Json argument = spec.at("user_input").at("arg");
    if (argument.has("as_tensor")) {
      const std::string name = argument.at("as_tensor").at("name").text();
      const Json tensors = graph.at("tensor_values");
      std::size_t dimension = 0;
      if (tensors.has(name)) tensors.at(name).at("sizes").each([&](const Json& size) { use(size, name, dimension++); });
    } else if (argument.has("as_sym_int") && argument.at("as_sym_int").has("as_name")) {
      const std::string name = argument.at("as_sym_int").at("as_name").text();
      if (graph.has("sym_int_values") && graph.at("sym_int_values").has(name))
        use(graph.at("sym_int_values").at(name), name, std::nullopt);
    }
  });
}

std::string place_of(const std::string& input, std::optional<std::size_t> dimension) {
  return dimension ? fmt::format("dimension {} of {}", *dimension, input) : fmt::format("the input {}", input);
}

// Returns how a size that is not the symbol itself is computed from it: "32*s27", "s27 - 1".
std::string as_sum(std::int64_t factor, const std::string& symbol, std::int64_t rest) {
  const std::string product = factor == 1 ? symbol : fmt::format("{}*{}", factor, symbol);
  return rest == 0 ? product : fmt::format("{} {} {}", product, rest < 0 ? '-' : '+', std::abs(rest));
}

// Returns the name of the input that a guard calls "L['Table']['a-b'][0]": "table_a_b_0".
std::string input_name(std::string_view guarded) {
  std::string name;
  for (std::size_t i = 1; i < guarded.size(); ++i) {
    const char c = guarded[i];
    if (c == '\'' || c == ']' || (c == '[' && name.empty())) continue;
    name += is_word_char(c) ? static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) : '_';
  }
  return name;
}

}  // namespace

bool depends_on_elements(std::string_view symbol) {
  return symbol.size() > 1 && (symbol.starts_with('u') || symbol.starts_with("zuf")) && is_digit(symbol.back());
}

Sizes::Sizes(const Json& program, const Symbols& given, const Constants& constants) {
  const Json module = program.at("graph_module");
  name_constants(module.at("graph"), constants);
  each_input_size(module, [&](const Json& size, const std::string& input, std::optional<std::size_t> dimension) {
    if (size.has("as_expr")) solve(size, place_of(input, dimension));
  });
  std::vector<std::string> example;
  for (const OpenSize& symbol : symbols_)
    if (!given.contains(symbol.name))
      example.push_back(fmt::format("{}={} ({})", symbol.name, symbol.value, symbol.place));
  if (!example.empty())
    note_ = fmt::format("the sizes of dynamic_shapes are those of the example: {}; -s NAME=SIZE sets others",
                        fmt::join(example, ", "));
  take(given);
  if (!given_) return;
  if (program.has("range_constraints")) check_ranges(program.at("range_constraints"));
  if (program.has("guards_code")) check_guards(program.at("guards_code"), module);
}

// Derives a symbol from the size of an input. A size is a multiple of one symbol, to which a number may be added.
void Sizes::solve(const Json& size, const std::string& place) {
  const std::optional<std::int64_t> example = whole(hint_of(size.at("as_expr")));
  const std::string text = expression_of(size), unknown = value_of(text).unknown;
  if (!example || unknown.empty() || depends_on_elements(unknown)) return;
  const auto at = [&](std::int64_t n) {
    const auto find_all = [&](std::string_view name) { return name == unknown ? std::optional(n) : find(name); };
    return whole(evaluate_size(text, find_all).value);
  };
  const std::optional<std::int64_t> zero = at(0), one = at(1);
  const auto is_small = [](std::optional<std::int64_t> x) { return x && *x >= -max_elements && *x <= max_elements; };
  if (!is_small(example) || !is_small(zero) || !is_small(one) || *zero == *one) return;
  const std::int64_t factor = *one - *zero, n = (*example - *zero) / factor;
  if (at(n) != example) return;
  const std::string sum = as_sum(factor, unknown, *zero);
  symbols_.push_back({unknown, sum == unknown ? place : fmt::format("{} is {}", place, sum), n});
}

void Sizes::take(const Symbols& given) {
  for (const auto& [name, size] : given) {
    const auto found = std::ranges::find(symbols_, name, &OpenSize::name);
    if (found == symbols_.end()) {
      std::vector<std::string> names;
      for (const OpenSize& symbol : symbols_) names.push_back(symbol.name);
      throw Error(fmt::format("expected a program with the open size {}, because its size is given, found {}", name,
                              names.empty() ? "one with static sizes (exported without dynamic_shapes)"
                                            : fmt::format("{}", fmt::join(names, ", "))));
    }
    given_ |= found->value != size;
    found->value = size;
  }
}

void Sizes::name_constants(const Json& graph, const Constants& constants) {
  if (!graph.has("sym_int_values")) return;
  const Json numbers = graph.at("sym_int_values");
  for (const auto& [name, value] : constants) {
    if (!numbers.has(name) || !numbers.at(name).has("as_expr")) continue;
    const std::string text = expression_of(numbers.at(name)), symbol = value_of(text).unknown;
    const auto find_value = [&](std::string_view) { return std::optional(value); };
    if (depends_on_elements(symbol) && whole(evaluate_size(text, find_value).value) == value)
      constants_.emplace(symbol, value);
  }
}

void Sizes::check_ranges(const Json& ranges) const {
  ranges.each_member([&](const std::string& expression, const Json& range) {
    const std::optional<std::int64_t> size = whole(value_of(expression).value);
    if (!size) return;
    const auto bound = [&](const char* key) {
      return range.has(key) ? std::optional(range.at(key).integer()) : std::nullopt;
    };
    const std::optional<std::int64_t> low = bound("min_val"), high = bound("max_val");
    if ((low && *size < *low) || (high && *size > *high))
      throw Error(fmt::format("expected {} {}, as the file states, found {}", expression,
                              high ? fmt::format("between {} and {}", low.value_or(0), *high)
                                   : fmt::format("of at least {}", low.value_or(0)),
                              *size));
  });
}

// Checks what the program requires of its sizes. It was traced for the example, and other sizes could need other nodes.
void Sizes::check_guards(const Json& guards, const Json& module) {
  std::map<std::string, std::int64_t, std::less<>> sizes;
  each_input_size(module, [&](const Json& size, const std::string& input, std::optional<std::size_t> dimension) {
    const std::optional<std::int64_t> n = whole(value(size).value);
    if (n) sizes.emplace(dimension ? fmt::format("{}.{}", input, *dimension) : input, *n);
  });
  const auto find_size = [&](std::string_view name) -> std::optional<std::int64_t> {
    constexpr std::string_view size = ".size()[";
    const std::size_t at = name.find(size);
    std::string key = input_name(name.substr(0, at));
    if (at != std::string_view::npos)
      key += "." + std::string(name.substr(at + size.size(), name.size() - at - size.size() - 1));
    const auto found = sizes.find(key);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  guards.each([&](const Json& guard) {
    const std::string text = guard.text();
    const Evaluated found = evaluate_size(text, find_size);
    const bool* holds = found.value ? std::get_if<bool>(&*found.value) : nullptr;
    if (holds == nullptr)
      note_ += fmt::format("{}the program requires {}, which is not checked", note_.empty() ? "" : "; ", text);
    else if (!*holds)
      throw Error(fmt::format("expected sizes for which {}, as the program requires", text));
  });
}

std::optional<std::int64_t> Sizes::find(std::string_view symbol) const {
  if (const auto constant = constants_.find(symbol); constant != constants_.end()) return constant->second;
  const auto found = std::ranges::find(symbols_, symbol, &OpenSize::name);
  return found == symbols_.end() ? std::nullopt : std::optional(found->value);
}

Evaluated Sizes::value_of(std::string_view expression) const {
  return evaluate_size(expression, [this](std::string_view symbol) { return find(symbol); });
}

Evaluated Sizes::value(const Json& number) const {
  if (!number.has("as_expr")) {
    const std::string kind = number.alternative();
    const Json literal = number.at(kind);
    if (kind == "as_float") return {literal.number(), ""};
    if (kind == "as_bool") return {literal.flag(), ""};
    return {literal.integer(), ""};
  }
  Evaluated found = value_of(expression_of(number));
  if (!found.value && !given_ && !depends_on_elements(found.unknown)) found.value = hint_of(number.at("as_expr"));
  return found;
}

std::map<std::string, SizeValue, std::less<>> Sizes::named_values(const Json& graph) const {
  std::map<std::string, SizeValue, std::less<>> values;
  for (const char* kind : {"sym_int_values", "sym_float_values", "sym_bool_values"}) {
    if (!graph.has(kind)) continue;
    graph.at(kind).each_member([&](const std::string& name, const Json& number) {
      const Evaluated found = value(number);
      if (found.value) values.emplace(name, *found.value);
    });
  }
  return values;
}

}  // namespace deplo::ir::torch::pt2
