// Loop IR files, and YAML files that name kernels and models.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "attack/kinds.h"
#include "attack/mutate.h"
#include "core/target.h"
#include "engine/compile/tuned.h"
#include "engine/loop/kernel.h"
#include "engine/source/experiment.h"
#include "rules/programs.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;

constexpr double max_kernel_steps = 1e5;  // steps of the interpreter: some hundredths of a second

std::string damage_text(const Seed& seed, const std::string& other, Rng& rng, const fs::path&) {
  return mutate(seed.bytes, other, rng);
}

/// Returns sizes that no tile divides. They also suit kernels with one symbol and a constant reduction extent.
ir::Symbols small_sizes(const std::vector<std::string>& names) {
  constexpr std::array<std::int64_t, 5> sizes = {5, 19, 7, 11, 3};
  ir::Symbols symbols;
  for (std::size_t i = 0; i < names.size(); ++i) symbols[names[i]] = sizes[i % sizes.size()];
  return symbols;
}

double steps_of(const ir::Program& program) {
  double steps = rules::lane_steps(program);
  for (const ir::Buffer& buffer : program.buffers) steps += static_cast<double>(ir::span(buffer));
  return steps;
}

/// Sets output elements in `found` that the loop does not write to their expected values. The values of such elements
/// are undefined: schedules that add to an output clear all of it.
void forget_unwritten(const ir::Program& loop, ir::Memory before, const ir::Memory& expected, ir::Memory& found) {
  constexpr double mark = 1.25;
  for (const ir::Buffer& buffer : loop.buffers)
    if (buffer.role == ir::Role::output) std::ranges::fill(before[buffer.name], mark);
  const ir::Memory marked = rules::result(loop, std::move(before));
  for (const ir::Buffer& buffer : loop.buffers) {
    if (buffer.role != ir::Role::output) continue;
    const auto& want = expected.at(buffer.name);
    for (std::size_t i = 0; i < want.size(); ++i)
      if (std::isnan(want[i]) && marked.at(buffer.name)[i] == mark) found[buffer.name][i] = want[i];
  }
}

/// Checks that an accepted kernel parses back from its print, runs, and computes the same values after it was
/// scheduled. Returns what is wrong, or "".
std::string check_kernel(const fs::path& file, const Target& target) {
  const ir::Program loop = engine::parse_kernel(read_bytes(file), {}, file.string());
  if (ir::parse(ir::print(loop)) != loop) return "its print reads as another program";
  if (!(steps_of(loop) < max_kernel_steps)) return "";
  const engine::Schedule schedule = engine::heuristic_schedule(loop, target);
  const ir::Memory before = rules::random_memory(loop, 1);
  try {
    const ir::Program& kernel = schedule.compiled.code.kernel;
    const ir::Memory expected = rules::result(loop, before);
    ir::Memory found = rules::result(kernel, before, {target.shared_bytes});
    forget_unwritten(loop, before, expected, found);
    const std::string fault = rules::difference(loop, expected, found);
    return fault.empty() ? "" : fmt::format("scheduled for {}: {}", target.name, fault);
  } catch (const Error& error) {
    return fmt::format("accepted, but the interpreter: {}", error.what());
  }
}

}  // namespace

Kind loop_kernels() {
  Kind kind{"loop", {}, damage_text};
  const auto check = [cpu = load_target("opencl-cpu"), gpu = load_target("sm_90")](const fs::path& file) {
    const std::string fault = check_kernel(file, cpu);
    return fault.empty() ? check_kernel(file, gpu) : fault;
  };
  for (const rules::Kernel& kernel : rules::kernels()) {
    std::vector<std::string> sizes;
    for (const auto& [name, value] : small_sizes(kernel.symbols)) {
      sizes.push_back("-s");
      sizes.push_back(fmt::format("{}={}", name, value));
    }
    const auto add = [&](const std::string& text, const std::vector<std::string>& flags) {
      const auto command = [&](std::vector<std::string> words, int one_in) {
        words.insert(words.end(), flags.begin(), flags.end());
        return Command{std::move(words), one_in};
      };
      kind.seeds.push_back({"kernel.loop",
                            text,
                            {command({"compile", "-k", "FILE"}, 1),
                             command({"compile", "-k", "FILE", "--ir", "cuda", "--target", "sm_90"}, 4),
                             command({"compile", "-k", "FILE", "--ir", "tile", "-v", "--target", "opencl-gpu"}, 8),
                             command({"space", "-k", "FILE", "--probes", "2", "--json"}, 16)},
                            flags.empty() ? check : std::function<std::string(const fs::path&)>()});
    };
    try {
      const ir::Program bound = ir::parse(kernel.text, small_sizes(kernel.symbols));
      if (ir::verify(bound).empty()) add(ir::print(bound), {});
    } catch (const Error&) {  // a kernel whose constants need other sizes
    }
    if (!sizes.empty() && kind.seeds.size() % 4 == 0) add(kernel.text, sizes);
  }
  return kind;
}

Kind yaml_files() {
  Kind kind{"yaml", {}, damage_text};
  const auto add_experiment = [&](const std::string& text) {
    kind.seeds.push_back({"experiment.yaml",
                          text,
                          {{{"tune", "--config", "FILE", "--device", "cuda:99", "--quiet", "--store", "OUT"}}},
                          [](const fs::path& file) {
                            engine::load_experiment(file);
                            return std::string();
                          }});
  };
  add_experiment(
      "target: auto               # what the device is\n"
      "device: opencl\n"
      "search:\n  strategy: mcts\n  seed: 0\n  parameters: {c: 0.5}\n"
      "budget:\n  time: 20\n  trials: 8\n  patience: 8\n"
      "kernels:\n"
      "  - {kernel: matmul, symbols: {M: 33, N: 47, K: 61}}\n"
      "  - {kernel: softmax, symbols: {M: 19, N: 61}, name: rows}\n");
  add_experiment(
      "device: opencl:0\nbudget: {time: 1.5, trials: 100}\n"
      "restrict: {mark_unroll.*: [1, 4], prefetch.*: [heuristic], blockify_launch.bm: [16, 32, 64]}\n"
      "kernels:\n"
      "  - expression: \"F.relu(torch.randn(8))\"\n    name: relu\n"
      "  - name: square\n    expression: |\n      x = torch.randn(4, 8)\n      F.softmax(x @ x.T, dim=-1)\n"
      "    restrict: {vectorize.*: [1]}\n");
  add_experiment("target: sm_90\nkernels:\n  - {model: qwen2.5-7b, layer: 0, seq: 2, name: block}\n");
  add_experiment("kernels: [{pt2: " DEPLO_SOURCE_DIR "/tests/data/pt2/head_2.8.0.pt2, name: head}]\n");
  for (const char* model :
       {"source: somewhere\nhidden: 64\nffn: 96\nheads: 4\nkv_heads: 2\nhead_dim: 16\nlayers: 2\nrope_theta: "
        "1000000\nnorm_eps: 1e-6\n"
        "qkv_bias: true\n",
        "# a small one\nsource: \"nowhere\"\nhidden: 32\nffn: 48\nheads: 2\nkv_heads: 1\nhead_dim: 16\nlayers: 1\n"
        "rope_theta: 10000\nnorm_eps: 1e-5\nqk_norm: true\n"})
    kind.seeds.push_back({"model.yaml",
                          model,
                          {{{"compile", "--model", "FILE", "--seq", "3", "--ir", "loop", "--summary"}},
                           {{"compile", "--model", "FILE", "--layer", "1", "--seq", "2", "--ir", "torch"}, 4}}});
  return kind;
}

}  // namespace deplo::attack
