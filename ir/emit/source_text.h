// The indented lines of the source. Private to ir/emit.
#pragma once
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace deplo::ir {

/// `line` concatenates strings, and `print` formats. Use `line` where many lines arise: a schedule with large register
/// tiles has hundreds of lines, and emitting them costs about as much as its rules.
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
