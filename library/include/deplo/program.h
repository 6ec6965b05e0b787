// The result of deplo::compile: kernels as source text, their launches, and the tensors that they read and write. A
// Program is plain data: it refers to nothing outside, and any number of threads may read it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace deplo {

/// A boolean is 0 or 1. Only a kernel file (Source::space) has u16, u32 and u64. Only a kernel file, or a tile program
/// that runs block by block, has f64. In a tile program, an array of tf32 is f32, and an array of 8-bit floats is u8:
/// the elements' bits.
enum class DType { f32, i32, boolean, f16, bf16, i64, i8, u8, i16, f64, u16, u32, u64 };
constexpr std::size_t bytes_of_element(DType dtype) {
  constexpr std::size_t bytes[] = {4, 4, 1, 2, 2, 8, 1, 1, 2, 8, 2, 4, 8};  // in the order of DType
  return bytes[static_cast<std::size_t>(dtype)];
}

/// An argument of kernels, in the device's memory.
struct Tensor {
  /// The caller fills inputs and parameters (weights) before the launches. The launches write computed tensors.
  enum class Kind { input, parameter, computed } kind = Kind::computed;
  std::string name;          // unique in the program
  DType dtype = DType::f32;  // 64-bit integers of PyTorch are i32 if all their values fit (docs/ir.md, "Integers")
  /// Extents; empty: a scalar. Inputs, outputs and parameters have the graph's extents, permuted for a parameter with a
  /// `permutation`. An extent is 0 only in an output without elements, which no launch writes.
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // in elements, one for each extent
  /// Index into Program::slots. Each input, parameter and output has a slot of its own, so the caller may use existing
  /// memory for it. Other computed tensors share a slot if they are never needed at the same time.
  std::size_t slot = 0;
  /// The byte of the slot at which the tensor begins, a multiple of 128. It is not 0 only in a tensor that is a part of
  /// another tensor of the same slot: a slice of a sequence, or the step of a recurrence.
  std::int64_t offset = 0;
  /// Set for a parameter whose dimensions are stored in another order than the graph's: dimension d of this tensor is
  /// dimension permutation[d] of the graph's parameter `of`. Both empty: the graph's order.
  std::string of;
  std::vector<int> permutation;
  /// The numbers of a .pt2 file's parameter, row-major, in the graph's order (before `permutation`): `integers` if the
  /// dtype is an integer, else `values` as floats. Null: the caller has the numbers.
  std::shared_ptr<const std::vector<float>> values;
  std::shared_ptr<const std::vector<std::int64_t>> integers;
};

/// The origin of a schedule: docs/database.md, "The tuned cache".
enum class Origin {
  tuned,      // measured for this computation on this device; the source is exactly the one that was measured
  shared,     // measured for another computation with the same loops and accesses
  nearest,    // measured for the same computation with other extents
  heuristic,  // the compiler's first choice, not measured
  family,     // kept for a range of sizes of this computation by `deplo tune --shapes`
  foreign,    // measured on another device with the same target, and found in a pack
};

/// One function in OpenCL C or CUDA C++. Its parameters are pointers to the tensors of a launch, in order, followed by
/// one `const __grid_constant__ CUtensorMap` for each of `tensor_maps`.
struct Kernel {
  std::string name;  // a readable name; unique in the program
  /// The function's name; extern "C" in CUDA. A kernel file in CUDA may have an instance of a template or a name with a
  /// namespace: "mine::add<float, 32>", whose name NVRTC gives (nvrtcAddNameExpression, nvrtcGetLoweredName).
  std::string entry;
  std::string source;  // complete: only the text of a kernel file may need headers
  /// The launch is one-dimensional: `grid` blocks (work-groups) of `block` threads (work-items) each. For OpenCL the
  /// global size is grid * block.
  std::int64_t grid = 1, block = 1;
  /// A kernel file (Source::space) may have a launch of up to three dimensions: these are the blocks, and the threads
  /// of a block, in each dimension. Their products are `grid` and `block`. Empty: the launch is one-dimensional.
  std::vector<std::int64_t> grid_extents, block_extents;
  /// The options of a kernel file for its compiler, in addition to Program::build_options.
  std::vector<std::string> build_options;
  /// Parameters of a kernel file that are not tensors, by ascending position among all parameters. The tensors of the
  /// launch are the other parameters, in order, without those that are only symbols.
  struct Scalar {
    std::size_t position = 0;
    std::vector<std::uint8_t>
        bytes;  // the value as the device stores it; empty: the parameter is local memory (OpenCL)
    std::size_t local_bytes = 0;
  };
  std::vector<Scalar> scalars;
  /// Tensors of a launch (by position) whose contents go into a __constant__ variable (CUDA). If `is_parameter`, the
  /// tensor is a parameter, too.
  struct Symbol {
    std::size_t argument = 0;
    std::string variable;
    bool is_parameter = false;
  };
  std::vector<Symbol> symbols;
  /// CUDA: the bytes of dynamic shared memory of the launch. Above 48 KiB, set the function's attribute
  /// MAX_DYNAMIC_SHARED_SIZE_BYTES first. 0 in OpenCL, where the source declares its local memory.
  std::int64_t dynamic_shared_bytes = 0;
  /// Parameters (by position) whose whole tensor must be filled with zero bytes before each launch, because the blocks
  /// add to it, or because loaded indices select the elements that are written. For a kernel file: positions among the
  /// tensors of the launch.
  std::vector<std::size_t> zeroed;
  /// Tensors of a launch (by position) that the kernel reads and writes, or of which it may leave elements as they are:
  /// in a kernel file, and in a tile program that runs block by block. They are inputs and outputs.
  std::vector<std::size_t> updated;
  /// Tensors of a launch (by position) that must have these first bytes before each launch: the own memory of a tile
  /// program that runs block by block.
  struct Initial {
    std::size_t argument = 0;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Initial> initial;
  /// The assertions of a tile program that runs block by block. After a launch, the tensor at the position
  /// `assertion_argument`, one i32, is 0, or else assertions[n - 1] failed, where n is its value.
  std::vector<std::string> assertions;
  std::size_t assertion_argument = 0;

  /// The arguments of cuTensorMapEncodeTiled for a tensor parameter (by position). The dimensions are in the tensor's
  /// order; the driver takes them in reverse order, and strides in bytes without the innermost one. No interleave;
  /// elements out of range are filled with zeros.
  struct TensorMap {
    std::size_t parameter = 0;
    std::vector<std::int64_t> shape, strides, box;  // elements
    int swizzle = 0;                                // bytes: 0, 32, 64 or 128
  };
  std::vector<TensorMap> tensor_maps;  // CUDA

  Origin origin = Origin::heuristic;
  std::string trail;       // the schedule's decisions, as `deplo compile --schedule` takes them
  double measured_us = 0;  // microseconds of one launch when it was tuned; 0: never measured
  std::string from;        // the measured kernel's name, if it is another kernel
  std::string note;        // why there is no better origin, and what to do about it; "": nothing to say
};

struct Launch {
  std::size_t kernel = 0;              // index into Program::kernels; several launches may use the same kernel
  std::vector<std::size_t> arguments;  // indices into Program::tensors, in the order of the kernel's parameters
};

struct Program {
  enum class Language { opencl_c, cuda_cpp } language = Language::opencl_c;
  std::string target;  // the target of the sources: "opencl-cpu", "sm_90"
  std::string device;  // the device whose measurements were looked up, by its driver's name; "": none
  std::vector<std::string> build_options;  // for clBuildProgram or NVRTC; other options change the times
  std::vector<Tensor> tensors;             // inputs and parameters first
  std::vector<Kernel> kernels;
  std::vector<Launch> launches;      // in order: each may read the results of earlier ones
  std::vector<std::size_t> outputs;  // indices into `tensors`, in the order of the graph's outputs, or of the arguments
  std::vector<std::int64_t> slots;   // the bytes of each slot, which must begin at a multiple of 128 bytes
  // The decisions that tuning chose for the source as a whole: those of fusion for a graph, "tile.form=blocks" or
  // "tile.form=elements" for a tile program. "": the heuristic's.
  std::string graph_trail;
  std::string graph_note;  // why a stored choice is not followed; "": nothing to say
  /// Why the only kernel runs a tile program block by block; "": it does not. Blocks may wait for each other, so the
  /// whole grid must be launched at once. Each array that the program writes is then an input and an output
  /// (Kernel::updated). Otherwise an array that the program only writes is a computed tensor, and an array Y that it
  /// reads and writes is two tensors: the input Y, and the output Y_out.
  std::string why_blocks;
};

}  // namespace deplo
