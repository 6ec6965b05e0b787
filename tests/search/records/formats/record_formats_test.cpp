// Files of other tuners. Each small file is written as its tuner writes it. The readers in search/records name the
// sources.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/file.h"
#include "core/rng.h"
#include "search/records/formats/formats.h"
#include "search/records/formats/one_space.h"
#include "search/records/formats/sample_folder.h"
#include "search/records/formats/space_files.h"

namespace deplo::search::record_formats_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::string folder = std::string(DEPLO_SOURCE_DIR) + "/tests/data/recorded/";

std::vector<Records> read(const std::string& file, const Reading& reading = {}) {
  return read_spaces(folder + file, reading);
}

std::vector<std::string> knobs(const Records& records) {
  std::vector<std::string> names;
  for (const Knob& knob : records.knobs) names.push_back(knob.name);
  return names;
}

std::vector<std::string> values(const Records& records, std::size_t row) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < records.knobs.size(); ++k) texts.push_back(records.json(row, k));
  return texts;
}

/// Returns the time of each configuration in µs; for a failure, its status.
std::vector<std::string> outcomes(const Records& records) {
  std::vector<std::string> texts;
  for (const Record& record : records.records)
    texts.push_back(record.outcome.ok() ? fmt::format("{:.9g}", record.outcome.microseconds)
                                        : std::string(status_name(record.outcome.status)));
  return texts;
}

TEST(RecordFormats, EachHasSamples) {
  std::set<std::string> folders;
  for (const records::RecordFormat& format : records::all_formats()) {
    folders.insert(sample_folder(format.name));
    const SpaceFiles samples({folder + sample_folder(format.name)});
    for (const SpaceFile& file : samples.files()) {
      const records::RecordFormat* const found = records::find_format(records::outline_of(read_file(file.path)));
      ASSERT_NE(found, nullptr) << file.path;
      EXPECT_EQ(found->name, format.name) << file.path;
    }
  }
  EXPECT_EQ(folders.size(), records::all_formats().size());
}

TEST(RecordFormats, KernelLauncher) {
  const std::vector<Records> spaces = read("kernel_launcher/saxpy.wisdom");
  ASSERT_EQ(spaces.size(), 3u);
  EXPECT_EQ(spaces[0].name, "kernel_launcher/saxpy/saxpy");
  EXPECT_EQ(spaces[0].kernel, "saxpy");
  EXPECT_EQ(spaces[0].device, "A GPU");
  EXPECT_EQ(spaces[0].problem_size, "[4096,2]");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("block_size", "unroll"));
  EXPECT_THAT(values(spaces[0], 0), ElementsAre("128", "true"));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("500", "250"));
  EXPECT_EQ(spaces[1].problem_size, "[1024,2]");
  EXPECT_EQ(spaces[2].device, "Another GPU");
  const std::string head = R"({"objective": "time", "tunable_parameters": ["a"], "key": "k"})";
  const auto refuses = [](const std::string& text, const char* what) {
    EXPECT_THAT([&] { parse_records(text, "FILE"); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  refuses(head, "expected a recorded space, found no configurations");
  refuses(head + "\n" + R"({"config": [1, 2], "time": 1})" + "\n",
          "FILE:2: expected a list 'config' of 1 values in a wisdom file of Kernel Launcher, found [1,2]");
  refuses(head + "\n" + R"({"config": [1], "time": "fast"})" + "\n", "FILE:2: expected a number 'time'");
  refuses(R"({"objective": "energy", "tunable_parameters": ["a"]})", "the objective \"time\"");
}

TEST(RecordFormats, Cutlass) {
  const std::vector<Records> spaces = read("cutlass/profile.gemm.csv");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, "gemm");
  EXPECT_EQ(spaces[0].problem_size,
            R"(["gemm_kind=universal","m=512","n=512","k=64","A=f16:column","alpha=1","accum=f32"])");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("cta_m", "cta_n", "stages", "Operation")) << "without constants";
  EXPECT_THAT(values(spaces[0], 1), ElementsAre("64", "128", "3", "\"gemm_64x128_nn\""));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("500", "250", "wrong_result", "launch_error"));
  EXPECT_EQ(spaces[0].records[3].outcome.message, "error_not_supported");
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("1000"));
}

TEST(RecordFormats, KttXml) {
  const std::vector<Records> spaces = read("ktt_xml/ktt.xml");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, "gemm");
  EXPECT_EQ(spaces[0].device, "A GPU");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("block", "ratio"));
  EXPECT_THAT(values(spaces[0], 0), ElementsAre("32", "1.0"));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("96.256", "48.5", "build_error"));
  EXPECT_NEAR(spaces[0].records[0].cost(), (96.256 + 6197.699) * 1e-6, 1e-9);
  EXPECT_EQ(spaces[1].kernel, "transpose");
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("7"));
  std::string text = read_file(folder + "ktt_xml/ktt.xml");
  const std::size_t other = text.find("<KernelResult KernelName=\"transpose\"");
  text.erase(other, text.find("</Results>") - other);
  const Records energy = parse_records(text, "ktt.xml", {.objective = parse_objective("EnergyConsumption")});
  EXPECT_EQ(energy.objective_of(1), 0.75);
}

TEST(RecordFormats, KttJson) {
  const Records records = read("ktt_json/ktt.json").at(0);
  EXPECT_THAT(outcomes(records), ElementsAre("2500", "wrong_result", "invalid"));
  EXPECT_THAT(values(records, 1), ElementsAre("2", "0.5"));
}

TEST(RecordFormats, ClBlast) {
  const Records results = read("clblast_results/clblast_xaxpy.json").at(0);
  EXPECT_EQ(results.kernel, "xaxpy_1");
  EXPECT_EQ(results.problem_size, R"(["n=4096","alpha=2.000000"])");
  EXPECT_THAT(outcomes(results), ElementsAre("250", "125", "launch_error"));
  const std::vector<Records> database = read("clblast_database/clblast_database.json");
  ASSERT_EQ(database.size(), 2u);
  EXPECT_EQ(database[0].kernel, "xaxpy Xaxpy 32");
  EXPECT_THAT(knobs(database[0]), ElementsAre("VW", "WGS", "WPT"));
  EXPECT_THAT(values(database[0], 1), ElementsAre("2", "64", "1"));
  EXPECT_THAT(outcomes(database[0]), ElementsAre("500", "250", "launch_error"));
  EXPECT_EQ(database[1].device, "Another GPU");
  EXPECT_THAT(outcomes(database[1]), ElementsAre("2000", "1500"));
}

TEST(RecordFormats, AutoTvm) {
  const std::vector<Records> spaces = read("autotvm/autotvm.log");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, R"(dense.cuda 1x512:float32 1000x512:float32 null "float32")");
  EXPECT_EQ(spaces[0].device, "cuda -keys=cuda,gpu -model=t4");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("tile_x", "auto_unroll_max_step"));
  EXPECT_THAT(values(spaces[0], 0), ElementsAre("\"[-1,8]\"", "512"));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("600", "invalid"));
  EXPECT_DOUBLE_EQ(spaces[0].records[0].cost(), 2.5);
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("2000"));
}

TEST(RecordFormats, AutoTvmBeforeVersionTwo) {
  const std::string line =
      R"({"i": ["llvm -mcpu=core-avx2", "conv2d", [["TENSOR", [1, 3, 224, 224], "float32"], [2, 2]],
 {}, ["conv2d", 1], {"i": 5, "t": "direct", "c": null, "e": [["tile_ic", "sp", [-1, 3]], ["unroll_kw", "ot", true]]}],
 "r": [[0.0005], 0, 2.5, 1500000000.5], "v": 0.1})";
  std::string one = line;
  std::erase(one, '\n');
  const Records records = parse_records("# a comment\n" + one + "\n", "log");
  EXPECT_EQ(records.kernel, "conv2d 1x3x224x224:float32 [2,2]");
  EXPECT_EQ(records.device, "llvm -mcpu=core-avx2");
  EXPECT_THAT(values(records, 0), ElementsAre("\"[-1,3]\"", "true"));
  EXPECT_THAT(outcomes(records), ElementsAre("500"));
  EXPECT_THAT(
      [&] { parse_records(one, "log", {.objective = parse_objective("GFLOP/s")}); },
      ThrowsMessage<Error>(HasSubstr("log: expected the objective 'time', the only one that this format records")));
}

TEST(RecordFormats, ClTune) {
  const Records records = read("cltune/gemm.json").at(0);
  EXPECT_EQ(records.kernel, "gemm_fast");
  EXPECT_EQ(records.device, "A GPU");
  EXPECT_THAT(outcomes(records), ElementsAre("1250", "750"));
}

TEST(RecordFormats, Ansor) {
  const std::vector<Records> spaces = read("ansor/ansor.json");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, "matmul_add 512,512,512");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("CHW 2", "SP 2 0", "PR 2 0"));
  EXPECT_THAT(values(spaces[0], 0), ElementsAre("\"local\"", "\"[1,8,2]\"", "\"auto_unroll_max_step$64\""));
  EXPECT_THAT(values(spaces[0], 1), ElementsAre("\"-\"", "\"[2,8,2]\"", "\"auto_unroll_max_step$64\""));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("255", "500", "hang"));
  EXPECT_DOUBLE_EQ(spaces[0].records[2].cost(), 10.5);
  EXPECT_EQ(spaces[1].kernel, "conv2d 1,[3,3]");
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("1000"));
}

TEST(RecordFormats, MetaSchedule) {
  const std::vector<Records> spaces = read("metaschedule/meta_schedule.json");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, "workload 0 512x512:float32 512x512:float32");
  EXPECT_EQ(spaces[0].device, "cuda sm_86");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("trace", "2 SamplePerfectTile", "3 SampleCategorical"));
  EXPECT_EQ(spaces[0].json(1, 1), "\"[64,8]\"");
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("600", "250", "launch_error"));
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("launch_error", "1000"));
}

TEST(RecordFormats, Triton) {
  const Records records = read("triton/matmul.autotune.json").at(0);
  EXPECT_EQ(records.kernel, "matmul");
  EXPECT_EQ(records.problem_size, R"(["1024","1024","512","torch.float16","torch.float16"])");
  EXPECT_THAT(knobs(records), ElementsAre("BLOCK_M", "BLOCK_N", "num_warps", "num_ctas", "num_stages"));
  EXPECT_THAT(values(records, 1), ElementsAre("128", "128", "8", "1", "3"));
  EXPECT_THAT(outcomes(records), ElementsAre("250", "125", "invalid", "500"));
  const Records texts =
      parse_records(R"({"key": [], "configs_timings": [["BLOCK: 64, num_warps: 4, maxnreg: None", [0.5]],
                        ["BLOCK: 32, num_warps: 8, maxnreg: None", [1.5]]]})",
                    "a/k.autotune.json");
  EXPECT_THAT(knobs(texts), ElementsAre("BLOCK", "num_warps"));
  EXPECT_THAT(outcomes(texts), ElementsAre("500", "1500"));
}

TEST(RecordFormats, HelionLogs) {
  const std::vector<Records> spaces = read("helion_log/helion.csv");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, "matmul");
  EXPECT_EQ(spaces[0].device, "A GPU");
  EXPECT_EQ(spaces[0].problem_size, R"(["[(1024, 512), (512, 1024)] ['torch.float16', 'torch.float16']"])");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("block_sizes[0]", "block_sizes[1]", "indexing", "loop_orders[0]",
                                            "num_warps", "reduction_loops[0]"));
  EXPECT_THAT(values(spaces[0], 0), ElementsAre("64", "32", "\"pointer\"", "\"[0,1]\"", "4", "\"-\""));
  EXPECT_THAT(values(spaces[0], 1), ElementsAre("128", "32", "\"block_ptr\"", "\"[1,0]\"", "8", "512"));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("250", "125", "launch_error"));
  EXPECT_EQ(spaces[0].repeated, 0u) << "a line 'started' is no result";
  EXPECT_DOUBLE_EQ(spaces[0].records[1].build_seconds, 1.25);
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("1500", "timeout"));
  const Records first = read("helion_log/helion_first.csv").at(0);
  EXPECT_EQ(first.kernel, "helion_first");
  EXPECT_THAT(outcomes(first), ElementsAre("250", "launch_error"));
  const Records dataset = read("helion_metadata/helion_dataset.meta.jsonl").at(0);
  EXPECT_EQ(dataset.kernel, "add");
  EXPECT_THAT(knobs(dataset), ElementsAre("block_sizes[0]", "num_warps"));
  EXPECT_THAT(outcomes(dataset), ElementsAre("1250", "launch_error"));
  EXPECT_THAT([] { read("helion_log/helion.meta.jsonl"); },
              ThrowsMessage<Error>(HasSubstr("which resembles Helion metadata (autotune logs with configurations, "
                                             "*.meta.jsonl) but has no 'configs'")));
}

TEST(RecordFormats, HelionAheadOfTime) {
  const std::vector<Records> spaces = read("helion_measurements/measurements_a_gpu.csv");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].problem_size, R"(["arg0_dim0=1024"])");
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("500", "250"));
  EXPECT_THAT(outcomes(spaces[1]), ElementsAre("1500"));
  const Records configs = read("helion_configs/tuned_configs_a_gpu.json").at(0);
  EXPECT_EQ(configs.device, "cuda_sm90");
  EXPECT_THAT(outcomes(configs), ElementsAre("500", "250"));
}

TEST(RecordFormats, HelionWinners) {
  const std::vector<Records> spaces = read("helion_winners/norm_tuned_configs.json");
  ASSERT_EQ(spaces.size(), 1u) << "the other has no time";
  EXPECT_EQ(spaces[0].kernel, "norm");
  EXPECT_EQ(spaces[0].device, "A GPU");
  EXPECT_EQ(spaces[0].problem_size, R"(["2048x1024","bfloat16"])");
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("500"));
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("block_sizes[0]", "num_warps"));
  EXPECT_THAT([] { parse_spaces(R"({"gpu": "A", "configs": {"8x8": {"config": {"block_sizes": [1]}}}})", "FILE"); },
              ThrowsMessage<Error>(HasSubstr("found configurations of Helion without times ('verified_ms')")));
}

// The results of a study by the authors of Helion: the time of the best configuration of each search.
TEST(RecordFormats, TablesNameTheirTimesWithoutBrackets) {
  const auto times = [](std::string_view text) { return outcomes(parse_spaces(text, "FILE").at(0)); };
  const Records study =
      parse_spaces(
          "kernel,arm,rep,status,perf_ms,autotune_time_s\nnorm,a,0,ok,0.5,12\nnorm,a,1,ok,0.25,11\nnorm,b,0,ok,2,9\n",
          "FILE")
          .at(0);
  EXPECT_THAT(outcomes(study), ElementsAre("500", "250", "2000"));
  EXPECT_THAT(knobs(study), ElementsAre("kernel", "arm", "rep"));
  EXPECT_THAT(times("a,latency_ms,time_us\n1,2,3\n"), ElementsAre("3")) << "the name that says most";
  EXPECT_THAT(times("a,perf_ms,time (us)\n1,2,3\n"), ElementsAre("3")) << "brackets say more";
  EXPECT_THAT(times("a,runtime_s\n1,2\n"), ElementsAre("2000000"));
}

TEST(RecordFormats, Cutile) {
  const Records records = read("cutile_rs/fmha.jsonl").at(0);
  EXPECT_EQ(records.kernel, "fmha");
  EXPECT_THAT(knobs(records), ElementsAre("BM", "BN", "hint"));
  EXPECT_THAT(values(records, 0), ElementsAre("64", "128", "\"a,b\""));
  EXPECT_THAT(outcomes(records), ElementsAre("500", "250", "invalid"));
  EXPECT_EQ(records.records[2].outcome.message, "launch check: shared memory");
}

TEST(RecordFormats, LooperSet) {
  const std::vector<Records> spaces = read("looperset/looperset.jsonl");
  ASSERT_EQ(spaces.size(), 2u);
  EXPECT_EQ(spaces[0].kernel, "function1");
  EXPECT_THAT(knobs(spaces[0]), ElementsAre("step 1", "step 2", "step 3"));
  EXPECT_THAT(values(spaces[0], 0), ElementsAre("\"-\"", "\"-\"", "\"-\""));
  EXPECT_THAT(values(spaces[0], 1), ElementsAre("\"I({C0},L0,L1)\"", "\"P({C0},L0)\"", "\"-\""));
  EXPECT_THAT(outcomes(spaces[0]), ElementsAre("4000", "1250", "2000", "invalid", "launch_error"));
  const std::vector<Records> machines = read("looperset/looperset_v2.jsonl");
  ASSERT_EQ(machines.size(), 2u);
  EXPECT_EQ(machines[0].device, "xeon_e5_2695_v2");
  EXPECT_THAT(values(machines[0], 1), ElementsAre(R"("interchange {\"loop_levels\":[0,1],\"parameters\":[]}")",
                                                  R"("tiling {\"loop_levels\":[0,1],\"parameters\":[32,32]}")"));
  EXPECT_THAT(outcomes(machines[0]), ElementsAre("4000", "1250", "launch_error"));
  EXPECT_EQ(machines[1].device, "other");
  EXPECT_THAT(outcomes(machines[1]), ElementsAre("launch_error", "750", "launch_error"));
  const Records one = read("looperset_object/looperset_programs.json").at(0);
  EXPECT_EQ(one.kernel, "function3.json");
  EXPECT_EQ(one.device, "a node");
  EXPECT_THAT(outcomes(one), ElementsAre("2500", "1500"));
}

TEST(RecordFormats, UnknownFilesSayWhatTheyResemble) {
  const auto says = [](std::string_view text, const std::string& what) {
    EXPECT_THAT([&] { parse_spaces(text, "FILE"); },
                ThrowsMessage<Error>(::testing::AllOf(::testing::StartsWith("FILE: expected a recorded space, found "),
                                                      HasSubstr(what), HasSubstr("--list-formats"))));
  };
  says(
      R"({"tune_params": {}, "device_name": "x"})",
      "JSON with 'tune_params', 'device_name', which resembles Kernel Tuner (caches of versions 1.0 to 1.5 (JSON)) but "
      "has no 'cache'");
  says(R"({"Metadata": {}})", "resembles KTT JSON (results) but has no 'Results'");
  says(R"({"ConfigurationSpace": {}})", "a T1 definition, which has no results");
  says(R"({"mm": {"block_sizes": [16]}})", "configurations of Helion without times");
  says(R"({"triton_version": "3", "64": {"BLOCK_SIZE_M": 16, "num_warps": 4}})",
       "chosen configurations of Triton without times, such as vLLM's and SGLang's; `deplo");
  says(R"({"XBLOCK": 1, "num_warps": 4})", "chosen configurations of Triton without times");
  says(R"({"XBLOCK": 1, "num_warps": 4, "time": 3})", "JSON with 'XBLOCK', 'num_warps', 'time'; `deplo");
  says(R"({"a": 1})", "JSON with 'a'; `deplo");
  for (const char* common : {"version", "dtype", "key", "device", "input"})
    says(fmt::format(R"({{"{}": 1}})", common), fmt::format("JSON with '{}'; `deplo", common));
  says("<svg></svg>", "XML with the element 'svg'");
  says("hello\n", "text that is not a table");
  says("Dear all, hello\nI am\n", "text that is not a table");
  EXPECT_THAT([] { parse_spaces(std::string_view("\0\1,2\n", 5), "FILE"); },
              ThrowsMessage<Error>("FILE: expected a recorded space, found binary data"));
  for (const auto& [start, what] :
       {std::pair("BZh91AY&SY\x01", "packed by bzip2; unpack it, or pack it as .gz or .zip"),
        {"\xfd\x37zXZ\x01", "packed by xz; unpack it"},
        {"\x28\xb5\x2f\xfd\x01", "packed by zstd; unpack it"},
        {"version https://git-lfs.github.com/spec/v1\noid x\n", "`git lfs pull`"}})
    EXPECT_THAT([&] { parse_spaces(start, "FILE"); }, ThrowsMessage<Error>(HasSubstr(what)));
  EXPECT_THAT([] { parse_spaces("config_index,generation,status\n1,2,ok\n", "FILE"); },
              ThrowsMessage<Error>(HasSubstr("found none in a table, which resembles Helion log (autotune logs")));
}

/// Damaged files are read, or refused in one line.
TEST(RecordFormats, DamagedFilesAreErrors) {
  Rng rng(11);
  const SpaceFiles samples({folder});
  for (const SpaceFile& file : samples.files()) {
    const std::string whole = read_file(file.path);
    for (int i = 0; i < 150; ++i) {
      std::string text = whole;
      if (rng.below(3) == 0) text.resize(rng.below(text.size()));
      for (std::uint64_t n = 1 + rng.below(4); n > 0 && !text.empty(); --n)
        text[rng.below(text.size())] = "{}[]\",:0-9etn<>/='("[rng.below(18)];
      try {
        parse_spaces(text, "damaged");
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).rfind("damaged", 0), 0u) << file.path << ": " << e.what();
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      }
    }
  }
}

TEST(RecordFormats, WhatIsReadSurvivesT4) {
  for (const char* file : {"ktt_json/ktt.json", "clblast_results/clblast_xaxpy.json", "triton/matmul.autotune.json",
                           "cutile_rs/fmha.jsonl", "helion_log/helion_first.csv"}) {
    const Records records = read(file).at(0);
    const Records again = parse_records(print_records(records, Format::t4), "again");
    EXPECT_EQ(outcomes(again), outcomes(records)) << file;
    EXPECT_EQ(values(again, 1), values(records, 1)) << file;
  }
}

}  // namespace
}  // namespace deplo::search::record_formats_test
