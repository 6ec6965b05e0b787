#include "apps/write_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "apps/recorded.h"
#include "core/error.h"

namespace deplo::apps {

void expect_no_store(const std::string& file) {
  if (is_store(file)) throw Error(file + ": expected a file that may be overwritten, found a database");
}

void write_file(const std::string& file, const std::string& bytes) {
  expect_no_store(file);
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  stream << bytes;
  stream.close();
  if (stream) return;
  const int error = errno;
  throw Error(fmt::format("{}: cannot be written: {}", file, error != 0 ? std::strerror(error) : "unknown reason"),
              Exit::environment);
}

}  // namespace deplo::apps
