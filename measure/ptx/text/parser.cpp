#include "measure/ptx/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "core/error.h"
#include "measure/ptx/text/lexer.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint64_t max_registers = 1 << 18, max_bytes = std::uint64_t{1} << 30;

// Number of bits of a type such as ".b32"; 0 if the word is not a type.
int bits_of(std::string_view type) { return type.starts_with('.') ? plain_type_bits(type.substr(1)) : 0; }

std::optional<Space> space_of(std::string_view word) {
  if (word == ".global" || word == ".const") return Space::global;
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  return std::nullopt;
}

/// A recursive-descent parser: one function per directive and per form of operand.
class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokens_of(text)) {}

  Module run() {
    while (peek().kind != Token::Kind::end) directive();
    if (module_.version.empty()) fail("expected .version at the beginning");
    return std::move(module_);
  }

 private:
  // ---- tokens
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool accept(std::string_view what) {
    if (!peek().is(what)) return false;
    take();
    return true;
  }
  void expect(std::string_view what) {
    if (!accept(what)) fail(fmt::format("expected '{}'", what));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("PTX line {}: {}, found '{}'", peek().line, what, peek().text.substr(0, 80)));
  }
  std::string word(const char* what) {
    if (peek().kind != Token::Kind::word) fail(fmt::format("expected {}", what));
    return std::string(take().text);
  }
  std::uint64_t number() {
    if (peek().kind != Token::Kind::number || peek().float_bits != 0) fail("expected a number");
    return take().bits;
  }
  void skip_line() {
    for (const int line = peek().line; peek().line == line && peek().kind != Token::Kind::end;) take();
  }
  /// Reads elements with commas between them, up to `end`, which is taken.
  template <class Read>
  void each_until(std::string_view end, const Read& read) {
    while (!accept(end)) {
      read();
      if (!peek().is(end)) expect(",");
    }
  }
  void skip_braces() {
    expect("{");
    for (int depth = 1; depth > 0; take()) {
      if (peek().kind == Token::Kind::end) fail("expected '}'");
      depth += peek().is("{") ? 1 : peek().is("}") ? -1 : 0;
    }
  }

  // ---- names
  std::string declared(const std::string& name) {
    scopes_.back().names.insert(name);
    return qualified(name, scopes_.size() - 1);
  }
  std::string qualified(const std::string& name, std::size_t depth) const {
    return depth <= 1 ? name : fmt::format("{}#{}", name, scopes_[depth].number);
  }
  std::string resolved(const std::string& name) const {
    for (std::size_t depth = scopes_.size(); depth-- > 0;)
      if (scopes_[depth].names.contains(name)) return qualified(name, depth);
    return name;
  }

  // ---- the module
  void directive() {
    const Token& token = peek();
    if (accept(".version")) {
      module_.version = std::string(take().text);
    } else if (accept(".target")) {
      module_.target = word("an architecture");
      while (accept(",")) word("an option");
    } else if (accept(".address_size")) {
      if (number() != 64) throw Error(fmt::format("PTX line {}: expected addresses of 64 bits", token.line));
    } else if (token.is(".file")) {
      skip_line();
    } else if (accept(".section")) {
      word("a section's name");
      skip_braces();  // data for debuggers
    } else if (accept(".visible") || accept(".extern") || accept(".weak") || accept(".common")) {
      // linking directives have no meaning for the machine
    } else if (token.is(".entry") || token.is(".func")) {
      function();
    } else if (const auto space = space_of(token.text); space && token.kind == Token::Kind::word) {
      take();
      module_.variables.push_back(variable(*space));
      expect(";");
    } else {
      fail("expected a directive of a module");
    }
  }

  Variable variable(Space space) {
    Variable v;
    v.space = space;
    int element = 0;
    while (peek().kind == Token::Kind::word && peek().text.starts_with(".")) {
      const Token token = take();
      if (token.is(".align")) {
        v.align = number();
        if (v.align == 0 || v.align > 4096 || (v.align & (v.align - 1)) != 0)
          fail("expected an alignment of 1 to 4096");
      } else if (token.is(".ptr") || space_of(token.text)) {
        // says what a parameter points to
      } else if (const int bits = bits_of(token.text); bits >= 8) {
        element = bits / 8;
        v.type = token.text.substr(1);
      } else {
        throw Error(fmt::format("PTX line {}: expected a type of a variable, found '{}'", token.line, token.text));
      }
    }
    if (element == 0) fail("expected a type");
    v.name = declared(word("a variable's name"));
    dimensions(v, element);
    if (accept("=")) initial(v, static_cast<std::uint64_t>(element));
    return v;
  }

  void dimensions(Variable& v, int element_bytes) {
    v.size = static_cast<std::uint64_t>(element_bytes);
    v.align = std::max(v.align, v.size);
    while (accept("[")) {
      const std::uint64_t extent = peek().is("]") ? 0 : number();
      expect("]");
      v.is_array = true;
      if (extent > max_bytes || v.size * extent > max_bytes) fail("expected a variable of at most 1 GiB");
      v.size *= extent;
    }
  }

  void initial(Variable& v, std::uint64_t element_bytes) {
    const bool list = accept("{");
    do {
      const bool negative = accept("-");
      if (peek().kind != Token::Kind::number) fail("expected a number");
      const std::uint64_t bits = negative ? 0 - peek().bits : peek().bits;
      take();
      for (std::uint64_t i = 0; i < element_bytes; ++i)
        v.initial.push_back(static_cast<std::uint8_t>(i < 8 ? bits >> (8 * i) : 0));
    } while (list && accept(","));
    if (list) expect("}");
    if (v.initial.size() > v.size) fail(fmt::format("expected at most {} bytes of '{}'", v.size, v.name));
  }

  Variable parameter() {
    expect(".param");
    return variable(Space::param);
  }

  // A function without a body, such as vprintf, is dropped here. The machine may know it.
  void function() {
    Function f;
    f.line = peek().line;
    const bool entry = take().is(".entry");
    scopes_.push_back({0, {}});
    if (!entry && accept("(")) {
      f.results.push_back(parameter());
      expect(")");
    }
    f.name = word("a function's name");
    if (accept("(")) each_until(")", [&] { f.parameters.push_back(parameter()); });
    attributes(f);
    if (!accept(";")) {
      body(f);
      (entry ? module_.functions : module_.callees).push_back(std::move(f));
    }
    scopes_.pop_back();
  }

  void attributes(Function& f) {
    while (peek().kind == Token::Kind::word) {
      const Token token = take();
      std::uint64_t product = 1, first = 0;
      while (peek().kind == Token::Kind::number) {
        product *= number();
        if (first == 0) first = product;
        accept(",");
        if (product > max_bytes) fail("expected smaller numbers of threads or blocks");
      }
      if (token.is(".reqnctapercluster") && product != first) fail("expected clusters of blocks in x only");
      if (token.is(".maxntid") || token.is(".reqntid")) f.max_threads = static_cast<std::int64_t>(product);
      if (token.is(".minnctapersm")) f.least_blocks = static_cast<std::int64_t>(std::max<std::uint64_t>(product, 1));
      if (token.is(".reqnctapercluster")) f.cluster = static_cast<std::int64_t>(product);
      constexpr std::array known = {".maxntid",      ".reqntid", ".reqnctapercluster", ".explicitcluster",
                                    ".minnctapersm", ".maxnreg", ".maxclusterrank",    ".noreturn"};
      if (std::find(known.begin(), known.end(), token.text) == known.end())
        throw Error(fmt::format("PTX line {}: expected an attribute of a kernel, found '{}'", token.line, token.text));
    }
  }

  // ---- a function
  void body(Function& f) {
    place_ = {};
    expect("{");
    for (std::size_t depth = 1; depth > 0;) {
      if (peek().kind == Token::Kind::end) fail("expected '}'");
      if (accept("{")) {
        open_scope();
        ++depth;
      } else if (accept("}")) {
        if (--depth > 0) scopes_.pop_back();
      } else {
        statement(f);
      }
    }
    for (auto& [label, number] : f.labels)
      if (number > f.statements.size()) fail("expected a statement after a label");
  }

  // A label may be used before it is defined, so the labels of a block are declared at the start of the block.
  void open_scope() {
    constexpr std::size_t max_levels = 100;  // each level scans its whole block; NVRTC opens one level
    if (scopes_.size() >= max_levels) fail(fmt::format("expected at most {} nested blocks", max_levels));
    scopes_.push_back({++scopes_made_, {}});
    int depth = 1;
    for (std::size_t i = at_; i + 1 < tokens_.size() && depth > 0; ++i) {
      depth += tokens_[i].is("{") ? 1 : tokens_[i].is("}") ? -1 : 0;
      if (depth == 1 && tokens_[i].kind == Token::Kind::word && tokens_[i + 1].is(":"))
        scopes_.back().names.insert(std::string(tokens_[i].text));
    }
  }

  void statement(Function& f) {
    if (peek().is(".loc")) return location();
    if (peek().is(".file")) return skip_line();
    if (accept(".pragma")) {
      while (!accept(";")) {
        if (take().kind == Token::Kind::end) fail("expected ';'");
      }
      return;
    }
    if (peek(1).is(":")) {
      const std::string label = resolved(word("a label"));
      take();
      if (!f.labels.emplace(label, f.statements.size()).second) fail(fmt::format("expected one label '{}'", label));
      return;
    }
    if (!declaration(f)) instruction(f);
  }

  bool declaration(Function& f) {
    if (peek().is(".reg") || peek().text.starts_with(".reg.")) {
      registers(f);
    } else if (const auto space = space_of(peek().text); space && peek().kind == Token::Kind::word) {
      take();
      f.variables.push_back(variable(*space));
    } else {
      return false;
    }
    expect(";");
    return true;
  }

  // ".reg .b32 %r<5>;" declares %r0 to %r4. cuda_fp16.hpp leaves out the space: ".reg.b32 f;".
  void registers(Function& f) {
    const std::string_view joined = take().text.substr(std::string_view(".reg").size());
    const int bits = bits_of(joined.empty() ? peek().text : joined);
    if (bits == 0 || (joined.empty() && peek().kind != Token::Kind::word)) fail("expected a type of registers");
    if (joined.empty()) take();
    do {
      const std::string name = word("a register's name");
      if (!accept("<")) {
        f.registers.push_back({declared(name), bits});
        continue;
      }
      const std::uint64_t count = number();
      expect(">");
      if (count > max_registers || f.registers.size() + count > max_registers)
        fail(fmt::format("expected at most {} registers", max_registers));
      for (std::uint64_t i = 0; i < count; ++i) f.registers.push_back({declared(fmt::format("{}{}", name, i)), bits});
    } while (accept(","));
  }

  // Reads ".loc 1 23 5" or ".loc 1 23 5, function_name $L__info_string0, inlined_at 1 40 3", up to the end of the line.
  void location() {
    const int line = take().line;
    const auto on_line = [&] { return peek().line == line && peek().kind != Token::Kind::end; };
    number();
    const auto at = static_cast<int>(number() & 0xffffff);
    place_ = {at, 0};
    while (on_line()) {
      if (take().is("inlined_at") && on_line()) {
        number();
        if (on_line()) place_.inlined_at = static_cast<int>(number() & 0xffffff);
      }
    }
  }

  void instruction(Function& f) {
    Statement s;
    s.line = peek().line;
    s.place = place_;
    if (accept("@")) {
      s.guard_negated = accept("!");
      s.guard = resolved(word("a predicate"));
    }
    s.opcode = word("an instruction");
    if (s.opcode.starts_with(".")) fail(fmt::format("expected an instruction, found '{}' before", s.opcode));
    if (s.opcode == "call" || s.opcode == "call.uni") {
      call(s);
      expect(";");
    } else {
      each_until(";", [&] { s.operands.push_back(operand()); });
    }
    f.statements.push_back(std::move(s));
  }

  // Reads "call.uni (retval0), vprintf, (param0, param1)" into three operands: the function, the list of arguments, and
  // the list of results.
  void call(Statement& s) {
    Operand arguments{.kind = Operand::Kind::list}, results = arguments;
    if (accept("(")) {
      each_until(")", [&] { results.parts.push_back(operand()); });
      expect(",");
    }
    Operand callee{.kind = Operand::Kind::name, .name = word("a function")};
    if (accept(",")) {
      expect("(");
      each_until(")", [&] { arguments.parts.push_back(operand()); });
    }
    s.operands = {std::move(callee), std::move(arguments), std::move(results)};
  }

  Operand operand() {
    if (peek().is("[")) return address();
    if (accept("{")) {
      Operand list{.kind = Operand::Kind::list};
      each_until("}", [&] { list.parts.push_back(simple()); });
      return list;
    }
    Operand first = simple();
    if (!accept("|")) return first;
    Operand both{.kind = Operand::Kind::alternatives};
    both.parts = {std::move(first), simple()};
    return both;
  }

  Operand simple() {
    Operand o;
    o.negated = accept("!");
    const bool minus = accept("-");
    if (peek().kind == Token::Kind::number) {
      o.kind = Operand::Kind::number;
      o.float_bits = peek().float_bits;
      o.bits = minus ? 0 - peek().bits : peek().bits;
      take();
      return o;
    }
    if (minus) fail("expected a number after '-'");
    const std::string name = word("an operand");
    if (name == "_") return o;
    o.kind = Operand::Kind::name;
    o.name = resolved(name);
    return o;
  }

  // Reads an address such as [%rd1+4], [smem+-8] or [1024], or that of a tensor copy: [%rd1, {%r1, %r2}].
  Operand address() {
    expect("[");
    Operand o{.kind = Operand::Kind::address};
    if (peek().kind == Token::Kind::number) {
      o.bits = number();
    } else {
      o.name = resolved(word("an address"));
      const bool plus = accept("+");
      const bool minus = accept("-");
      if (plus || minus) o.bits = minus ? 0 - number() : number();
    }
    while (accept(",")) o.parts.push_back(operand());
    expect("]");
    return o;
  }

  struct Scope {
    int number = 0;
    std::set<std::string> names;
  };
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Module module_;
  std::vector<Scope> scopes_ = {{0, {}}};
  int scopes_made_ = 0;
  Place place_;
};

}  // namespace

Module parse(std::string_view text) { return Parser(text).run(); }

int plain_type_bits(std::string_view type) {
  if (type == "pred") return 1;
  if (type.size() < 2 || std::string_view("bsuf").find(type[0]) == std::string_view::npos) return 0;
  const std::string_view digits = type.substr(1);
  return digits == "8" ? 8 : digits == "16" ? 16 : digits == "32" ? 32 : digits == "64" ? 64 : 0;
}

}  // namespace deplo::measure::ptx
