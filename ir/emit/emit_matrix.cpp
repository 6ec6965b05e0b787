// Matrix instructions of warps and warpgroups: CUDA only.
#include <array>

#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/hardware/float16.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/tma.h"

namespace deplo::ir {

void Emitter::emit(const LdMatrix& s) {
  CHECK(cuda());
  constexpr std::array plain = {Helper::ld_matrix_1, Helper::ld_matrix_2, Helper::ld_matrix_4};
  constexpr std::array transposed = {Helper::ld_matrix_1_transposed, Helper::ld_matrix_2_transposed,
                                     Helper::ld_matrix_4_transposed};
  const bool bits = is_float16(s.type.dtype);
  const int matrices = bits ? s.type.lanes / 2 : s.type.lanes;
  helpers_.insert((s.transposed ? transposed : plain).at(static_cast<std::size_t>(matrices / 2)));  // of 1, 2 or 4
  types_[s.dst] = s.type;
  const Type words = {DType::bf16, 2 * matrices};  // as the instruction sees them
  print("const {} {} = ld_matrix_{}{}(&{});", element_name(words, dialect()), s.dst, matrices,
        s.transposed ? "_transposed" : "", place(s.buffer, s.index, element_name({s.type.dtype, 1}, dialect())));
  if (bits) return;
  for (int i = 0; i < matrices; ++i)
    print("const float {} = __uint_as_float({}{});", lane_name(s.dst, i), s.dst,
          matrices == 1 ? "" : std::string{'.', "xyzw"[i]});
}

void Emitter::emit(const Mma& s) {
  CHECK(cuda());
  const mma::Atom& atom = *mma::find_atom(s.atom);
  const Type &a = types_.at(s.a), &b = types_.at(s.b);
  mma_.emplace(&atom, a.dtype);
  std::string registers;
  const auto add = [&](const std::string& text) { registers += (registers.empty() ? "" : ", ") + text; };
  for (const std::string& sum : s.sums)
    for (int v = 0; v < (s.sums.size() == 2 ? 2 : 1); ++v) add(s.sums.size() == 2 ? lane_name(sum, v) : sum);
  const auto matrix = [&](const std::string& value, const Type& type, std::int64_t i) {
    if (!is_float16(type.dtype)) return lane_name(value, static_cast<int>(i));
    return type.lanes == 2 ? value : value + "." + "xyzw"[i];
  };
  for (std::int64_t i = 0; i < atom.a_matrices(); ++i) add(matrix(s.a, a, i));
  for (std::int64_t i = 0; i < atom.b_matrices(); ++i) add(matrix(s.b, b, s.part + i));
  print("{}({});", mma_function(atom, a.dtype), registers);
}

// Each register of the sums as an operand that is read and written: what the compiler may not move across.
std::string Emitter::sum_operands(const std::vector<std::string>& sums) const {
  std::string text;
  for (const std::string& sum : sums) {
    const int lanes = types_.at(sum).lanes;
    for (int lane = 0; lane < lanes; ++lane)
      text += fmt::format("{}\"+f\"({})", text.empty() ? "" : ", ", lanes > 1 ? lane_name(sum, lane) : sum);
  }
  return text;
}

std::string Emitter::matrix_descriptor(const SharedMatrix& m) {
  helpers_.insert(Helper::wgmma_matrix);
  const int layout = m.swizzle == 128 ? 1 : m.swizzle == 64 ? 2 : 3;  // PTX ISA, "Matrix Descriptor Format"
  return fmt::format("wgmma_matrix(&{}, {}, {}, {})",
                     place(m.buffer, m.index, element_name({memory_.at(m.buffer).dtype, 1}, dialect())), m.leading,
                     tma::pattern_rows * m.swizzle, layout);
}

void Emitter::emit(const Wgmma& s) {
  CHECK(cuda());
  source_.architecture_specific = true;
  const mma::Atom& atom = *mma::find_atom(s.atom);
  const std::int64_t sums = atom.m * atom.n / (atom.warps * mma::warp);
  std::string places;
  for (std::int64_t i = 0; i < sums; ++i) places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
  const std::string_view type = name(memory_.at(s.a.buffer).dtype);
  const std::string a = matrix_descriptor(s.a), b = matrix_descriptor(s.b);
  print("asm volatile(\"wgmma.mma_async.sync.aligned.m{}n{}k{}.f32.{}.{} {{{}}}, %{}, %{}, 1, 1, 1, {}, {};\"", atom.m,
        atom.n, atom.k, type, type, places, sums, sums + 1, s.a.transposed ? 1 : 0, s.b.transposed ? 1 : 0);
  print("             : {} : \"l\"({}), \"l\"({}) : \"memory\");", sum_operands(s.sums), a, b);
}

void Emitter::emit(const WgmmaFence& s) {
  CHECK(cuda());
  print("asm volatile(\"wgmma.fence.sync.aligned;\" : {} :: \"memory\");", sum_operands(s.sums));
}

void Emitter::emit(const WgmmaCommit&) {
  CHECK(cuda());
  line("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");");
}

void Emitter::emit(const WgmmaWait& s) {
  CHECK(cuda());
  print("asm volatile(\"wgmma.wait_group.sync.aligned {};\" : {} :: \"memory\");", s.keep, sum_operands(s.sums));
}

}  // namespace deplo::ir
