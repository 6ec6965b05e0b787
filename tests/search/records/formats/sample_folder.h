// The folders with small files of each format: tests/data/recorded/FOLDER.
#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace deplo::search {

/// Returns the folder of a format: "ktt_xml" for "KTT XML".
inline std::string sample_folder(std::string_view format) {
  std::string folder(format);
  std::ranges::transform(folder, folder.begin(),
                         [](unsigned char c) { return std::isalnum(c) ? std::tolower(c) : '_'; });
  return folder;
}

}  // namespace deplo::search
