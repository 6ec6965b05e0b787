#include "measure/cuda/sass/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/text/split.h"
#include "core/text/text.h"

namespace deplo::measure::cuda::sass {
namespace {

constexpr std::string_view space = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of(space), text.size());
  text.remove_prefix(start);
  return text.substr(0, text.find_last_not_of(space) + 1);
}

/// Removes the first word from the text and returns it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(space));
  text = trim(text.substr(word.size()));
  return word;
}

bool is_opcode(std::string_view word) {
  const auto legal = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_'; };
  return !word.empty() && word[0] >= 'A' && word[0] <= 'Z' &&
         std::ranges::all_of(word, [&](char c) { return legal(c) || (c >= 'a' && c <= 'z'); });
}

class Reader {
 public:
  Listing read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      ++number_;
      read_line(line);
    }
    if (listing_.functions.empty()) fail("machine code, as `nvdisasm --print-code` prints it", "none");
    for (Function& function : listing_.functions) leave_out_padding(function);
    for (const Function& function : listing_.functions) check_labels(function);
    return std::move(listing_);
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    throw Error(fmt::format("nvdisasm, line {}: expected {}, found {}", number_, expected, printable(cut(found, 60))));
  }

  void read_line(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.empty() || text.starts_with("//")) return;
    if (line.front() != ' ' && line.front() != '\t' && text.ends_with(':'))
      read_label(text.substr(0, text.size() - 1));
    else if (text.starts_with("/*"))
      read_instruction(text);
    else if (text.starts_with('.'))
      read_directive(text);
    else
      fail("a label, a directive or an instruction", text);
  }

  void read_directive(std::string_view text) {
    const std::string_view name = take_word(text);
    if (name == ".target") listing_.architecture = text.substr(0, text.find_first_of(", \t"));
    if (const std::size_t comma = text.find(','); name == ".type" && trim(text.substr(comma + 1)) == "@function")
      functions_.emplace(trim(text.substr(0, comma)));
  }

  void read_label(std::string_view name) {
    if (functions_.contains(name)) {
      listing_.functions.push_back({std::string(name), {}, {}});
      return;
    }
    if (listing_.functions.empty() || name.starts_with(".text.")) return;
    Function& function = listing_.functions.back();
    function.labels.emplace_back(name, function.instructions.size());
  }

  // Reads a line such as `/*0050*/ @P1 BRA `(.L_x_1) ;`. The encoding may follow, if nvdisasm was asked for it.
  void read_instruction(std::string_view text) {
    const std::size_t start = text.find("*/");
    const std::size_t end = text.find(';');
    if (start == std::string_view::npos) fail("*/ after the address of an instruction", text);
    if (end == std::string_view::npos || end < start) fail("; at the end of an instruction", text);
    if (listing_.functions.empty()) fail("a function's name before its first instruction", text);
    std::string_view rest = trim(text.substr(start + 2, end - start - 2));
    Instruction instruction;
    if (rest.starts_with('@')) instruction.guard = take_word(rest);
    instruction.opcode = take_word(rest);
    if (!is_opcode(instruction.opcode)) fail("an opcode", text);
    instruction.operands = rest;
    instruction.line = number_;
    listing_.functions.back().instructions.push_back(std::move(instruction));
  }

  // Removes the padding after the code: NOPs and a branch to itself, which are never reached.
  static void leave_out_padding(Function& function) {
    auto& all = function.instructions;
    while (!all.empty() && all.back().opcode == "NOP") all.pop_back();
    if (!all.empty() && all.back().guard.empty() && all.back().opcode == "BRA") {
      const std::vector<std::string> names = mentioned(all.back());
      const auto itself = [&](const auto& label) {
        return label.second + 1 == all.size() && names == std::vector{label.first};
      };
      if (std::ranges::any_of(function.labels, itself)) all.pop_back();
    }
    std::erase_if(function.labels, [&](const auto& label) { return label.second > all.size(); });
  }

  void check_labels(const Function& function) {
    std::set<std::string_view> names;
    for (const Function& other : listing_.functions) names.insert(other.name);
    for (const auto& [name, at] : function.labels)
      if (!names.insert(name).second) fail("each label once", name);
    for (const Instruction& instruction : function.instructions)
      for (const std::string& name : mentioned(instruction))
        if (number_ = instruction.line; !names.contains(name)) fail("a label of " + function.name, name);
  }

  Listing listing_;
  std::set<std::string, std::less<>> functions_;
  std::size_t number_ = 0;
};

/// Returns operands without the quotes around labels: "`(.L_x_1)" becomes ".L_x_1".
std::string unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; (at = text.find("`(")) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(')', at), text.size());
    plain.append(text.substr(0, at)).append(text.substr(at + 2, end - at - 2));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return plain.append(text);
}

}  // namespace

bool Instruction::has_modifier(std::string_view name) const {
  for (std::size_t at = opcode.find('.'); at != std::string::npos;) {
    const std::size_t end = opcode.find('.', at + 1);
    if (std::string_view(opcode).substr(at + 1, end - at - 1) == name) return true;
    at = end;
  }
  return false;
}

Listing parse_listing(std::string_view text) { return Reader().read(text); }

std::string print(const Listing& listing) {
  std::string text;
  for (const Function& function : listing.functions) {
    text += function.name + ":\n";
    auto label = function.labels.begin();
    for (std::size_t i = 0; i < function.instructions.size(); ++i) {
      for (; label != function.labels.end() && label->second == i; ++label) text += label->first + ":\n";
      const Instruction& one = function.instructions[i];
      text +=
          fmt::format("{:>7} {}{}{}\n", one.guard, one.opcode, one.operands.empty() ? "" : " ", unquoted(one.operands));
    }
  }
  return text;
}

std::vector<std::string> mentioned(const Instruction& instruction) {
  std::vector<std::string> names;
  const std::string_view text = instruction.operands;
  for (std::size_t at = 0; (at = text.find("`(", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find(')', at), text.size());
    names.emplace_back(text.substr(at + 2, end - at - 2));
    at = end;
  }
  return names;
}

}  // namespace deplo::measure::cuda::sass
