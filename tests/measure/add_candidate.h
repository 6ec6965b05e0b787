// A small kernel that every device runs.
#pragma once
#include <cstdint>

#include "measure/device.h"

namespace deplo::measure {

inline constexpr std::int64_t blocks = 5, threads = 8, size = blocks * threads;

/// Returns a kernel that computes c[i] = a[i] + b[block * 8]. The block's first element of b is read through shared
/// memory.
inline KernelCode add_candidate() {
  KernelCode candidate;
  candidate.kernel = ir::parse(
      "=== kernel: add ===\n"
      "input a: f32[40]\n"
      "input b: f32[40]\n"
      "output c: f32[40]\n"
      "Tile(axes=(a0:5=BLOCK, a1:8=THREAD)):\n"
      "  Smem first[8] (f32)\n"
      "  in0 = load a[((a0 * 8) + a1)]\n"
      "  in1 = load b[((a0 * 8) + a1)]\n"
      "  first[a1] = in1\n"
      "  Sync\n"
      "  in2 = load first[0]\n"
      "  v0 = add(in0, in2)\n"
      "  c[((a0 * 8) + a1)] = v0\n");
  candidate.source = {.entry = "add",
                      .text =
                          "__kernel void add(__global const float* a, __global const float* b, __global float* c) {\n"
                          "  __local float first[8];\n"
                          "  const size_t i = get_global_id(0);\n"
                          "  first[get_local_id(0)] = b[i];\n"
                          "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                          "  c[i] = a[i] + first[0];\n"
                          "}\n",
                      .blocks = blocks,
                      .threads = threads,
                      .shared_bytes = 32};
  return candidate;
}

}  // namespace deplo::measure
