#include "ir/program.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "ir/walk.h"

namespace deplo::ir {

std::string_view name(Level level) {
  switch (level) {
    case Level::loop:
      return "loop";
    case Level::tile:
      return "tile";
    case Level::kernel:
      return "kernel";
  }
  check_failed("level is known", __FILE__, __LINE__);
}

const Buffer* Program::find(std::string_view buffer) const {
  for (const Buffer& b : buffers)
    if (b.name == buffer) return &b;
  return nullptr;
}

namespace {

/// Finds the buffers that a program adds to, and those in which loaded values select the elements to write.
class PartlyWritten {
 public:
  explicit PartlyWritten(const Program& program) : program_(program), found_(program.buffers.size()) {
    for_each(program.body, [&](const Stmt& stmt) {
      for_each_name(stmt, [&](Use use, const std::string& name) {
        if (use == Use::defines) values_.insert(name);
      });
    });
    walk(program.body, false);
  }
  const std::vector<bool>& found() const { return found_; }

 private:
  void walk(const Body& body, bool chosen) {
    const auto is_value = [&](const std::string& name) { return values_.contains(name); };
    const auto names_value = [&](const Expr& e) { return std::ranges::any_of(variables(e), is_value); };
    for (const Stmt& stmt : body) {
      if (const auto* write = stmt.as<Write>();
          write != nullptr && (chosen || adds(write->mode) || std::ranges::any_of(write->index, names_value)))
        mark(write->buffer);
      const auto* condition = stmt.as<If>();
      const bool by_value = condition != nullptr && names_value(condition->condition);
      if (const Body* inner = inner_body(stmt)) walk(*inner, chosen || by_value);
    }
  }
  void mark(const std::string& buffer) {
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (program_.buffers[i].name == buffer) found_[i] = true;
  }

  const Program& program_;
  std::set<std::string> values_;  // collected once, because kernels of long rows have thousands of writes
  std::vector<bool> found_;       // index: the buffer's number
};

}  // namespace

std::vector<std::size_t> zeroed_buffers(const Program& program) {
  const PartlyWritten written(program);
  const std::vector<bool>& found = written.found();
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i]) result.push_back(i);
  return result;
}

}  // namespace deplo::ir
