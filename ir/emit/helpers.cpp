#include "ir/emit/helpers.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>

#include "ir/types/float16.h"

namespace deplo::ir {
namespace {

constexpr const char* inlined = "static __device__ __forceinline__";

// PTX ISA, "ex2": the relative error is at most 2^-22. exp2f also scales subnormal numbers, with three more
// instructions.
constexpr const char* exp2 = R"(static __device__ __forceinline__ float exp2(const float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
)";

// PTX ISA, "max": from sm_80 on, max.NaN returns NaN if an argument is NaN. fmaxf returns the other argument.
std::string nan_extremum(std::string_view name) {
  return fmt::format(R"({} float {}_nan(const float a, const float b) {{
  float result;
  asm("{}.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}}
)",
                     inlined, name, name);
}

// PTX ISA, "mapa": gives the address of the same place in the shared memory of another block of the cluster.
std::string cluster_load(int lanes) {
  const std::string type = lanes == 1 ? "float" : fmt::format("float{}", lanes);
  std::string values, outputs;
  for (int i = 0; i < lanes; ++i) {
    values += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    outputs += fmt::format("{}\"=f\"(value{})", i == 0 ? "" : ", ", lanes == 1 ? "" : std::string{'.', "xyzw"[i]});
  }
  if (lanes > 1) values = "{" + values + "}";
  return fmt::format(R"({0} {1} cluster_load_{2}(const float* shared, int block) {{
  unsigned afar;
  {1} value;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(afar) : "r"((unsigned)__cvta_generic_to_shared(shared)), "r"(block));
  asm volatile("ld.shared::cluster{3}.f32 {4}, [%{2}];" : {5} : "r"(afar) : "memory");
  return value;
}}
)",
                     inlined, type, lanes, lanes == 1 ? "" : fmt::format(".v{}", lanes), values, outputs);
}

std::string ld_matrix(int matrices, bool transposed) {
  const std::string type = matrices == 1 ? "unsigned" : fmt::format("uint{}", matrices);
  std::string values, outputs;
  for (int i = 0; i < matrices; ++i) {
    values += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    outputs += fmt::format("{}\"=r\"(value{})", i == 0 ? "" : ", ", matrices == 1 ? "" : std::string{'.', "xyzw"[i]});
  }
  return fmt::format(R"({0} {1} ld_matrix_{2}{3}(const void* shared) {{
  {1} value;
  asm volatile("ldmatrix.sync.aligned.m8n8.x{2}{4}.shared.b16 {{{5}}}, [%{2}];"
               : {6} : "r"((unsigned)__cvta_generic_to_shared(shared)) : "memory");
  return value;
}}
)",
                     inlined, type, matrices, transposed ? "_transposed" : "", transposed ? ".trans" : "", values,
                     outputs);
}

// PTX ISA, "Matrix Descriptor Format": addresses and distances in units of 16 bytes.
constexpr const char* wgmma_matrix =
    "static __device__ __forceinline__ "
    R"(unsigned long long wgmma_matrix(const void* shared, unsigned leading, unsigned stride, int layout) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(shared) & 0x3ffff;
  return (unsigned long long)(address >> 4) | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | (unsigned long long)layout << 62;
}
)";

// PTX ISA, "cp.async": .cg, which bypasses the L1 cache, only copies 16 bytes.
std::string cp_async(int bytes) {
  return fmt::format(R"({} void cp_async_{}(void* shared, const void* global) {{
  asm volatile("cp.async.{}.shared.global [%0], [%1], {};"
               :: "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global) : "memory");
}}
)",
                     inlined, bytes, bytes == 16 ? "cg" : "ca", bytes);
}

// The driver's type, declared without its header as an opaque parameter.
constexpr const char* tensor_map = "struct __align__(64) CUtensorMap { unsigned long long opaque[16]; };\n";

constexpr const char* prefetch_tensor_map =
    R"(static __device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
}
)";

// Transposes 4 x 4 words in two steps: first blocks of one word, then blocks of two words, change places across the
// diagonal.
constexpr const char* quad_transpose =
    R"(static __device__ __forceinline__ uint4 quad_transpose(unsigned w0, unsigned w1, unsigned w2, unsigned w3) {
  const unsigned low = threadIdx.x & 1, high = threadIdx.x & 2;
  const unsigned a = __shfl_xor_sync(0xffffffff, low ? w0 : w1, 1);
  const unsigned b = __shfl_xor_sync(0xffffffff, low ? w2 : w3, 1);
  if (low) w0 = a, w2 = b;
  else w1 = a, w3 = b;
  const unsigned c = __shfl_xor_sync(0xffffffff, high ? w0 : w2, 2);
  const unsigned d = __shfl_xor_sync(0xffffffff, high ? w1 : w3, 2);
  return high ? make_uint4(c, d, w2, w3) : make_uint4(w0, w1, c, d);
}
)";

// Elects one of the threads in the mask. All of these threads must call it.
constexpr const char* elect_one = R"(static __device__ __forceinline__ int elect_one(unsigned mask) {
  int elected;
  asm volatile("{.reg .pred p;\n"
               "elect.sync _|p, %1;\n"
               "selp.s32 %0, 1, 0, p;}" : "=r"(elected) : "r"(mask));
  return elected;
}
)";

// The fence makes the barrier visible to the asynchronous proxy, through which TMA reports (PTX ISA, "membar/fence").
constexpr const char* mbarrier_init =
    R"(static __device__ __forceinline__ void mbarrier_init(unsigned long long* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n"
               "fence.mbarrier_init.release.cluster;"
               :: "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(count) : "memory");
}
)";

constexpr const char* mbarrier_arrive_expect_tx =
    R"(static __device__ __forceinline__ void mbarrier_arrive_expect_tx(unsigned long long* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(bytes) : "memory");
}
)";

constexpr const char* mbarrier_arrive =
    R"(static __device__ __forceinline__ void mbarrier_arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
               :: "r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}
)";

// Arrives at the same barrier of another block of the cluster, as CUTLASS's ClusterBarrier does. After the phase come
// copies over elements that these threads have read. `.release.cluster` would make each arrival wait for all earlier
// stores of the thread (MEMBAR.ALL.GPU).
constexpr const char* mbarrier_arrive_afar =
    R"(static __device__ __forceinline__ void mbarrier_arrive_afar(unsigned long long* barrier, int block) {
  unsigned afar;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(afar) : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(block));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(afar) : "memory");
}
)";

// try_wait may return early. Between two attempts the warp sleeps, at most for the nanoseconds of the hint.
constexpr const char* mbarrier_wait =
    R"(static __device__ __forceinline__ void mbarrier_wait(unsigned long long* barrier, int phase) {
  unsigned done = 0;
  while (!done)
    asm volatile("{.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 10000000;\n"
                 "selp.u32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(phase) : "memory");
}
)";

struct Coordinates {
  explicit Coordinates(int rank, int first_operand) {
    for (int i = 0; i < rank; ++i) {
      parameters += fmt::format("int c{}, ", i);
      places += fmt::format("{}%{}", i == 0 ? "" : ", ", i + first_operand);
      values += fmt::format(", \"r\"(c{})", i);
    }
  }
  std::string parameters, places, values;
};

// The destination is in the executing block. PTX can say so from version 8.6 on. Before 8.6, shared::cluster also takes
// addresses of the executing block, but on an architecture whose blocks share no memory (sm_120), a function is called
// to find out which block an address belongs to. The compilers for sm_100 and later support 8.6.
std::string tma_load(int rank) {
  const Coordinates of(rank, 3);
  return fmt::format(
      R"({0} void tma_load_{1}d(void* shared, const CUtensorMap& map, {2}unsigned long long* barrier) {{
  asm volatile("cp.async.bulk.tensor.{1}d."
#if __CUDA_ARCH__ >= 1000
               "shared::cta"
#else
               "shared::cluster"
#endif
               ".global.tile.mbarrier::complete_tx::bytes [%0], [%1, {{{3}}}], [%2];"
               :: "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(&map),
                  "r"((unsigned)__cvta_generic_to_shared(barrier)){4} : "memory");
}}
)",
      inlined, rank, of.parameters, of.places, of.values);
}

// Copies to the same place in each block of the mask. In each block, the barrier at the same place counts the bytes.
std::string tma_multicast(int rank) {
  const Coordinates of(rank, 4);
  return fmt::format(
      R"({0} void tma_multicast_{1}d(void* shared, const CUtensorMap& map, {2}unsigned long long* barrier, int blocks) {{
  asm volatile("cp.async.bulk.tensor.{1}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {{{3}}}], [%2], %3;"
               :: "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(&map),
                  "r"((unsigned)__cvta_generic_to_shared(barrier)), "h"((unsigned short)blocks){4} : "memory");
}}
)",
      inlined, rank, of.parameters, of.places, of.values);
}

// Transposes 8 rows of 8: pairs of rows, then pairs of pairs, within each half of a vector, and last the halves. Each
// line is one instruction of AVX (Intel 64 and IA-32 Architectures Optimization Reference Manual, "8x8 Matrix
// Transpose").
constexpr const char* copy_transposed_8 =
    R"(void simd_copy_transposed8(__local float* to, const long to_row, __global const float* from, const long from_row) {
  float8 r[8], s[8];
  for (int i = 0; i < 8; ++i) r[i] = vload8(0, &from[i * from_row]);
  for (int i = 0; i < 8; i += 2) {
    const float8 a = r[i], b = r[i + 1];
    s[i] = (float8)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5);
    s[i + 1] = (float8)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7);
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      const float8 a = s[i + j], b = s[i + j + 2];
      r[i + 2 * j] = (float8)(a.s01, b.s01, a.s45, b.s45);
      r[i + 2 * j + 1] = (float8)(a.s23, b.s23, a.s67, b.s67);
    }
  for (int i = 0; i < 4; ++i) {
    vstore8((float8)(r[i].lo, r[i + 4].lo), 0, &to[i * to_row]);
    vstore8((float8)(r[i].hi, r[i + 4].hi), 0, &to[(i + 4) * to_row]);
  }
}
)";

// Transposes 16 rows of 16 by four perfect shuffles, each of which interleaves two halves like cards (Stone, Parallel
// Processing with the Perfect Shuffle, IEEE Trans. Computers C-20, 1971).
constexpr const char* copy_transposed_16 = R"(float16 simd_deal(const float8 low, const float8 high) {
  return (float16)(low.s0, high.s0, low.s1, high.s1, low.s2, high.s2, low.s3, high.s3, low.s4, high.s4, low.s5,
                   high.s5, low.s6, high.s6, low.s7, high.s7);
}
void simd_copy_transposed16(__local float* to, const long to_row, __global const float* from, const long from_row) {
  float16 r[16], s[16];
  for (int i = 0; i < 16; ++i) r[i] = vload16(0, &from[i * from_row]);
  for (int i = 0; i < 8; ++i) s[2 * i] = simd_deal(r[i].lo, r[i + 8].lo), s[2 * i + 1] = simd_deal(r[i].hi, r[i + 8].hi);
  for (int i = 0; i < 8; ++i) r[2 * i] = simd_deal(s[i].lo, s[i + 8].lo), r[2 * i + 1] = simd_deal(s[i].hi, s[i + 8].hi);
  for (int i = 0; i < 8; ++i) s[2 * i] = simd_deal(r[i].lo, r[i + 8].lo), s[2 * i + 1] = simd_deal(r[i].hi, r[i + 8].hi);
  for (int i = 0; i < 8; ++i) r[2 * i] = simd_deal(s[i].lo, s[i + 8].lo), r[2 * i + 1] = simd_deal(s[i].hi, s[i + 8].hi);
  for (int i = 0; i < 16; ++i) vstore16(r[i], 0, &to[i * to_row]);
}
)";

// 16 pairs that may begin at any element, so the words need not be aligned.
constexpr const char* bf16_pairs = R"(typedef struct __attribute__((packed)) {
  uint16 words;
} bf16_pairs;
)";

// PoCL's clang has a builtin for this instruction only on the newest devices, but its assembler knows the instruction
// on every x86-64.
constexpr const char* bf16_dot = R"(float16 bf16_dot(float16 sum, const uint pair, const uint16 pairs) {
  __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"((uint16)(pair)), "v"(pairs));
  return sum;
}
)";

// OpenCL 1.2 has atomic additions only for integers.
constexpr const char* atomic_add_float = R"(void atomic_add_float(volatile __global float* sum, const float value) {
  volatile __global int* bits = (volatile __global int*)sum;
  int seen, found = *bits;
  do {
    seen = found;
    found = atomic_cmpxchg(bits, seen, as_int(as_float(seen) + value));
  } while (found != seen);
}
)";

using Definition = std::function<std::string(int)>;

Definition fixed(const char* text) {
  return [text](int) { return std::string(text); };
}

/// Returns for each helper the function that writes its definition.
const std::map<Helper, Definition>& definitions() {
  static const std::map<Helper, Definition> all = {
      {Helper::ld_matrix, [](int matrices) { return ld_matrix(matrices, false); }},
      {Helper::ld_matrix_transposed, [](int matrices) { return ld_matrix(matrices, true); }},
      {Helper::wgmma_matrix, fixed(wgmma_matrix)},
      {Helper::cluster_load, cluster_load},
      {Helper::cp_async, cp_async},
      {Helper::tensor_map, fixed(tensor_map)},
      {Helper::prefetch_tensor_map, fixed(prefetch_tensor_map)},
      {Helper::elect_one, fixed(elect_one)},
      {Helper::quad_transpose, fixed(quad_transpose)},
      {Helper::exp2, fixed(exp2)},
      {Helper::max_nan, [](int) { return nan_extremum("max"); }},
      {Helper::min_nan, [](int) { return nan_extremum("min"); }},
      {Helper::mbarrier_init, fixed(mbarrier_init)},
      {Helper::mbarrier_arrive_expect_tx, fixed(mbarrier_arrive_expect_tx)},
      {Helper::mbarrier_arrive, fixed(mbarrier_arrive)},
      {Helper::mbarrier_arrive_afar, fixed(mbarrier_arrive_afar)},
      {Helper::mbarrier_wait, fixed(mbarrier_wait)},
      {Helper::tma_load, tma_load},
      {Helper::tma_multicast, tma_multicast},
      {Helper::atomic_add_float, fixed(atomic_add_float)},
      {Helper::copy_transposed,
       [](int size) { return std::string(size == 8 ? copy_transposed_8 : copy_transposed_16); }},
      {Helper::bf16_pairs, fixed(bf16_pairs)},
      {Helper::bf16_dot, fixed(bf16_dot)},
  };
  return all;
}

}  // namespace

std::string definition(Helper helper, int number) { return definitions().at(helper)(number); }

std::string mma_function(const mma::Atom& atom, DType dtype) {
  return is_float16(dtype) ? fmt::format("mma_{}_{}", atom.name, name(dtype)) : fmt::format("mma_{}", atom.name);
}

// The parameters are the sums, then the matrices of a and of b, one register each: two 16-bit elements, or an f32.
std::string mma_definition(const mma::Atom& atom, DType dtype) {
  const bool bits = is_float16(dtype);
  const auto a = static_cast<int>(atom.a_matrices()), b = static_cast<int>(atom.b_matrices());
  std::string parameters = "float& c0, float& c1, float& c2, float& c3", inputs;
  for (int i = 0; i < a + b; ++i) {
    const std::string name = i < a ? fmt::format("a{}", i) : fmt::format("b{}", i - a);
    parameters += fmt::format(", {} {}", bits ? "unsigned" : "float", name);
    inputs += fmt::format("{}\"r\"({})", i == 0 ? "" : ", ", bits ? name : fmt::format("__float_as_uint({})", name));
  }
  const auto registers = [](int first, int count) {
    std::string list;
    for (int i = first; i < first + count; ++i) list += fmt::format("{}%{}", i == first ? "" : ", ", i);
    return list;
  };
  return fmt::format(R"({0} void {1}({2}) {{
  asm volatile("mma.sync.aligned.m{3}n{4}k{5}.row.col.f32.{6}.{6}.f32 {{{7}}}, {{{8}}}, {{{9}}}, {{{7}}};"
               : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
               : {10});
}}
)",
                     inlined, mma_function(atom, dtype), parameters, atom.m, atom.n, atom.k,
                     bits ? name(dtype) : "tf32", registers(0, 4), registers(4, a), registers(4 + a, b), inputs);
}

}  // namespace deplo::ir
