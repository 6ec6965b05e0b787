#include "measure/cuda/sass/instruction_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace deplo::measure::cuda::sass {
namespace {

using enum InstructionClass;

// Names: CUDA Binary Utilities, "Instruction Set Reference", Turing to Blackwell. Pipes: Nsight Compute, Profiling
// Guide, "Pipelines". A leading U stands for the uniform datapath; each scheduler has its own.
constexpr Opcode table[] = {
    {"FADD", fp32, Pipe::fma},
    {"FADD2", fp32, Pipe::fma},
    {"FADD32I", fp32, Pipe::fma},
    {"FFMA", fp32, Pipe::fma},
    {"FFMA2", fp32, Pipe::fma},
    {"FFMA32I", fp32, Pipe::fma},
    {"FMUL", fp32, Pipe::fma},
    {"FMUL2", fp32, Pipe::fma},
    {"FMUL32I", fp32, Pipe::fma},
    {"FSWZADD", fp32, Pipe::fma},
    {"UFADD", fp32, Pipe::issue},
    {"UFFMA", fp32, Pipe::issue},
    {"UFMUL", fp32, Pipe::issue},

    {"HADD2", half, Pipe::issue},
    {"HFMA2", half, Pipe::issue},
    {"HMNMX2", half, Pipe::issue},
    {"HMUL2", half, Pipe::issue},
    {"HSET2", half, Pipe::issue},
    {"HSETP2", half, Pipe::issue},
    {"VHMNMX", half, Pipe::issue},

    {"DADD", fp64, Pipe::issue},
    {"DFMA", fp64, Pipe::issue},
    {"DMUL", fp64, Pipe::issue},
    {"DSETP", fp64, Pipe::issue},

    {"BGMMA", tensor, Pipe::issue},
    {"BMMA", tensor, Pipe::issue},
    {"DMMA", tensor, Pipe::issue},
    {"HGMMA", tensor, Pipe::tensor},
    {"HMMA", tensor, Pipe::tensor},
    {"IGMMA", tensor, Pipe::issue},
    {"IMMA", tensor, Pipe::issue},
    {"OMMA", tensor, Pipe::issue},
    {"QGMMA", tensor, Pipe::issue},
    {"QMMA", tensor, Pipe::issue},
    {"UTCHMMA", tensor, Pipe::issue},
    {"UTCIMMA", tensor, Pipe::issue},
    {"UTCOMMA", tensor, Pipe::issue},
    {"UTCQMMA", tensor, Pipe::issue},

    {"MUFU", special, Pipe::special},

    {"FCHK", compare, Pipe::issue},  // checks if a division can take the fast path
    {"FMNMX", compare, Pipe::alu},
    {"FMNMX3", compare, Pipe::alu},
    {"FSEL", compare, Pipe::alu},
    {"FSET", compare, Pipe::alu},
    {"FSETP", compare, Pipe::alu},
    {"UFSEL", compare, Pipe::issue},
    {"UFSETP", compare, Pipe::issue},

    {"BMSK", integer, Pipe::alu},
    {"BREV", integer, Pipe::issue},
    {"FLO", integer, Pipe::issue},
    {"IABS", integer, Pipe::alu},
    {"IADD", integer, Pipe::alu},
    {"IADD3", integer, Pipe::alu},
    {"IADD32I", integer, Pipe::alu},
    {"IDP", integer, Pipe::imad},
    {"IMAD", integer, Pipe::imad},
    {"IMNMX", integer, Pipe::alu},
    {"IMUL", integer, Pipe::imad},
    {"ISCADD", integer, Pipe::alu},
    {"ISETP", integer, Pipe::alu},
    {"LEA", integer, Pipe::alu},
    {"LOP", integer, Pipe::alu},
    {"LOP3", integer, Pipe::alu},
    {"LOP32I", integer, Pipe::alu},
    {"P2R", integer, Pipe::alu},
    {"PLOP3", integer, Pipe::alu},
    {"POPC", integer, Pipe::issue},
    {"PRMT", integer, Pipe::alu},
    {"PSETP", integer, Pipe::alu},
    {"R2P", integer, Pipe::alu},
    {"SEL", integer, Pipe::alu},
    {"SGXT", integer, Pipe::alu},
    {"SHF", integer, Pipe::alu},
    {"SHL", integer, Pipe::alu},
    {"SHR", integer, Pipe::alu},
    {"UBMSK", integer, Pipe::issue},
    {"UBREV", integer, Pipe::issue},
    {"UFLO", integer, Pipe::issue},
    {"UIABS", integer, Pipe::issue},
    {"UIADD3", integer, Pipe::issue},
    {"UIMAD", integer, Pipe::issue},
    {"UIMNMX", integer, Pipe::issue},
    {"UISETP", integer, Pipe::issue},
    {"ULEA", integer, Pipe::issue},
    {"ULOP3", integer, Pipe::issue},
    {"UPLOP3", integer, Pipe::issue},
    {"UPOPC", integer, Pipe::issue},
    {"UPRMT", integer, Pipe::issue},
    {"USEL", integer, Pipe::issue},
    {"USGXT", integer, Pipe::issue},
    {"USHF", integer, Pipe::issue},
    {"UVIADD", integer, Pipe::issue},
    {"UVIMNMX", integer, Pipe::issue},
    {"VABSDIFF", integer, Pipe::alu},
    {"VABSDIFF4", integer, Pipe::alu},
    {"VIADD", integer, Pipe::alu},
    {"VIADDMNMX", integer, Pipe::alu},
    {"VIMNMX", integer, Pipe::alu},
    {"VIMNMX3", integer, Pipe::alu},

    {"F2F", convert, Pipe::issue},
    {"F2FP", convert, Pipe::issue},
    {"F2I", convert, Pipe::issue},
    {"F2IP", convert, Pipe::issue},
    {"FRND", convert, Pipe::issue},
    {"I2F", convert, Pipe::issue},
    {"I2FP", convert, Pipe::issue},
    {"I2I", convert, Pipe::issue},
    {"I2IP", convert, Pipe::issue},
    {"UF2FP", convert, Pipe::issue},
    {"UF2I", convert, Pipe::issue},
    {"UFRND", convert, Pipe::issue},
    {"UI2F", convert, Pipe::issue},
    {"UI2FP", convert, Pipe::issue},

    {"B2R", move, Pipe::issue},
    {"CS2R", move, Pipe::issue},
    {"CS2UR", move, Pipe::issue},
    {"IMAD.MOV", move, Pipe::fma},
    {"MOV", move, Pipe::alu},
    {"MOV32I", move, Pipe::alu},
    {"MOVM", move, Pipe::issue},
    {"R2B", move, Pipe::issue},
    {"R2UR", move, Pipe::issue},
    {"S2R", move, Pipe::issue},
    {"S2UR", move, Pipe::issue},
    {"UMOV", move, Pipe::issue},
    {"UP2UR", move, Pipe::issue},
    {"UR2UP", move, Pipe::issue},

    {"CREDUX", shuffle, Pipe::issue},
    {"MATCH", shuffle, Pipe::issue},
    {"REDUX", shuffle, Pipe::issue},
    {"SHFL", shuffle, Pipe::memory},
    {"VOTE", shuffle, Pipe::issue},
    {"VOTEU", shuffle, Pipe::issue},

    {"LDC", constant, Pipe::issue},
    {"LDCU", constant, Pipe::issue},
    {"ULDC", constant, Pipe::issue},

    {"LDS", shared_load, Pipe::memory},
    {"LDSM", shared_load, Pipe::memory},
    {"STS", shared_store, Pipe::memory},
    {"STSM", shared_store, Pipe::memory},
    {"STAS", shared_store, Pipe::memory},
    {"LD", generic_load, Pipe::memory},
    {"LDG", global_load, Pipe::memory},
    {"ST", generic_store, Pipe::memory},
    {"STG", global_store, Pipe::memory},
    {"LDL", local, Pipe::memory},
    {"STL", local, Pipe::memory},
    {"LDGSTS", async_copy, Pipe::memory},

    {"UBLKCP", bulk_copy, Pipe::issue},
    {"UBLKPF", bulk_copy, Pipe::issue},
    {"UBLKRED", bulk_copy, Pipe::issue},
    {"UTMALDG", bulk_copy, Pipe::issue},
    {"UTMAPF", bulk_copy, Pipe::issue},
    {"UTMAREDG", bulk_copy, Pipe::issue},
    {"UTMASTG", bulk_copy, Pipe::issue},

    {"ATOM", atomic, Pipe::memory},
    {"ATOMG", atomic, Pipe::memory},
    {"ATOMS", atomic, Pipe::memory},
    {"RED", atomic, Pipe::memory},
    {"REDAS", atomic, Pipe::memory},
    {"REDG", atomic, Pipe::memory},

    {"ACQBULK", barrier, Pipe::issue},
    {"ARRIVES", barrier, Pipe::issue},
    {"BAR", barrier, Pipe::issue},
    {"CCTL", barrier, Pipe::issue},
    {"CGAERRBAR", barrier, Pipe::issue},
    {"DEPBAR", barrier, Pipe::issue},
    {"ERRBAR", barrier, Pipe::issue},
    {"FENCE", barrier, Pipe::issue},
    {"LDGDEPBAR", barrier, Pipe::issue},
    {"MEMBAR", barrier, Pipe::issue},
    {"NANOSLEEP", barrier, Pipe::issue},
    {"SYNCS", barrier, Pipe::issue},
    {"UCGABAR_ARV", barrier, Pipe::issue},
    {"UCGABAR_WAIT", barrier, Pipe::issue},
    {"UTCBAR", barrier, Pipe::issue},
    {"UTMACCTL", barrier, Pipe::issue},
    {"UTMACMDFLUSH", barrier, Pipe::issue},
    {"WARPGROUP", barrier, Pipe::issue},

    {"BMOV", control, Pipe::issue},
    {"BPT", control, Pipe::issue},
    {"BRA", control, Pipe::issue},
    {"BREAK", control, Pipe::issue},
    {"BRX", control, Pipe::issue},
    {"BRXU", control, Pipe::issue},
    {"BSSY", control, Pipe::issue},
    {"BSYNC", control, Pipe::issue},
    {"CALL", control, Pipe::issue},
    {"ELECT", control, Pipe::issue},
    {"ENDCOLLECTIVE", control, Pipe::issue},
    {"EXIT", control, Pipe::issue},
    {"JMP", control, Pipe::issue},
    {"JMX", control, Pipe::issue},
    {"JMXU", control, Pipe::issue},
    {"KILL", control, Pipe::issue},
    {"LEPC", control, Pipe::issue},
    {"NOP", control, Pipe::issue},
    {"PREEXIT", control, Pipe::issue},
    {"RET", control, Pipe::issue},
    {"RPCMOV", control, Pipe::issue},
    {"USETMAXREG", control, Pipe::issue},
    {"WARPSYNC", control, Pipe::issue},
    {"YIELD", control, Pipe::issue},
};

const Opcode* find(std::string_view opcode) {
  static const std::unordered_map<std::string_view, const Opcode*> rows = [] {
    std::unordered_map<std::string_view, const Opcode*> all;
    for (const Opcode& row : table) all.emplace(row.name, &row);
    return all;
  }();
  const std::size_t first = opcode.find('.');
  const std::size_t second = first == std::string_view::npos ? first : opcode.find('.', first + 1);
  if (const auto row = rows.find(opcode.substr(0, second)); row != rows.end()) return row->second;
  const auto row = rows.find(opcode.substr(0, first));
  return row == rows.end() ? nullptr : row->second;
}

bool has_width(InstructionClass what) {
  switch (what) {
    case shared_load:
    case shared_store:
    case global_load:
    case global_store:
    case generic_load:
    case generic_store:
    case local:
    case async_copy:
      return true;
    default:
      return false;
  }
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

std::span<const Opcode> opcodes() { return table; }

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
