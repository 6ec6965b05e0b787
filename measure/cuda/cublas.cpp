#include "measure/cuda/cublas.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "measure/cuda/device.h"
#include "measure/cuda/library.h"

namespace deplo::measure {
namespace cuda {
namespace {

const LibraryName library_name{"cuBLAS",
                               {"libcublas.so.13", "libcublas.so.12", "libcublas.so"},
                               "it comes with the CUDA toolkit 12 or later, or by `pip install nvidia-cublas`"};

// cublas_api.h, by hand.
using HandlePointer = struct OpaqueCublas*;
struct Table {
  int (*create)(HandlePointer*);
  int (*destroy)(HandlePointer);
  int (*get_version)(HandlePointer, int*);
  int (*set_stream)(HandlePointer, Stream);
  int (*set_workspace)(HandlePointer, void*, std::size_t);
  int (*set_math_mode)(HandlePointer, int);
  const char* (*status_name)(int);
  int (*sgemm)(HandlePointer, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a, int lda,
               const float* b, int ldb, const float* beta, float* c, int ldc);
  int (*sgemm_batched)(HandlePointer, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                       int lda, long long stride_a, const float* b, int ldb, long long stride_b, const float* beta,
                       float* c, int ldc, long long stride_c, int batch);
};

Table find_table(const Library& library) {
  Table table{};
  library.find("cublasCreate_v2", table.create);
  library.find("cublasDestroy_v2", table.destroy);
  library.find("cublasGetVersion_v2", table.get_version);
  library.find("cublasSetStream_v2", table.set_stream);
  library.find("cublasSetWorkspace_v2", table.set_workspace);
  library.find("cublasSetMathMode", table.set_math_mode);
  library.find("cublasGetStatusName", table.status_name);
  library.find("cublasSgemm_v2", table.sgemm);
  library.find("cublasSgemmStridedBatched", table.sgemm_batched);
  return table;
}

// The size that cuBLAS recommends for Hopper and later (cuBLAS documentation, "cublasSetWorkspace"). Given by us, it
// allocates none, which a stream that is being captured would not allow.
constexpr std::size_t workspace_bytes = 32 << 20;

}  // namespace
}  // namespace cuda

struct Cublas::Handle {
  Handle(cuda::CudaDevice& of, const cuda::Library& library) : device(of), table(cuda::find_table(library)) {
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
  cuda::Table table;
  cuda::HandlePointer handle = nullptr;
  cuda::Address workspace = 0;
  std::string version;
};

namespace cuda {
namespace {

class GemmLaunches final : public Launches {
 public:
  GemmLaunches(const Table& table, HandlePointer handle, const Gemm& gemm)
      : table_(table), handle_(handle), gemm_(gemm) {}

  // cuBLAS is column-major: its C = op(A) B is our transposed c = b a, with the same bytes.
  std::optional<Failure> enqueue(const CudaArrays& arrays, std::int64_t) const override {
    constexpr float one = 1, zero = 0;
    const auto number = [](std::int64_t value) { return static_cast<int>(value); };
    const int m = number(gemm_.n), n = number(gemm_.m), k = number(gemm_.k);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
    const auto at = [&](std::size_t buffer) { return reinterpret_cast<float*>(arrays.address(buffer)); };
    const int transpose = gemm_.b_transposed ? 1 : 0, lda = gemm_.b_transposed ? k : m;  // CUBLAS_OP_T, CUBLAS_OP_N
    // CUBLAS_DEFAULT_MATH is fp32 for sgemm, with every algorithm allowed; CUBLAS_PEDANTIC_MATH would take the fast
    // ones away. CUBLAS_TF32_TENSOR_OP_MATH is asked for by name.
    int status = table_.set_math_mode(handle_, gemm_.tf32 ? 3 : 0);
    if (status == 0 && gemm_.batch == 1)
      status =
          table_.sgemm(handle_, transpose, 0, m, n, k, &one, at(gemm_.b), lda, at(gemm_.a), k, &zero, at(gemm_.c), m);
    else if (status == 0)
      status =
          table_.sgemm_batched(handle_, transpose, 0, m, n, k, &one, at(gemm_.b), lda, gemm_.n * gemm_.k, at(gemm_.a),
                               k, gemm_.m * gemm_.k, &zero, at(gemm_.c), m, gemm_.m * gemm_.n, number(gemm_.batch));
    if (status != 0) return Failure{Status::launch_error, fmt::format("cuBLAS: {}", table_.status_name(status))};
    return std::nullopt;
  }
  std::string what() const override { return gemm_.tf32 ? "cuBLAS's sgemm in TF32" : "cuBLAS's sgemm"; }

 private:
  const Table& table_;
  HandlePointer handle_;
  Gemm gemm_;
};

CudaDevice& cuda_device(Device& device) {
  auto* const found = dynamic_cast<CudaDevice*>(&device);
  CHECK(found != nullptr);
  return *found;
}

}  // namespace
}  // namespace cuda

Cublas::Cublas(Device& device)
    : handle_(std::make_unique<Handle>(cuda::cuda_device(device), cuda::Library(cuda::library_name))) {}
Cublas::Cublas(Device& device, const std::filesystem::path& library)
    : handle_(std::make_unique<Handle>(cuda::cuda_device(device), cuda::Library(cuda::library_name, library))) {}
Cublas::~Cublas() = default;

const std::string& Cublas::version() const { return handle_->version; }

Result<std::unique_ptr<Executable>> Cublas::gemm(const Gemm& gemm) const {
  for (const std::int64_t extent : {gemm.m, gemm.n, gemm.k, gemm.batch})
    if (extent < 1 || extent > std::numeric_limits<int>::max())
      return Failure{Status::invalid, fmt::format("cuBLAS takes extents up to 2^31 - 1, found {}", extent)};
  const cuda::CudaDevice& device = handle_->device;
  return std::unique_ptr<Executable>(std::make_unique<cuda::CudaExecutable>(
      device.context(), device.clock(), std::make_unique<cuda::GemmLaunches>(handle_->table, handle_->handle, gemm), 1,
      std::vector<std::size_t>{}, Resources{}));
}

}  // namespace deplo::measure
