// Matrix instructions of warps and warpgroups: CUDA only.
#include <array>

#include "core/error.h"
#include "ir/emit/emitter.h"
#include "ir/emit/float16.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/tma.h"
#include "ir/types/float16.h"

namespace deplo::ir {

void Emitter::emit(const LdMatrix& s) {
  CHECK(spell_.ptx);
  constexpr std::array plain = {Helper::ld_matrix_1, Helper::ld_matrix_2, Helper::ld_matrix_4};
  constexpr std::array transposed = {Helper::ld_matrix_1_transposed, Helper::ld_matrix_2_transposed,
                                     Helper::ld_matrix_4_transposed};
  const bool bits = is_float16(s.type.dtype);
  const int matrices = bits ? s.type.lanes / 2 : s.type.lanes;
  helpers_.insert((s.transposed ? transposed : plain).at(static_cast<std::size_t>(matrices / 2)));  // 1, 2, 4 → 0, 1, 2
  types_[s.dst] = s.type;
  const Type words = {DType::bf16, 2 * matrices};  // as the instruction sees them
  print("const {} {} = ld_matrix_{}{}(&{});", element_name(words, dialect()), s.dst, matrices,
        s.transposed ? "_transposed" : "", place(s.buffer, s.index, element_name({s.type.dtype, 1}, dialect())));
  if (bits) return;
  for (int i = 0; i < matrices; ++i)
    print("const float {} = __uint_as_float({}{});", lane_name(s.dst, i), s.dst,
          matrices == 1 ? "" : std::string{'.', "xyzw"[i]});
}

// The 32-bit registers of a value of two or more 16-bit elements.
std::vector<std::string> Emitter::words(const std::string& fragment) const {
  const int lanes = types_.at(fragment).lanes;
  std::vector<std::string> result;
  for (int i = 0; i < lanes / 2; ++i) result.push_back(lanes == 2 ? fragment : fragment + "." + "xyzw"[i]);
  return result;
}

void Emitter::emit(const Pack& s) {
  CHECK(spell_.ptx);
  types_[s.dst] = s.type;
  struct Element {
    std::string text;
    bool bits;
  };
  std::vector<Element> elements;  // of 16 bits; if the second one's text is empty, the first one is a word
  for (const std::string& value : s.values) {
    const Type& type = types_.at(value);
    const bool bits = is_float16(type.dtype);
    for (int lane = 0; lane < type.lanes; ++lane)
      elements.push_back({type.lanes == 1 ? value
                          : !bits         ? lane_name(value, lane)
                          : lane % 2 == 0 ? words(value)[static_cast<std::size_t>(lane / 2)]
                                          : "",
                          bits});
  }
  if (!is_float16(s.type.dtype)) {
    for (std::size_t i = 0; i < elements.size(); ++i)
      print("const float {} = {};", s.type.lanes == 1 ? s.dst : lane_name(s.dst, static_cast<int>(i)),
            elements[i].text);
    return;
  }
  float16_.emplace(s.type.dtype, 1);
  const auto half = [&](const Element& e) {
    return e.bits ? "(unsigned)" + e.text : fmt::format("(unsigned){}_bits({})", name(s.type.dtype), e.text);
  };
  std::string text;
  for (std::size_t i = 0; i < elements.size(); i += 2) {
    const Element &low = elements[i], &high = elements[i + 1];
    text += i == 0 ? "" : ", ";
    text += high.text.empty()       ? low.text
            : low.bits || high.bits ? half(low) + " | " + half(high) + " << 16"
                                    : pack_float16(low.text, high.text, s.type.dtype);
  }
  const std::string type = element_name(s.type, dialect());
  print("const {} {} = {};", type, s.dst, s.type.lanes == 2 ? text : fmt::format("make_{}({})", type, text));
}

void Emitter::emit(const QuadTranspose& s) {
  CHECK(spell_.ptx && source_.threads % gpu::warp == 0);
  helpers_.insert(Helper::quad_transpose);
  types_[s.dst] = s.type;
  std::string pairs;
  for (const std::string& value : s.values) {
    pairs += pairs.empty() ? "" : ", ";
    if (is_float16(types_.at(value).dtype)) {
      pairs += value;
    } else {
      float16_.emplace(s.type.dtype, 1);
      pairs += pack_float16(lane_name(value, 0), lane_name(value, 1), s.type.dtype);
    }
  }
  print("const uint4 {} = quad_transpose({});", s.dst, pairs);
}

void Emitter::emit(const Mma& s) {
  CHECK(spell_.ptx);
  const mma::Atom& atom = *mma::find_atom(s.atom);
  const Type &a = types_.at(s.a), &b = types_.at(s.b);
  mma_.emplace(&atom, a.dtype);
  std::string registers;
  const auto add = [&](const std::string& text) { registers += (registers.empty() ? "" : ", ") + text; };
  for (const std::string& sum : s.sums)
    for (int v = 0; v < (s.sums.size() == 2 ? 2 : 1); ++v) add(s.sums.size() == 2 ? lane_name(sum, v) : sum);
  const auto matrix = [&](const std::string& value, const Type& type, std::int64_t i) {
    return is_float16(type.dtype) ? words(value)[static_cast<std::size_t>(i)] : lane_name(value, static_cast<int>(i));
  };
  for (std::int64_t i = 0; i < atom.a_matrices(); ++i) add(matrix(s.a, a, i));
  for (std::int64_t i = 0; i < atom.b_matrices(); ++i) add(matrix(s.b, b, s.part + i));
  print("{}({});", mma_function(atom, a.dtype), registers);
}

// Each register of the sums as an operand that is read and written, so that the compiler does not move code across.
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
  CHECK(spell_.ptx);
  source_.architecture_specific = true;
  const mma::Atom& atom = *mma::find_atom(s.atom);
  const std::int64_t sums = atom.m * atom.n / (atom.warps * gpu::warp);
  std::string places;
  for (std::int64_t i = 0; i < sums; ++i) places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
  const std::string_view type = name(memory_.at(s.b.buffer).dtype);
  // Operand a, and the flags that follow b. A fragment has no flag for its layout.
  std::string a, values, flags = "1, 1, 1";
  std::int64_t next = sums;
  if (const auto* matrix = std::get_if<SharedMatrix>(&s.a)) {
    a = fmt::format("%{}", next++);
    values = fmt::format("\"l\"({})", matrix_descriptor(*matrix));
    flags += matrix->transposed ? ", 1" : ", 0";
  } else {
    for (const std::string& word : words(std::get<std::string>(s.a))) {
      a += fmt::format("{}%{}", a.empty() ? "" : ", ", next++);
      values += fmt::format("{}\"r\"({})", values.empty() ? "" : ", ", word);
    }
    a = "{" + a + "}";
  }
  print("asm volatile(\"wgmma.mma_async.sync.aligned.m{}n{}k{}.f32.{}.{} {{{}}}, {}, %{}, {}, {};\"", atom.m, atom.n,
        atom.k, type, type, places, a, next, flags, s.b.transposed ? 1 : 0);
  print("             : {} : {}, \"l\"({}) : \"memory\");", sum_operands(s.sums), values, matrix_descriptor(s.b));
}

void Emitter::emit(const WgmmaFence& s) {
  CHECK(spell_.ptx);
  std::string fragments;  // an operand for each fragment made before the fence: the compiler may delay others beyond it
  for (const std::string& fragment : s.fragments)
    for (const std::string& word : words(fragment))
      fragments += fmt::format("{}\"r\"({})", fragments.empty() ? " " : ", ", word);
  print("asm volatile(\"wgmma.fence.sync.aligned;\" : {} :{}: \"memory\");", sum_operands(s.sums),
        fragments.empty() ? "" : fragments + " ");
}

void Emitter::emit(const WgmmaCommit&) {
  CHECK(spell_.ptx);
  line("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");");
}

void Emitter::emit(const WgmmaWait& s) {
  CHECK(spell_.ptx);
  print("asm volatile(\"wgmma.wait_group.sync.aligned {};\" : {} :: \"memory\");", s.keep, sum_operands(s.sums));
}

}  // namespace deplo::ir
