#include "measure/store/kernel_keys.h"

#include <sqlite3.h>

#include "core/error.h"
#include "ir/canonical/canonical.h"

namespace deplo::measure {
namespace {

template <std::string ir::StructuralKeys::*wanted>
void key_function(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
  const auto bytes = static_cast<std::size_t>(sqlite3_value_bytes(arguments[0]));
  const std::optional<ir::Program> loop = parse_loop({text == nullptr ? "" : text, bytes});
  const std::string key = loop ? ir::structural_keys(*loop).*wanted : "";
  sqlite3_result_text(context, key.c_str(), static_cast<int>(key.size()), SQLITE_TRANSIENT);
}

template <std::string ir::StructuralKeys::*wanted>
void add(sqlite::Database& database, const char* name) {
  const int code = sqlite3_create_function_v2(database.handle(), name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                              key_function<wanted>, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

}  // namespace

std::optional<ir::Program> parse_loop(std::string_view text) {
  try {
    ir::Program loop = ir::parse(text);
    if (loop.level == ir::Level::loop && verify(loop).empty()) return loop;
  } catch (const Error&) {
    // It is never looked up by a key and never run, and others report it.
  }
  return std::nullopt;
}

void add_key_functions(sqlite::Database& database) {
  add<&ir::StructuralKeys::schedule>(database, "deplo_schedule_key");
  add<&ir::StructuralKeys::exact>(database, "deplo_exact_key");
}

}  // namespace deplo::measure
