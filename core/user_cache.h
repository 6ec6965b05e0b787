// Where the user's own files that can be made again lie.
#pragma once
#include <filesystem>

namespace deplo {

/// $XDG_CACHE_HOME/deplo, or ~/.cache/deplo (XDG Base Directory Specification); empty without either.
std::filesystem::path user_cache_folder();

}  // namespace deplo
