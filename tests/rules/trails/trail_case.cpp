#include "rules/trails/trail_case.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/rng.h"
#include "ir/emit/emit.h"
#include "ir/interpret/proof.h"
#include "ir/tile_program/text/text.h"
#include "rules/blocks/block_kernel.h"
#include "rules/blocks/drawn_trail.h"
#include "rules/cost/resources.h"
#include "rules/lower.h"
#include "rules/trails/tile_case.h"

namespace deplo::rules {

namespace tp = ir::tile_program;

namespace {

constexpr unsigned max_seconds = 30;  // time limit of one case

Target target_of(const TrailCase& c) {
  Target target = load_target(c.target);
  if (target.stream_bytes > 0) target.stream_bytes = 1;  // no drawn output is larger than a real cache
  if (c.tight == 0) return target;
  target.max_threads = std::min<std::int64_t>(target.max_threads, c.tight == 1 ? 256 : 64);
  target.shared_bytes = c.tight == 1 ? 4096 : 1024;
  target.register_floats = c.tight == 1 ? 32 : target.cpu ? 48 : 8;
  if (!target.cpu) target.units = 2;  // two units run fewer blocks at a time than most grids have
  return target;
}

std::size_t pick(const Fork& fork, const TrailCase& c, std::optional<Rng>& rng) {
  if (rng) return rng->below(100) < c.lazy ? 0 : rng->below(fork.options.size());
  const auto wanted =
      std::find_if(c.wanted.begin(), c.wanted.end(), [&](const Choice& w) { return w.knob == fork.knob; });
  if (wanted == c.wanted.end()) return 0;
  const auto found = std::find(fork.options.begin(), fork.options.end(), wanted->value);
  return found == fork.options.end() ? 0 : static_cast<std::size_t>(found - fork.options.begin());
}

/// Lowers the loop with the case's choices. Calls `on_choice` before each choice is taken.
Lowering lower(const TrailCase& c, const ir::Program& loop, const Target& target,
               const std::function<void(const Choice&)>& on_choice, Lowering::Observer observer = {}) {
  std::optional<Rng> rng;
  if (c.seed != 0) rng.emplace(c.seed);
  Lowering lowering(loop, target, std::move(observer));
  while (const auto& fork = lowering.fork()) {
    const std::size_t option = pick(*fork, c, rng);
    on_choice({fork->knob, fork->options.at(option)});
    lowering.choose(option);
  }
  return lowering;
}

std::string check_text(const ir::Program& program) {
  const std::string text = ir::print(program);
  if (const std::string violation = ir::verify(program); !violation.empty())
    return "verify: " + violation + "\n" + text;
  if (ir::parse(text) != program) return "the text does not read back\n" + text;
  return "";
}

/// Returns "" if each program computes what `loop` computes, in floating point and in exact arithmetic, and the
/// interpreter reports no error. Otherwise returns the problem.
std::string check_meaning(const ir::Program& loop, const ir::Memory& memory,
                          const std::vector<const ir::Program*>& programs, const Target& target, std::uint64_t seed) {
  const ir::Memory expected = result(loop, memory);
  for (const ir::Program* program : programs) {
    const ir::Limits limits{.shared_bytes = target.shared_bytes, .seed = seed};
    std::string wrong;
    try {
      wrong = difference(loop, expected, result(*program, memory, limits));
      // A proof takes as long as a run in floating point. So only the last program is proved, in every second case.
      if (wrong.empty() && program == programs.back() && seed % 2 == 0)
        wrong = ir::Proof(loop, memory, seed).difference(*program, limits);
    } catch (const Error& e) {
      wrong = e.what();
    }
    if (!wrong.empty())
      return fmt::format("{} IR means something else: {}\n{}", name(program->level), wrong, print(*program));
  }
  return "";
}

/// Returns "" if no barrier of the block directly follows another one, otherwise the problem.
std::string check_barriers(const ir::Program& kernel) {
  bool repeated = false;
  const auto look = [&](const ir::Body& body) {
    for (std::size_t i = 1; i < body.size(); ++i)
      repeated |= body[i].as<ir::Sync>() != nullptr && body[i - 1].as<ir::Sync>() != nullptr;
  };
  look(kernel.body);
  ir::for_each(kernel.body, [&](const ir::Stmt& stmt) {
    if (const ir::Body* inner = ir::inner_body(stmt)) look(*inner);
  });
  return repeated ? "two barriers in a row\n" + ir::print(kernel) : "";
}

std::string check_source(const ir::Program& tile, const ir::Program& kernel, const Target& target) {
  const ir::KernelSource source = ir::emit(kernel, target);
  const auto within = [](std::string_view what, std::int64_t value, std::int64_t limit) {
    return value >= 0 && value <= limit ? "" : fmt::format("{}: {}, at most {}", what, value, limit);
  };
  if (source.text.find(source.entry) == std::string::npos) return "no kernel in the source";
  std::string wrong = within("threads of a block", source.threads, target.max_threads);
  if (wrong.empty()) wrong = within("shared bytes", shared_bytes(tile, target), target.shared_bytes);
  if (wrong.empty()) wrong = within("shared bytes of the source", source.shared_bytes, shared_bytes(tile, target));
  return wrong.empty() ? "" : wrong + "\n" + ir::print(tile);
}

std::string check_schedule(const TrailCase& c, const ir::Program& loop, const ir::Memory& memory, int report) {
  const Target target = target_of(c);
  const Lowering lowering = lower(c, loop, target, [&](const Choice& choice) {
    const std::string line = print(Trail{choice}) + "\n";
    if (write(report, line.data(), line.size()) < 0) throw Error("the pipe is closed");
  });
  const Lowering again = follow(loop, target, parse_trail(print(lowering.trail()))).value();
  if (again.program() != lowering.program()) return "the trail does not replay to the same program";
  const ir::Program sound = materialize(lowering.program(), target);
  const ir::Program kernel = c.fault == nullptr ? sound : c.fault(sound);
  for (const ir::Program* program : {&lowering.program(), &kernel})
    if (std::string wrong = check_text(*program); !wrong.empty()) return wrong;
  if (std::string wrong = check_barriers(kernel); !wrong.empty()) return wrong;
  if (std::string wrong = check_meaning(loop, memory, {&lowering.program(), &kernel}, target, c.seed); !wrong.empty())
    return wrong;
  return check_source(lowering.program(), kernel, target);
}

TileSubject subject_of(const TrailCase& c) { return find_tile_kind(c.kernel)->make(c.symbols, c.draw); }

ir::Module raise(const TrailCase& c, const TileSubject& subject) {
  ir::Module module = subject.launch.raise(subject.program);
  // tf32 does not round the whole numbers that are drawn.
  for (ir::Program& kernel : module.kernels) kernel.allow_tf32 |= c.tf32;
  return module;
}

/// Returns the first difference above the tolerance, which is relative to the array's largest element; "" if there is
/// none.
std::string difference(const std::vector<tp::Array>& expected, const std::vector<tp::Array>& found, double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::vector<double> right = expected[i].numbers(), numbers = found[i].numbers();
    double greatest = 0;
    for (const double x : right) greatest = std::isfinite(x) ? std::max(greatest, std::fabs(x)) : greatest;
    for (std::size_t k = 0; k < right.size(); ++k)
      if (right[k] != numbers[k] && !(std::isnan(right[k]) && std::isnan(numbers[k])) &&
          !(std::fabs(right[k] - numbers[k]) <= tolerance * greatest))
        return fmt::format("{}[{}]: expected {}, found {}", expected[i].name, k, right[k], numbers[k]);
  }
  return "";
}

/// Checks a program that cannot be raised to Loop IR: lowers it block by block for both languages, by the heuristic's
/// schedule and by a random one, and interprets the kernels.
std::string check_blocks(TileSubject subject, std::uint64_t seed) {
  tp::Launch& launch = subject.launch.launcher.launch;
  launch.grid = subject.launch.raised.grid;
  const std::vector<tp::Array> before = subject.launch.launcher.arrays;
  subject.launch.launcher.run(subject.program, launch.grid);
  for (const char* name : {"opencl-cpu", "sm_90"}) {
    const Target target = load_target(name);
    const tp::Entry& entry = tp::find_entry(subject.program, "");
    const BlockDecisions decisions(entry, target, block_threads(entry, target));
    Rng rng(seed);
    for (const Trail& trail : {Trail{}, drawn_trail(decisions, rng)}) {
      const BlockSchedule schedule = decisions.schedule(trail).value();
      const rules::BlockKernel kernel = rules::lower_blocks(subject.program, launch, before, schedule, target);
      if (std::string wrong = check_text(kernel.kernel); !wrong.empty()) return wrong;
      if (kernel.source.text.find(kernel.source.entry) == std::string::npos) return "no kernel in the source by blocks";
      std::vector<tp::Array> found = before;
      rules::interpret(kernel, found, {.shared_bytes = target.shared_bytes, .seed = seed});
      const double rounding = 1e-5;  // sums of products are rounded at each step, not once
      const std::string wrong =
          difference(subject.launch.launcher.arrays, found, std::max(rounding, subject.tolerance));
      if (!wrong.empty())
        return fmt::format("{} on {}: {}\n{}", deplo::print(trail), name, wrong, print(kernel.kernel));
    }
  }
  return "";
}

std::string check_tile_program(const TrailCase& c, int report) {
  TileSubject subject = subject_of(c);
  std::string why_not;
  const std::optional<ir::Module> module = raised(c, why_not);
  if (!module) {
    const bool must = find_tile_kind(c.kernel)->raised == TileKind::Raised::always;
    return must ? "expected a kernel of Loop IR, found: " + why_not : check_blocks(std::move(subject), c.seed);
  }
  // The memory with which the scheduled kernel starts, as the kernels before it have left it.
  ir::Memory memory;
  std::size_t number = 0;
  const std::size_t part = c.part % module->kernels.size();
  const double off = subject.launch.difference(subject.program, [&](const ir::Program& kernel, ir::Memory& found) {
    if (number++ == part) memory = found;
    run_loops(kernel, found);
  });
  if (off > subject.tolerance) {
    std::string text = fmt::format("the raised kernels are off by {:g} of the greatest element", off);
    for (const ir::Program& kernel : module->kernels) text += "\n" + ir::print(kernel);
    return text;
  }
  return check_schedule(c, module->kernels[part], memory, report);
}

std::string check(const TrailCase& c, int report) {
  if (find_tile_kind(c.kernel) == nullptr) {
    const ir::Program loop = loop_program(c);
    return check_schedule(c, loop, random_memory(loop, c.seed), report);
  }
  std::string wrong = check_tile_program(c, report);
  return wrong.empty() || c.draw == 0 ? wrong : wrong + "\n" + tp::print(subject_of(c).program);
}

// Runs in the child process. Writes the choices to `report`, then a line "failure" and the failure if there is one.
[[noreturn]] void child(const TrailCase& c, int report) {
  alarm(max_seconds);
  dup2(report, STDERR_FILENO);
  std::string failure;
  try {
    failure = check(c, report);
  } catch (const std::exception& e) {
    failure = std::string("Error: ") + e.what();
  }
  if (!failure.empty()) failure = "failure\n" + failure + "\n";
  const bool sent = write(report, failure.data(), failure.size()) == static_cast<ssize_t>(failure.size());
  _exit(sent ? 0 : 1);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t n = 0; (n = read(from, piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(n));
  return text;
}

}  // namespace

std::optional<ir::Module> raised(const TrailCase& c, std::string& why_not) {
  const TileSubject subject = subject_of(c);
  why_not = subject.launch.refusal(subject.program);
  if (!why_not.empty()) return std::nullopt;
  return raise(c, subject);
}

ir::Program loop_program(const TrailCase& c) {
  if (find_tile_kind(c.kernel) != nullptr) {
    ir::Module module = raise(c, subject_of(c));
    return std::move(module.kernels[c.part % module.kernels.size()]);
  }
  ir::Program program = ir::parse(kernel(c.kernel).text, c.symbols, c.kernel);
  std::uint64_t types = c.types;
  for (ir::Buffer& buffer : program.buffers) {
    if (buffer.dtype == ir::DType::f32 && types % 3 > 0)
      buffer.dtype = types % 3 == 1 ? ir::DType::f16 : ir::DType::bf16;
    types /= 3;
  }
  program.allow_tf32 = c.tf32;
  return program;
}

std::set<std::string> applied_rules(const TrailCase& c) {
  std::set<std::string> applied;
  lower(
      c, loop_program(c), target_of(c), [](const Choice&) {},
      [&](const Lowering::Step& step) {
        if (step.skipped.empty()) applied.emplace(step.rule.name);
      });
  return applied;
}

Finding attempt(const TrailCase& c) {
  std::array<int, 2> ends{};
  CHECK(pipe(ends.data()) == 0);
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) child(c, ends[1]);
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  Finding finding;
  std::size_t at = 0;
  while (at < text.size()) {  // up to the first line that is not a choice
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (line.find(' ') != std::string::npos || line.find('=') == std::string::npos) break;
    finding.trail.push_back(parse_trail(line).at(0));
    at += line.size() + 1;
  }
  if (at < text.size()) finding.failure = text.substr(at);
  if (WIFSIGNALED(status))
    finding.failure += fmt::format("signal {}", WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    finding.failure += fmt::format("exit code {}", WEXITSTATUS(status));
  return finding;
}

}  // namespace deplo::rules
