#include "measure/check/prove.h"

#include <fmt/format.h>

#include <future>
#include <utility>

namespace deplo::measure {

ir::ProofVerdict prove(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                       const InputFiles& files) {
  constexpr std::int64_t max_elements = 80'000'000;  // takes 0.6 GB if all elements are read
  std::int64_t elements = 0;
  for (const ir::Buffer& buffer : loop.buffers) elements += ir::span(buffer);
  if (elements > max_elements)
    return {ir::ProofVerdict::Kind::open,
            fmt::format("its arrays have {} elements, the most is {}", elements, max_elements)};
  ir::Proof::Inputs inputs;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (loop.buffers[i].role == ir::Role::input) inputs[loop.buffers[i].name] = input_elements(loop, i, seed, files);
  return ir::Proof(loop, std::move(inputs), seed).verdict(kernel, {.seed = seed});
}

namespace {

ir::Memory integers_of(const ir::Program& loop, std::uint64_t seed, const InputFiles& files) {
  ir::Memory integers;
  for (std::size_t i = 0; i < loop.buffers.size(); ++i)
    if (loop.buffers[i].role == ir::Role::input && !ir::is_float(loop.buffers[i].dtype))
      integers[loop.buffers[i].name] = input_values(loop, i, seed, files).doubles();
  return integers;
}

}  // namespace

ir::Fingerprint fingerprint_of(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                               const InputFiles& files) {
  return ir::fingerprint(loop, kernel, integers_of(loop, seed, files));
}

ir::Fingerprint row_fingerprint_of(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed,
                                   const InputFiles& files) {
  return ir::row_fingerprint(loop, kernel, integers_of(loop, seed, files));
}

Findings examine(const ir::Program& loop, const ir::Program& kernel, std::uint64_t seed, const InputFiles& files) {
  auto order = std::async(std::launch::async, [&] { return fingerprint_of(loop, kernel, seed, files); });
  auto rows = std::async(std::launch::async, [&] { return row_fingerprint_of(loop, kernel, seed, files); });
  ir::ProofVerdict proof = prove(loop, kernel, seed, files);
  return {std::move(proof), order.get(), rows.get()};
}

}  // namespace deplo::measure
