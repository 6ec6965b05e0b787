// What deplo::compile makes: kernels as source text, how they are launched, and the tensors that they work on. Plain
// data: it refers to nothing, and any number of threads may read one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deplo {

enum class DType { f32, i32, boolean, f16, bf16, i64 };  // 4, 4, 1, 2, 2, 8 bytes an element; a boolean is 0 or 1

/// An argument of kernels, in the device's memory.
struct Tensor {
  /// Inputs and parameters (weights) are the caller's to fill before the launches, computed ones are written by them.
  enum class Kind { input, parameter, computed } kind = Kind::computed;
  std::string name;          // unique in its program
  DType dtype = DType::f32;  // 64-bit integers of PyTorch are i32 if all their values fit (docs/ir.md, "Integers")
  /// Extents; none: a scalar. An input and an output has the graph's, a parameter the graph's in another order where
  /// `permutation` says so.
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements, one for each extent
  /// Of Program::slots. Inputs, parameters and outputs have one of their own, so they may as well lie in memory that
  /// the caller has already; computed ones share slots where they are never needed at the same time.
  std::size_t slot = 0;
  /// A parameter that is stored in another order than the graph has it: dimension d of this tensor is dimension
  /// permutation[d] of the graph's parameter `of`. Both empty: as the graph has it.
  std::string of;
  std::vector<int> permutation;
  /// Of a parameter of a .pt2 file: that of the graph (`of`, where it is not empty), row-major; `integers` if the dtype
  /// is i32 or i64, else `values` as floats. Null: the caller knows them.
  std::shared_ptr<const std::vector<float>> values;
  std::shared_ptr<const std::vector<std::int64_t>> integers;
};

/// Where a schedule comes from: docs/database.md, "The tuned cache".
enum class Origin {
  tuned,      // measured for this computation on this device; the source is the very one that was measured
  shared,     // measured for another computation with the same loops and accesses
  nearest,    // measured for the same computation with other extents
  heuristic,  // the compiler's first choice: nothing was measured
};

/// One function in OpenCL C or CUDA C++. Its parameters are pointers to the tensors of a launch, in order, and behind
/// them one `const __grid_constant__ CUtensorMap` for each of `tensor_maps`.
struct Kernel {
  std::string name;    // for people; unique in its program
  std::string entry;   // the function's name; extern "C" in CUDA
  std::string source;  // all that the compiler needs: no headers
  /// The launch is one-dimensional: `grid` blocks (work-groups) of `block` threads (work-items) each. For OpenCL the
  /// global size is grid * block.
  std::int64_t grid = 1, block = 1;
  /// CUDA: the launch's bytes of shared memory; above 48 KiB the function's attribute
  /// MAX_DYNAMIC_SHARED_SIZE_BYTES must be set first. 0 in OpenCL: the source declares its local memory.
  std::int64_t dynamic_shared_bytes = 0;
  /// Parameters (by position) whose tensor must be filled with zero bytes, whole, before each launch: the blocks add to
  /// it, or numbers that they load choose which of its elements are written.
  std::vector<std::size_t> zeroed;

  /// What cuTensorMapEncodeTiled wants for a tensor parameter (by position), with the dimensions in the tensor's order:
  /// the driver takes the last one first, and strides in bytes without the last. No interleave; out of range: zeros.
  struct TensorMap {
    std::size_t parameter = 0;
    std::vector<std::int64_t> shape, strides, box;  // elements
    int swizzle = 0;                                // bytes: 0, 32, 64 or 128
  };
  std::vector<TensorMap> tensor_maps;  // CUDA

  Origin origin = Origin::heuristic;
  std::string trail;       // the schedule's decisions, as `deplo compile --schedule` takes them
  double measured_us = 0;  // microseconds of one launch when it was tuned; 0: never measured
  std::string from;        // the measured kernel, if it is another one
  std::string note;        // why not a better origin, and what to do about it; "" where there is nothing to say
};

struct Launch {
  std::size_t kernel = 0;              // of Program::kernels; several launches may be of one
  std::vector<std::size_t> arguments;  // Program::tensors, in the order of the kernel's parameters
};

struct Program {
  enum class Language { opencl_c, cuda_cpp } language = Language::opencl_c;
  std::string target;                      // the target of the sources: "opencl-cpu", "sm_90"
  std::string device;                      // whose measurements were looked up, as its driver names it; "": nobody's
  std::vector<std::string> build_options;  // of clBuildProgram or NVRTC; with others the times are others
  std::vector<Tensor> tensors;             // inputs and parameters first
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;      // in order: each may read the results of those before it
  std::vector<std::size_t> outputs;  // tensors, in the order of the graph's outputs
  std::vector<std::int64_t> slots;   // bytes of each; must begin at a multiple of 128 bytes, as all allocators give it
};

}  // namespace deplo
