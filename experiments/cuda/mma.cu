// One product of a tensor core: c (16 x 8) = a (16 x 16) b (16 x 8), bf16, by one warp.
extern "C" __global__ void product(const unsigned short* a, const unsigned short* b, float* c) {
  __shared__ __align__(16) unsigned short a_tile[16 * 16], b_tile[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += 32) a_tile[i] = a[i];
  for (int i = lane; i < 16 * 8; i += 32) b_tile[i] = b[i];
  __syncthreads();
  unsigned a0, a1, a2, a3, b0, b1;
  const unsigned a_at = (unsigned)__cvta_generic_to_shared(&a_tile[lane % 16 * 16 + lane / 16 * 8]);
  const unsigned b_at = (unsigned)__cvta_generic_to_shared(&b_tile[lane % 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(a_at) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b0), "=r"(b1) : "r"(b_at) : "memory");
  float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  const int row = lane / 4, column = lane % 4 * 2;
  c[row * 8 + column] = c0;
  c[row * 8 + column + 1] = c1;
  c[(row + 8) * 8 + column] = c2;
  c[(row + 8) * 8 + column + 1] = c3;
}
