// The recorded spaces that a user names: files, and folders of files.
#pragma once
#include <string>
#include <vector>

#include "search/records/formats/left_out.h"
#include "search/records/formats/read.h"

namespace deplo::search {

struct SpaceFile {
  std::string path;
  bool in_folder = false;  // the user named its folder, so the file need not be a recorded space
};

/// Reads the files that the user names, and those in the folders that the user names.
class SpaceFiles {
 public:
  /// A folder stands for the files in it and in its subfolders that have a record's ending (parts/unpack.h), packed
  /// (.gz) or not, or end in .zip. The files are in the order of their paths; a file that is named twice appears once.
  /// Four kinds are not among files(): hidden files; NAME.T1.json and NAME.meta.jsonl next to NAME.csv, which are read
  /// with it; NAME_T4 next to NAME, which is the same space; and files with other endings, which left_out() names.
  /// Throws Error if a folder cannot be read or has no such file.
  explicit SpaceFiles(const std::vector<std::string>& paths);

  const std::vector<SpaceFile>& files() const& { return files_; }
  /// read_spaces() of the file. If a file from a folder is not a recorded space, returns nothing and adds it to
  /// left_out().
  std::vector<Records> read(const SpaceFile&, const Reading& = {});
  /// The files that were left out so far.
  const LeftOut& left_out() const { return left_out_; }

 private:
  void add_folder(const std::string& folder);

  std::vector<SpaceFile> files_;
  LeftOut left_out_;
};

}  // namespace deplo::search
