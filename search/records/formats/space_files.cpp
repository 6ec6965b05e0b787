#include "search/records/formats/space_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "core/error.h"
#include "core/text/text.h"
#include "search/records/formats/parts/unpack.h"

namespace deplo::search {
namespace {

namespace fs = std::filesystem;

std::string ending_names() { return records::record_endings() + " or .zip"; }

/// The name without ".gz": "a.csv" for "a.csv.gz".
std::string_view unpacked(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

bool is_candidate(std::string_view path) {
  return path.ends_with(".zip") || records::has_record_ending(unpacked(path));
}

/// Whether the file is read together with another file, or has the same space as another file in another format.
bool belongs_to_another(const std::string& path, const std::set<std::string>& all) {
  const std::string_view name = unpacked(path);
  for (const std::string_view ending : {".T1.json", ".meta.jsonl"})
    if (name.ends_with(ending)) {
      const std::string table = std::string(name.substr(0, name.size() - ending.size())) + ".csv";
      if (all.contains(table) || all.contains(table + ".gz")) return true;
    }
  const std::size_t t4 = path.rfind("_T4.");
  return t4 != std::string::npos && all.contains(path.substr(0, t4) + path.substr(t4 + 3));
}

/// All files below the folder, except hidden ones, which programs keep for themselves.
std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> files;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    const bool hidden = entry->path().filename().string().starts_with('.');
    std::error_code unreadable;
    if (hidden && entry->is_directory(unreadable)) entry.disable_recursion_pending();
    if (!hidden && entry->is_regular_file(unreadable)) files.insert(entry->path().string());
  }
  if (error) throw Error(fmt::format("{}: expected a folder that can be read: {}", folder, error.message()));
  return files;
}

std::vector<SpaceFile> without_repetitions(const std::vector<SpaceFile>& files) {
  std::vector<SpaceFile> kept;
  std::set<fs::path> known;
  for (const SpaceFile& file : files) {
    std::error_code unreadable;  // an unreadable file fails later, with a better message
    if (known.insert(fs::weakly_canonical(file.path, unreadable)).second || unreadable) kept.push_back(file);
  }
  return kept;
}

}  // namespace

SpaceFiles::SpaceFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.empty()) throw Error("expected the name of a file or a folder of recorded spaces, found an empty one");
    std::error_code error;
    if (fs::is_directory(path, error))
      add_folder(path);
    else
      files_.push_back({path});
  }
  files_ = without_repetitions(files_);
}

void SpaceFiles::add_folder(const std::string& folder) {
  const std::set<std::string> all = files_in(folder);
  const std::size_t before = files_.size();
  for (const std::string& path : all) {
    if (!is_candidate(path))
      left_out_.add(path, fmt::format("expected a file that ends in {}", ending_names()));
    else if (!belongs_to_another(path, all))
      files_.push_back({path, true});
  }
  if (files_.size() == before)
    throw Error(fmt::format("{}: expected recorded spaces ({}), found {}", folder, ending_names(),
                            all.empty() ? "an empty folder" : "only " + counted(std::ssize(all), "other file")));
}

std::vector<Records> SpaceFiles::read(const SpaceFile& file, const Reading& reading) {
  try {
    return read_spaces(file.path, reading);
  } catch (const NotRecorded& e) {
    if (!file.in_folder) throw;
    left_out_.add(file.path, e.reason());
    return {};
  }
}

}  // namespace deplo::search
