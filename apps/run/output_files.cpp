#include "apps/run/output_files.h"

#include <fmt/format.h>

#include "apps/cli/write_file.h"
#include "core/error.h"
#include "ir/torch/pt2/zip.h"

namespace deplo::apps {

OutputFiles::OutputFiles(const std::optional<std::string>& path) : path_(path.value_or("")) {
  if (is_archive())
    expect_no_store(path_);
  else if (path_.ends_with(".npy"))
    throw Error(fmt::format("--outputs: expected a folder or FILE.npz, found '{}'", path_));
  else if (wanted())
    make_folder(path_, "--outputs");
}

void OutputFiles::add(const std::string& name, std::string bytes) {
  if (!wanted()) return;
  if (is_archive())
    entries_.emplace_back(name + ".npy", std::move(bytes));
  else
    write_file(path_ + "/" + name + ".npy", bytes);
}

void OutputFiles::finish() {
  if (is_archive()) write_file(path_, ir::torch::zipped(entries_));
}

}  // namespace deplo::apps
