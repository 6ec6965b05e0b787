#include "apps/cli/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "engine/learn/recorded.h"

namespace deplo::apps {
namespace {

namespace fs = std::filesystem;

/// Writes all bytes and closes the file. Returns 0 or the errno of the failure.
int write_all(int descriptor, const std::string& bytes) {
  int error = 0;
  for (std::size_t done = 0; done < bytes.size() && error == 0;) {
    const ssize_t written = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written > 0)
      done += static_cast<std::size_t>(written);
    else if (errno != EINTR)
      error = errno;
  }
  if (close(descriptor) != 0 && error == 0) error = errno;  // some file systems report only here that they are full
  return error;
}

int write_in_place(const std::string& file, const std::string& bytes) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return descriptor < 0 ? errno : write_all(descriptor, bytes);
}

/// Returns the file's mode; if the file does not exist, the mode that a new one gets.
mode_t mode_of(const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) == 0) return status.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// Replaces the file by a complete new one, or leaves the old one unchanged. If the folder allows no new file, writes
/// in place instead. Returns 0 or the errno of the failure.
int replace(const fs::path& file, const std::string& bytes) {
  std::string beside = (file.parent_path() / ".deplo-XXXXXX").string();
  const int descriptor = mkostemp(beside.data(), O_CLOEXEC);
  // In a folder that allows no new file, the old file may still be writable.
  if (descriptor < 0) return errno == EACCES || errno == EPERM ? write_in_place(file.string(), bytes) : errno;
  int error = fchmod(descriptor, mode_of(file)) != 0 ? errno : 0;
  const int written = write_all(descriptor, bytes);
  if (error == 0) error = written;
  if (error == 0 && std::rename(beside.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) unlink(beside.c_str());
  return error;
}

}  // namespace

void expect_no_store(const std::string& file) {
  if (engine::is_store(file)) throw Error(file + ": expected a file that may be overwritten, found a database");
}

void write_file(const std::string& file, const std::string& bytes) {
  expect_no_store(file);
  // A symbolic link is kept, and its target is replaced. Special files, such as pipes, are written in place. For a
  // folder, open() reports the error.
  std::error_code none;
  const fs::path real = fs::weakly_canonical(file, none);
  const bool special = none || (fs::exists(real, none) && !fs::is_regular_file(real, none));
  if (const int error = special ? write_in_place(file, bytes) : replace(real, bytes); error != 0)
    throw Error(fmt::format("{}: cannot be written: {}", file, std::strerror(error)), Exit::environment);
}

void make_folder(const std::string& folder, std::string_view place) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(fmt::format("{}: cannot create the folder '{}': {}", place, folder, error.message()),
                Exit::environment);
}

}  // namespace deplo::apps
