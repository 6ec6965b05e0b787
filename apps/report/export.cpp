#include "apps/report/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <tuple>

#include "apps/cli/write_file.h"
#include "apps/report/paint.h"
#include "core/error.h"

namespace deplo::apps::report {
namespace {

namespace fs = std::filesystem;

// Returns the text in lower-case ASCII letters and digits. Each run of other characters becomes one '-'.
std::string slug(const std::string& text) {
  constexpr std::size_t longest = 80;  // bytes; file systems allow 255 for a name
  std::string out;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z', plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (upper || plain)
      out += upper ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
    if (out.size() == longest) break;
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

/// Returns distinct names for the plots' files, without an extension.
std::vector<std::string> file_names(const std::vector<Plot>& plots) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const Plot& plot : plots) {
    const std::string subject = slug(plot.subject),
                      wanted = subject.empty() ? plot.figure.name : subject + "-" + plot.figure.name;
    std::string name = wanted;
    for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}-{}", wanted, number);
    names.push_back(name);
  }
  return names;
}

fs::path make_folder(const std::string& folder) {
  std::error_code error, ignored;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, ignored))
    throw Error(fmt::format("{}: cannot create the folder: {}", folder, error ? error.message() : "it is a file"),
                Exit::environment);
  return folder;
}

}  // namespace

void write_report(const Page& page, const ReportFiles& files) {
  if (!files.html.empty()) write_file(files.html, page.html());
  const auto write_svg = [](const Picture& picture, const std::string& file) { write_file(file, picture.svg); };
  using Write = std::function<void(const Picture&, const std::string&)>;
  const std::vector<std::string> names = file_names(page.all_plots());
  for (const auto& [folder, extension, write] :
       {std::tuple<std::string, const char*, Write>{files.svg_folder, ".svg", write_svg},
        {files.png_folder, ".png", write_png},
        {files.pdf_folder, ".pdf", write_pdf}}) {
    if (folder.empty()) continue;
    const fs::path into = make_folder(folder);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [subject, figure] = page.all_plots()[i];
      write(standalone(figure, subject), (into / (names[i] + extension)).string());
    }
  }
}

}  // namespace deplo::apps::report
