// Reads untrusted JSON, and adds the place to every message. Private to program.cpp and sizes.cpp. nlohmann's header
// takes seconds to compile, so only json.cpp includes it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace deplo::ir::torch::pt2 {

/// A value inside a JSON document, and its path. Every method throws Error `where: /a/b/3: expected …, found …`.
class Json {
 public:
  /// Parses Python's JSON, which has NaN and Infinity, with at most 128 levels and 4 million values. `where` must
  /// outlive the document's values.
  static Json parse(const std::string& text, const std::string& where);

  Json at(std::string_view key) const;   // a member, which the object must have
  bool has(std::string_view key) const;  // whether the object has the member, and it is not null
  std::string text() const;
  std::int64_t integer() const;
  double number() const;  // also accepts the strings "Infinity", "-Infinity" and "NaN"
  bool flag() const;
  void each(const std::function<void(const Json&)>& element) const;  // calls element(value) for each element
  void each_member(const std::function<void(const std::string& key, const Json& value)>& member) const;
  /// Returns the name of the only member of an object. The schema writes unions as such objects.
  std::string alternative() const;
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const;

 private:
  Json(std::shared_ptr<const nlohmann::json> value, const std::string& where, std::string path)
      : value_(std::move(value)), where_(&where), path_(std::move(path)) {}
  /// Returns a value inside this one.
  Json inner(const nlohmann::json& value, std::string path) const;

  std::shared_ptr<const nlohmann::json> value_;  // shares the document, which lives as long as one of its values
  const std::string* where_;
  std::string path_;
};

}  // namespace deplo::ir::torch::pt2
