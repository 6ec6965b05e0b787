// The folder for the user's own files that can be regenerated.
#pragma once
#include <filesystem>

namespace deplo {

/// $XDG_CACHE_HOME/deplo, or ~/.cache/deplo (XDG Base Directory Specification); empty if neither is defined.
std::filesystem::path user_cache_folder();

}  // namespace deplo
