#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/text/text.h"
#include "ir/tile_program/text/literal.h"
#include "ir/tile_program/text/quoted.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

std::string print_hint(const Hint& hint) {
  return fmt::format("{} = {}", hint.name,
                     hint.is_boolean ? (hint.value != 0 ? "true" : "false") : std::to_string(hint.value));
}

std::string print_bound(const std::optional<std::int64_t>& bound) { return bound ? std::to_string(*bound) : "?"; }

std::string print_predicate(const Predicate& p) {
  switch (p.kind) {
    case Predicate::Kind::div_by:
      return p.every ? fmt::format("div_by<{}, every {} along {}>", p.divisor, *p.every, *p.along)
                     : fmt::format("div_by<{}>", p.divisor);
    case Predicate::Kind::same_elements:
      return fmt::format("same_elements<[{}]>", fmt::join(p.groups, ", "));
    case Predicate::Kind::bounded:
      return fmt::format("bounded<{}, {}>", print_bound(p.low), print_bound(p.high));
  }
  return "";
}

std::string print_scalars(const std::vector<Scalar>& list) {
  std::string text;
  for (const Scalar& s : list)
    text += fmt::format("{}{} : {}", text.empty() ? "" : ", ", text::print_literal(s.bits, s.element),
                        tile_name(s.element));
  return "[" + text + "]";
}

/// Returns `<f32: 0.5>` for a constant with a single element, else for example `<i32: [[1, 2], [3, 4]]>`.
std::string print_dense(const std::vector<std::uint64_t>& bits, const Type& type) {
  const std::string element(tile_name(type.element));
  if (bits.size() == 1) return fmt::format("<{}: {}>", element, text::print_literal(bits[0], type.element));
  const auto literal = [&](std::size_t i) { return text::print_literal(bits.at(i), type.element); };
  return fmt::format("<{}: {}>", element, nested_list(type.shape, literal));
}

/// Prints one entry, with a function for each part of an operation. All functions append to one text.
class Printer {
 public:
  explicit Printer(const Entry& entry) : entry_(entry), names_(entry.values.size()) { choose_names(); }

  std::string run() {
    text_ = fmt::format("  entry @{}({})", entry_.name, typed(entry_.parameters));
    if (!entry_.hints.empty()) text_ += " optimization_hints=" + print(entry_.hints);
    text_ += " {\n";
    print_region(entry_.body, 2);
    return text_ + "  }\n";
  }

 private:
  /// Chooses the names of values. Names from the text come first, and a name that is taken gets underscores. Values
  /// without a name, or with a number as their name, get numbers in order.
  void choose_names() {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::string wanted = entry_.values[i].name;
      if (wanted.empty() || std::isdigit(static_cast<unsigned char>(wanted[0])) != 0) continue;
      while (!taken.insert(wanted).second) wanted += "_";
      names_[i] = "%" + wanted;
    }
    std::size_t next = 0;
    for (std::string& name : names_)
      if (name.empty()) name = fmt::format("%{}", next++);
  }

  const std::string& named(ValueId id) const { return names_.at(id); }
  std::string type(ValueId id) const { return print(*entry_.values.at(id).type); }

  template <class Function>
  static std::string joined(const std::vector<ValueId>& ids, Function text_of) {
    return join(ids, ", ", text_of);
  }
  std::string values(const std::vector<ValueId>& ids) const {
    return joined(ids, [&](ValueId id) { return named(id); });
  }
  std::string types(const std::vector<ValueId>& ids) const {
    return joined(ids, [&](ValueId id) { return type(id); });
  }
  std::string typed(const std::vector<ValueId>& ids) const {
    return joined(ids, [&](ValueId id) { return named(id) + ": " + type(id); });
  }

  void print_region(const Region& region, int level) {
    for (const Operation& op : region.operations) {
      text_.append(2 * static_cast<std::size_t>(level), ' ');
      print_operation(op, level);
      text_ += '\n';
    }
  }

  void print_operation(const Operation& op, int level) {
    if (!op.results.empty()) text_ += values(op.results) + " = ";
    text_ += old_name(op) ? op.form->other_name : op.form->name;
    if (op.form->special == "for") return print_for(op, level);
    if (op.form->special == "loop") return print_loop(op, level);
    if (op.form->special == "if") return print_if(op, level);
    if (op.form->special == "make_tensor_view") return print_tensor_view(op);
    print_items(op, op.form->text, level);
  }

  /// True for a print of 13.1, which returns no token.
  static bool old_name(const Operation& op) { return !op.form->other_name.empty() && op.results.empty(); }

  void print_items(const Operation& op, const std::vector<TextItem>& items, int level) {
    for (const TextItem& item : items) {
      if (item.kind == TextItem::Kind::group) {
        if (is_present(op, item)) print_items(op, item.items, level);
      } else if (item.kind == TextItem::Kind::regions) {
        print_body(op, level);
      } else {
        add(item_text(op, item));
      }
    }
  }

  /// Appends a word, separated by a space unless one of the two is a sign that joins them.
  void add(const std::string& word) {
    if (word.empty()) return;
    const bool joins = word == "," || word == "]" || word == ">" || word == "[" || word == "<" || text_.back() == '[' ||
                       text_.back() == '<';
    if (!joins) text_ += ' ';
    text_ += word;
  }

  /// True if the group has a part that is present and differs from its default.
  static bool is_present(const Operation& op, const TextItem& group) {
    for (const TextItem& item : group.items) {
      switch (item.kind) {
        case TextItem::Kind::attribute:
          return is_given(op, item.index);
        case TextItem::Kind::operand:
          return op.range(item.index).second != 0;
        case TextItem::Kind::type:
        case TextItem::Kind::any_types: {
          const auto operands = static_cast<int>(op.form->operands.size());
          return item.index < operands ? op.range(item.index).second != 0 : !op.results.empty();
        }
        default:
          break;
      }
    }
    // The group is a flag, identified by its name.
    return is_given(op, op.form->find_attribute(group.items.at(0).word));
  }

  static bool is_given(const Operation& op, int attribute) {
    const Attribute& given = op.attributes.at(static_cast<std::size_t>(attribute));
    const auto* number = std::get_if<std::int64_t>(&given);
    if (number == nullptr) return given.index() != 0;
    const AttributeForm& form = op.form->attributes[static_cast<std::size_t>(attribute)];
    return form.kind == AttributeKind::flag ? *number != 0 : !form.otherwise || *number != *form.otherwise;
  }

  std::vector<ValueId> ids(const Operation& op, int index) const {
    const auto operands = static_cast<int>(op.form->operands.size());
    if (index < operands) {
      const auto [first, count] = op.range(index);
      return {op.operands.begin() + static_cast<std::ptrdiff_t>(first),
              op.operands.begin() + static_cast<std::ptrdiff_t>(first + count)};
    }
    const auto at = static_cast<std::size_t>(index - operands);
    if (op.form->results[at].arity == Arity::variadic) return op.results;
    return {op.results.at(at)};
  }

  std::string item_text(const Operation& op, const TextItem& item) const {
    switch (item.kind) {
      case TextItem::Kind::word:
        return std::string(item.word);
      case TextItem::Kind::operand:
        return values(ids(op, item.index));
      case TextItem::Kind::attribute:
        return attribute_text(op, static_cast<std::size_t>(item.index));
      case TextItem::Kind::type:
        return types(ids(op, item.index));
      case TextItem::Kind::one_type:
        return type(ids(op, item.index).at(0));
      case TextItem::Kind::any_types:
        return any_types(ids(op, item.index));
      default:
        return "";
    }
  }

  /// Returns one type if all are equal, else the list of types.
  std::string any_types(const std::vector<ValueId>& list) const {
    const bool equal = std::all_of(list.begin(), list.end(), [&](ValueId id) { return type(id) == type(list[0]); });
    return equal ? type(list.at(0)) : types(list);
  }

  std::string attribute_text(const Operation& op, std::size_t at) const {
    const AttributeForm& form = op.form->attributes[at];
    const Attribute& a = op.attributes[at];
    const auto number = [&] {
      return std::holds_alternative<std::int64_t>(a) ? std::get<std::int64_t>(a) : form.otherwise.value_or(0);
    };
    switch (form.kind) {
      case AttributeKind::flag:
        return std::string(form.name);
      case AttributeKind::integer:
        return std::to_string(number());
      case AttributeKind::boolean:
        return number() != 0 ? "true" : "false";
      case AttributeKind::string:
        return text::quoted(std::get<std::string>(a));
      case AttributeKind::symbol:
        return "@" + std::get<std::string>(a);
      case AttributeKind::integers:
        return fmt::format("[{}]", fmt::join(std::get<std::vector<std::int64_t>>(a), ", "));
      case AttributeKind::booleans: {
        std::vector<std::string_view> words;
        for (const std::int64_t b : std::get<std::vector<std::int64_t>>(a)) words.push_back(b != 0 ? "true" : "false");
        return fmt::format("[{}]", fmt::join(words, ", "));
      }
      case AttributeKind::dense:
        return print_dense(*std::get<Dense>(a), *entry_.values.at(op.results.at(0)).type);
      case AttributeKind::predicate:
        return print_predicate(std::get<Predicate>(a));
      case AttributeKind::scalars:
        return print_scalars(std::get<std::vector<Scalar>>(a));
      case AttributeKind::hints:
        return print(std::get<Hints>(a));
      case AttributeKind::enumeration:
        return std::string(form.words->words.at(static_cast<std::size_t>(number())));
    }
    return "";
  }

  // --- Operations with a special text --------------------------------------------------------------------------------

  void print_braces(const Region& region, int level) {
    text_ += " {\n";
    print_region(region, level + 1);
    text_.append(2 * static_cast<std::size_t>(level), ' ');
    text_ += '}';
  }

  /// Prints the region of a reduce or scan, with its arguments before the braces.
  void print_body(const Operation& op, int level) {
    text_ += '\n';
    text_.append(2 * static_cast<std::size_t>(level), ' ');
    text_ += "(" + typed(op.regions[0].arguments) + ")";
    print_braces(op.regions[0], level);
  }

  std::string carried(const Operation& op, std::size_t first_argument) const {
    const auto init = op.operand_list("init");
    std::string text;
    for (std::size_t i = 0; i < init.size(); ++i)
      text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", named(op.regions[0].arguments.at(first_argument + i)),
                          named(init[i]));
    return text;
  }

  void print_for(const Operation& op, int level) {
    text_ += fmt::format("{} {} in ({} to {}, step {}) : {}", op.number("unsigned") != 0 ? " unsigned" : "",
                         named(op.regions[0].arguments.at(0)), named(op.operand("lower")), named(op.operand("upper")),
                         named(op.operand("step")), type(op.operand("lower")));
    if (!op.results.empty()) text_ += fmt::format(" iter_values({}) -> ({})", carried(op, 1), types(op.results));
    print_braces(op.regions[0], level);
  }

  void print_loop(const Operation& op, int level) {
    const auto init = op.operand_list("init");
    if (!init.empty()) text_ += fmt::format(" iter_values({}) : {}", carried(op, 0), types(init));
    if (!op.results.empty()) text_ += (init.empty() ? " : " : " -> ") + types(op.results);
    print_braces(op.regions[0], level);
  }

  void print_if(const Operation& op, int level) {
    text_ += " " + named(op.operand("condition"));
    if (!op.results.empty()) text_ += " -> (" + types(op.results) + ")";
    print_braces(op.regions[0], level);
    if (op.regions[1].operations.empty()) return;
    text_ += " else";
    print_braces(op.regions[1], level);
  }

  std::string extents(const Extents& all, const std::vector<ValueId>& values_of_dynamic) const {
    std::string text;
    std::size_t next = 0;
    for (const std::int64_t e : all)
      text += (text.empty() ? "" : ", ") + (e == dynamic ? named(values_of_dynamic.at(next++)) : std::to_string(e));
    return "[" + text + "]";
  }

  void print_tensor_view(const Operation& op) {
    const Type& view = *entry_.values.at(op.results.at(0)).type;
    const auto shape = op.operand_list("shape"), strides = op.operand_list("strides");
    text_ += fmt::format(" {}, shape = {}, strides = {} : ", named(op.operand("base")), extents(view.shape, shape),
                         extents(view.strides, strides));
    if (!shape.empty() || !strides.empty()) text_ += type(shape.empty() ? strides[0] : shape[0]) + " -> ";
    text_ += print(view);
  }

  const Entry& entry_;
  std::vector<std::string> names_;
  std::string text_;
};

std::string print_global(const Global& g) {
  return fmt::format("  global {}{}@{}{} {} : {}\n", g.is_private ? "private " : "", g.constant ? "constant " : "",
                     g.name, g.alignment != 0 ? fmt::format(" alignment = {}", g.alignment) : "",
                     print_dense(*g.value, *g.type), print(*g.type));
}

}  // namespace

std::string print(const Hints& hints) {
  std::string text;
  for (const TargetHints& target : hints) {
    const std::string list = join(target.hints, ", ", print_hint);
    text += fmt::format("{}{} = {{{}}}", text.empty() ? "" : ", ", target.target, list);
  }
  return "<" + text + ">";
}

std::string print(const Program& program) {
  std::string text = fmt::format("cuda_tile.module @{}", program.name);
  if (!program.producer.empty()) text += fmt::format(" attributes {{producer = {}}}", text::quoted(program.producer));
  text += " {\n";
  for (const Global& global : program.globals) text += print_global(global);
  for (const Entry& entry : program.entries) text += Printer(entry).run();
  return text + "}\n";
}

}  // namespace deplo::ir::tile_program
