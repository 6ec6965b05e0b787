// Parses the statements that have a form (forms.h).
#include "ir/text/forms.h"

#include <algorithm>
#include <utility>

#include "core/text/characters.h"
#include "ir/program.h"
#include "ir/text/statements.h"

namespace deplo::ir::text {
namespace {

/// Reads a statement by its form, from after the keyword.
class Reader {
 public:
  explicit Reader(Terms& in) : in_(in) {}

  template <class... Parts>
  void operator()(Parts&... parts) {
    (part(parts), ...);
  }
  bool given(std::string_view words, bool) {
    Lexer expected(words, {});
    if (!in_.take_if(expected.take().text)) return false;
    rest(expected);
    return true;
  }
  void flag(std::string_view words, bool& flag) { flag = given(words, false); }

  void name(std::string& name, std::string_view what) { name = in_.name(what); }
  void new_name(std::string& name, std::string_view what) { name = in_.new_name(what); }
  void names(std::vector<std::string>& names, std::string_view what) { names = in_.names(what); }
  void dtype(DType& dtype) { dtype = in_.dtype(); }
  // A type after a name defaults to f32, as everywhere in the text of the IR.
  void type(DType& dtype) { dtype = in_.take_if(":") ? in_.any_dtype() : DType::f32; }
  void type(Type& type) {
    if (in_.take_if(":")) type = in_.type();
  }
  template <class Number>
  void number(Number& n, std::int64_t low, std::int64_t high, std::string_view what = "a number") {
    n = static_cast<Number>(in_.integer(what, low, high));
  }
  template <class Number>
  void option(std::string_view word, Number& n, std::int64_t otherwise, std::int64_t high) {
    n = static_cast<Number>(in_.option(word, otherwise, high));
  }
  void bits(std::uint64_t& bits) { bits = in_.bits(); }
  void expression(std::optional<Expr>& e) { e = in_.expression(); }
  void element(std::string& buffer, std::vector<Expr>& index) {
    buffer = in_.name("a buffer");
    in_.expect("[");
    index = in_.indices("]");
  }
  void list(std::vector<Expr>& indices, std::string_view close) { indices = in_.indices(close); }
  void list(std::vector<std::int64_t>& extents, std::string_view close) {
    std::int64_t elements = 1;
    in_.separated(close, [&] { extents.push_back(in_.extent(elements)); });
  }
  void list(std::vector<std::string>& axes, std::string_view close) {
    in_.separated(close, [&] { axes.push_back(in_.name("an axis")); });
  }
  void fragment_or_matrix(std::variant<SharedMatrix, std::string>& a) {
    Lexer ahead = in_;
    ahead.take();
    if (in_.peek().kind != Token::Kind::name || ahead.peek().is(","))
      a = in_.name("a value or a buffer");
    else
      form(a.emplace<SharedMatrix>(), *this);
  }

 private:
  void part(std::string_view words) {
    Lexer expected(words, {});
    if (!std::exchange(is_after_keyword_, true)) expected.take();
    rest(expected);
  }
  void part(Op& op) { op = in_.op(); }
  void part(Expr& e) { e = in_.expression(); }

  void rest(Lexer& expected) {
    while (expected.peek().kind != Token::Kind::end) in_.expect(expected.take().text);
  }

  Terms& in_;
  bool is_after_keyword_ = false;  // whether the form has named the keyword, which has been read
};

template <HasForm S>
Stmt formed(Terms& in) {
  S s;
  Reader reader(in);
  form(s, reader);
  if constexpr (requires { s.body; }) s.body = nested(in);
  return s;
}

/// Adds the keyword of a statement that has a form: the first word of its text.
template <class S>
void add_keyword(std::vector<Keyword>& to) {
  if constexpr (HasForm<S>) {
    static const std::string text = print(single(S{}));
    const auto end = std::ranges::find_if_not(text, is_letter);
    to.push_back({std::string_view(text.begin(), end), formed<S>});
  }
}

template <class... S>
void add_keywords(std::vector<Keyword>& to, Statements<S...> /*listed*/) {
  (add_keyword<S>(to), ...);
}

}  // namespace

std::span<const Keyword> formed_keywords() {
  static const std::vector<Keyword> keywords = [] {
    std::vector<Keyword> all;
    add_keywords(all, TileStatements());
    add_keywords(all, KernelStatements());
    add_keywords(all, BlockStatements());
    return all;
  }();
  return keywords;
}

}  // namespace deplo::ir::text
