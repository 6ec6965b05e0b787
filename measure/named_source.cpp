#include "measure/named_source.h"

#include "core/text/text.h"

namespace deplo::measure {

std::string with_file_name(const std::string& text, const std::filesystem::path& file) {
  std::string name;
  for (const char c : printable(file.filename().string())) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  return "#line 1 \"" + name + "\"\n" + text;
}

}  // namespace deplo::measure
