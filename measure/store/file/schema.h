// The tables of the store, one script per version. docs/database.md explains them, with queries.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace deplo::measure {

/// "depl" in the file's header distinguishes deplo's databases from those of other programs.
inline constexpr std::int64_t application_id = 0x6465706c;

/// migrations()[i] migrates a database from user_version i to i + 1. The scripts need the SQL functions of
/// measure/store/kernel_keys.h.
std::span<const std::string_view> migrations();

}  // namespace deplo::measure
