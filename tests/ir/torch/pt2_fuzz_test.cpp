// Damaged .pt2 files give a graph or an Error, and never a crash.
#include "core/file.h"
#include "core/rng.h"
#include "ir/torch/pt2_file.h"

namespace deplo::tests {
namespace {

constexpr std::uint64_t seed = 20240611;
constexpr int files = 1000;  // number of damaged files in each test

// The smaller fixtures: of every version, with and without graphs inside the graph.
const std::vector<std::filesystem::path>& originals() {
  static const std::vector<std::filesystem::path> kept = [] {
    std::vector<std::filesystem::path> all = fixtures();
    std::erase_if(all, [](const std::filesystem::path& f) {
      const std::string name = f.filename();
      return !name.starts_with("mlp") && !name.starts_with("head") && !name.starts_with("eager_bfloat16");
    });
    return all;
  }();
  return kept;
}

// Changes a few bytes; removes, doubles or moves a piece; or cuts off the end.
std::string mutate(std::string bytes, Rng& rng) {
  if (bytes.empty()) return "x";
  const std::size_t at = rng.below(bytes.size()), n = 1 + rng.below(std::min<std::size_t>(bytes.size() - at, 40));
  switch (rng.below(6)) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      return bytes.erase(at, n);
    case 2:
      return bytes.insert(rng.below(bytes.size()), bytes.substr(at, n));
    case 3:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
      return bytes;
    case 4:
      bytes[at] = static_cast<char>(rng.below(256));
      return bytes;
    default:
      for (std::size_t i = at; i < at + n; ++i)
        if (bytes[i] >= '0' && bytes[i] <= '9') bytes[i] = static_cast<char>('0' + rng.below(10));
      return bytes;
  }
}

// Damages one entry, so that the zip stays whole. In half of the cases it is the JSON, else any entry, also in nested
// archives.
void damage(Entries& entries, Rng& rng) {
  const bool json = rng.below(2) == 0;
  for (;;) {
    auto& [name, bytes] = entries[rng.below(entries.size())];
    if (json && !name.ends_with(".json")) continue;
    if (name.ends_with(".pt") && rng.below(4) != 0 && !bytes.empty()) {
      const TemporaryFile nested;
      write(nested.path, bytes);
      Entries inside = unpack(nested.path);
      auto& inner = inside[rng.below(3) == 0 ? rng.below(inside.size()) : 0];  // the pickle is the first entry
      inner.second = mutate(inner.second, rng);
      pack(nested.path, inside);
      bytes = read_file(nested.path);
    } else {
      for (std::uint64_t i = 0; i <= rng.below(3); ++i) bytes = mutate(bytes, rng);
    }
    return;
  }
}

TEST(Pt2Fuzz, DamagedArchives) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Rng rng(seed);
  const TemporaryFile file;
  for (int i = 0; i < files; ++i) {
    write(file.path, mutate(read_file(originals()[rng.below(originals().size())]), rng));
    EXPECT_THAT(error_of(file.path), ::testing::Not(::testing::HasSubstr("no path in")));
  }
}

TEST(Pt2Fuzz, DamagedEntries) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Rng rng(seed);
  const TemporaryFile file;
  int refused = 0;
  for (int i = 0; i < files; ++i) {
    Entries entries = unpack(originals()[rng.below(originals().size())]);
    damage(entries, rng);
    pack(file.path, entries);
    const std::string message = error_of(file.path);
    EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr("no path in")));
    refused += message.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, files / 4);  // the mutations reach the reader
}

}  // namespace
}  // namespace deplo::tests
