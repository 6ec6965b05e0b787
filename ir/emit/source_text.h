// Private to ir/emit: the lines of the source, indented.
#pragma once
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace deplo::ir {

/// A schedule with large register tiles has hundreds of lines, which cost about as much as its rules: `line` joins
/// strings, `print` formats.
class SourceText {
 protected:
  void line(std::initializer_list<std::string_view> parts) {
    out_.append(2 * static_cast<std::size_t>(indent_), ' ');
    for (const std::string_view part : parts) out_ += part;
    out_ += '\n';
  }
  void line(std::string_view text) { line({text}); }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    line(fmt::format(format, std::forward<Args>(args)...));
  }

  std::string out_;
  int indent_ = 0;
};

}  // namespace deplo::ir
