#include "measure/store/file/rescue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"

namespace deplo::measure {
namespace {

namespace fs = std::filesystem;

/// Creates a file that did not exist, and returns its name: `wanted`, or that with -2, -3, … Returns "" if no file can
/// be created.
std::string make_new(const fs::path& wanted) {
  for (int number = 1;; ++number) {
    std::string name = wanted.string() + (number == 1 ? "" : fmt::format("-{}", number));
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      close(descriptor);
      return name;
    }
    if (errno != EEXIST) return "";
  }
}

void remove_store(const std::string& file) {
  for (const char* end : {"", "-wal", "-shm", "-journal"}) unlink((file + end).c_str());
}

/// Returns true if the copy is complete: no page is damaged, no row lacks the row to which it refers, and all runs and
/// trials of `own` are there.
bool is_sound(sqlite::Database& copy, sqlite::Database& own) {
  if (copy.integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'") != 1) return false;
  if (copy.integer("SELECT count(*) FROM pragma_foreign_key_check") != 0) return false;
  sqlite::Statement runs(
      own, "SELECT r.id, r.started, count(t.id) FROM run r LEFT JOIN trial t ON t.run = r.id GROUP BY r.id");
  sqlite::Statement same(
      copy, "SELECT count(t.id) FROM run r LEFT JOIN trial t ON t.run = r.id WHERE r.id = ? AND r.started = ?");
  while (runs.step()) {
    const std::string started = runs.text(1);
    // One trial may be missing, because `own` gets it before the store does.
    if (!same.bind(1, runs.integer(0)).bind(2, started).step() || same.integer(0) + 1 < runs.integer(2)) return false;
    same.step();
  }
  return true;
}

bool copy_whole(const sqlite::Database& lost, sqlite::Database& own, const std::string& file) {
  try {
    sqlite::Database copy(file);
    sqlite::copy_database(lost, copy);
    if (is_sound(copy, own)) return true;
  } catch (const Error&) {
    // Pages are missing. The caller then saves the rows of `own`.
  }
  remove_store(file);
  return false;
}

}  // namespace

Rescued rescue(const sqlite::Database* lost, sqlite::Database& own, const std::string& path) {
  const fs::path wanted = path + ".rescued";
  std::string file = make_new(wanted);
  if (file.empty()) file = make_new(fs::temp_directory_path() / wanted.filename());
  if (file.empty())
    throw Error(fmt::format("store {}: cannot create a file to save it in: {}", path, std::strerror(errno)),
                Exit::environment);
  const bool whole = lost != nullptr && copy_whole(*lost, own, file);
  if (!whole) {
    sqlite::Database copy(file);
    sqlite::copy_database(own, copy);
  }
  return {file, whole};
}

}  // namespace deplo::measure
