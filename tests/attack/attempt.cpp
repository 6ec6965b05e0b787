#include "attack/attempt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>

#include "apps/cli/cli.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_lines = 4;        // lines on the error stream: the error, and warnings before it
constexpr std::size_t longest_line = 1200;  // bytes in one line; a dozen lines of a terminal

void limit_seconds(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  CHECK(setitimer(ITIMER_PROF, &timer, nullptr) == 0);
}

/// Returns the peak resident memory since the last call of forget_peak(), in bytes; 0 if the system does not tell.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  return 0;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

bool is_control(char c) { return (static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t') || c == 127; }

/// Returns what a user would object to in the exit code and the output of a command; "" if nothing.
std::string complaint(int code, const std::string& out, const std::string& err) {
  if (code < 0 || code > 2) return fmt::format("exit code {}", code);
  if (code != 0 && err.empty() && out.empty()) return "refused without a word";
  if (static_cast<std::size_t>(std::ranges::count(err, '\n')) > max_lines) return "many lines on the error stream";
  std::size_t begin = 0;
  for (std::size_t end = err.find('\n'); end != std::string::npos; begin = end + 1, end = err.find('\n', begin))
    if (end - begin > longest_line) return fmt::format("a message of {} bytes", end - begin);
  for (const std::string* said : {&out, &err})
    if (std::ranges::any_of(*said, is_control)) return "control characters reach the terminal";
  return "";
}

struct Runner {
  const Kind& kind;
  const Seed& seed;
  const std::string& bytes;
  const fs::path& folder;
  const Streams& streams;
  Verdict verdict = {};
  bool accepted = false;

  fs::path file() const { return folder / seed.name; }

  void fail(End end, const std::string& reader, const std::string& what) {
    if (verdict.end != End::refused) return;  // only the first failure counts
    std::string text = fmt::format("{}: {}", reader, what).substr(0, 1000);
    std::ranges::replace_if(text, is_control, '?');
    std::ranges::replace(text, '\n', ' ');
    verdict.end = end;
    verdict.text = text;
  }

  std::string replaced(const std::string& word) const {
    if (word == "FILE") return file();
    if (word == "OUT") return folder / "out";
    if (word == "TEXT") return std::string(bytes.c_str());  // an argument ends at the first NUL
    if (word == "COPY" || word == "GOOD") {
      const fs::path other = folder / (word + "." + seed.name);
      write_bytes(other, word == "COPY" ? bytes : kind.seeds.front().bytes);
      return other;
    }
    return word;
  }

  void run(const Command& command) {
    std::vector<std::string> words{"deplo"};
    for (const std::string& word : command.words) words.push_back(replaced(word));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string reader = fmt::format("deplo {}", fmt::join(command.words, " "));
    int code = 0;
    guarded(reader, [&] { code = apps::run_program(static_cast<int>(words.size()), arguments.data(), false); });
    accepted |= code == 0;
    if (const std::string fault = complaint(code, streams.out(), streams.err()); !fault.empty())
      fail(End::unclear, reader, fmt::format("{}: {}", fault, streams.err()));
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path() != file()) fs::remove_all(entry.path());
  }

  void check() {
    std::string fault;
    guarded("check", [&] {
      try {
        fault = seed.check(file());
        accepted = true;
      } catch (const Error&) {
      }
    });
    if (!fault.empty()) fail(End::wrong, "check", fault);
  }

  template <class F>
  void guarded(const std::string& reader, const F& f) {
    streams.clear();
    forget_peak();
    limit_seconds(max_seconds);
    const std::clock_t begin = std::clock();
    try {
      f();
    } catch (const std::exception& exception) {
      fail(End::crashed, reader, fmt::format("nobody catches: {}", exception.what()));
    }
    limit_seconds(0);
    std::cout.flush();
    std::fflush(nullptr);
    verdict.seconds = std::max(verdict.seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    const double peak = peak_bytes();
    verdict.bytes = std::max(verdict.bytes, peak);
    if (peak > max_bytes) fail(End::memory, reader, fmt::format("{:.0f} MB", peak * 1e-6));
    if (!kind.may_change && (!fs::exists(file()) || read_bytes(file()) != bytes))
      fail(End::lost, reader, "the file was written to");
  }
};

}  // namespace

Streams::Streams() : out_(memfd_create("out", MFD_CLOEXEC)), err_(memfd_create("err", MFD_CLOEXEC)) {
  CHECK(out_ >= 0 && err_ >= 0);
}

void Streams::take_over() const { CHECK(dup2(out_, STDOUT_FILENO) >= 0 && dup2(err_, STDERR_FILENO) >= 0); }

void Streams::clear() const {
  for (const int file : {out_, err_}) CHECK(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
}

std::string Streams::read(int file) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(file, 0, SEEK_END), 0)), '\0');
  CHECK(pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  return text;
}

Verdict attempt(const Kind& kind, const Seed& seed, const std::string& bytes, Rng& rng, const fs::path& folder,
                const Streams& streams, bool every, const std::function<void(const std::string&)>& reader) {
  Runner runner{kind, seed, bytes, folder, streams};
  write_bytes(runner.file(), bytes);
  for (const Command& command : seed.commands) {
    const bool chosen = rng.below(static_cast<std::uint64_t>(command.one_in)) == 0;
    if (!chosen && !every) continue;
    reader(fmt::format("deplo {}", fmt::join(command.words, " ")));
    runner.run(command);
  }
  if (seed.check) {
    reader("check");
    runner.check();
  }
  fs::remove(runner.file());
  if (runner.verdict.end == End::refused && runner.accepted) runner.verdict.end = End::accepted;
  return std::move(runner.verdict);
}

}  // namespace deplo::attack
