// One matrix instruction for each warp (mma.sync), or for each block of 128 threads (wgmma), of operands that lie as the
// registers want them: how does the hardware add? TYPE is f16, bf16 or tf32; WGMMA is 0 or 1. All sums are of f32.
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

__device__ void multiply_in_warp(const unsigned* a, const unsigned* b, float* d) {
#if IS_TF32
#define SHAPE "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
#else
#define SHAPE "mma.sync.aligned.m16n8k16.row.col.f32." TEXT(TYPE) "." TEXT(TYPE) ".f32"
#endif
  asm volatile(SHAPE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#if WGMMA
// No swizzle: matrices of 8 rows of 16 bytes, neighbours along k 128 bytes apart, along the rows 256.
__device__ unsigned long long matrix_at(const void* shared) {
  unsigned long long start = __cvta_generic_to_shared(shared);
  return (start & 0x3ffff) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

__device__ void multiply_in_warpgroup(const unsigned* a, const unsigned* b, float* d) {
  __shared__ __align__(128) unsigned rows[512], columns[64];
  for (int i = threadIdx.x; i < 512; i += 128) rows[i] = a[i];
  if (threadIdx.x < 64) columns[threadIdx.x] = b[threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32." TEXT(TYPE) "." TEXT(TYPE)
               " {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(matrix_at(rows)), "l"(matrix_at(columns)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
#endif

extern "C" __global__ void tensor_sums(const unsigned* a, const unsigned* b, const float* c, float* d) {
  int thread = blockIdx.x * 128 + threadIdx.x;
  float sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = c[4 * thread + i];
#if WGMMA
  multiply_in_warpgroup(a + 512 * blockIdx.x, b + 256 * blockIdx.x, sums);
#else
  multiply_in_warp(a + 4 * thread, b + 2 * thread, sums);
#endif
  for (int i = 0; i < 4; ++i) d[4 * thread + i] = sums[i];
}
