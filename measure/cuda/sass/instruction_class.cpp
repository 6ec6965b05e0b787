#include "measure/cuda/sass/instruction_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "core/text/split.h"

namespace deplo::measure::cuda::sass {
namespace {

using enum InstructionClass;

/// Opcodes of one class that one pipe executes: mnemonics, or mnemonics with their first modifier, separated by spaces.
struct Opcodes {
  InstructionClass what;
  Pipe pipe;
  std::string_view names;
};

// Names: CUDA Binary Utilities, "Instruction Set Reference", Turing to Blackwell. Pipes: Nsight Compute, Profiling
// Guide, "Pipelines". A leading U stands for the uniform datapath; each scheduler has its own.
constexpr Opcodes table[] = {
    {fp32, Pipe::fma, "FADD FADD2 FADD32I FFMA FFMA2 FFMA32I FMUL FMUL2 FMUL32I FSWZADD"},
    {fp32, Pipe::issue, "UFADD UFFMA UFMUL"},
    {half, Pipe::issue, "HADD2 HFMA2 HMNMX2 HMUL2 HSET2 HSETP2 VHMNMX"},
    {fp64, Pipe::issue, "DADD DFMA DMUL DSETP"},
    {tensor, Pipe::issue, "BGMMA BMMA DMMA IGMMA IMMA OMMA QGMMA QMMA UTCHMMA UTCIMMA UTCOMMA UTCQMMA"},
    {tensor, Pipe::tensor, "HGMMA HMMA"},
    {special, Pipe::special, "MUFU"},
    // FCHK checks if a division can take the fast path.
    {compare, Pipe::issue, "FCHK UFSEL UFSETP"},
    {compare, Pipe::alu, "FMNMX FMNMX3 FSEL FSET FSETP"},
    {integer, Pipe::alu,
     "BMSK IABS IADD IADD3 IADD32I IMNMX ISCADD ISETP LEA LOP LOP3 LOP32I P2R PLOP3 PRMT PSETP R2P SEL SGXT SHF SHL "
     "SHR VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3"},
    {integer, Pipe::issue,
     "BREV FLO POPC UBMSK UBREV UFLO UIABS UIADD3 UIMAD UIMNMX UISETP ULEA ULOP3 UPLOP3 UPOPC UPRMT USEL USGXT USHF "
     "UVIADD UVIMNMX"},
    {integer, Pipe::imad, "IDP IMAD IMUL"},
    {convert, Pipe::issue, "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP UF2FP UF2I UFRND UI2F UI2FP"},
    {move, Pipe::issue, "B2R CS2R CS2UR MOVM R2B R2UR S2R S2UR UMOV UP2UR UR2UP"},
    {move, Pipe::fma, "IMAD.MOV"},
    {move, Pipe::alu, "MOV MOV32I"},
    {shuffle, Pipe::issue, "CREDUX MATCH REDUX VOTE VOTEU"},
    {shuffle, Pipe::memory, "SHFL"},
    {constant, Pipe::issue, "LDC LDCU ULDC"},
    {shared_load, Pipe::memory, "LDS LDSM"},
    {shared_store, Pipe::memory, "STS STSM STAS"},
    {generic_load, Pipe::memory, "LD"},
    {global_load, Pipe::memory, "LDG"},
    {generic_store, Pipe::memory, "ST"},
    {global_store, Pipe::memory, "STG"},
    {local, Pipe::memory, "LDL STL"},
    {async_copy, Pipe::memory, "LDGSTS"},
    {bulk_copy, Pipe::issue, "UBLKCP UBLKPF UBLKRED UTMALDG UTMAPF UTMAREDG UTMASTG"},
    {atomic, Pipe::memory, "ATOM ATOMG ATOMS RED REDAS REDG"},
    {barrier, Pipe::issue,
     "ACQBULK ARRIVES BAR CCTL CGAERRBAR DEPBAR ERRBAR FENCE LDGDEPBAR MEMBAR NANOSLEEP SYNCS UCGABAR_ARV "
     "UCGABAR_WAIT UTCBAR UTMACCTL UTMACMDFLUSH WARPGROUP"},
    {control, Pipe::issue,
     "BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL ELECT ENDCOLLECTIVE EXIT JMP JMX JMXU KILL LEPC NOP PREEXIT RET "
     "RPCMOV USETMAXREG WARPSYNC YIELD"},
};

const Opcode* find(std::string_view opcode) {
  static const std::unordered_map<std::string_view, const Opcode*> rows = [] {
    std::unordered_map<std::string_view, const Opcode*> all;
    for (const Opcode& row : opcodes()) all.emplace(row.name, &row);
    return all;
  }();
  const std::size_t first = opcode.find('.');
  const std::size_t second = first == std::string_view::npos ? first : opcode.find('.', first + 1);
  if (const auto row = rows.find(opcode.substr(0, second)); row != rows.end()) return row->second;
  const auto row = rows.find(opcode.substr(0, first));
  return row == rows.end() ? nullptr : row->second;
}

bool has_width(InstructionClass what) {
  constexpr std::array classes{shared_load,  shared_store,  global_load, global_store,
                               generic_load, generic_store, local,       async_copy};
  return std::ranges::find(classes, what) != classes.end();
}

// Returns the bytes that one thread moves, from a modifier in bits: "128", "U8", "S16".
int width_of(const Instruction& instruction) {
  if (instruction.mnemonic() == "LDSM")  // one word per matrix
    return instruction.has_modifier("4") ? 16 : instruction.has_modifier("2") ? 8 : 4;
  for (const auto& [modifier, bytes] :
       {std::pair("U8", 1), {"S8", 1}, {"U16", 2}, {"S16", 2}, {"64", 8}, {"128", 16}, {"256", 32}})
    if (instruction.has_modifier(modifier)) return bytes;
  return 4;
}

// True for an instruction that adds 0 and a constant, which is a way to set a register without the ALU.
bool sets_a_constant(const Instruction& instruction) {
  return instruction.mnemonic() == "HFMA2" && instruction.operands.find(", -RZ, RZ, ") != std::string::npos;
}

}  // namespace

std::string_view name(InstructionClass what) {
  constexpr std::array<std::string_view, 24> names{"fp32",    "half",      "fp64",   "tensor",  "special",  "compare",
                                                   "integer", "convert",   "move",   "shuffle", "constant", "LDS",
                                                   "STS",     "LDG",       "STG",    "LD",      "ST",       "local",
                                                   "LDGSTS",  "bulk copy", "atomic", "barrier", "control",  "other"};
  static_assert(names.size() == static_cast<std::size_t>(other) + 1);
  return names.at(static_cast<std::size_t>(what));
}

bool is_arithmetic(InstructionClass what) { return what == fp32 || what == half || what == fp64 || what == tensor; }

std::string name(const Kind& kind) {
  return kind.width == 0 ? std::string(name(kind.what)) : fmt::format("{}.{}", name(kind.what), 8 * kind.width);
}

std::string_view name(Pipe pipe) {
  constexpr std::array<std::string_view, 7> names{"issue", "FMA", "IMAD", "ALU", "special", "tensor", "memory"};
  return names.at(static_cast<std::size_t>(pipe));
}

std::span<const Opcode> opcodes() {
  static const std::vector<Opcode> all = [] {
    std::vector<Opcode> rows;
    for (const Opcodes& group : table)
      for (const std::string_view name : split_at(group.names, ' ')) rows.push_back({name, group.what, group.pipe});
    return rows;
  }();
  return all;
}

Kind kind_of(const Instruction& instruction) {
  const Opcode* const row = find(instruction.opcode);
  if (row == nullptr) return {};
  if (sets_a_constant(instruction)) return {move, 0};
  return {row->what, has_width(row->what) ? width_of(instruction) : 0};
}

Pipe pipe_of(const Instruction& instruction) {
  const Opcode* const row = find(instruction.opcode);
  return row == nullptr ? Pipe::issue : row->pipe;
}

}  // namespace deplo::measure::cuda::sass
