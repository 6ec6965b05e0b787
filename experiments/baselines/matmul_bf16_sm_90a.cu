// A matmul of bf16 for sm_90a by hand, as CUTLASS's "cooperative" kernels are built: two warpgroups multiply 64 x 256
// each, one warp of a third copies by TMA to four slots of 128 x 64 and 256 x 64 elements. It is here to be compared with
// what deplo writes, by machine code (docs/performance.md, "Tensor cores"):
//   nvcc -arch=sm_90a -cubin -Xptxas -v matmul_bf16_sm_90a.cu && nvdisasm -c matmul_bf16_sm_90a.cubin
// y[4096, 4096] f32 = a[4096, 4096] * b[4096, 4096] transposed; 512 blocks of 384 threads, 196,672 bytes of shared memory.
struct __align__(64) CUtensorMap { unsigned long long opaque[16]; };

static __device__ __forceinline__ unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// 128-byte swizzle; patterns of 8 rows follow each other after 1,024 bytes.
static __device__ __forceinline__ unsigned long long matrix(unsigned address) {
  return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

static __device__ __forceinline__ void wait(unsigned long long* barrier, int phase) {
  unsigned done = 0;
  while (!done)
    asm volatile("{.reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, 10000000;\n"
                 " selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(shared(barrier)), "r"(phase) : "memory");
}

static __device__ __forceinline__ void load(void* to, const CUtensorMap& map, int x, int y, unsigned long long* full) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               :: "r"(shared(to)), "l"(&map), "r"(shared(full)), "r"(x), "r"(y) : "memory");
}

static __device__ __forceinline__ void multiply(float (&d)[128], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, 1, 1, 1, 0, 0;"
      :
        "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
        "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
        "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]),
        "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]),
        "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]),
        "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]),
        "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]),
        "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]),
        "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]),
        "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]),
        "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]),
        "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]),
        "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b));
}

static __device__ __forceinline__ void keep(float (&d)[128]) {
#pragma unroll
  for (int i = 0; i < 128; i++) asm volatile("" : "+f"(d[i]) :: "memory");
}

extern "C" __global__ __launch_bounds__(384) void matmul(float* __restrict__ y, const __grid_constant__ CUtensorMap map_a,
                                                         const __grid_constant__ CUtensorMap map_b) {
  constexpr int slots = 4, chunks = 64;
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned short* a = (unsigned short*)memory;                  // [slots][128][64]
  unsigned short* b = a + slots * 128 * 64;                     // [slots][256][64]
  unsigned long long* full = (unsigned long long*)(b + slots * 256 * 64);
  unsigned long long* empty = full + slots;
  const int thread = threadIdx.x, m = blockIdx.x / 16, n = blockIdx.x % 16;
  if (thread == 0) {
    for (int i = 0; i < slots; i++) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(full + i)));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" :: "r"(shared(empty + i)));
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (thread >= 256) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (thread == 256)
      for (int c = 0; c < chunks; c++) {
        const int s = c % slots;
        wait(empty + s, (c / slots + 1) % 2);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 49152;" :: "r"(shared(full + s)) : "memory");
        load(a + s * 128 * 64, map_a, c * 64, m * 128, full + s);
        load(b + s * 256 * 64, map_b, c * 64, n * 256, full + s);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  float d[128];
  for (int i = 0; i < 128; i++) d[i] = 0;
  const int group = thread / 128, warp = thread / 32 % 4, g = thread / 4 % 8, t = thread % 4;
  for (int c = 0; c < chunks; c++) {
    const int s = c % slots;
    wait(full + s, c / slots % 2);
    keep(d);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; k++)
      multiply(d, matrix(shared(a + s * 128 * 64 + group * 64 * 64) + k * 32), matrix(shared(b + s * 256 * 64) + k * 32));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    keep(d);
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (c > 0 && thread % 32 == 0)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared(empty + (c - 1) % slots)) : "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  keep(d);
#pragma unroll
  for (int j = 0; j < 32; j++)
    for (int r = 0; r < 2; r++)
      *(float2*)(y + (m * 128 + group * 64 + warp * 16 + r * 8 + g) * 4096 + n * 256 + j * 8 + t * 2) =
          make_float2(d[j * 4 + r * 2], d[j * 4 + r * 2 + 1]);
}
