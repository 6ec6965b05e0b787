#include "core/user_cache.h"

#include <cstdlib>

namespace deplo {

std::filesystem::path user_cache_folder() {
  namespace fs = std::filesystem;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "deplo";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return fs::path(home) / ".cache/deplo";
  return {};
}

}  // namespace deplo
