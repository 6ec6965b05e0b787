#include "measure/cuda/sass/instruction_mix.h"

#include <algorithm>

#include "core/target.h"
#include "ir/hardware/gpu.h"
#include "ir/hardware/mma.h"

namespace deplo::measure::cuda::sass {
namespace {

// Results per cycle of a multiprocessor, from a compute capability (`since`) on. CUDA C++ Programming Guide 12.9 and
// Best Practices Guide 13.4, "Throughput of Native Arithmetic Instructions": 32-bit floating-point add, multiply,
// multiply-add (`fma`); 32-bit integer add, compare, minimum (`alu`). If rows for the ALU differ (10.0: 128 for
// floating-point minimum; 12.0: 128 for integer addition, 64 for shifts), the table has the larger value, because it is
// used as a bound.
struct Throughput {
  int since, fma, alu;
};
constexpr Throughput throughputs[] = {{80, 64, 64}, {86, 128, 64}, {100, 128, 128}};
// The same values for every architecture: 32-bit integer multiply-add, reciprocal and similar functions, warp shuffle.
constexpr int imad_rate = 64, special_rate = 16, shuffle_rate = 32;
constexpr int schedulers = ir::gpu::schedulers, warps_of_group = ir::gpu::warps_of_group;
constexpr int lanes = schedulers * ir::gpu::warp;  // lanes for which instructions are issued per cycle
static_assert(shuffle_rate == ir::gpu::warp);      // a shuffle is one transfer, like a load of 4 bytes per thread

Throughput throughput_of(std::string_view architecture) {
  Throughput found = throughputs[0];
  for (const Throughput& row : throughputs)
    if (row.since <= compute_capability(architecture)) found = row;
  return found;
}

/// Returns the number of transfers of 128 bytes between memory and registers for one warp. Pairs of lanes that load the
/// same 8 or 16 bytes share a transfer, so a load takes half as many transfers at best. Lanes store different bytes, so
/// stores share none.
std::int64_t transfers(const Kind& kind) {
  const bool shares = kind.what == InstructionClass::shared_load || kind.what == InstructionClass::global_load ||
                      kind.what == InstructionClass::generic_load;
  return std::max(1, kind.width / (shares ? 8 : 4));
}

/// Returns the multiply-adds of a warp, or a number that takes as long. HMMA.16816 is a product of 16 x 8 x 16 by one
/// warp. HMMA.1688 has half the depth, but takes as long for tf32 (NVIDIA A100 Tensor Core GPU Architecture, table 1).
/// HGMMA.64x256x16 is a product of that shape by four warps.
std::int64_t multiply_adds(const Instruction& instruction) {
  const bool shallow = instruction.has_modifier("1688") && !instruction.has_modifier("TF32");
  if (instruction.mnemonic() != "HGMMA") return std::int64_t{16} * 8 * (shallow ? 8 : 16);
  const std::size_t first = instruction.opcode.find('.') + 1;
  std::int64_t product = 1, side = 0;
  for (const char c : std::string_view(instruction.opcode).substr(first, instruction.opcode.find('.', first) - first)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) product *= side;
    side = digit ? 10 * side + (c - '0') : 0;
  }
  return product * side / warps_of_group;
}

/// Returns the load of an instruction on its pipe. The lanes of ldmatrix share no transfers.
std::int64_t load_of(const Instruction& instruction, const Kind& kind, Pipe pipe) {
  if (pipe == Pipe::memory) return instruction.mnemonic() == "LDSM" ? kind.width / 4 : transfers(kind);
  if (pipe == Pipe::tensor) return multiply_adds(instruction);
  return 1;
}

}  // namespace

void InstructionMix::add(const Instruction& instruction, const Listing& listing) {
  const Kind kind = kind_of(instruction);
  const Pipe pipe = pipe_of(instruction);
  ++instructions;
  ++kinds[kind];
  pipes[pipe] += load_of(instruction, kind, pipe);
  if (kind.what == InstructionClass::other) unknown.emplace(instruction.mnemonic());
  if (instruction.mnemonic() != "CALL") return;
  const std::vector<std::string> names = mentioned(instruction);
  const auto called = [&](const Function& f) { return std::ranges::find(names, f.name) != names.end(); };
  calls += std::ranges::any_of(listing.functions, called);
}

std::int64_t InstructionMix::arithmetic() const {
  std::int64_t count = 0;
  for (const auto& [kind, of_kind] : kinds)
    if (is_arithmetic(kind.what)) count += of_kind;
  return count;
}

double InstructionMix::arithmetic_share() const {
  return instructions == 0 ? 0 : static_cast<double>(arithmetic()) / static_cast<double>(instructions);
}

IssueBound issue_bound(const InstructionMix& mix, std::string_view architecture) {
  const Throughput throughput = throughput_of(architecture);
  const auto count = [&](Pipe pipe) {
    const auto found = mix.pipes.find(pipe);
    return found == mix.pipes.end() ? 0 : found->second;
  };
  const std::pair<Pipe, std::int64_t> cycles[] = {
      {Pipe::issue, mix.instructions},
      {Pipe::fma, (count(Pipe::fma) + count(Pipe::imad)) * lanes / throughput.fma},
      {Pipe::imad, count(Pipe::imad) * lanes / imad_rate},
      {Pipe::alu, count(Pipe::alu) * lanes / throughput.alu},
      {Pipe::special, count(Pipe::special) * lanes / special_rate},
      {Pipe::tensor, count(Pipe::tensor) * schedulers / ir::mma::multiply_adds_per_cycle(architecture)},
      {Pipe::memory, count(Pipe::memory) * schedulers}};
  IssueBound bound;
  for (const auto& [pipe, min_cycles] : cycles)
    if (min_cycles > bound.cycles) bound = {min_cycles, pipe};
  return bound;
}

KernelMix kernel_mix(const Listing& listing) {
  KernelMix kernel;
  for (const Function& function : listing.functions) {
    for (const Instruction& one : function.instructions) kernel.whole.add(one, listing);
    for (const Loop& loop : find_loops(function)) {
      LoopMix mix{function.name, loop.label, loop.depth, {}};
      for (const std::size_t i : loop.instructions) mix.mix.add(function.instructions[i], listing);
      kernel.loops.push_back(std::move(mix));
    }
  }
  return kernel;
}

const LoopMix* hot_loop(const KernelMix& kernel) {
  const LoopMix* hot = nullptr;
  std::pair<std::int64_t, std::int64_t> max_own;
  for (std::size_t i = 0; i < kernel.loops.size(); ++i) {
    const LoopMix& loop = kernel.loops[i];
    std::pair own(loop.mix.arithmetic(), loop.mix.instructions);
    // Loops are in the order of their headers, so an inner loop comes after the loop around it.
    for (std::size_t k = i + 1; k < kernel.loops.size() && kernel.loops[k].depth > loop.depth; ++k)
      if (kernel.loops[k].depth == loop.depth + 1) {
        own.first -= kernel.loops[k].mix.arithmetic();
        own.second -= kernel.loops[k].mix.instructions;
      }
    if (hot != nullptr && own <= max_own) continue;
    hot = &loop;
    max_own = own;
  }
  return hot;
}

}  // namespace deplo::measure::cuda::sass
