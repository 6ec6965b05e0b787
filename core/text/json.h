// Prints JSON for other programs. Code that only prints includes this instead of nlohmann's templates, which take
// seconds to compile in each file; json.cpp compiles them once. Code that reads JSON includes nlohmann's.
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

/// A JSON value for printing. Copies are deep.
class Json {
 public:
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): the elements of a list of values or members are values
  Json(std::nullptr_t = nullptr);
  Json(std::monostate /*null*/) : Json() {}
  Json(bool);
  Json(std::int64_t);
  Json(std::uint64_t);
  template <std::integral T>
  Json(T integer) : Json(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(integer)) {}
  /// Printed in digits that read back as the same number. A number that is not finite becomes null, as JSON has no
  /// infinity.
  Json(double);
  /// Bytes that are not valid UTF-8 become U+FFFD.
  Json(std::string_view);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(const void*) = delete;  // a pointer would become true
  template <class... T>
  Json(const std::variant<T...>& value) : Json(std::visit([](const auto& held) { return Json(held); }, value)) {}
  // NOLINTEND(google-explicit-constructor)

  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json) noexcept;
  ~Json();

  /// The number or text; null if the number is not positive or the text is empty, which means that it is unknown.
  template <class Number>
  requires std::is_arithmetic_v<Number>
  static Json or_null(Number number) { return number > 0 ? Json(number) : Json(); }
  static Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

  static Json array(std::initializer_list<Json> elements = {});
  /// An array of a range's elements, each converted by `json_of`.
  template <class Range, class Function = std::identity>
  static Json array(const Range& range, Function json_of = {}) {
    Json json = array();
    for (const auto& element : range) json.push_back(std::invoke(json_of, element));
    return json;
  }
  /// Appends to an array.
  void push_back(Json element);

  /// The members keep the order in which they are given and set.
  static Json object(std::initializer_list<Member> members = {});
  /// An object of a range of pairs, such as a map.
  template <class Range>
  static Json object(const Range& members) {
    Json json = object();
    for (const auto& [name, value] : members) json.set(name, value);
    return json;
  }
  /// Sets a member of an object. An existing member of that name keeps its position.
  void set(std::string_view name, Json value);

  /// On one line, without a newline.
  std::string print() const;
  /// As a document: each element and member on its own line, indented by `indent` columns per level.
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
