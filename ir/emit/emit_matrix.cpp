// Matrix instructions of warps and warpgroups; only in CUDA.

#include "core/error.h"
#include "ir/emit/float16.h"
#include "ir/emit/statements.h"
#include "ir/hardware/mma.h"
#include "ir/hardware/tma.h"
#include "ir/types/float16.h"

namespace deplo::ir::emitter {

namespace {

// Returns each register of the sums as a read-write operand, so that the compiler does not move code across the
// instruction.
std::string sum_operands(const Names& names, const std::vector<std::string>& sums) {
  std::string text;
  for (const std::string& sum : sums) {
    const int lanes = names.types.at(sum).lanes;
    for (int lane = 0; lane < lanes; ++lane)
      text += fmt::format("{}\"+f\"({})", text.empty() ? "" : ", ", lanes > 1 ? lane_name(sum, lane) : sum);
  }
  return text;
}

std::string matrix_descriptor(KernelText& k, const SharedMatrix& m) {
  k.functions.call(Helper::wgmma_matrix);
  const int layout = m.swizzle == 128 ? 1 : m.swizzle == 64 ? 2 : 3;  // PTX ISA, "Matrix Descriptor Format"
  return fmt::format(
      "wgmma_matrix(&{}, {}, {}, {})",
      k.names.place(m.buffer, m.index, element_name({k.names.memory.at(m.buffer).dtype, 1}, k.spell.dialect)),
      m.leading, tma::pattern_rows * m.swizzle, layout);
}

}  // namespace

void emit(KernelText& k, const LdMatrix& s) {
  CHECK(k.spell.ptx);
  const bool bits = is_float16(s.type.dtype);
  const int matrices = bits ? s.type.lanes / 2 : s.type.lanes;
  k.functions.call(s.transposed ? Helper::ld_matrix_transposed : Helper::ld_matrix, matrices);
  k.names.types[s.dst] = s.type;
  const Type words = {DType::bf16, 2 * matrices};  // 32-bit words, as the instruction sees them
  k.print("const {} {} = ld_matrix_{}{}(&{});", element_name(words, k.spell.dialect), s.dst, matrices,
          s.transposed ? "_transposed" : "",
          k.names.place(s.buffer, s.index, element_name({s.type.dtype, 1}, k.spell.dialect)));
  if (bits) return;
  for (int i = 0; i < matrices; ++i)
    k.print("const float {} = __uint_as_float({}{});", lane_name(s.dst, i), s.dst,
            matrices == 1 ? "" : std::string{'.', "xyzw"[i]});
}

void emit(KernelText& k, const Pack& s) {
  CHECK(k.spell.ptx);
  k.names.types[s.dst] = s.type;
  struct Element {
    std::string text;
    bool bits;
  };
  std::vector<Element> elements;  // 16-bit elements; an empty text means that the element before is a whole word
  for (const std::string& value : s.values) {
    const Type& type = k.names.types.at(value);
    const bool bits = is_float16(type.dtype);
    for (int lane = 0; lane < type.lanes; ++lane)
      elements.push_back({type.lanes == 1 ? value
                          : !bits         ? lane_name(value, lane)
                          : lane % 2 == 0 ? k.names.words(value)[static_cast<std::size_t>(lane / 2)]
                                          : "",
                          bits});
  }
  if (!is_float16(s.type.dtype)) {
    for (std::size_t i = 0; i < elements.size(); ++i)
      k.print("const float {} = {};", s.type.lanes == 1 ? s.dst : lane_name(s.dst, static_cast<int>(i)),
              elements[i].text);
    return;
  }
  k.functions.float16.emplace(s.type.dtype, 1);
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
  const std::string type = element_name(s.type, k.spell.dialect);
  k.print("const {} {} = {};", type, s.dst, s.type.lanes == 2 ? text : fmt::format("make_{}({})", type, text));
}

void emit(KernelText& k, const QuadTranspose& s) {
  CHECK(k.spell.ptx && k.source.threads % gpu::warp == 0);
  k.functions.call(Helper::quad_transpose);
  k.names.types[s.dst] = s.type;
  std::string pairs;
  for (const std::string& value : s.values) {
    pairs += pairs.empty() ? "" : ", ";
    if (is_float16(k.names.types.at(value).dtype)) {
      pairs += value;
    } else {
      k.functions.float16.emplace(s.type.dtype, 1);
      pairs += pack_float16(lane_name(value, 0), lane_name(value, 1), s.type.dtype);
    }
  }
  k.print("const uint4 {} = quad_transpose({});", s.dst, pairs);
}

void emit(KernelText& k, const Mma& s) {
  CHECK(k.spell.ptx);
  const mma::Atom& atom = *mma::find_atom(s.atom);
  const Type &a = k.names.types.at(s.a), &b = k.names.types.at(s.b);
  k.functions.products.emplace(&atom, a.dtype);
  std::string registers;
  const auto add = [&](const std::string& text) { registers += (registers.empty() ? "" : ", ") + text; };
  for (const std::string& sum : s.sums)
    for (int v = 0; v < (s.sums.size() == 2 ? 2 : 1); ++v) add(s.sums.size() == 2 ? lane_name(sum, v) : sum);
  const auto matrix = [&](const std::string& value, const Type& type, std::int64_t i) {
    return is_float16(type.dtype) ? k.names.words(value)[static_cast<std::size_t>(i)]
                                  : lane_name(value, static_cast<int>(i));
  };
  for (std::int64_t i = 0; i < atom.a_matrices(); ++i) add(matrix(s.a, a, i));
  for (std::int64_t i = 0; i < atom.b_matrices(); ++i) add(matrix(s.b, b, s.part + i));
  k.print("{}({});", mma_function(atom, a.dtype), registers);
}

void emit(KernelText& k, const Wgmma& s) {
  CHECK(k.spell.ptx);
  k.source.architecture_specific = true;
  const mma::Atom& atom = *mma::find_atom(s.atom);
  const std::int64_t sums = atom.m * atom.n / (atom.warps * gpu::warp);
  std::string places;
  for (std::int64_t i = 0; i < sums; ++i) places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
  const std::string_view type = name(k.names.memory.at(s.b.buffer).dtype);
  // Operand a, and the flags that follow b. A fragment has no flag for its layout.
  std::string a, values, flags = "1, 1, 1";
  std::int64_t next = sums;
  if (const auto* matrix = std::get_if<SharedMatrix>(&s.a)) {
    a = fmt::format("%{}", next++);
    values = fmt::format("\"l\"({})", matrix_descriptor(k, *matrix));
    flags += matrix->transposed ? ", 1" : ", 0";
  } else {
    for (const std::string& word : k.names.words(std::get<std::string>(s.a))) {
      a += fmt::format("{}%{}", a.empty() ? "" : ", ", next++);
      values += fmt::format("{}\"r\"({})", values.empty() ? "" : ", ", word);
    }
    a = "{" + a + "}";
  }
  k.print("asm volatile(\"wgmma.mma_async.sync.aligned.m{}n{}k{}.f32.{}.{} {{{}}}, {}, %{}, {}, {};\"", atom.m, atom.n,
          atom.k, type, type, places, a, next, flags, s.b.transposed ? 1 : 0);
  k.print("             : {} : {}, \"l\"({}) : \"memory\");", sum_operands(k.names, s.sums), values,
          matrix_descriptor(k, s.b));
}

void emit(KernelText& k, const WgmmaFence& s) {
  CHECK(k.spell.ptx);
  // Each fragment is an operand of the fence. Otherwise the compiler may delay its computation beyond the fence.
  std::string fragments;
  for (const std::string& fragment : s.fragments)
    for (const std::string& word : k.names.words(fragment))
      fragments += fmt::format("{}\"r\"({})", fragments.empty() ? " " : ", ", word);
  k.print("asm volatile(\"wgmma.fence.sync.aligned;\" : {} :{}: \"memory\");", sum_operands(k.names, s.sums),
          fragments.empty() ? "" : fragments + " ");
}

void emit(KernelText& k, const WgmmaCommit&) {
  CHECK(k.spell.ptx);
  k.line("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");");
}

void emit(KernelText& k, const WgmmaWait& s) {
  CHECK(k.spell.ptx);
  k.print("asm volatile(\"wgmma.wait_group.sync.aligned {};\" : {} :: \"memory\");", s.keep,
          sum_operands(k.names, s.sums));
}

}  // namespace deplo::ir::emitter
