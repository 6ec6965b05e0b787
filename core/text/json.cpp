#include "core/text/json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace deplo {

using nlohmann::ordered_json;

struct Json::Value {
  ordered_json json;
};

Json::Json(std::nullptr_t) : value_(new Value{nullptr}) {}
Json::Json(bool flag) : value_(new Value{flag}) {}
Json::Json(std::int64_t integer) : value_(new Value{integer}) {}
Json::Json(std::uint64_t integer) : value_(new Value{integer}) {}
Json::Json(double number) : value_(new Value{number}) {}  // nlohmann prints null for a number that is not finite
Json::Json(std::string_view text) : value_(new Value{text}) {}

Json::Json(const Json& other) : value_(new Value(*other.value_)) {}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> elements) {
  Json json;
  json.value_->json = ordered_json::array();
  for (const Json& element : elements) json.push_back(element);
  return json;
}

void Json::push_back(Json element) {
  CHECK(value_->json.is_array());
  value_->json.push_back(std::move(element.value_->json));
}

Json Json::object(std::initializer_list<Member> members) {
  Json json;
  json.value_->json = ordered_json::object();
  for (const auto& [name, value] : members) json.set(name, value);
  return json;
}

void Json::set(std::string_view name, Json value) {
  CHECK(value_->json.is_object());
  value_->json[std::string(name)] = std::move(value.value_->json);
}

std::string Json::print() const { return value_->json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }
std::string Json::print_lines(int indent) const {
  return value_->json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace deplo
