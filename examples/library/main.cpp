// example STORE [TRIALS]: tunes a small graph (at most TRIALS trials), looks up its schedules, runs its kernels with
// OpenCL code of its own, and compares the output with plain loops. Exit code 1: an error, 2: a wrong result.
#include <deplo/deplo.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "opencl_runtime.h"

namespace {

constexpr int rows = 33, in = 61, out = 47;
using Values = std::vector<float>;

const char* name(deplo::Origin origin) {
  switch (origin) {
    case deplo::Origin::tuned:
      return "tuned";
    case deplo::Origin::shared:
      return "shared";
    case deplo::Origin::nearest:
      return "nearest";
    case deplo::Origin::family:
      return "family";
    case deplo::Origin::foreign:
      return "foreign";
    case deplo::Origin::heuristic:
      break;
  }
  return "heuristic";
}

Values some_values(int count, int seed) {
  Values values(static_cast<std::size_t>(count));
  unsigned state = static_cast<unsigned>(seed) * 7919u + 1u;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / float(1 << 24) - 0.5f;
  }
  return values;
}

/// Returns softmax(x W^T + b), computed in double.
std::vector<double> expected(const Values& x, const Values& weight, const Values& bias) {
  std::vector<double> y(rows * out);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int o = 0; o < out; ++o) {
      double dot = bias[std::size_t(o)];
      for (int i = 0; i < in; ++i) dot += double(x[std::size_t(r * in + i)]) * weight[std::size_t(o * in + i)];
      sum += y[std::size_t(r * out + o)] = std::exp(dot);
    }
    for (int o = 0; o < out; ++o) y[std::size_t(r * out + o)] /= sum;
  }
  return y;
}

void tune(const deplo::Source& source, const std::string& store, int max_trials) {
  deplo::TuneOptions options;
  options.store = store;
  options.seconds = 20;
  options.trials = 4;
  int told = 0;
  const auto on_trial = [&](const deplo::Trial& trial) {
    std::printf("trial %d: %s %s %.3g us\n", ++told, trial.kernel.c_str(), trial.status.c_str(), trial.microseconds);
    return told < max_trials;
  };
  for (const deplo::Tuned& kernel : deplo::tune(source, options, on_trial))
    std::printf("%s: %.3g us, heuristic %.3g us%s, stopped: %s\n", kernel.kernel.c_str(), kernel.best_us,
                kernel.heuristic_us, kernel.confirmed ? ", confirmed" : "", kernel.stop.c_str());
}

/// Runs the program and returns the largest error of its output.
double try_it(const deplo::Program& program) {
  std::map<std::string, Values> inputs;
  Values x, weight, bias;
  for (const deplo::Tensor& tensor : program.tensors) {
    if (tensor.kind == deplo::Tensor::Kind::computed) continue;
    const std::string& graph = tensor.of.empty() ? tensor.name : tensor.of;
    int count = 1;
    for (const std::int64_t extent : tensor.shape) count *= static_cast<int>(extent);
    Values& values = count == rows * in ? x : count == out * in ? weight : bias;
    inputs[graph] = values = some_values(count, count);
  }
  const Values found = run(program, inputs).at(0);
  const std::vector<double> right = expected(x, weight, bias);
  double largest = found.size() == right.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < right.size() && i < found.size(); ++i) {
    const double difference = std::fabs(found[i] - right[i]);
    largest = std::isnan(difference) ? INFINITY : std::fmax(largest, difference);
  }
  return largest;
}

int example(const std::string& store, int max_trials) {
  deplo::Source source;
  source.expression = "F.softmax(nn.Linear(61, 47)(torch.randn(33, 61)), dim=-1)";
  source.name = "head";
  tune(source, store, max_trials);

  deplo::CompileOptions options;
  options.store = store;
  const deplo::Program program = deplo::compile(source, options);
  for (const deplo::Kernel& kernel : program.kernels)
    std::printf("kernel %s: %s, %lld x %lld, %s %s\n", kernel.name.c_str(), name(kernel.origin),
                static_cast<long long>(kernel.grid), static_cast<long long>(kernel.block), kernel.trail.c_str(),
                kernel.note.c_str());
  const double error = try_it(program);
  std::printf("largest difference: %g\n", error);
  return error < 1e-5 ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: example STORE [TRIALS]\n"), 1;
  try {
    return example(argv[1], argc > 2 ? std::atoi(argv[2]) : 1000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example: %s\n", error.what());
    return 1;
  }
}
