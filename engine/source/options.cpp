#include "engine/source/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/text/number.h"
#include "engine/source/experiment.h"

namespace deplo::engine {
namespace {

bool read_switch(std::string_view text, std::string_view place) {
  if (text == "true" || text == "false") return text == "true";
  throw Error(fmt::format("{}: expected true or false, found '{}'", place, text));
}

std::string_view switch_text(bool is) { return is ? "true" : "false"; }

Value parse_word(std::string_view text, std::string_view place, std::string_view one, std::string_view other) {
  if (text == "auto" || text == one || text == other) return std::string(text);
  throw Error(fmt::format("{}: expected auto, {} or {}, found '{}'", place, one, other, text));
}

Value parse_key_parts(std::string_view text, std::string_view place) {
  if (text == "auto") return std::string(text);
  const auto parts = parse_number<std::int64_t>(text);
  if (parts && *parts >= 1 && *parts <= max_extent) return *parts;
  throw Error(fmt::format("{}: expected auto or a number between 1 and {}, found '{}'", place, max_extent, text));
}

/// Returns the value that was set for a decision, even if it is "auto"; nullptr if none was set.
const Value* find_set(const SourceOptions& options, std::string_view kind) {
  const auto found = std::ranges::find(options.fixed, kind, &Choice::knob);
  return found == options.fixed.end() ? nullptr : &found->value;
}

void fix(SourceOptions& options, std::string_view kind, Value value) {
  std::erase_if(options.fixed, [&](const Choice& choice) { return choice.knob == kind; });
  options.fixed.push_back({std::string(kind), std::move(value)});
}

std::optional<std::string> print_fixed(const SourceOptions& options, std::string_view kind) {
  const Value* const value = find_set(options, kind);
  return value == nullptr ? std::nullopt : std::optional(deplo::print(*value));
}

template <class T, class Print>
std::optional<std::string> printed(const std::optional<T>& value, const Print& print) {
  return value ? std::optional(std::string(print(*value))) : std::nullopt;
}

bool is_graph(SourceKind kind) { return kind < SourceKind::kernel; }
bool names_types(SourceKind kind) { return kind >= SourceKind::tile; }

constexpr std::array<SourceOption, 5> options = {{
    {.name = "dtype",
     .words = "f32|f16|bf16",
     .help = "Use f16 or bf16 for floats if the source names no type [f32; for a model, what its file says].",
     .seldom = false,
     .taken_by = [](SourceKind kind) { return kind != SourceKind::pt2 && !names_types(kind); },
     .refusal = "which names its own types",
     .read = [](std::string_view text, std::string_view place,
                SourceOptions& to) { to.dtype = parse_float_type(text, place); },
     .print = [](const SourceOptions& of) { return printed(of.dtype, [](ir::DType d) { return ir::name(d); }); }},
    {.name = "allow_tf32",
     .words = "",
     .help = "Allow tensor cores to round the f32 factors of matrix products to tf32, which has 11 bits of precision.",
     .seldom = true,
     .taken_by = [](SourceKind kind) { return !names_types(kind); },
     .refusal = "which names its own types",
     .read = [](std::string_view text, std::string_view place,
                SourceOptions& to) { to.allow_tf32 = read_switch(text, place); },
     .print = [](const SourceOptions& of) { return printed(of.allow_tf32, switch_text); }},
    {.name = "attention",
     .words = "auto|fused|split",
     .help = "Compute attention in one kernel wherever that is correct (fused), or never (split). auto: as tuning "
             "chose; if untuned, in one kernel if that is expected to be faster [auto].",
     .seldom = true,
     .taken_by = is_graph,
     .refusal = "which is not a graph",
     .read = [](std::string_view text, std::string_view place,
                SourceOptions& to) { fix(to, "attention", parse_word(text, place, "fused", "split")); },
     .print = [](const SourceOptions& of) { return print_fixed(of, "attention"); }},
    {.name = "key_parts",
     .words = "auto|N",
     .help = "Split the keys of attention in one kernel into N parts, and combine the parts in a second kernel. auto: "
             "as tuning chose; if untuned, into enough parts to keep the target busy [auto].",
     .seldom = true,
     .taken_by = is_graph,
     .refusal = "which is not a graph",
     .read = [](std::string_view text, std::string_view place,
                SourceOptions& to) { fix(to, "key_parts", parse_key_parts(text, place)); },
     .print = [](const SourceOptions& of) { return print_fixed(of, "key_parts"); }},
    {.name = "form",
     .words = "auto|elements|blocks",
     .help =
         "Compile a tile program to kernels of Loop IR that compute element by element (elements), or to one kernel "
         "that runs it block by block (blocks). auto: as tuning chose; if untuned, elements unless they repeat "
         "work [auto].",
     .seldom = true,
     .taken_by = [](SourceKind kind) { return kind == SourceKind::tile; },
     .refusal = "which is not a tile program",
     .read = [](std::string_view text, std::string_view place,
                SourceOptions& to) { fix(to, "form", parse_word(text, place, "elements", "blocks")); },
     .print = [](const SourceOptions& of) { return print_fixed(of, "form"); }},
}};

}  // namespace

std::string_view name(SourceKind kind) {
  constexpr std::array<std::string_view, 7> names = {"expression", "file", "pt2", "model", "kernel", "tile", "space"};
  return names.at(static_cast<std::size_t>(kind));
}

std::span<const SourceOption> source_options() { return options; }

std::string SourceOption::flag() const {
  std::string flag = "--" + std::string(name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

SourceOptions joined(const SourceOptions& first, const SourceOptions& second) {
  SourceOptions result = second;
  for (const SourceOption& option : options)
    if (const auto text = option.print(first)) option.read(*text, option.name, result);
  return result;
}

SourceOptions taken(const SourceOptions& given, SourceKind kind) {
  SourceOptions result;
  for (const SourceOption& option : options)
    if (const auto text = option.print(given); text && option.taken_by(kind)) option.read(*text, option.name, result);
  return result;
}

const SourceOption* find_refused(const SourceOptions& given, SourceKind kind) {
  for (const SourceOption& option : options)
    if (option.print(given) && !option.taken_by(kind)) return &option;
  return nullptr;
}

const Value* find_fixed(const SourceOptions& options, std::string_view kind) {
  const Value* const value = find_set(options, kind);
  return value == nullptr || *value == Value{"auto"} ? nullptr : value;
}

std::string_view contradiction(const SourceOptions& given) {
  const Value* const parts = find_fixed(given, "key_parts");
  const bool split =
      print_fixed(given, "attention") == "split" && parts != nullptr && std::holds_alternative<std::int64_t>(*parts);
  return split ? "a number of parts cannot be combined with a split attention" : "";
}

ir::DType parse_float_type(std::string_view name, std::string_view place) {
  const std::optional<ir::DType> dtype = ir::parse_dtype(name);
  if (!dtype || !ir::is_float(*dtype))
    throw Error(fmt::format("{}: expected a floating-point type (f32, f16 or bf16), found '{}'", place, name));
  return *dtype;
}

}  // namespace deplo::engine
