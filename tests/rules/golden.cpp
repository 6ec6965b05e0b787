#include "rules/golden.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/error.h"
#include "ir/walk.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

std::string fork_line(const Fork& fork) {
  std::vector<Value> sorted = fork.options;
  std::sort(sorted.begin(), sorted.end());
  std::string line = fork.knob + ":";
  for (const Value& option : sorted) line += " " + print(option);
  return line;
}

// Returns whether the line starts with `word`. If so, removes `word` and the space after it.
bool starts(std::string& line, std::string_view word) {
  if (!line.starts_with(word)) return false;
  line.erase(0, std::min(line.size(), word.size() + 1));
  return true;
}

const Choice& pin_for(const Golden& golden, const Fork& fork, std::size_t next) {
  if (next == golden.pins.size() || golden.pins[next].knob != fork.knob)
    throw Error(fmt::format("{}: the fork {} has no pin", golden.path, fork_line(fork)));
  const Choice& pin = golden.pins[next];
  if (std::find(fork.options.begin(), fork.options.end(), pin.value) == fork.options.end())
    throw Error(fmt::format("{}: the pin {} is not among {}", golden.path, print(Trail{pin}), fork_line(fork)));
  return pin;
}

}  // namespace

std::vector<std::string> golden_files(std::string_view rule) {
  const std::filesystem::path folder = fmt::format("{}/tests/golden/{}", DEPLO_SOURCE_DIR, rule);
  std::vector<std::string> files;
  if (std::filesystem::is_directory(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".ir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Golden read_golden(const std::string& path) {
  Golden golden;
  golden.path = path;
  std::istringstream in(read_text(path));
  std::string* part = nullptr;  // the program to which the lines belong; nullptr in the header
  for (std::string line; std::getline(in, line);) {
    if (part == nullptr && line.starts_with("===")) part = &golden.before;
    if (line == "----") {
      part = &golden.after;
    } else if (part != nullptr) {
      *part += line + "\n";
    } else if (starts(line, "#")) {
      golden.comment += line + "\n";
    } else if (starts(line, "target")) {
      golden.target = line;
    } else if (starts(line, "pins")) {
      golden.pins = parse_trail(line);
    } else if (starts(line, "forks")) {
      golden.forks.push_back(line);
    } else {
      throw Error(fmt::format("{}: expected target, pins or forks, found '{}'", path, line));
    }
  }
  return golden;
}

std::string text_of(const Golden& golden) {
  std::string text;
  std::istringstream comment(golden.comment);
  for (std::string line; std::getline(comment, line);) text += "# " + line + "\n";
  text += "target " + golden.target + "\n";
  if (!golden.pins.empty()) text += "pins " + print(golden.pins) + "\n";
  for (const std::string& fork : golden.forks) text += "forks " + fork + "\n";
  return text + golden.before + "----\n" + golden.after;
}

Effect run(const Rule& rule, const Golden& golden) {
  const Target target = load_target(golden.target);
  const ir::Program before = ir::parse(golden.before, {}, golden.path);
  Effect effect;
  Trail pins;
  for (;;) {
    const Verdict verdict = rule.decide(before, target, Pins(pins));
    if (const auto* skip = std::get_if<Skip>(&verdict)) {
      effect.after = "skip: " + skip->reason + "\n";
      break;
    }
    if (const auto* fork = std::get_if<Fork>(&verdict)) {
      if (!declares(rule, *fork)) throw Error(fmt::format("{}: undeclared, {}", golden.path, fork_line(*fork)));
      effect.forks.push_back(fork_line(*fork));
      pins.push_back(pin_for(golden, *fork, pins.size()));
      continue;
    }
    ir::Program after = rule.apply(before, target, Pins(pins));
    ir::renumber_axes(after);
    effect.after = ir::print(after);
    break;
  }
  if (pins.size() != golden.pins.size())
    throw Error(fmt::format("{}: the pin {} is left over", golden.path, golden.pins[pins.size()].knob));
  return effect;
}

}  // namespace deplo::rules
