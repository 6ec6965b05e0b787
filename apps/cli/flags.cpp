#include "apps/cli/flags.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::apps {

void print_bytes(const std::string& bytes) {
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  if (!whole || std::fflush(stdout) != 0)
    throw Error(fmt::format("cannot write to standard output: {}", std::strerror(errno)), Exit::environment);
}

void print_result(const std::string& text) { print_bytes(printable_lines(text)); }

std::size_t window_width() { return terminal_width(STDOUT_FILENO); }

void require(const std::string& value, const char* flag) {
  if (value.empty()) throw Error(fmt::format("expected the flag {}, found none; see --help", flag));
}

void add_objective(Command command, std::string& objective) {
  command.option("--objective", objective, "NAME[:min|:max]",
                 "Compare configurations by this result, such as GFLOP/s or energy:min [the file's objective, else the "
                 "time].");
}

void add_seed(Command command, std::uint64_t& seed, const std::string& help) {
  command.seldom()
      .option("--seed", seed, "N", help)
      .between(std::int64_t{0}, std::numeric_limits<std::int64_t>::max())
      .show_default();
}

void add_restrictions(Command command, std::vector<std::string>& restrictions, std::string_view otherwise) {
  command.seldom()
      .option("--restrict", restrictions, "KNOB=VALUE,…",
              fmt::format(
                  "Allow only these values of a knob; if none is legal, use the heuristic's. The word 'heuristic' "
                  "stands for the heuristic's value. A * at the end of KNOB matches all knobs with that beginning, "
                  "such as mark_unroll.*. May be repeated; the last match counts. A NAME without a value (none, or a "
                  "file under configs/restrictions) chooses the set of restrictions that comes before all others [{}].",
                  otherwise))
      .repeated();
}

void add_inputs(Command command, std::string& file) {
  command.seldom().option(
      "--inputs", file, "FILE",
      "Take the values of inputs and parameters from a YAML file, by name, or from a NumPy archive. A value is "
      "uniform(first, end), normal(mean, deviation), randint(first, end), distinct(first, end), "
      "constant(value) or a NumPy file, such as x: x.npy; for a scalar of a kernel file, a number.");
}

void add_nearest(Command command, bool& nearest) {
  command.seldom().flag("--nearest", nearest,
                        "For an untuned kernel, use the schedule of the nearest tuned sizes if it is legal.");
}

void add_tolerance(Command command, double& tolerance) {
  command.seldom()
      .option("--tolerance", tolerance, "X",
              "Accept errors up to X, relative to the root mean square of an output or to its rounding error, "
              "whichever is larger (docs/measurement.md).")
      .between(0.0, 1e30)
      .show_default();
}

RestrictFlags parse_restrictions(const std::vector<std::string>& texts) {
  RestrictFlags flags;
  for (const std::string& text : texts) {
    if (text.find_first_of(".=*") == std::string::npos)
      engine::check_restrictions(flags.set = text, "--restrict");
    else
      flags.own.push_back(engine::parse_restriction(text, "--restrict"));
  }
  return flags;
}

}  // namespace deplo::apps
