// The tables of the store, one script per version. Explained, with queries, in docs/database.md.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace deplo::measure {

/// "depl" in the file's header: tells our databases from other programs'.
inline constexpr std::int64_t application_id = 0x6465706c;

/// migrations()[i] takes a database from user_version i to i + 1. The functions that SQLite does not have are those of
/// measure/store/kernel_keys.h.
std::span<const std::string_view> migrations();

}  // namespace deplo::measure
