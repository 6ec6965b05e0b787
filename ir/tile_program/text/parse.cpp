#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/mapped.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "ir/tile_program/text/generic.h"
#include "ir/tile_program/text/locations.h"
#include "ir/tile_program/text/quoted.h"
#include "ir/tile_program/text/read_type.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace text {
namespace {

constexpr int deepest_region = 64;  // limit, so that no text can exhaust the stack

/// Reads one entry by recursive descent, with a function for each production of the grammar. The functions share the
/// position in the text and the names.
class EntryParser {
 public:
  EntryParser(Lexer& from, Locations& locations, Entry& entry) : from_(from), locations_(locations), entry_(entry) {}

  void run() {
    entry_.location = from_.location();
    entry_.name = from_.expect(Token::Kind::symbol, "the name of an entry, with @").text;
    entry_.parameters = read_arguments();
    if (from_.take_if("optimization_hints")) {
      from_.expect("=");
      entry_.hints = read_hints(from_);
    }
    read_braces(entry_.body, "return", 0);
    locations_.read();
  }

  /// Reads `"cuda_tile.entry"() <{sym_name = "NAME"}> ({ ^bb0(%a: tile<f32>): … }) : () -> ()` from after its name on.
  void run_generic(const Location& at) {
    entry_.location = at;
    from_.expect({"(", ")"});
    const auto read = [&](const Token& name) {
      if (name.text == "sym_name")
        entry_.name = unquoted(from_.expect(Token::Kind::string, "the name of an entry in quotes").text);
      else if (name.text == "optimization_hints" && from_.take_if("optimization_hints"))
        entry_.hints = read_hints(from_);
      else
        return false;
      return true;
    };
    read_properties(read);
    from_.expect("(");
    read_block(entry_.body, 0);
    from_.expect(")");
    entry_.parameters = std::exchange(entry_.body.arguments, {});
    if (from_.at("{")) read_dictionary(from_, read);
    if (entry_.name.empty()) from_.fail("the name of an entry, sym_name, before its end");
    from_.expect(":");
    read_function_type();
    locations_.read();
  }

 private:
  /// A value that a name stands for, and the line that defines it.
  struct Definition {
    ValueId id = 0;
    std::uint32_t line = 0;
  };

  /// An operation whose text is being read.
  struct Reading {
    Operation op;
    Token at;                                    // the operation's name
    std::vector<std::pair<Token, int>> names;    // names before `=`, each with the number of results that it names
    std::vector<std::vector<ValueId>> operands;  // values of each operand of the form
    std::vector<TypePtr> result_types;           // the types that the text gives so far
    std::optional<DenseText> dense;
    int named_results() const {
      int count = 0;
      for (const auto& [name, results] : names) count += results;
      return count;
    }
  };

  ValueId add_value(TypePtr type, std::string name) {
    std::replace(name.begin(), name.end(), '#', '_');
    entry_.values.push_back({std::move(type), std::move(name)});
    return static_cast<ValueId>(entry_.values.size() - 1);
  }

  /// Defines the value `name`, which the text writes at `token`. As in MLIR, a region may not define a name of a region
  /// around it again: the two would be easy to confuse.
  ValueId define(TypePtr type, const Token& token, const std::string& name) {
    const ValueId id = add_value(std::move(type), name);
    const auto [at, is_new] = names_.try_emplace(name, Definition{id, token.line});
    if (!is_new)
      from_.fail_with(token,
                      fmt::format("expected a new name, found %{}, which line {} defines", name, at->second.line));
    defined_.push_back(name);
    return id;
  }
  ValueId define(TypePtr type, const Token& token) { return define(std::move(type), token, std::string(token.text)); }

  /// Removes the names defined in a region that ends.
  void forget(std::size_t until) {
    for (; defined_.size() > until; defined_.pop_back()) names_.erase(defined_.back());
  }

  ValueId use(const Token& token) const {
    const auto at = names_.find(std::string(token.text));
    if (at != names_.end()) return at->second.id;
    std::vector<std::string> known;
    for (const auto& [name, definition] : names_) known.push_back(name);
    from_.fail_with(token, fmt::format("expected a value that is defined before, found %{}{}", token.text,
                                       did_you_mean(token.text, known)));
  }
  ValueId read_value() { return use(from_.expect(Token::Kind::value, "a value")); }

  std::vector<ValueId> read_values() {
    std::vector<ValueId> list;
    if (!from_.at(Token::Kind::value)) return list;
    do list.push_back(read_value());
    while (from_.take_if(","));
    return list;
  }

  std::vector<TypePtr> read_types() {
    std::vector<TypePtr> list;
    do list.push_back(read_type(from_));
    while (from_.take_if(","));
    return list;
  }

  std::vector<ValueId> read_arguments() {
    std::vector<ValueId> list;
    from_.expect("(");
    from_.items(")", [&] {
      const Token name = from_.expect(Token::Kind::value, "an argument");
      from_.expect(":");
      list.push_back(define(read_type(from_), name));
      locations_.read();
    });
    return list;
  }

  /// Reads `{ … }`. Adds the terminator `end` if the text omits it.
  void read_braces(Region& region, std::string_view end, int depth) {
    if (depth >= deepest_region) from_.fail(fmt::format("at most {} nested regions", deepest_region));
    const std::size_t outside = defined_.size();
    from_.expect("{");
    while (!from_.at("}")) {
      if (from_.at(Token::Kind::end)) from_.fail("'}'");
      region.operations.push_back(read_operation(depth + 1));
    }
    if (region.operations.empty() || !region.operations.back().form->terminator) {
      Operation op;
      op.form = find_operation(end);
      op.counts = {0};
      op.location = from_.location();
      region.operations.push_back(std::move(op));
    }
    from_.expect("}");
    forget(outside);
  }

  Operation read_operation(int depth) {
    Reading now;
    now.op.location = from_.location();
    if (from_.at(Token::Kind::value)) read_names(now);
    const bool generic = from_.at(Token::Kind::string);
    now.at = generic ? from_.take() : from_.expect(Token::Kind::name, "an operation");
    now.op.form = find_operation(now.at.text);
    if (now.op.form == nullptr) {
      const std::vector<std::string> known = mapped<std::string>(operations(), &Form::name);
      from_.fail_with(
          now.at, fmt::format("expected an operation, found '{}'{}", now.at.text, did_you_mean(now.at.text, known)));
    }
    const Form& form = *now.op.form;
    if (!form.refused.empty())
      from_.fail_with(now.at,
                      fmt::format("expected an operation of an entry, found {}, which {}", form.name, form.refused));
    now.op.attributes.resize(form.attributes.size());
    now.operands.resize(form.operands.size());
    if (generic)
      read_generic(now, depth);
    else if (form.special == "for")
      read_for(now, depth);
    else if (form.special == "loop")
      read_loop(now, depth);
    else if (form.special == "if")
      read_if(now, depth);
    else if (form.special == "make_tensor_view")
      read_tensor_view(now);
    else
      read_items(now, form.text, depth);
    locations_.read();
    return finish(now);
  }

  void read_names(Reading& now) {
    do {
      const Token name = from_.expect(Token::Kind::value, "the name of a result");
      std::int64_t count = 1;
      if (from_.take_if(":")) count = from_.integer("how many results");
      if (count < 1 || count > 1024) from_.fail_at(name, "1 to 1024 results of a name");
      now.names.emplace_back(name, static_cast<int>(count));
    } while (from_.take_if(","));
    from_.expect("=");
  }

  // --- Operations with a text from the table -------------------------------------------------------------------------

  void read_items(Reading& now, const std::vector<TextItem>& items, int depth) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind != TextItem::Kind::group) {
        read_item(now, items[i], depth);
        continue;
      }
      std::size_t end = i;  // adjacent groups may come in any order
      while (end < items.size() && items[end].kind == TextItem::Kind::group) ++end;
      read_groups(now,
                  {items.begin() + static_cast<std::ptrdiff_t>(i), items.begin() + static_cast<std::ptrdiff_t>(end)},
                  depth);
      i = end - 1;
    }
  }

  void read_groups(Reading& now, std::vector<TextItem> groups, int depth) {
    for (std::size_t i = 0; i < groups.size();) {
      if (!begins(now, groups[i])) {
        ++i;
        continue;
      }
      read_items(now, groups[i].items, depth);
      const int flag = groups[i].items[0].kind == TextItem::Kind::word ? flag_of(now, groups[i].items[0].word) : -1;
      if (flag >= 0) now.op.attributes[static_cast<std::size_t>(flag)] = std::int64_t{1};
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
      i = 0;
    }
  }

  static int flag_of(const Reading& now, std::string_view word) {
    const auto& attributes = now.op.form->attributes;
    for (std::size_t i = 0; i < attributes.size(); ++i)
      if (attributes[i].name == word && attributes[i].kind == AttributeKind::flag) return static_cast<int>(i);
    return -1;
  }

  /// True if the group comes next. A group with the types of operands is present if these operands are; any other group
  /// is recognised by its first token.
  bool begins(const Reading& now, const TextItem& group) const {
    for (const TextItem& item : group.items) {
      if (item.kind == TextItem::Kind::operand) break;
      if ((item.kind == TextItem::Kind::type || item.kind == TextItem::Kind::any_types) &&
          static_cast<std::size_t>(item.index) < now.operands.size())
        return !now.operands[static_cast<std::size_t>(item.index)].empty();
    }
    const TextItem& first = group.items.at(0);
    if (first.kind == TextItem::Kind::operand) return from_.at(Token::Kind::value);
    if (first.kind == TextItem::Kind::word) return from_.at(first.word);
    const auto& words = now.op.form->attributes[static_cast<std::size_t>(first.index)].words->words;
    return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return from_.at(w); });
  }

  void read_item(Reading& now, const TextItem& item, int depth) {
    switch (item.kind) {
      case TextItem::Kind::word:
        from_.expect(item.word);
        break;
      case TextItem::Kind::operand:
        read_operand(now, static_cast<std::size_t>(item.index));
        break;
      case TextItem::Kind::attribute:
        read_one_attribute(now, static_cast<std::size_t>(item.index));
        break;
      case TextItem::Kind::type:
      case TextItem::Kind::one_type:
      case TextItem::Kind::any_types:
        read_value_types(now, item);
        break;
      case TextItem::Kind::regions: {
        Region region;
        const std::size_t outside = defined_.size();
        region.arguments = read_arguments();
        read_braces(region, "yield", depth);
        forget(outside);
        now.op.regions.push_back(std::move(region));
        break;
      }
      case TextItem::Kind::group:
        break;
    }
  }

  void read_operand(Reading& now, std::size_t at) {
    if (now.op.form->terminator) expect_no_definition(now);
    if (now.op.form->operands[at].arity == Arity::variadic)
      now.operands[at] = read_values();
    else
      now.operands[at] = {read_value()};
  }

  /// Fails if the text defines a value after a `return` or another end of a region. Otherwise the name would look like
  /// an operand of the end.
  void expect_no_definition(const Reading& now) const {
    Lexer ahead = from_;
    ahead.take();
    if (ahead.at("=")) from_.fail(fmt::format("'}}' after {}, which ends its region", now.op.form->name));
  }

  void read_one_attribute(Reading& now, std::size_t at) {
    const AttributeForm& form = now.op.form->attributes[at];
    if (form.kind == AttributeKind::dense)
      now.dense = read_dense(from_);
    else
      now.op.attributes[at] = text::read_attribute(from_, form);
  }

  void read_value_types(Reading& now, const TextItem& item) {
    const auto at = static_cast<std::size_t>(item.index);
    if (at < now.operands.size()) return read_operand_types(now, item, now.operands[at]);
    const ValueForm& result = now.op.form->results[at - now.operands.size()];
    if (item.kind == TextItem::Kind::one_type) {
      const TypePtr type = read_type(from_);
      now.result_types.assign(result_count(now), type);
    } else if (result.arity == Arity::variadic) {
      now.result_types = read_types();
    } else {
      now.result_types.push_back(read_type(from_));
    }
  }

  /// Returns the number of results that share one type: the number of their names, or else of the view's dimensions.
  std::size_t result_count(const Reading& now) const {
    if (!now.names.empty()) return static_cast<std::size_t>(now.named_results());
    const Type& view = *entry_.values[now.operands.at(0).at(0)].type;
    return view.is_tile_view() ? view.tile.size() : view.shape.size();
  }

  void read_operand_types(const Reading& now, const TextItem& item, const std::vector<ValueId>& values) {
    std::size_t given = 0;
    for (;;) {
      const Token token = from_.peek();
      const TypePtr type = read_type(from_);
      for (std::size_t i = given; i < values.size(); ++i) {
        const Value& value = entry_.values[values[i]];
        if (*value.type != *type)
          from_.fail_with(token, fmt::format("{}: expected the type of {}, {}, found {}", now.at.text,
                                             value.name.empty() ? "its operand" : "%" + value.name, print(*value.type),
                                             print(*type)));
        if (item.kind != TextItem::Kind::any_types || from_.at(",")) break;
      }
      ++given;
      if (given == values.size() || !from_.at(",")) break;
      from_.expect(",");
    }
    if (given != values.size() && !(item.kind == TextItem::Kind::any_types && given == 1))
      from_.fail(fmt::format("a type for each of {} operands", values.size()));
  }

  // --- The generic form of MLIR --------------------------------------------------------------------------------------

  /// Reads `<{NAME = VALUE, …}>` if it comes next.
  template <class Read>
  void read_properties(const Read& read) {
    if (!from_.take_if("<")) return;
    read_dictionary(from_, read);
    from_.expect(">");
  }

  /// Reads `{ ^bb0(%a: tile<f32>): … }`.
  void read_block(Region& region, int depth) {
    if (depth >= deepest_region) from_.fail(fmt::format("at most {} nested regions", deepest_region));
    const std::size_t outside = defined_.size();
    from_.expect("{");
    if (from_.take_if("^")) {
      from_.expect(Token::Kind::name, "the name of a block");
      if (from_.at("(")) region.arguments = read_arguments();
      from_.expect(":");
    }
    while (!from_.take_if("}")) {
      if (from_.at(Token::Kind::end)) from_.fail("'}'");
      if (from_.at("^")) from_.fail("a region of one block");
      region.operations.push_back(read_operation(depth + 1));
    }
    forget(outside);
  }

  std::vector<TypePtr> read_type_list() {
    std::vector<TypePtr> list;
    from_.expect("(");
    if (!from_.at(")")) list = read_types();
    from_.expect(")");
    return list;
  }

  /// Reads the types of operands and results: `(TYPE, …) -> TYPE` or `(TYPE, …) -> (TYPE, …)`.
  std::pair<std::vector<TypePtr>, std::vector<TypePtr>> read_function_type() {
    std::pair<std::vector<TypePtr>, std::vector<TypePtr>> types;
    types.first = read_type_list();
    from_.expect("->");
    types.second = from_.at("(") ? read_type_list() : std::vector{read_type(from_)};
    return types;
  }

  /// Reads `"cuda_tile.addf"(%a, %b) <{…}> ({ … }) {…} : (TYPE, TYPE) -> TYPE` from after its name on.
  void read_generic(Reading& now, int depth) {
    from_.expect("(");
    const std::vector<ValueId> values = read_values();
    from_.expect(")");
    std::optional<std::vector<std::int64_t>> segments;
    const auto read = [&](const Token& name) {
      if (name.text == "operandSegmentSizes" || name.text == "operand_segment_sizes") {
        segments = read_array(from_);
        return true;
      }
      return read_generic_attribute_of(now, name);
    };
    read_properties(read);
    if (from_.take_if("(")) {
      do read_block(now.op.regions.emplace_back(), depth);
      while (from_.take_if(","));
      from_.expect(")");
    }
    if (static_cast<int>(now.op.regions.size()) != now.op.form->regions)
      from_.fail_with(now.at, fmt::format("{}: expected {} regions, found {}", now.op.form->name, now.op.form->regions,
                                          now.op.regions.size()));
    if (from_.at("{")) read_dictionary(from_, read);
    share_operands(now, values, segments);
    from_.expect(":");
    const Token types_at = from_.peek();
    auto [operand_types, result_types] = read_function_type();
    bool fits = operand_types.size() == values.size();
    for (std::size_t i = 0; fits && i < values.size(); ++i) fits = *operand_types[i] == *entry_.values[values[i]].type;
    if (!fits) {
      const std::string found = join(values, ", ", [&](ValueId id) { return print(*entry_.values[id].type); });
      from_.fail_with(types_at, fmt::format("{}: expected the types of its operands, ({})", now.op.form->name, found));
    }
    now.result_types = std::move(result_types);
  }

  bool read_generic_attribute_of(Reading& now, const Token& name) {
    const auto& forms = now.op.form->attributes;
    const auto at = std::find_if(forms.begin(), forms.end(), [&](const auto& a) { return a.name == name.text; });
    if (at == forms.end()) {
      // An attribute of another dialect, which has no meaning here.
      if (name.text.find('.') != std::string_view::npos) return false;
      const std::vector<std::string> known = mapped<std::string>(forms, &AttributeForm::name);
      from_.fail_with(name, fmt::format("{}: expected one of its attributes, found '{}'{}", now.op.form->name,
                                        name.text, did_you_mean(name.text, known)));
    }
    if (at->kind == AttributeKind::dense)
      now.dense = read_generic_dense(from_);
    else
      now.op.attributes[static_cast<std::size_t>(at - forms.begin())] = text::read_generic_attribute(from_, *at);
    return true;
  }

  /// Assigns each value to an operand of the form.
  void share_operands(Reading& now, const std::vector<ValueId>& values,
                      const std::optional<std::vector<std::int64_t>>& segments) const {
    const Form& form = *now.op.form;
    if (form.has_segments() && !segments)
      from_.fail_with(now.at, fmt::format("{}: expected operandSegmentSizes, found none", form.name));
    std::vector<std::int64_t> counts(form.operands.size(), 1);
    const auto variadic_operand = std::find_if(form.operands.begin(), form.operands.end(),
                                               [](const ValueForm& v) { return v.arity == Arity::variadic; });
    if (segments)
      counts = *segments;
    else if (variadic_operand != form.operands.end())
      counts[static_cast<std::size_t>(variadic_operand - form.operands.begin())] =
          static_cast<std::int64_t>(values.size()) - static_cast<std::int64_t>(form.operands.size()) + 1;
    std::size_t next = 0;
    bool fits = counts.size() == form.operands.size();
    for (std::size_t i = 0; fits && i < counts.size(); ++i) {
      const Arity arity = form.operands[i].arity;
      fits = counts[i] >= (arity == Arity::one ? 1 : 0) && (counts[i] <= 1 || arity == Arity::variadic) &&
             static_cast<std::size_t>(counts[i]) <= values.size() - next;
      for (std::int64_t k = 0; fits && k < counts[i]; ++k) now.operands[i].push_back(values[next++]);
    }
    if (!fits || next != values.size()) {
      std::string names;
      for (const ValueForm& v : form.operands)
        names += fmt::format("{}{}{}", names.empty() ? "" : ", ", v.name,
                             v.arity == Arity::optional   ? "?"
                             : v.arity == Arity::variadic ? "*"
                                                          : "");
      from_.fail_with(now.at,
                      fmt::format("{}: expected operands ({}), found {} of them", form.name, names, values.size()));
    }
  }

  // --- Operations with a special text --------------------------------------------------------------------------------

  std::vector<ValueId>& operand(Reading& now, std::string_view name) {
    return now.operands[static_cast<std::size_t>(now.op.form->find_operand(name))];
  }

  /// Reads `iter_values(%a = %b, …)`: returns the names, and appends the initial values to the operand `init`.
  std::vector<Token> read_carried(Reading& now) {
    std::vector<Token> names;
    if (!from_.take_if("iter_values")) return names;
    from_.expect("(");
    from_.items(")", [&] {
      names.push_back(from_.expect(Token::Kind::value, "a carried value"));
      from_.expect("=");
      operand(now, "init").push_back(read_value());
    });
    return names;
  }

  void define_carried(Region& region, const std::vector<Token>& names, const std::vector<TypePtr>& types) {
    if (types.size() != names.size()) from_.fail(fmt::format("a type for each of {} carried values", names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) region.arguments.push_back(define(types[i], names[i]));
  }

  /// Reads `-> T` or `-> (T, …)` if it comes next.
  void read_results(Reading& now) {
    if (!from_.take_if("->")) return;
    const bool parentheses = from_.take_if("(");
    now.result_types = read_types();
    if (parentheses) from_.expect(")");
  }

  void read_for(Reading& now, int depth) {
    if (from_.take_if("unsigned")) now.op.attributes[0] = std::int64_t{1};
    const Token variable = from_.expect(Token::Kind::value, "the variable of a for");
    from_.expect({"in", "("});
    operand(now, "lower") = {read_value()};
    from_.expect("to");
    operand(now, "upper") = {read_value()};
    from_.expect({",", "step"});
    operand(now, "step") = {read_value()};
    from_.expect({")", ":"});
    const TypePtr type = read_type(from_);
    const std::vector<Token> carried = read_carried(now);
    read_results(now);
    Region region;
    const std::size_t outside = defined_.size();
    region.arguments.push_back(define(type, variable));
    define_carried(region, carried, now.result_types);
    read_braces(region, "continue", depth);
    forget(outside);
    now.op.regions.push_back(std::move(region));
  }

  /// Without carried values, the types after `:` are those of the results. With carried values, they are the types of
  /// these values, and the results' types follow after `->`.
  void read_loop(Reading& now, int depth) {
    const std::vector<Token> carried = read_carried(now);
    std::vector<TypePtr> types;
    if (from_.take_if(":")) types = read_types();
    if (carried.empty()) now.result_types = types;
    read_results(now);
    Region region;
    const std::size_t outside = defined_.size();
    define_carried(region, carried, carried.empty() ? std::vector<TypePtr>() : types);
    read_braces(region, "continue", depth);
    forget(outside);
    now.op.regions.push_back(std::move(region));
  }

  void read_if(Reading& now, int depth) {
    operand(now, "condition") = {read_value()};
    read_results(now);
    now.op.regions.resize(2);
    read_braces(now.op.regions[0], "yield", depth);
    if (from_.take_if("else")) read_braces(now.op.regions[1], "yield", depth);
  }

  /// Reads `[%m, 64]`: numbers, or values for the extents that are `?` in the type.
  std::pair<Extents, std::vector<ValueId>> read_extents(std::string_view name) {
    std::pair<Extents, std::vector<ValueId>> list;
    from_.expect({name, "=", "["});
    from_.items("]", [&] {
      if (from_.at(Token::Kind::value)) {
        list.first.push_back(dynamic);
        list.second.push_back(read_value());
      } else {
        list.first.push_back(from_.integer("a number or a value"));
      }
    });
    return list;
  }

  void read_tensor_view(Reading& now) {
    operand(now, "base") = {read_value()};
    from_.expect(",");
    const auto [shape, shape_values] = read_extents("shape");
    from_.expect(",");
    const auto [strides, stride_values] = read_extents("strides");
    operand(now, "shape") = shape_values;
    operand(now, "strides") = stride_values;
    from_.expect(":");
    const Token at = from_.peek();
    TypePtr type = read_type(from_);
    if (!shape_values.empty() || !stride_values.empty() || from_.at("->")) {
      for (const auto& list : {shape_values, stride_values})
        for (const ValueId id : list)
          if (*entry_.values[id].type != *type)
            from_.fail_with(at, fmt::format("{}: expected the type of its extents, {}, found {}", now.at.text,
                                            print(*entry_.values[id].type), print(*type)));
      from_.expect("->");
      type = read_type(from_);
    }
    for (const auto& [given, wanted, what] :
         {std::tuple(&shape, &type->shape, "shape"), std::tuple(&strides, &type->strides, "strides")})
      if (*given != *wanted)
        from_.fail_with(now.at, fmt::format("{}: expected the {} of its type, {}, found {}", now.at.text, what,
                                            print(*wanted), print(*given)));
    now.result_types = {type};
  }

  // --- The end of an operation ---------------------------------------------------------------------------------------

  /// Returns the type of a result that the text omits because the form implies it, or nullptr if the form does not.
  TypePtr implied(const Reading& now, const ValueForm& result, const std::vector<TypePtr>& known) const {
    if (result.types == Class::token) return token_type();
    const int of = result.same_as >= 0 ? result.same_as : result.shape_of;
    if (of < 0) return nullptr;
    const auto at = static_cast<std::size_t>(of);
    TypePtr type = at < now.operands.size()                  ? entry_.values[now.operands[at].at(0)].type
                   : at - now.operands.size() < known.size() ? known[at - now.operands.size()]
                                                             : nullptr;
    if (type == nullptr || result.same_as >= 0) return type;
    return result.types == Class::element ? with_element(*type, result.element) : nullptr;
  }

  /// Moves a padding that was read as the mask. A load may have a padding without a mask; a second value that is not i1
  /// is a padding.
  void move_padding(Reading& now) {
    if (now.op.form->name != "load_ptr_tko") return;
    auto &mask = operand(now, "mask"), &padding = operand(now, "padding");
    if (mask.empty() || !padding.empty()) return;
    const Type& type = *entry_.values[mask[0]].type;
    if (type.is_tile() && (type.pointer || type.element != DType::boolean)) std::swap(mask, padding);
  }

  Operation finish(Reading& now) {
    Operation& op = now.op;
    const Form& form = *op.form;
    move_padding(now);
    for (const auto& list : now.operands) {
      op.counts.push_back(static_cast<std::uint32_t>(list.size()));
      op.operands.insert(op.operands.end(), list.begin(), list.end());
    }
    for (std::size_t i = now.result_types.size(); i < form.results.size() && form.results[i].arity == Arity::one; ++i) {
      TypePtr type = implied(now, form.results[i], now.result_types);
      if (type == nullptr)
        from_.fail_with(now.at,
                        fmt::format("{}: expected the type of its {}, found none", now.at.text, form.results[i].name));
      now.result_types.push_back(std::move(type));
    }
    if (now.dense) op.attributes[0] = make_dense(from_, *now.dense, *now.result_types.at(0));
    const auto results = now.result_types.size();
    if (!now.names.empty() && static_cast<std::size_t>(now.named_results()) != results)
      from_.fail_with(now.at, fmt::format("{}: expected names for its {} results, found {}", now.at.text, results,
                                          now.named_results()));
    define_results(now);
    return std::move(op);
  }

  void define_results(Reading& now) {
    std::size_t next = 0;
    for (const auto& [name, count] : now.names)
      for (int i = 0; i < count; ++i)
        now.op.results.push_back(define(now.result_types[next++], name,
                                        count == 1 ? std::string(name.text) : fmt::format("{}#{}", name.text, i)));
    for (; next < now.result_types.size(); ++next) now.op.results.push_back(add_value(now.result_types[next], ""));
  }

  Lexer& from_;
  Locations& locations_;
  Entry& entry_;
  std::map<std::string, Definition, std::less<>> names_;
  std::vector<std::string> defined_;  // the names in names_, in the order of the text
};

/// Reads a whole text: modules, their entries and globals, and the aliases around them.
class ModuleParser {
 public:
  ModuleParser(Lexer& from, Program& program) : from_(from), locations_(from), program_(program) {}

  void run() {
    read_items(0);
    if (!from_.at(Token::Kind::end)) from_.fail("module, entry or global");
    if (!found_) from_.fail("module, entry or global");
    locations_.check();
  }

 private:
  /// Reads the items of a module, or of a text without a module. A module may contain another one, as in MLIR's
  /// `builtin.module`.
  void read_items(int depth) {
    for (;;) {
      if (depth == 0 && locations_.read_alias()) continue;
      const Token at = from_.peek();
      const bool generic = at.kind == Token::Kind::string;
      const std::string_view word = at.text.starts_with("cuda_tile.") ? at.text.substr(10) : at.text;
      const bool is_word = generic || at.kind == Token::Kind::name;
      if (is_word && (word == "module" || word == "builtin.module")) {
        from_.take();
        read_module(at, generic, depth);
      } else if (is_word && word == "entry") {
        const Location place = from_.location();
        from_.take();
        EntryParser parser(from_, locations_, program_.entries.emplace_back());
        generic ? parser.run_generic(place) : parser.run();
      } else if (is_word && word == "global") {
        const Location place = from_.location();
        from_.take();
        program_.globals.push_back(generic ? read_generic_global() : read_global());
        program_.globals.back().location = place;
        locations_.read();
      } else if (depth != 0 && !from_.at("}")) {
        from_.fail("entry or global");
      } else {
        return;
      }
      found_ = true;
    }
  }

  void read_module(const Token& at, bool generic, int depth) {
    constexpr int deepest_module = 2;  // a builtin.module with a cuda_tile.module in it
    if (found_ || depth >= deepest_module) from_.fail_with(at, "expected one module in a text, found another");
    if (generic) {
      from_.expect({"(", ")"});
      if (from_.take_if("<")) {
        read_attributes();
        from_.expect(">");
      }
      from_.expect("(");
    } else {
      if (from_.at(Token::Kind::symbol)) program_.name = from_.take().text;
      if (from_.take_if("attributes")) read_attributes();
    }
    from_.expect("{");
    if (generic && from_.take_if("^")) {
      from_.expect(Token::Kind::name, "the name of a block");
      from_.expect(":");
    }
    read_items(depth + 1);
    from_.expect("}");
    if (generic) {
      from_.expect(")");
      if (from_.at("{")) read_attributes();
      from_.expect({":", "(", ")", "->", "(", ")"});
    }
    locations_.read();
    found_ = true;
  }

  void read_attributes() {
    read_dictionary(from_, [&](const Token& name) {
      if (name.text != "producer" && name.text != "sym_name") return false;
      (name.text == "producer" ? program_.producer : program_.name) =
          unquoted(from_.expect(Token::Kind::string, "a text in quotes").text);
      return true;
    });
  }

  Global read_global() {
    Global global;
    if (from_.take_if("private"))
      global.is_private = true;
    else
      from_.take_if("public");
    if (from_.take_if("constant")) global.constant = true;
    global.name = from_.expect(Token::Kind::symbol, "the name of a global, with @").text;
    if (from_.take_if("alignment")) {
      from_.expect("=");
      global.alignment = from_.integer("an alignment");
    }
    const DenseText value = read_dense(from_);
    from_.expect(":");
    global.type = read_type(from_);
    global.value = make_dense(from_, value, *global.type);
    return global;
  }

  /// Reads `"cuda_tile.global"() <{sym_name = "NAME", value = dense<…> : tile<…>}> : () -> ()` from after its name on.
  Global read_generic_global() {
    const Token at = from_.peek();
    Global global;
    from_.expect({"(", ")"});
    const auto read = [&](const Token& name) {
      if (name.text == "sym_name") {
        global.name = unquoted(from_.expect(Token::Kind::string, "the name of a global in quotes").text);
      } else if (name.text == "alignment") {
        global.alignment = from_.integer("an alignment");
        if (from_.take_if(":")) read_element(from_);
      } else if (name.text == "constant") {
        global.constant = !from_.take_if("false");
        if (!from_.take_if("true")) from_.take_if("unit");
      } else if (name.text == "value") {
        DenseText value = read_generic_dense(from_);
        global.type = value.type;
        if (global.type == nullptr) from_.fail_at(value.at, "dense<…> and its type");
        global.value = make_dense(from_, value, *global.type);
      } else {
        return false;
      }
      return true;
    };
    if (from_.take_if("<")) {
      read_dictionary(from_, read);
      from_.expect(">");
    }
    if (from_.at("{")) read_dictionary(from_, read);
    if (global.name.empty() || global.type == nullptr) from_.fail_at(at, "sym_name and value of a global");
    from_.expect({":", "(", ")", "->", "(", ")"});
    return global;
  }

  Lexer& from_;
  Locations locations_;
  Program& program_;
  bool found_ = false;  // a module, entry or global was found
};

}  // namespace
}  // namespace text

Program parse_program(std::string_view text, std::string_view where) {
  text::Lexer from(text, where);
  Program program;
  program.where = where;
  program.name = "kernels";
  text::ModuleParser(from, program).run();
  return program;
}

}  // namespace deplo::ir::tile_program
