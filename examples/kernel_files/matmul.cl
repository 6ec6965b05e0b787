// c = a * b of n x n. Each block of BLOCK_X x BLOCK_Y threads keeps TILE_K rows of b in local memory; each thread makes
// WPT rows of c.
__kernel void matmul(const int n, __global const float* a, __global const float* b, __global float* c) {
  __local float slab[TILE_K][BLOCK_X];
  const int column = get_group_id(0) * BLOCK_X + get_local_id(0);
  const int row = (get_group_id(1) * BLOCK_Y + get_local_id(1)) * WPT;
  float sum[WPT];
  for (int i = 0; i < WPT; ++i) sum[i] = 0;
  for (int k = 0; k < n; k += TILE_K) {
    for (int i = get_local_id(1); i < TILE_K; i += BLOCK_Y) slab[i][get_local_id(0)] = b[(k + i) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll UNROLL
    for (int i = 0; i < TILE_K; ++i)
      for (int w = 0; w < WPT; ++w) sum[w] += a[(row + w) * n + k + i] * slab[i][get_local_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int w = 0; w < WPT; ++w) c[(row + w) * n + column] = sum[w];
}
