#include "core/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"

namespace deplo {

TemporaryFolder::TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "deplo-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(fmt::format("{}: cannot be created: {}", path_, std::strerror(errno)), Exit::environment);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace deplo
