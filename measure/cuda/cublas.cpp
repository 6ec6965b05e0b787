#include "measure/cuda/cublas.h"

#include <fmt/format.h>

#include <limits>

#include "ir/types/float16.h"
#include "measure/cuda/device.h"
#include "measure/cuda/library.h"
#include "measure/matmul_shape.h"

namespace deplo::measure {
namespace cuda {

// The functions of cublas_api.h that are used, declared by hand.
using CublasPointer = struct OpaqueCublas*;
struct CublasTable {
  Library library;
  int (*create)(CublasPointer*) = library.find("cublasCreate_v2");
  int (*destroy)(CublasPointer) = library.find("cublasDestroy_v2");
  int (*get_version)(CublasPointer, int*) = library.find("cublasGetVersion_v2");
  int (*set_stream)(CublasPointer, Stream) = library.find("cublasSetStream_v2");
  int (*set_workspace)(CublasPointer, void*, std::size_t) = library.find("cublasSetWorkspace_v2");
  int (*set_math_mode)(CublasPointer, int) = library.find("cublasSetMathMode");
  const char* (*status_name)(int) = library.find("cublasGetStatusName");
  int (*sgemm)(CublasPointer, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
               const float* b, int ldb, const float* beta, float* c, int ldc) = library.find("cublasSgemm_v2");
  int (*sgemm_batched)(CublasPointer, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                       int lda, long long stride_a, const float* b, int ldb, long long stride_b, const float* beta,
                       float* c, int ldc, long long stride_c, int batch) = library.find("cublasSgemmStridedBatched");
  int (*gemm_ex)(CublasPointer, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a, int type_a,
                 int lda, const void* b, int type_b, int ldb, const void* beta, void* c, int type_c, int ldc,
                 int compute, int algorithm) = library.find("cublasGemmEx");
  int (*gemm_ex_batched)(CublasPointer, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                         int type_a, int lda, long long stride_a, const void* b, int type_b, int ldb,
                         long long stride_b, const void* beta, void* c, int type_c, int ldc, long long stride_c,
                         int batch, int compute, int algorithm) = library.find("cublasGemmStridedBatchedEx");
};

namespace {

const LibraryName cublas_library{"cuBLAS",
                                 {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
                                 "it comes with the CUDA toolkit 12 or later, or by `pip install nvidia-cublas`"};

// The size that cuBLAS recommends for Hopper and later (cuBLAS documentation, "cublasSetWorkspace"). With a workspace
// from us, cuBLAS allocates none, which would not be allowed while a stream is being captured.
constexpr std::size_t workspace_bytes = 32 << 20;

}  // namespace
}  // namespace cuda

struct Cublas::Handle {
  Handle(cuda::CudaDevice& of, const cuda::Library& library) : device(of), table{library} {
    const cuda::Context& context = device.context();
    context.enter();
    require(table.create(&handle), "start");
    require(table.set_stream(handle, context.stream()), "use our stream");
    context.driver().require(context.driver().allocate(&workspace, cuda::workspace_bytes), "allocate a workspace");
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a device's address is an integer in the driver's API
    require(table.set_workspace(handle, reinterpret_cast<void*>(workspace), cuda::workspace_bytes), "use a workspace");
    int number = 0;
    require(table.get_version(handle, &number), "ask for its version");
    version = fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  }
  ~Handle() {
    device.context().enter_to_free();
    if (handle != nullptr) table.destroy(handle);
    device.context().driver().free(workspace);
  }
  void require(int status, const char* what) const {
    if (status != 0)
      throw Error(fmt::format("cuBLAS: cannot {}: {}", what, table.status_name(status)), Exit::environment);
  }

  cuda::CudaDevice& device;
  cuda::CublasTable table;
  cuda::CublasPointer handle = nullptr;
  cuda::Address workspace = 0;
  std::string version;
};

namespace cuda {
namespace {

class GemmLaunches final : public Launches {
 public:
  GemmLaunches(const CublasTable& table, CublasPointer handle, const MatmulShape& shape, bool tf32)
      : table_(table), handle_(handle), shape_(shape), tf32_(tf32) {}

  std::optional<Failure> enqueue(const CudaArrays& arrays, std::int64_t) const override {
    const bool bits = ir::is_float16(shape_.factors);
    // CUBLAS_DEFAULT_MATH (0) computes sgemm in fp32 and allows every algorithm; CUBLAS_PEDANTIC_MATH would exclude the
    // fast algorithms. CUBLAS_TF32_TENSOR_OP_MATH (3) allows TF32. For 16-bit factors,
    // CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION (16) keeps partial sums in f32, as deplo's kernels do.
    int status = table_.set_math_mode(handle_, bits ? 16 : tf32_ ? 3 : 0);
    if (status == 0) status = bits ? multiply16(arrays) : multiply(arrays);
    if (status != 0) return Failure{Status::launch_error, fmt::format("cuBLAS: {}", table_.status_name(status))};
    return std::nullopt;
  }
  std::string what() const override {
    if (ir::is_float16(shape_.factors)) return fmt::format("cuBLAS's gemm of {}", name(shape_.factors));
    return tf32_ ? "cuBLAS's sgemm in TF32" : "cuBLAS's sgemm";
  }

 private:
  static int number(std::int64_t value) { return static_cast<int>(value); }
  template <class T>
  static T* at(const CudaArrays& arrays, std::size_t buffer) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
    return reinterpret_cast<T*>(arrays.address(buffer));
  }
  static int type(ir::DType dtype) {  // cudaDataType: CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF
    return dtype == ir::DType::f32 ? 0 : dtype == ir::DType::f16 ? 2 : 14;
  }

  // cuBLAS is column-major: its product C = op(A) B, with A = b and B = a, is our row-major c = a b with the same
  // bytes.
  struct Columns {
    int m, n, k, transpose, lda;  // transpose: CUBLAS_OP_N (0) or CUBLAS_OP_T (1)
    std::int64_t stride_a, stride_b, stride_c;
  };
  Columns columns() const {
    const int m = number(shape_.n), n = number(shape_.m), k = number(shape_.k);
    return {m,
            n,
            k,
            shape_.b_transposed ? 1 : 0,
            shape_.b_transposed ? k : m,
            shape_.n * shape_.k,
            shape_.m * shape_.k,
            shape_.m * shape_.n};
  }

  int multiply(const CudaArrays& arrays) const {
    constexpr float one = 1, zero = 0;
    const auto [m, n, k, transpose, lda, stride_a, stride_b, stride_c] = columns();
    const auto *a = at<const float>(arrays, shape_.b), *b = at<const float>(arrays, shape_.a);
    auto* c = at<float>(arrays, shape_.c);
    if (shape_.batch == 1) return table_.sgemm(handle_, transpose, 0, m, n, k, &one, a, lda, b, k, &zero, c, m);
    return table_.sgemm_batched(handle_, transpose, 0, m, n, k, &one, a, lda, stride_a, b, k, stride_b, &zero, c, m,
                                stride_c, number(shape_.batch));
  }

  int multiply16(const CudaArrays& arrays) const {
    constexpr float one = 1, zero = 0;
    constexpr int compute = 68, algorithm = -1;  // CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT
    const auto [m, n, k, transpose, lda, stride_a, stride_b, stride_c] = columns();
    const auto *a = at<const void>(arrays, shape_.b), *b = at<const void>(arrays, shape_.a);
    auto* c = at<void>(arrays, shape_.c);
    const int of = type(shape_.factors), to = type(shape_.result);
    if (shape_.batch == 1)
      return table_.gemm_ex(handle_, transpose, 0, m, n, k, &one, a, of, lda, b, of, k, &zero, c, to, m, compute,
                            algorithm);
    return table_.gemm_ex_batched(handle_, transpose, 0, m, n, k, &one, a, of, lda, stride_a, b, of, k, stride_b, &zero,
                                  c, to, m, stride_c, number(shape_.batch), compute, algorithm);
  }

  const CublasTable& table_;
  CublasPointer handle_;
  MatmulShape shape_;
  bool tf32_;
};

}  // namespace
}  // namespace cuda

Cublas::Cublas(Device& device, const std::filesystem::path& library)
    : handle_(std::make_unique<Handle>(cuda::cuda_device(device), cuda::Library(cuda::cublas_library, library))) {}
Cublas::~Cublas() = default;

const std::string& Cublas::version() const { return handle_->version; }

Result<std::unique_ptr<Executable>> Cublas::gemm(const MatmulShape& shape, bool tf32) const {
  for (const std::int64_t extent : {shape.m, shape.n, shape.k, shape.batch})
    if (extent < 1 || extent > std::numeric_limits<int>::max())
      return Failure{Status::invalid, fmt::format("cuBLAS takes extents up to 2^31 - 1, found {}", extent)};
  const cuda::CudaDevice& device = handle_->device;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(
      device.context(), device.clock(),
      std::make_unique<cuda::GemmLaunches>(handle_->table, handle_->handle, shape, tf32), 1,
      cuda::CudaExecutable::Preparation{}, Resources{}));
}

}  // namespace deplo::measure
