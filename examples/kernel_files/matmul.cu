// c = a * b of n x n. Each block of BLOCK_X x BLOCK_Y threads keeps TILE_K rows of b in shared memory; each thread makes
// WPT rows of c.
__global__ void matmul(const int n, const float* a, const float* b, float* c) {
  __shared__ float slab[TILE_K][BLOCK_X];
  const int column = blockIdx.x * BLOCK_X + threadIdx.x;
  const int row = (blockIdx.y * BLOCK_Y + threadIdx.y) * WPT;
  float sum[WPT] = {};
  for (int k = 0; k < n; k += TILE_K) {
    for (int i = threadIdx.y; i < TILE_K; i += BLOCK_Y) slab[i][threadIdx.x] = b[(k + i) * n + column];
    __syncthreads();
#pragma unroll UNROLL
    for (int i = 0; i < TILE_K; ++i)
      for (int w = 0; w < WPT; ++w) sum[w] += a[(row + w) * n + k + i] * slab[i][threadIdx.x];
    __syncthreads();
  }
  for (int w = 0; w < WPT; ++w) c[(row + w) * n + column] = sum[w];
}
