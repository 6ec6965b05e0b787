// JSON that is printed for other programs. Who only prints need not compile nlohmann's templates, which takes seconds a
// file: json.cpp does it once. Who reads JSON includes them.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace deplo {

/// A JSON value that is made to be printed. A copy is deep.
class Json {
 public:
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): what stands in a list of values or members is a value
  Json(std::nullptr_t = nullptr);
  Json(std::monostate /*null*/) : Json() {}
  Json(bool);
  Json(std::int64_t);
  Json(std::uint64_t);
  template <std::integral T>
  Json(T integer) : Json(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(integer)) {}
  /// In digits that read back as the same number. What is not finite becomes null: JSON has no infinity.
  Json(double);
  /// Bytes that are no UTF-8 become U+FFFD.
  Json(std::string_view);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(const void*) = delete;  // would be true
  template <class... T>
  Json(const std::variant<T...>& value) : Json(std::visit([](const auto& held) { return Json(held); }, value)) {}
  // NOLINTEND(google-explicit-constructor)

  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json) noexcept;
  ~Json();

  /// The number or text; null for what is not positive or empty, which here means that it is not known.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  static Json or_null(Number number) { return number > 0 ? Json(number) : Json(); }
  static Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

  static Json array(std::initializer_list<Json> elements = {});
  /// Of a range's elements, or of what `json_of` makes of each.
  template <class Range, class Function = std::identity>
  static Json array(const Range& range, Function json_of = {}) {
    Json json = array();
    for (const auto& element : range) json.push_back(std::invoke(json_of, element));
    return json;
  }
  /// To the end of an array.
  void push_back(Json element);

  /// The members stand in the order in which they are given and set.
  static Json object(std::initializer_list<Member> members = {});
  /// Of a range of pairs, such as a map.
  template <class Range>
  static Json object(const Range& members) {
    Json json = object();
    for (const auto& [name, value] : members) json.set(name, value);
    return json;
  }
  /// In an object; a member of that name is replaced in its place.
  void set(std::string_view name, Json value);

  /// On one line, without a newline.
  std::string print() const;
  /// A document: each element and member on a line of its own, indented by so many columns a level.
  std::string print_lines(int indent) const;

 private:
  struct Value;
  std::unique_ptr<Value> value_;
};

struct Json::Member {
  std::string_view name;
  Json value;
};

}  // namespace deplo
