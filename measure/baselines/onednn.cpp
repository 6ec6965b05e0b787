#include "measure/baselines/onednn.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "measure/cuda/library.h"

namespace deplo::measure {
namespace {

const cuda::LibraryName library_name{
    "oneDNN",
    {"libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so.2"},  // Debian 13 numbers its library 3.6
    "it is the distribution's package libdnnl2, libdnnl3 or libdnnl3.6"};

// The parts of dnnl.h and dnnl_types.h that are used, declared by hand.
struct Version {
  int major, minor, patch;
};
struct Table {
  cuda::Library library{library_name};
  int (*sgemm)(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
               const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
               std::int64_t ldc) = library.find("dnnl_sgemm");
  const Version* (*version)() = library.find("dnnl_version");
  // from the OpenMP library that oneDNN is linked with
  int (*threads)() = library.find_optional("omp_get_max_threads");
};

/// Returns the functions of the library, which the first call opens. Throws Error(environment) if there is none.
const Table& open() {
  static const Table table;
  return table;
}

class OnednnMatmul final : public Executable {
 public:
  explicit OnednnMatmul(const MatmulShape& shape) : shape_(shape) {}

  Result<double> launch(Arrays& arrays, std::int64_t) override {
    Arrays* const set = &arrays;
    const auto sample = run({&set, 1}, 1);
    if (!sample.ok()) return sample.failure();
    return sample.value().us;
  }
  Result<Sample> sample(std::span<Arrays* const> sets, std::int64_t, int batch) override { return run(sets, batch); }

 private:
  Result<Sample> run(std::span<Arrays* const> sets, int batch) const {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < batch; ++i)
      if (const int status = multiply(*sets[static_cast<std::size_t>(i) % sets.size()]); status != 0)
        return Failure{Status::launch_error, fmt::format("oneDNN's sgemm: status {}", status)};
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    // wait until its threads have stopped spinning (process.cpp)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Sample{time.count() / batch, 0};
  }

  int multiply(Arrays& arrays) const {
    const auto [m, n, k, batch, transposed, a, b, c, factors, result] = shape_;
    const auto at = [&](std::size_t buffer) { return static_cast<float*>(arrays.host_memory(buffer)); };
    for (std::int64_t i = 0; i < batch; ++i)
      if (const int status = open().sgemm('N', transposed ? 'T' : 'N', m, n, k, 1, at(a) + i * m * k, k,
                                          at(b) + i * k * n, transposed ? k : n, 0, at(c) + i * m * n, n);
          status != 0)
        return status;
    return 0;
  }

  MatmulShape shape_;
};

}  // namespace

Baseline onednn_matmul(const MatmulShape& shape) {
  const Table& table = open();
  const Version& version = *table.version();
  return {"oneDNN", fmt::format("{}.{}.{}", version.major, version.minor, version.patch),
          "fp32",   table.threads == nullptr ? 0 : table.threads(),
          nullptr,  std::make_unique<OnednnMatmul>(shape)};
}

}  // namespace deplo::measure
