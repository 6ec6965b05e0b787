// Damages files of every kind that deplo reads, and checks what deplo does with them: see `attack_inputs --help`.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "attack/attempt.h"
#include "attack/kinds.h"

#ifdef __SANITIZE_ADDRESS__
// Requests for too much memory fail, as they do without a sanitizer.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1:detect_leaks=0:max_allocation_size_mb=8192";
}
#endif

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* help =
    R"(attack_inputs: gives damaged files of eight kinds to their readers (docs/measurement.md, "Attacks").
  --cases N      use N files in total [3000]; the first of each kind are not damaged
  --seconds N    stop after N seconds [no limit]
  --jobs N       use N processes [2]
  --seed N       the same seed damages the same files in the same way [1]
  --keep FOLDER  keep each file that revealed a fault in this folder [attack_findings]
  --kind NAME    use only this kind: pt2, loop, yaml, recorded, store, text, tile or ptx
  --case N       with --kind: run only case N, and print all messages
  --file FILE    with --kind: use this file, and do not damage it
Exit code 1: a fault was found. Each fault is a line: its kind, seed, case and description.
)";

struct Options {
  std::uint64_t cases = 3000, seed = 1;
  std::int64_t seconds = 1'000'000'000, jobs = 2, only = -1;
  fs::path keep = "attack_findings", file;
  std::string kind;
};

[[noreturn]] void usage(const std::string& message) {
  std::fprintf(stderr, "attack_inputs: %s\n%s", message.c_str(), help);
  std::exit(2);
}

template <class Number>
void read_number(const char* text, Number& number) {
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  if (error != std::errc() || *end != '\0' || number < 0) usage(fmt::format("expected a number, found '{}'", text));
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help") {
      std::fputs(help, stdout);
      std::exit(0);
    }
    if (i + 1 == argc) usage(fmt::format("expected a flag and its value, found '{}'", flag));
    const char* const value = argv[++i];
    if (flag == "--cases")
      read_number(value, options.cases);
    else if (flag == "--seconds")
      read_number(value, options.seconds);
    else if (flag == "--jobs")
      read_number(value, options.jobs);
    else if (flag == "--seed")
      read_number(value, options.seed);
    else if (flag == "--case")
      read_number(value, options.only);
    else if (flag == "--keep")
      options.keep = value;
    else if (flag == "--kind")
      options.kind = value;
    else if (flag == "--file")
      options.file = fs::absolute(value);
    else
      usage(fmt::format("unknown flag '{}'", flag));
  }
  if (options.kind.empty() && (options.only >= 0 || !options.file.empty()))
    usage("expected --kind with --case or --file");
  options.jobs = std::clamp<std::int64_t>(options.jobs, 1, 64);
  options.keep = fs::absolute(options.keep);
  return options;
}

template <class T>
T* share() {
  void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  return new (memory) T;
}

/// State that a job shares with its child processes, so that the state outlives a child.
struct Shared {
  struct Row {
    std::array<std::uint64_t, end_names.size()> ends{};
    double seconds = 0, bytes = 0;
  };
  std::uint64_t number = 0;        // number of the current case
  bool done = false;               // no case is left
  std::array<char, 300> reader{};  // name of the reader that runs
  std::array<Row, 8> rows{};       // one row per kind
};

class Job {
 public:
  Job(const Options& options, const std::vector<Kind>& kinds, std::int64_t number, Clock::time_point end,
      std::atomic<std::uint64_t>& next)
      : options_(options),
        kinds_(kinds),
        folder_(fs::temp_directory_path() / fmt::format("deplo_attack_{}_{}", getpid(), number)),
        end_(end),
        next_(next),
        shared_(share<Shared>()) {}
  ~Job() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Starts a child, or checks on the one that runs. Returns false if all cases are done.
  bool look() {
    if (child_ == 0) {
      if (shared_->done) return false;
      start();
      return true;
    }
    int status = 0;
    if (waitpid(child_, &status, WNOHANG) == 0) {
      // A child that waits for a lock or a pipe uses no CPU time, so its own limit does not end it: kill it after a
      // while.
      if (seen_ != shared_->number) {
        seen_ = shared_->number;
        changed_ = Clock::now();
      } else if (Clock::now() - changed_ > std::chrono::seconds(20 * max_seconds)) {
        kill(child_, SIGPROF);
      }
      return true;
    }
    child_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) bury(status);
    return true;
  }

  const Shared& shared() const { return *shared_; }
  const Kind& kind_of(std::uint64_t number) const { return kinds_[number % kinds_.size()]; }

 private:
  static constexpr int cases_of_a_child = 200;  // then a new child starts, so that nothing piles up

  void start() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "home");
    fs::create_directories(folder_ / "case");
    changed_ = Clock::now();
    std::fflush(nullptr);
    child_ = fork();
    CHECK(child_ >= 0);
    if (child_ > 0) return;
    be_child();
    _exit(0);
  }

  void be_child() {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
#ifndef __SANITIZE_ADDRESS__
    const rlimit memory{rlim_t{8} << 30, rlim_t{8} << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    setenv("HOME", (folder_ / "home").c_str(), 1);
    setenv("XDG_CACHE_HOME", (folder_ / "home").c_str(), 1);
    report_ = dup(STDOUT_FILENO);
    fs::current_path(folder_ / "home");
    streams_.take_over();
    const bool one = options_.only >= 0 || !options_.file.empty();
    for (int i = 0; i < cases_of_a_child && !shared_->done; ++i) {
      shared_->number = one ? static_cast<std::uint64_t>(std::max<std::int64_t>(options_.only, 0)) * kinds_.size()
                            : next_.fetch_add(1);
      shared_->done = one || shared_->number >= options_.cases || Clock::now() > end_;
      if (one)
        try_one();
      else if (!shared_->done)
        try_case();
    }
  }

  struct Damaged {
    const Seed& seed;
    std::string bytes;
    Rng rng;             // chooses the readers
    bool sound = false;  // the bytes are not damaged, so all readers run
  };
  Damaged damaged(std::uint64_t number) const {
    const Kind& kind = kind_of(number);
    Rng rng(Rng(options_.seed * 31 + checksum_of(kind.name)).next() + number / kinds_.size());
    // The first cases are the seeds, which must be accepted.
    if (const std::uint64_t first = number / kinds_.size(); first < kind.seeds.size())
      return {kind.seeds[first], kind.seeds[first].bytes, rng, true};
    const Seed& seed = kind.seeds[rng.below(kind.seeds.size())];
    const Seed& other = kind.seeds[rng.below(kind.seeds.size())];
    std::string bytes = kind.damage(seed, other.bytes, rng, folder_);
    return {seed, std::move(bytes), rng};
  }
  static std::uint64_t checksum_of(const std::string& name) {
    std::uint64_t sum = 0;
    for (const char c : name) sum = sum * 131 + static_cast<unsigned char>(c);
    return sum;
  }

  Verdict try_bytes(Damaged& damaged, bool every) {
    return attempt(kind_of(shared_->number), damaged.seed, damaged.bytes, damaged.rng, folder_ / "case", streams_,
                   every, [&](const std::string& reader) {
                     const std::size_t size = std::min(reader.size(), shared_->reader.size() - 1);
                     std::copy_n(reader.begin(), size, shared_->reader.begin());
                     shared_->reader[size] = '\0';
                   });
  }

  void try_case() {
    Damaged file = damaged(shared_->number);
    Verdict verdict = try_bytes(file, file.sound);
    if (file.sound && verdict.end == End::refused) {
      verdict.end = End::wrong;
      verdict.text = "a sound file is refused";
    }
    Shared::Row& row = shared_->rows[shared_->number % kinds_.size()];
    row.seconds = std::max(row.seconds, verdict.seconds);
    row.bytes = std::max(row.bytes, verdict.bytes);
    count(verdict.end, verdict.text, file);
  }

  // Runs the case of --case or --file, and prints the output of each reader.
  void try_one();

  void count(End end, const std::string& text, const Damaged& file) {
    ++shared_->rows[shared_->number % kinds_.size()].ends[static_cast<std::size_t>(end)];
    if (end == End::accepted || end == End::refused) return;
    fs::create_directories(options_.keep);
    const std::string name = fmt::format("{}-{}-{}-{}", kind_of(shared_->number).name, options_.seed,
                                         shared_->number / kinds_.size(), file.seed.name);
    write_bytes(options_.keep / name, file.bytes);
    say(fmt::format("{:9}{}: {}\n", end_names[static_cast<std::size_t>(end)], name, text));
  }
  void say(const std::string& line) const {
    [[maybe_unused]] const auto written = write(report_ < 0 ? STDOUT_FILENO : report_, line.data(), line.size());
  }

  /// Reports that the child died, during its case or between two cases.
  void bury(int status) {
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    std::string said = streams_.err();
    said = said.substr(0, 600);
    std::ranges::replace(said, '\n', ' ');
    const std::string how = signal == 0 ? fmt::format("exit code {}", WEXITSTATUS(status)) : strsignal(signal);
    const std::string text = fmt::format("{}: {} {}", shared_->reader.data(), how, said);
    if (options_.file.empty())
      count(signal == SIGPROF ? End::hung : End::crashed, text, damaged(shared_->number));
    else
      say(fmt::format("--- {}\n", text));
  }

  const Options& options_;
  const std::vector<Kind>& kinds_;
  fs::path folder_;
  Clock::time_point end_;
  std::atomic<std::uint64_t>& next_;  // number of the next case; shared by all jobs
  Streams streams_;
  Shared* shared_;
  pid_t child_ = 0;
  int report_ = -1;  // the real standard output, in a child
  std::uint64_t seen_ = 0;
  Clock::time_point changed_;
};

void Job::try_one() {
  const Kind& kind = kinds_.front();
  const auto seed = std::ranges::find_if(
      kind.seeds, [&](const Seed& s) { return options_.file.filename().string().ends_with(s.name); });
  if (!options_.file.empty() && seed == kind.seeds.end()) {
    say(fmt::format("expected a file whose name ends as one of the kind's does, such as {}\n", kind.seeds[0].name));
    return;
  }
  Damaged file = options_.file.empty() ? damaged(shared_->number) : Damaged{*seed, read_bytes(options_.file), Rng(0)};
  say(fmt::format("{} bytes of {}\n", file.bytes.size(), file.seed.name));
  // Run one reader at a time, so that its output can be printed.
  for (std::size_t i = 0; i <= file.seed.commands.size(); ++i) {
    Seed one{file.seed.name, "", {}, {}};
    if (i < file.seed.commands.size())
      one.commands = {file.seed.commands[i]};
    else if (file.seed.check)
      one.check = file.seed.check;
    else
      break;
    Damaged same{one, file.bytes, file.rng};
    const Verdict verdict = try_bytes(same, true);
    say(fmt::format("--- {}: {} {} ({:.3f} s, {:.0f} MB)\n{}{}", shared_->reader.data(),
                    end_names[static_cast<std::size_t>(verdict.end)], verdict.text, verdict.seconds,
                    verdict.bytes * 1e-6, streams_.out().substr(0, 2000), streams_.err().substr(0, 2000)));
    if (verdict.end != End::accepted && verdict.end != End::refused) count(verdict.end, verdict.text, file);
  }
}

std::vector<Kind> all_kinds(const std::string& only) {
  std::vector<Kind> kinds;
  for (const auto& [name, make] : {std::pair("pt2", &exported_programs),
                                   {"loop", &loop_kernels},
                                   {"yaml", &yaml_files},
                                   {"recorded", &recorded_spaces},
                                   {"store", &stores},
                                   {"text", &texts},
                                   {"tile", &tile_programs},
                                   {"ptx", &ptx_modules}})
    if (only.empty() || only == name) kinds.push_back(make());
  if (kinds.empty())
    usage(fmt::format("expected pt2, loop, yaml, recorded, store, text, tile or ptx, found '{}'", only));
  std::erase_if(kinds, [](const Kind& kind) { return kind.seeds.empty(); });
  return kinds;
}

/// Prints how the cases of each kind ended. Returns true if nothing was found.
bool print_table(const std::vector<Kind>& kinds, const std::vector<std::unique_ptr<Job>>& jobs) {
  std::string text = fmt::format("{:9}{:>9}", "kind", "tried");
  for (const std::string_view name : end_names) text += fmt::format("{:>9}", name);
  text += fmt::format("{:>12}{:>12}\n", "slowest (s)", "most (MB)");
  std::array<std::uint64_t, end_names.size()> all{};
  std::uint64_t tried = 0;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Shared::Row sum;
    for (const auto& job : jobs) {
      const Shared::Row& row = job->shared().rows[k];
      for (std::size_t e = 0; e < sum.ends.size(); ++e) sum.ends[e] += row.ends[e];
      sum.seconds = std::max(sum.seconds, row.seconds);
      sum.bytes = std::max(sum.bytes, row.bytes);
    }
    std::uint64_t count = 0;
    for (const std::uint64_t each : sum.ends) count += each;
    tried += count;
    text += fmt::format("{:9}{:>9}", kinds[k].name, count);
    for (std::size_t e = 0; e < sum.ends.size(); ++e) {
      text += fmt::format("{:>9}", sum.ends[e]);
      all[e] += sum.ends[e];
    }
    text += fmt::format("{:>12.2f}{:>12.0f}\n", sum.seconds, sum.bytes * 1e-6);
  }
  text += fmt::format("{:9}{:>9}", "all", tried);
  for (const std::uint64_t each : all) text += fmt::format("{:>9}", each);
  const auto count_of = [&](End end) { return all[static_cast<std::size_t>(end)]; };
  text += fmt::format("\n{:36} {:>7} {:>7} {:>7} {:>7} {:>7}", "damaged files", tried, count_of(End::lost), 0,
                      count_of(End::wrong) + count_of(End::unclear),
                      count_of(End::hung) + count_of(End::memory) + count_of(End::crashed));
  std::printf("%s\n", text.c_str());
  return all[0] + all[1] == tried;
}

int run(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  const std::vector<Kind> kinds = all_kinds(options.kind);
  if (kinds.empty()) {
    std::fprintf(stderr, "attack_inputs: nothing to damage: PTX needs NVRTC\n");
    return 0;
  }
  const bool one = options.only >= 0 || !options.file.empty();
  const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
  auto& next = *share<std::atomic<std::uint64_t>>();
  std::vector<std::unique_ptr<Job>> jobs;
  for (std::int64_t i = 0; i < (one ? 1 : options.jobs); ++i)
    jobs.push_back(std::make_unique<Job>(options, kinds, i, end, next));
  for (bool busy = true; busy;) {
    busy = false;
    for (const auto& job : jobs) busy |= job->look();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (one) return 0;
  return print_table(kinds, jobs) ? 0 : 1;
}

}  // namespace

std::string read_bytes(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream << bytes;
  if (!stream.flush()) throw Error(fmt::format("{}: {}", file.string(), std::strerror(errno)), Exit::environment);
}

}  // namespace deplo::attack

int main(int argc, char** argv) { return deplo::attack::run(argc, argv); }
