// The indented lines of the source. Private to ir/emit.
#pragma once
#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace deplo::ir::emitter {

/// `line` concatenates strings, and `print` formats. Use `line` for statements that produce many lines: a schedule with
/// large register tiles has hundreds of lines, and emitting them costs about as much as its rules.
class SourceText {
 public:
  void line(std::initializer_list<std::string_view> parts) {
    text_.append(2 * static_cast<std::size_t>(depth_), ' ');
    for (const std::string_view part : parts) text_ += part;
    text_ += '\n';
  }
  void line(std::string_view text) { line({text}); }
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    line(fmt::format(format, std::forward<Args>(args)...));
  }
  /// Indents the following lines. The line before must have the opening brace; end() writes the closing one.
  void indent() { ++depth_; }
  void end() {
    --depth_;
    line("}");
  }
  void reserve(std::size_t bytes) { text_.reserve(bytes); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace deplo::ir::emitter
