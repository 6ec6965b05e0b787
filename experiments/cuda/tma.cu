// A tensor copy of one box of x (8 x 64) to y, which an mbarrier counts.
struct __align__(64) Map { char opaque[128]; };
extern "C" __global__ void copy(const __grid_constant__ Map map, float* y) {
  __shared__ __align__(128) float box[8 * 32];
  __shared__ __align__(8) unsigned long long full;
  const unsigned to = (unsigned)__cvta_generic_to_shared(box), barrier = (unsigned)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n fence.mbarrier_init.release.cluster;" :: "r"(barrier) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(barrier) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(&map), "r"(32), "r"(0), "r"(barrier) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred done;\nwait:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
               "@!done bra wait;\n}" :: "r"(barrier) : "memory");
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) y[i] = box[i];
}
