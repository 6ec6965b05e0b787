// Private to program.cpp: JSON of which nothing is certain, read with a place for every message. nlohmann's header takes
// seconds to compile: only json.cpp includes it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace deplo::ir::torch::pt2 {

/// A value inside a JSON document and the way to it. Every member throws Error `where: /a/b/3: expected …, found …`.
class Json {
 public:
  /// Python's JSON, which has NaN and Infinity; at most 128 levels deep and 4 million values. `where` must live as long
  /// as the document's values do.
  static Json parse(const std::string& text, const std::string& where);

  Json at(std::string_view key) const;   // of an object that has it
  bool has(std::string_view key) const;  // an object with a value there that is not null
  std::string text() const;
  std::int64_t integer() const;
  double number() const;  // "Infinity", "-Infinity" and "NaN" too
  bool flag() const;
  void each(const std::function<void(const Json&)>& element) const;  // of an array
  void each_member(const std::function<void(const std::string& key, const Json& value)>& member) const;
  /// Of an object with one member, which is how the schema writes a union: its name.
  std::string alternative() const;
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const;

 private:
  Json(std::shared_ptr<const nlohmann::json> value, const std::string& where, std::string path)
      : value_(std::move(value)), where_(&where), path_(std::move(path)) {}
  /// A value inside this one.
  Json inner(const nlohmann::json& value, std::string path) const;

  std::shared_ptr<const nlohmann::json> value_;  // of the document, which lives as long as one of its values
  const std::string* where_;
  std::string path_;
};

}  // namespace deplo::ir::torch::pt2
