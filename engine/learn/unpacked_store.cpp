#include "engine/learn/unpacked_store.h"

#include <fstream>
#include <string_view>

#include "core/error.h"
#include "measure/sqlite/sqlite.h"
#include "search/records/formats/parts/unpack.h"

namespace deplo::engine {
namespace {

constexpr std::string_view sqlite = "SQLite format 3", gzip = "\x1f\x8b";

std::string first_bytes(const std::string& file) { return measure::sqlite::first_bytes(file, sqlite.size()); }

}  // namespace

UnpackedStore::UnpackedStore(const std::string& file) : path_(file) {
  if (!first_bytes(file).starts_with(gzip)) return;
  path_ = folder_.emplace().file("store.db");
  const std::string bytes = search::records::read_unpacked(file);
  std::ofstream stream(path_, std::ios::binary);
  if (!stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    throw Error(path_ + ": cannot be written: is the disk full?", Exit::environment);
}

bool is_store(const std::string& file) {
  const std::string first = first_bytes(file);
  if (!first.starts_with(gzip)) return first == sqlite;
  try {
    return search::records::read_unpacked(file).starts_with(sqlite);
  } catch (const Error&) {  // the code that reads the file reports the error
    return false;
  }
}

}  // namespace deplo::engine
