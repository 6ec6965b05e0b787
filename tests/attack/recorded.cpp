// Recorded spaces in every format and compression, lines of baselines, and the output of `deplo compare`.
#include "search/records/formats/read.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <utility>

#include "apps/compare/strategy_compare.h"
#include "attack/kinds.h"
#include "attack/mutate.h"
#include "ir/torch/pt2_file.h"
#include "search/records/formats/one_space.h"

namespace deplo::attack {
namespace {

namespace fs = std::filesystem;

search::Records small_space(const search::Objective& objective = {}) {
  search::RecordsBuilder builder("here");
  builder.objective() = objective;
  builder.problem_size() = "[1024,1]";
  builder.add_knob("block_size_x", {Value(16), Value(32), Value(64)});
  builder.add_knob("method", {Value("a"), Value("long name")});
  builder.add_json_knob("unroll", {"true", "0.5"});
  builder.kernel() = "matmul";
  builder.device() = "A100";
  for (int i = 0; i < 24; ++i) {
    search::Record record;
    record.outcome =
        i % 7 == 3 ? Outcome{Status::build_error, 0, "too much shared memory"} : Outcome{Status::ok, 5.0 + i, ""};
    record.build_seconds = 0.5;
    record.run_seconds = 0.25;
    const std::array<double, 3> launches = {5.0 + i, 5.5 + i, 4.75 + i};
    builder.add(std::array{Value(std::int64_t{16} << (i % 3)), Value(i % 2 == 0 ? "a" : "long name"),
                           Value(std::int64_t{i / 6})},
                std::move(record), record.outcome.ok() ? std::span<const double>(launches) : std::span<const double>());
  }
  search::Records records = builder.finish();
  records.name = "space";
  return records;
}

std::string gzip(const std::string& bytes, const fs::path& folder) {
  const fs::path file = folder / "packed.gz";
  const gzFile out = gzopen(file.c_str(), "wb1");
  CHECK(out != nullptr &&
        gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  CHECK(gzclose(out) == Z_OK);
  std::string packed = read_bytes(file);
  fs::remove(file);
  return packed;
}

std::string zip(const std::string& name, const std::string& bytes, const fs::path& folder) {
  const fs::path file = folder / "packed.zip";
  tests::pack(file, {{name, bytes}}, true);
  std::string packed = read_bytes(file);
  fs::remove(file);
  return packed;
}

/// Damages the text before it is compressed, and sometimes the compressed bytes as well.
std::string damage_recorded(const Seed& seed, const std::string& other, Rng& rng, const fs::path& folder) {
  std::string bytes = mutate(seed.bytes, other, rng);
  if (seed.name.ends_with(".gz")) bytes = gzip(bytes, folder);
  if (seed.name.ends_with(".zip")) bytes = zip(seed.name.substr(0, seed.name.size() - 4), bytes, folder);
  return bytes.starts_with("PK") || bytes.starts_with("\x1f\x8b")
             ? rng.below(4) == 0 ? mutate(bytes, other, rng) : bytes
             : bytes;
}

/// Checks that a file that can be read can be written in every format, and reads back with as many records and knobs.
std::string check_records(const fs::path& file) {
  const search::Records records = search::read_records(file);
  for (const search::Format format : {search::Format::kernel_tuner, search::Format::t4, search::Format::table}) {
    const std::string text = search::print_records(records, format);
    try {
      const search::Records again = search::parse_records(text, "its print");
      if (again.records.size() != records.records.size() || again.knobs.size() != records.knobs.size())
        return "its print has other records";
    } catch (const Error& error) {
      return std::string("its print is refused: ") + error.what();
    }
  }
  return "";
}

std::string comparison() {
  const std::string file = (fs::temp_directory_path() / "deplo_attack_space.csv").string();
  write_bytes(file, search::print_records(small_space(), search::Format::table));
  apps::CompareFlags flags;
  flags.spaces = {file};
  flags.search = {"random", "mcts:c=0.2"};
  flags.orders = {"recorded"};
  flags.contest.repeats = 2;
  flags.contest.threads = 1;
  Progress progress(stderr, true);
  std::string text = apps::print_comparison_json(apps::compare_strategies(flags, progress));
  fs::remove(file);
  return text;
}

/// Returns lines as torch_suite.py writes them: one with a time, one with a failure.
std::string baselines() {
  const auto line = [](const char* variant, const char* rest) {
    return fmt::format(
        "{{\"kernel\": \"relu\", \"expression\": \"F.relu(torch.randn(8))\", \"library\": \"torch\", \"variant\": "
        "\"{}\", "
        "\"version\": \"2.5.1\", \"precision\": \"fp32\", \"threads\": 2, {}\"protocol\": \"p\", "
        "\"date\": \"2024-06-11T10:00:00+00:00\", \"device\": \"cpu\"}}\n",
        variant, rest);
  };
  return line("eager",
              "\"status\": \"ok\", \"message\": \"\", \"samples\": [1.5, 1.25], \"median_us\": 1.5, "
              "\"warm_us\": 1.0, \"batch\": 4, \"sets\": 2, ") +
         line("compile",
              "\"status\": \"hang\", \"message\": \"it hung\", \"samples\": [], \"median_us\": null, "
              "\"warm_us\": null, ");
}

}  // namespace

Kind recorded_spaces() {
  Kind kind{"recorded", {}, damage_recorded};
  const search::Records records = small_space(),
                        throughput = small_space({"GFLOP/s", "", /*higher_is_better=*/true, /*duration=*/false});
  const std::vector<Command> readers = {
      {{"compare", "--spaces", "FILE", "--search", "random", "--repeats", "1", "--jobs", "1", "--quiet"}, 2},
      {{"db", "import", "FILE", "--store", "OUT"}, 4},
      {{"db", "import", "FILE", "--store", "OUT", "--time", "time (ms)", "--unit", "ms"}, 16},
      {{"db", "import", "FILE", "--store", "OUT", "--objective", "GFLOP/s"}, 8},
      {{"db", "import", "FILE", "--store", "OUT", "--parameters", "method,unroll"}, 16},
      {{"model", "eval", "--spaces", "FILE", "GOOD"}, 16}};
  for (const auto& [format, extension] : {std::pair(search::Format::kernel_tuner, ".json"),
                                          {search::Format::t4, ".json"},
                                          {search::Format::table, ".csv"}}) {
    const std::string text = search::print_records(records, format), other = search::print_records(throughput, format);
    for (const char* packing : {"", ".gz", ".zip"})
      kind.seeds.push_back({std::string("space") + extension + packing, text, readers, check_records});
    kind.seeds.push_back({std::string("objective") + extension, other, readers, check_records});
  }
  for (int twice = 0; twice < 2; ++twice) {  // twice, to be about as frequent as the other seeds
    kind.seeds.push_back({"baselines.jsonl", baselines(), {{{"db", "import", "FILE", "--store", "OUT"}}}});
    kind.seeds.push_back({"comparison.json", comparison(), {{{"report", "FILE", "-o", "OUT"}}}});
  }
  return kind;
}

}  // namespace deplo::attack
