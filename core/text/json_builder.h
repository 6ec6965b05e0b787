// Builds a document from untrusted JSON. (nlohmann's parser with a callback visits all members of a list or an object
// again after each object in it, so its time is quadratic in the length of the list.)
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace deplo {

struct JsonLimits {
  std::size_t levels;   // nesting depth; copying and printing a value recurse
  std::size_t values;   // values held at once
  std::size_t members;  // members of one object
  // true: an integer beyond 64 bits becomes a text with its digits, so that it stays distinct;
  // false: it becomes the nearest double
  bool big_integers_as_text = false;
};

/// Writes the JSON that `Json::sax_parse(text, &builder)` reads to `document`. After an error, `document` holds
/// everything that came before it. Throws Error `PLACE: expected at most …, found more`, and the exceptions of
/// Json::parse().
template <typename Json>
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  /// Takes a value that is a member of the document's member `section`, such as an entry of a cache. Returns false to
  /// leave the value in the document.
  using Take = std::function<bool(const std::string& section, Json& value)>;

  JsonBuilder(Json& document, const JsonLimits& limits, std::string place, Take take = nullptr)
      : document_(document), limits_(limits), place_(std::move(place)), take_(std::move(take)) {}

  /// Whether the text so far ends inside a list or an object.
  bool is_open() const { return !open_.empty(); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(typename Json::number_integer_t value) override { return add(value); }
  bool number_unsigned(typename Json::number_unsigned_t value) override { return add(value); }
  bool number_float(typename Json::number_float_t value, const typename Json::string_t& text) override {
    const bool is_integer = text.find_first_of(".eE") == std::string::npos;
    return limits_.big_integers_as_text && is_integer ? add(text) : add(value);
  }
  bool string(typename Json::string_t& value) override { return add(std::move(value)); }
  bool binary(typename Json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(typename Json::string_t& name) override {
    if (++open_.back().members > limits_.members) refuse(limits_.members, "members in an object");
    open_.back().key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const typename Json::exception& error) override {
    if (const auto* syntax = dynamic_cast<const typename Json::parse_error*>(&error)) throw *syntax;
    if (const auto* range = dynamic_cast<const typename Json::out_of_range*>(&error)) throw *range;
    throw error;
  }

 private:
  struct Open {
    Json* json;
    std::string key;          // name of the current or next member
    std::size_t members = 0;  // including that member
  };

  bool add(Json value) {
    Json& placed = place(std::move(value));
    if (&placed == &member_) finish_member();
    return true;
  }

  bool open(Json value) {
    if (open_.size() >= limits_.levels) refuse(limits_.levels, "nested levels");
    Json& placed = place(std::move(value));
    open_.push_back({&placed, {}});
    return true;
  }

  bool close() {
    const bool is_member = open_.back().json == &member_;
    open_.pop_back();
    if (is_member) finish_member();
    return true;
  }

  Json& place(Json value) {
    if (take_ && open_.size() == 2 && open_.back().json->is_object()) {
      before_member_ = values_;
      count();
      return member_ = std::move(value);
    }
    count();
    return keep(std::move(value));
  }

  void count() {
    if (++values_ > limits_.values) refuse(limits_.values, "values");
  }

  Json& keep(Json value) {
    if (open_.empty()) return document_ = std::move(value);
    Open& parent = open_.back();
    if (parent.json->is_object()) return (*parent.json)[parent.key] = std::move(value);
    parent.json->push_back(std::move(value));
    return parent.json->back();
  }

  void finish_member() {
    if (!take_(open_.front().key, member_)) {
      keep(std::move(member_));
      return;
    }
    values_ = before_member_;
    --open_.back().members;
  }

  [[noreturn]] void refuse(std::size_t max_count, const char* what) const {
    throw Error(fmt::format("{}: expected at most {} {}, found more", place_, max_count, what));
  }

  Json& document_;
  JsonLimits limits_;
  std::string place_;
  Take take_;
  std::vector<Open> open_;  // open lists and objects, from the document inwards
  Json member_;             // the value that take_ is asked about
  std::size_t values_ = 0, before_member_ = 0;
};

}  // namespace deplo
