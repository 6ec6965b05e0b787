// PTX that NVRTC makes from emitted kernels, through the parser and on the PTX machine.
#include <fmt/format.h>

#include <algorithm>

#include "attack/kinds.h"
#include "attack/mutate.h"
#include "engine/loop/kernel.h"
#include "ir/emit/emit.h"
#include "measure/cuda/compiler/compile.h"
#include "measure/ptx/kernel.h"
#include "rules/lower.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;

std::string damage_ptx(const Seed& seed, const std::string& other, Rng& rng, const fs::path&) {
  return mutate(seed.bytes, other, rng);
}

struct Subject {
  const char *kernel, *target, *wanted;
  ir::Symbols symbols;
  ir::DType dtype = ir::DType::f32;
};

Seed seed_of(const Subject& subject) {
  ir::Program loop = engine::load_kernel(subject.kernel, subject.symbols, "attack");
  for (ir::Buffer& buffer : loop.buffers) buffer.dtype = subject.dtype;
  const Target target = load_target(subject.target);
  const Trail wanted = parse_trail(subject.wanted);
  rules::Lowering lowering(loop, target);
  while (const auto& fork = lowering.fork()) {
    const auto choice = std::ranges::find(wanted, fork->knob, &Choice::knob);
    const auto option =
        choice == wanted.end() ? fork->options.begin() : std::ranges::find(fork->options, choice->value);
    lowering.choose(option == fork->options.end() ? 0 : static_cast<std::size_t>(option - fork->options.begin()));
  }
  const ir::Program kernel = rules::materialize(lowering.program(), target);
  const ir::KernelSource source = ir::emit(kernel, target);
  const std::string text = measure::cuda::compile_ptx(source, subject.target, {.lines = true}).value();
  // If the machine finds a fault in a damaged kernel, it throws Error.
  const auto check = [source, buffers = kernel.buffers](const fs::path& file) {
    const measure::ptx::Kernel damaged(read_bytes(file), source, buffers);
    const measure::HostArrays arrays(buffers);
    constexpr std::int64_t max_instructions = 100'000;
    damaged.launch(
        arrays,
        measure::ptx::LaunchOptions{
            .blocks = source.cluster, .threads = source.threads, .seed = 1, .max_instructions = max_instructions});
    return std::string();
  };
  return {fmt::format("{}_{}.ptx", subject.kernel, subject.target), text, {}, check};
}

}  // namespace

Kind ptx_modules() {
  Kind kind{"ptx", {}, damage_ptx};
  if (!measure::cuda::Nvrtc::available()) return kind;
  using ir::DType;
  const Subject subjects[] = {
      {"matmul", "sm_80", "", {{"M", 64}, {"N", 64}, {"K", 64}}, DType::bf16},
      {"matmul", "sm_90", "double_buffer.depth=2", {{"M", 128}, {"N", 128}, {"K", 128}}, DType::bf16},
      {"matmul", "sm_90", "cluster_matmul_k.blocks=2", {{"M", 64}, {"N", 64}, {"K", 256}}, DType::f32},
      {"softmax", "sm_90", "", {{"M", 4}, {"N", 256}}, DType::f32},
  };
  for (const Subject& subject : subjects) kind.seeds.push_back(seed_of(subject));
  return kind;
}

}  // namespace deplo::attack
