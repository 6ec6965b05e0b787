// Readers and writers of recorded spaces. For shared files, a Python script computed the expected figures from the same
// file.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
#include <set>

#include "core/file.h"
#include "core/rng.h"
#include "search/records/formats/one_space.h"
#include "search/records/table_space.h"

namespace deplo::search::records_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* cache = R"({"device_name": "A GPU", "kernel_name": "gemm", "problem_size": [4],
"tune_params_keys": ["bx", "mode", "on"], "tune_params": {"bx": [16, 32], "mode": ["a b", "c"], "on": [true, false]},
"objective": "time",
"cache": {
"32,c,1": {"bx": 32, "mode": "c", "on": true, "time": 2.5, "times": [2.0, 3.0], "compile_time": 100, "verification_time": 1,
  "benchmark_time": 5.5, "strategy_time": 0.25, "framework_time": 0.25, "GFLOP/s": Infinity},
"16,c,1": {"bx": 16, "mode": "c", "on": true, "time": "CompilationFailedConfig", "compile_time": 40, "benchmark_time": 0},
"16,x,0": {"bx": 16, "mode": "x", "on": false, "time": "RuntimeFailedConfig", "compile_time": 40, "note": "NaN \" {"},
"48,x,0": {"bx": 48, "mode": "x", "on": false, "time": NaN}
}})";

TEST(KernelTuner, IsRead) {
  const Records records = parse_records(cache, "cache");
  EXPECT_EQ(records.device, "A GPU");
  EXPECT_EQ(records.kernel, "gemm");
  ASSERT_EQ(records.knobs.size(), 3u);
  EXPECT_EQ(records.knobs[0].values, (std::vector<Value>{16, 32, 48}));
  EXPECT_EQ(records.knobs[1].values, (std::vector<Value>{"a b", "c", "x"}));
  EXPECT_EQ(records.knobs[2].values, (std::vector<Value>{1, 0}));
  ASSERT_EQ(records.records.size(), 4u);
  const Record& first = records.records[0];
  EXPECT_EQ(first.outcome.microseconds, 2500);
  EXPECT_THAT(records.launches_of(first), ::testing::ElementsAre(2000, 3000));
  EXPECT_DOUBLE_EQ(first.build_seconds, 0.1);
  EXPECT_DOUBLE_EQ(first.run_seconds, 0.007);
  EXPECT_EQ(records.value(0, 0), Value(32));
  EXPECT_EQ(records.records[1].outcome.status, Status::build_error);
  EXPECT_EQ(records.records[1].outcome.message, "CompilationFailedConfig");
  EXPECT_DOUBLE_EQ(records.records[1].cost(), 0.04);
  EXPECT_EQ(records.records[2].outcome.status, Status::launch_error);
  EXPECT_EQ(records.records[3].outcome.status, Status::invalid);
}

// The file of a search that was killed: if it is cut off anywhere after the first entry, the complete entries are read.
TEST(KernelTuner, IsReadUnfinished) {
  const std::string text = cache;
  const std::size_t first_ends = text.find("Infinity}") + 9;
  for (std::size_t cut = first_ends; cut < text.size(); ++cut) {
    const std::size_t complete = parse_records(text.substr(0, cut), "cache").records.size();
    EXPECT_GE(complete, cut < text.find(": 0}") + 4 ? 1u : 2u) << cut;
  }
  EXPECT_EQ(parse_records(text.substr(0, text.find("\"48,")), "cache").records.size(), 3u);
  EXPECT_THAT([&] { parse_records(text.substr(0, 100), "cache"); }, ThrowsMessage<Error>(HasSubstr("cache: expected")));
  for (const char* end : {"n", "na", "-", "-i", "-in", "-I", "N", "Na"}) {
    const std::string cut = text.substr(0, text.rfind("NaN")) + end;
    EXPECT_EQ(parse_records(cut, "cache").records.size(), 3u) << end;
  }
}

// Regression test: a cache with up to nine bytes of something else at its end counted as unfinished.
TEST(KernelTuner, BytesAfterACacheAreRefused) {
  const std::string text = cache, unfinished = text.substr(0, text.find("\"48,"));
  EXPECT_EQ(parse_records(text + " \r\n\t", "cache").records.size(), 4u);
  for (const char* rubbish : {"x", "}", "]", "NaN", " N", "\nnan", "{}", "garbage", "\x01\x02", "\xff"})
    EXPECT_THAT([&] { parse_records(text + rubbish, "cache"); },
                ThrowsMessage<Error>(HasSubstr("cache: expected a Kernel Tuner cache or T4 results in JSON")))
        << rubbish;
  for (const char* rubbish : {"x", "]", "garbage", "\x01\x02", "Nix", "\xff"})
    EXPECT_THAT([&] { parse_records(unfinished + rubbish, "cache"); },
                ThrowsMessage<Error>(HasSubstr("cache: expected a Kernel Tuner cache or T4 results in JSON")))
        << rubbish;
}

// Costs in seconds and times in milliseconds are detected: benchmarking cannot take less time than its launches.
TEST(KernelTuner, UnitsAreChecked) {
  std::string text = cache;
  text.replace(text.find("5.5"), 3, "0.0055");
  text.replace(text.find("100,"), 4, "0.1,");
  const Records records = parse_records(text, "cache");
  EXPECT_DOUBLE_EQ(records.records[0].build_seconds, 0.1);
  EXPECT_NEAR(records.records[0].run_seconds, 0.0055 + 1.5, 1e-12);
}

// Since version 1.4, a failure has the member __error__ and no objective. Earlier versions wrote the name of the
// failure as the value of the objective.
TEST(KernelTuner, FailuresOfEachVersion) {
  const Records records = parse_records(R"({"tune_params_keys": ["a"], "objective": "GFLOP/s", "cache": {
    "1": {"a": 1, "GFLOP/s": 8.5, "time": 2, "compile_time": 3}, "2": {"a": 2, "__error__": "CompilationFailedConfig"},
    "3": {"a": 3, "GFLOP/s": "RuntimeFailedConfig"}, "4": {"a": 4, "time": "InvalidConfig"}, "5": {"a": 5, "time": 1},
    "6": {"a": 6, "GFLOP/s": NaN}, "7": {"a": 7, "GFLOP/s": 1e20}}})",
                                        "cache");
  std::vector<Status> statuses;
  for (const Record& record : records.records) statuses.push_back(record.outcome.status);
  EXPECT_THAT(statuses, ::testing::ElementsAre(Status::ok, Status::build_error, Status::launch_error, Status::invalid,
                                               Status::invalid, Status::invalid, Status::implausible));
  EXPECT_EQ(records.records[4].outcome.message, "no GFLOP/s");
  EXPECT_EQ(records.objective_of(0), 8.5);
  EXPECT_EQ(records.loss(0), -8.5);
  EXPECT_EQ(records.records[0].outcome.microseconds, 1 / 8.5);
  EXPECT_EQ(label(records.objective), "GFLOP/s, higher is better");
}

TEST(KernelTuner, OfEqualConfigurationsTheLastCounts) {
  const Records records = parse_records(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1}, "2":
    {"a": 2, "time": 5, "times": [4, 6]}, "1": {"a": 1, "time": 3, "times": [2, 4]}}})",
                                        "cache");
  ASSERT_EQ(records.records.size(), 2u);
  EXPECT_EQ(records.repeated, 1u);
  EXPECT_EQ(records.value(0, 0), Value(2));
  EXPECT_EQ(records.value(1, 0), Value(1));
  EXPECT_EQ(records.records[1].outcome.microseconds, 3000);
  EXPECT_THAT(records.launches_of(records.records[1]), ::testing::ElementsAre(2000, 4000));
}

TEST(KernelTuner, ValuesKeepTheirTypes) {
  const std::string text =
      R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, true, 1.0, "1", 0.5, "x", 1e-05]}, "cache": {
    "1": {"a": 1, "time": 1}, "True": {"a": true, "time": 2}, "1.0": {"a": 1.0, "time": 3}, "'1'": {"a": "1", "time": 4},
    "0.5": {"a": 0.5, "time": 5}, "x": {"a": "x", "time": 6}, "1e-05": {"a": 0.00001, "time": 7}}})";
  const Records records = parse_records(text, "cache");
  EXPECT_EQ(records.repeated, 0u);
  EXPECT_THAT(records.knobs[0].json, ::testing::ElementsAre("1", "true", "1.0", "\"1\"", "0.5", "\"x\"", "1e-05"));
  EXPECT_EQ(records.knobs[0].values[0], Value(1));
  EXPECT_EQ(std::set(records.knobs[0].values.begin(), records.knobs[0].values.end()).size(), 7u);
  for (const Format format : {Format::kernel_tuner, Format::t4, Format::table})
    EXPECT_EQ(parse_records(print_records(records, format), "again").knobs[0].json, records.knobs[0].json)
        << print_records(records, format);
  EXPECT_THAT(print_records(records, Format::kernel_tuner), HasSubstr("\n\"True\": {\"a\": true, "));
}

TEST(Objective, DirectionsByName) {
  for (const char* name : {"GFLOP/s", "TFLOP/s", "GB/s", "GFLOPS/W", "TFLOP/J", "fitness", "throughput"})
    EXPECT_EQ(known_direction(name), true) << name;
  for (const char* name : {"time", "energy", "cost", "loss", "TotalDuration", "nvml_power", "latency"})
    EXPECT_EQ(known_direction(name), false) << name;
  EXPECT_EQ(known_direction("edp"), std::nullopt);
  EXPECT_EQ(parse_objective("a:b:max").name, "a:b");
  EXPECT_EQ(parse_objective("a:min").higher_is_better, false);
  EXPECT_THROW(parse_objective(":max"), Error);
}

// The values that searchers are told are above 0, and order configurations as the objective does.
TEST(Objective, ValuesOfAnySign) {
  const Records records = parse_records("a,objective loss (lower is better)\n1,-2\n2,6\n3,0\n", "csv");
  std::vector<double> told;
  for (const Record& record : records.records) told.push_back(record.outcome.microseconds);
  EXPECT_THAT(told, ::testing::ElementsAre(1, 2, 1.25));
  EXPECT_EQ(records.objective_of(0), -2);
  EXPECT_EQ(records.records[0].cost(), 1) << "no record has a cost";
  EXPECT_EQ(print_records(parse_records(print_records(records, Format::t4), "t4"), Format::t4),
            print_records(records, Format::t4));
}

TEST(T4, ObjectivesAndUnits) {
  const auto read = [](const char* objectives, const char* measurements, const Reading& reading = {}) {
    return parse_records(
        fmt::format(R"({{"results": [{{"configuration": {{"a": 1}}, "times": {{"compilation_time": 4000,
      "runtimes": [3, 5]}}, "invalidity": "correct", "correctness": 1, "objectives": {}, "measurements": {}}}]}})",
                    objectives, measurements),
        "t4", reading);
  };
  // KTT: the file has no unit. The unit of the objective applies to the other times, too.
  const Records ktt =
      read(R"(["TotalDuration"])", R"([{"name": "TotalDuration", "value": 96.5, "unit": "Microseconds"}])");
  EXPECT_EQ(ktt.records[0].outcome.microseconds, 96.5);
  EXPECT_THAT(ktt.launches, ::testing::ElementsAre(3, 5));
  EXPECT_DOUBLE_EQ(ktt.records[0].build_seconds, 0.004);
  EXPECT_EQ(label(ktt.objective), "TotalDuration");
  const Records energy =
      read(R"(["energy"])", R"([{"name": "time", "value": 2}, {"name": "energy", "value": 7, "unit": "J"}])");
  EXPECT_EQ(label(energy.objective), "energy (J), lower is better");
  EXPECT_EQ(energy.objective_of(0), 7);
  EXPECT_EQ(read("[]", R"([{"name": "power", "value": [3, 5]}])").objective_of(0), 4);
  EXPECT_EQ(read("[]", "[]").objective_of(0), 4000) << "the mean of the launches";
  EXPECT_EQ(
      label(read(R"([{"name": "volume", "direction": "maximize"}])", R"([{"name": "volume", "value": 2}])").objective),
      "volume, higher is better");
  EXPECT_EQ(
      read(R"(["a", "b"])", R"([{"name": "b", "value": 2}])", {.objective = parse_objective("b:max")}).objective_of(0),
      2);
}

TEST(Ktt, OwnResultsAreRead) {
  const Records records = parse_records(R"({"Metadata": {"Device": "A GPU", "TimeUnit": "Milliseconds"}, "Results": [
    {"KernelName": "gemm", "Status": "Ok", "TotalDuration": 2.5, "TotalOverhead": 100, "ComputationResults": [],
     "Configuration": [{"Name": "a", "IsDouble": false, "Value": 1}, {"Name": "b", "IsDouble": true, "Value": 0.5}]},
    {"KernelName": "gemm", "Status": "ComputationFailed", "TotalDuration": 1e20, "TotalOverhead": 50,
     "Configuration": [{"Name": "a", "Value": 2}, {"Name": "b", "Value": 0.5}]}]})",
                                        "ktt");
  EXPECT_EQ(records.device, "A GPU");
  EXPECT_EQ(records.kernel, "gemm");
  EXPECT_EQ(label(records.objective), "TotalDuration");
  EXPECT_EQ(records.records[0].outcome.microseconds, 2500);
  EXPECT_DOUBLE_EQ(records.records[0].cost(), 0.1025);
  EXPECT_EQ(records.records[1].outcome.status, Status::launch_error);
  EXPECT_EQ(records.json(1, 1), "0.5");
  for (const char* text :
       {R"({"Results": 1})", R"({"Results": [1]})", R"({"Results": [{"Configuration": 1}], "Metadata": 2})"})
    EXPECT_THROW(parse_records(text, "ktt"), Error) << text;
}

TEST(ClBlast, ResultsOfItsTunersAreRead) {
  const Records records = parse_records(R"({"kernel_family": "xaxpy", "precision": "32", "arg_n": "4096",
    "clblast_device_name": "A GPU", "device_compute_units": "12", "results": [
    {"kernel": "XaxpyFast", "time": 0.250, "parameters": {"PRECISION": 32, "VW": 1, "WGS": 64}},
    {"kernel": "XaxpyFast", "time": 0.125, "parameters": {"PRECISION": 32, "VW": 2, "WGS": 64}},
    {"kernel": "XaxpyFast", "time": -1.000, "parameters": {"PRECISION": 32, "VW": 4, "WGS": 64}}]})",
                                        "clblast");
  EXPECT_EQ(records.device, "A GPU");
  EXPECT_EQ(records.kernel, "xaxpy");
  ASSERT_EQ(records.records.size(), 3u);
  EXPECT_EQ(records.knobs[1].name, "VW");
  EXPECT_DOUBLE_EQ(records.records[1].outcome.microseconds, 125);
  EXPECT_FALSE(records.records[2].outcome.ok());
  for (const char* text : {R"({"kernel_family": "x", "results": 1})", R"({"kernel_family": "x", "results": [1]})",
                           R"({"kernel_family": 1, "results": [{"time": 1, "parameters": 2}]})"})
    EXPECT_THROW(parse_records(text, "clblast"), Error) << text;
}

TEST(T4, IsRead) {
  const Records records = parse_records(R"({"metadata": {"timeunit": "seconds"}, "results": [
    {"configuration": {"z": 1, "a": 2}, "invalidity": "correct", "times": {"compilation": 2, "framework": 0.5,
     "runtimes": [0.25, 0.75]}, "measurements": [{"name": "other", "value": 1}, {"name": "time", "value": 0.5}]},
    {"configuration": {"a": 3, "z": 1}, "invalidity": "runtime", "times": {"compilation": 1}}],
    "schema_version": "1.0.0"})",
                                        "t4");
  EXPECT_EQ(records.knobs[0].name, "z");
  EXPECT_EQ(records.knobs[1].values, (std::vector<Value>{2, 3}));
  EXPECT_DOUBLE_EQ(records.records[0].outcome.microseconds, 5e5);
  EXPECT_DOUBLE_EQ(records.records[0].build_seconds, 2);
  EXPECT_DOUBLE_EQ(records.records[0].run_seconds, 1.5);
  EXPECT_EQ(records.records[1].outcome.status, Status::launch_error);
}

TEST(Table, IsRead) {
  const Records records = parse_records("a,\"b \"\"x\"\", y\",Run1 (ms),Run2 (ms)\r\n1,p,2,4\r\n\r\n2,,8,\n", "csv");
  EXPECT_EQ(records.knobs[1].name, "b \"x\", y");
  EXPECT_EQ(records.records[0].outcome.microseconds, 3000);
  EXPECT_DOUBLE_EQ(records.records[0].cost(), 0.006);
  EXPECT_EQ(records.records[1].launches, 1u);
  const Reading reading{.columns = {.launches = {}, .time = "b", .unit = "s", .ignored = {"c"}}};
  const Records mapped = parse_records("a,b,c\n1,2,3\n", "csv", reading);
  EXPECT_EQ(mapped.knobs.size(), 1u);
  EXPECT_EQ(mapped.records[0].outcome.microseconds, 2e6);
}

// A unit that the user names may not contradict the heads of the columns.
TEST(Table, TheUnitOfTimesIsThatOfTheirHeads) {
  const auto us = [](const std::string& text, const Columns& columns) {
    return parse_records(text, "csv", {.columns = columns}).records[0].outcome.microseconds;
  };
  EXPECT_EQ(us("a,Run1 (us)\n1,3\n", {.launches = {"Run1 (us)"}}), 3);
  EXPECT_EQ(us("a,time (s)\n1,3\n", {.time = "time (s)"}), 3e6);
  EXPECT_EQ(us("a,b\n1,3\n", {.time = "b"}), 3000) << "ms by default";
  const auto refuses = [&](const std::string& unit, const std::string& message) {
    EXPECT_THAT([&] { us("a,time (us)\n1,3\n", {.unit = unit}); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refuses("s", "csv: expected times in s, found the column 'time (us)'");
  refuses("h", "csv: expected a unit of times (s, ms, us, ns), found 'h'");
}

// Columns that look like results are left out if their names say so. Otherwise the user must decide.
TEST(Table, ResultsAreNoParameters) {
  const Records sure = parse_records(
      "Kernel name,Computation duration (us),bx,GFLOP/s,energy (J),dram__sectors_read.sum,Registers count\n"
      "k,5,16,1,2,3,4\nk,6,32,1,2,3,4\n",
      "csv");
  ASSERT_EQ(sure.knobs.size(), 1u);
  EXPECT_EQ(sure.knobs[0].name, "bx");
  std::string table = "a,b,speed,time (ms)\n", whole = table;
  for (int i = 0; i < 16; ++i) {
    table += fmt::format("{},{},{},1\n", i % 4, i / 4, 0.37 * i);
    whole += fmt::format("{},{},{},1\n", i % 2, i / 8, (i / 2) % 4 + 0.5);
  }
  EXPECT_THAT([&] { parse_records(table, "csv"); }, ThrowsMessage<Error>(HasSubstr("look like results: 'speed'")));
  EXPECT_EQ(parse_records(table, "csv", {.columns = {.parameters = {"a", "b"}}}).knobs.size(), 2u);
  EXPECT_EQ(parse_records("a,GFLOPs,helion_tflops,time (ms)\n1,2,3,1\n2,2,3,1\n", "csv").knobs.size(), 1u);
  EXPECT_EQ(parse_records(whole, "csv").knobs.size(), 3u) << "without it rows are equal";
}

// A user who copies the names from the message must not lose parameters.
TEST(Table, NamesAllParametersOfATableWithResults) {
  std::string text = "time (ms),speed";
  for (int k = 0; k < 8; ++k) text += fmt::format(",p{}", k);
  for (int row = 0; row < 256; ++row) {
    text += fmt::format("\n1,{}", row + 0.5);
    for (int k = 0; k < 8; ++k) text += fmt::format(",{}", (row >> k) & 1);
  }
  EXPECT_THAT(
      [&] { parse_records(text, "csv"); },
      ThrowsMessage<Error>(HasSubstr("'speed'; name the parameters with --parameters p0,p1,p2,p3,p4,p5,p6,p7 or")));
}

TEST(Table, NamesAColumnOfTimesWithoutUnit) {
  const auto says = [](std::string_view text, const char* what) {
    EXPECT_THAT([&] { parse_records(text, "csv"); }, ThrowsMessage<NotRecorded>(HasSubstr(what)));
  };
  says("a,Runtime\n1,2\n",
       "expected a column of times with its unit, such as 'time (ms)', found 'Runtime'; use --time");
  says("a,us,median_time\n1,2,3\n", "found 'median_time'; use --time 'median_time' --unit s|ms|us|ns of");
  says("a,us\n1,2\n", "found 'us'");
  says("a,buses\n1,2\n", "such as 'time (ms)', found none");
}

TEST(Table, NamesTimesOfTwoUnits) {
  EXPECT_THAT([] { parse_records("a,time (ms),Run1 (s)\n1,2,3\n", "csv"); },
              ThrowsMessage<Error>(HasSubstr(
                  "csv: expected times of one unit, found the columns 'time (ms)' and 'Run1 (s)'; choose one")));
}

TEST(Table, ObjectivesAreColumns) {
  const Records records =
      parse_records("a,time (ms),GFLOP/s\n1,2,8\n2,1,16\n", "csv", {.objective = parse_objective("GFLOP/s")});
  EXPECT_EQ(records.objective_of(1), 16);
  EXPECT_EQ(label(records.objective), "GFLOP/s, higher is better");
  EXPECT_DOUBLE_EQ(records.records[0].cost(), 0.002);
  EXPECT_EQ(records.knobs.size(), 1u);
  const std::string text = print_records(records, Format::table);
  EXPECT_THAT(text, HasSubstr("objective GFLOP/s (higher is better)"));
  EXPECT_EQ(print_records(parse_records(text, "again"), Format::table), text);
}

TEST(Readers, SayWhatIsWrongAndWhere) {
  const auto says = [](std::string_view text, const char* what) {
    EXPECT_THAT([&] { parse_records(text, "FILE"); },
                ThrowsMessage<Error>(::testing::AllOf(::testing::StartsWith("FILE:"), HasSubstr(what))))
        << text;
  };
  says("", "found nothing");
  says("a,b\n1,2\n", "a column of times");
  says("a,time (ms)\n1,2,3\n", "FILE:2: expected 2 cells, found 3");
  says("a,time (ms)\n1,2\n1,-2\n", "FILE:3: expected a time in column 'time (ms)', found '-2'");
  says("a,time (ms),status\n1,2,ok\n2,3,fine\n",
       "FILE:3: expected 'ok', 'success' or the name of a failure in column 'status', found 'fine'");
  says("a,a,time (ms)\n1,1,2\n", "'a' twice");
  says("a,time (ms)\n", "no configurations");
  says("{", "JSON");
  says("{}", "found JSON without members");
  says(R"({"cache": {"1": {"time": 1}}})", "tune_params_keys");
  says(R"({"tune_params_keys": ["a"], "cache": {"1": {"time": 1}}})", "a value of 'a'");
  says(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1}}})", "expected the objective 'time'");
  says(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1, "compile_time": "x"}}})", "compile_time");
  says(R"({"tune_params_keys": ["a"], "cache": {}})", "configurations in the Kernel Tuner cache, found none");
  says(R"({"device_name": "x", "tune_params_keys": ["a"], "cache": {)", "configurations in the Kernel Tuner cache");
  says(R"({"results": []})", "no configurations");
  says(R"({"results": [{"configuration": {"a": 1}}]})",
       "expected the objective 'time' in the configurations, found none");
  says(R"({"tune_params_keys": ["a"], "objective": ["time", "energy"], "cache": {"1": {"a": 1, "time": 1}}})",
       "expected one objective, found energy, time; choose one with --objective");
  says(R"({"tune_params_keys": ["a"], "objective": "volume", "cache": {"1": {"a": 1, "volume": 1}}})",
       "whether a higher 'volume' is better");
  says(R"({"tune_params_keys": ["a"], "objective": "energy", "cache": {"1": {"a": 1, "time": 2, "W": 3}}})",
       "the objective 'energy' in the configurations, found none; they have 'time', 'W'");
  says(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1}}, "objective": "energy"})",
       "the objective before the cache");
  says(
      R"({"results": [{"configuration": {"a": 1}, "measurements": [{"name": "x", "value": 1}, {"name": "y", "value": 2}]}]})",
      "expected one objective, found x, y");
  says("a,GFLOP/s\n1,2\n", "a column of times");
  says(R"({"metadata": {"timeunit": "days"}, "results": [{}]})", "'days'");
  says(R"({"results": [{"configuration": {"a": 1}, "invalidity": "correct",
           "measurements": [{"name": "time", "value": 2, "unit": "days"}]}]})",
       "as the unit of 'time', found 'days'");
  says("SQLite format 3", "database");
  says("[]", "found a JSON array;");
  says("[1, [2]]", "in a record of MetaSchedule");
  says("\xef\xbb\xbf", "found nothing");
  says(std::string_view("\xff\xfe{\0}\0", 6), "found UTF-16");
  // Numbers that double cannot represent.
  says(R"({"cache": {"1": {"a": 1, "time": 1e400}}})", "in JSON: number overflow parsing '1e400'");
  says(R"({"results": [{"configuration": {"a": -1e999}}]})", "number overflow");
  says(R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1, "compile_time": 1e308}}})", "compile_time");
}

// A small file may expand to a huge space. Each file is refused before it takes much memory or time.
TEST(Readers, RefuseWhatNoSpaceIs) {
  const auto says = [](const std::string& text, const char* what) {
    EXPECT_THAT([&] { parse_records(text, "FILE"); },
                ThrowsMessage<Error>(::testing::AllOf(::testing::StartsWith("FILE"), HasSubstr(what))));
  };
  const std::string start = R"({"tune_params_keys": ["a"], "cache": {"1": {"time": 1, "a": )";
  says(start + std::string(1'000'000, '['), "at most 128 nested levels");
  says(R"({"deep": )" + std::string(1'000'000, '['), "at most 128 nested levels");
  std::string members = "{";
  for (int i = 0; i < 100'000; ++i) members += fmt::format("\"{}\": 0, ", i);
  says(members, "at most 2000 members");
  says(start + members, "at most 2000 members");
  std::string values = R"({"results": [0)";
  for (int i = 0; i < 17'000'000; ++i) values += ",0";
  says(values, "at most 16777216 values");
  says(std::string(100'000, ','), "at most 10000 cells");
  says(std::string(2'000'000, '0') + ",time (ms)\n1,2\n", "at most 1000000 bytes");
  std::string table = "a,time (ms)\n";
  while (table.size() < 60'000'000) table += "1,2\n";
  says(table, "at most 1 GiB of memory, found more after");
}

/// Returns `count` copies of the text, separated by commas, with the number of each copy in place of #.
std::string numbered(std::size_t count, std::string_view text) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) {
    list += i == 0 ? "" : ",";
    for (const char c : text) list += c == '#' ? std::to_string(i) : std::string(1, c);
  }
  return list;
}

// The work for such a list would grow with its square, so its length is checked first. Some lists name the same
// parameter again and again, which later checks would not refuse.
TEST(Readers, RefuseLongListsOfParametersBeforeTheyReadThem) {
  const auto says = [](const std::string& text, const char* what) {
    EXPECT_THAT([&] { parse_spaces(text, "FILE"); },
                ThrowsMessage<Error>(::testing::AllOf(::testing::StartsWith("FILE"), HasSubstr(what))));
  };
  constexpr std::size_t many = 1001, too_many = 60'000;
  const auto ktt = [](const std::string& pairs) {
    return R"({"Metadata": {"TimeUnit": "Microseconds"}, "Results": [{"KernelName": "k", "Status": "Ok",
      "TotalDuration": 1.0, "Configuration": [)" +
           pairs + "]}]}";
  };
  says(ktt(numbered(too_many, R"({"Name": "p#", "Value": 1})")), "at most 1000 parameters");
  says(ktt(numbered(many, R"({"Name": "p", "Value": 1})")), "at most 1000 parameters");
  says(R"({"sections": [{"parameter_names": [)" + numbered(many, R"("p")") + R"(], "results": [[")" +
           numbered(many, "1") + R"(", 1.5]]}]})",
       "at most 1000 parameters");
  says(R"({"input": ["llvm", "task", []], "config": {"entity": [)" + numbered(many, R"(["p", "ot", 1])") +
           R"(]}, "result": [[1.0], 0, 1.0, 1.0]})",
       "at most 1000 parameters");
  says("status,perf_ms,config\nok,1.5,\"Config(" + numbered(too_many, "p#=1") + ")\"\n", "a configuration of Helion");
  says(R"({"program_name": "f", "schedules_list": [{"transformations_list": [], "execution_times": {)" +
           numbered(many, R"("m#": [1.5])") + "}}]}",
       "at most 100 machines");
}

TEST(Readers, PassOverAByteOrderMark) {
  EXPECT_EQ(parse_records(std::string("\xef\xbb\xbf") + cache, "cache").records.size(), 4u);
  EXPECT_EQ(parse_records("\xef\xbb\xbf"
                          "a,time (ms)\n1,2\n",
                          "csv")
                .knobs[0]
                .name,
            "a");
}

// Older versions of Kernel Tuner wrote 1e20 for a failure. Such launches are ignored, so that sums of costs stay
// finite.
TEST(KernelTuner, LaunchesThatNobodyWaitedForAreNone) {
  const Records records = parse_records(
      R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 1, "times": [1e20, 2, 1e308]}}})", "cache");
  EXPECT_THAT(records.launches_of(records.records.at(0)), ::testing::ElementsAre(2000));
}

bool alike(const Records& a, const Records& b) {
  if (a.records.size() != b.records.size() || a.knobs.size() != b.knobs.size()) return false;
  for (std::size_t i = 0; i < a.records.size(); ++i) {
    const Record &x = a.records[i], &y = b.records[i];
    for (std::size_t k = 0; k < a.knobs.size(); ++k)
      if (a.knobs[k].name != b.knobs[k].name || a.value(i, k) != b.value(i, k)) return false;
    const auto close = [](double p, double q) { return std::abs(p - q) <= 1e-12 * std::abs(p); };
    const auto one = a.launches_of(x), other = b.launches_of(y);
    if (x.outcome.status != y.outcome.status || x.outcome.message != y.outcome.message ||
        !close(x.outcome.microseconds, y.outcome.microseconds) || !close(x.cost(), y.cost()) ||
        !std::ranges::equal(one, other, close))
      return false;
  }
  return true;
}

TEST(Writers, WhatIsWrittenIsReadAgain) {
  RecordsBuilder builder("test");
  builder.add_knob("bx", {8, 16});
  builder.add_knob("a name, with \"quotes\"");
  const double launches[] = {1.1, 1.3};
  builder.add(std::vector<Value>{16, "x, y"},
              {.outcome = {Status::ok, 1.2, ""}, .build_seconds = 0.1, .run_seconds = 2}, launches);
  for (const Status status : {Status::build_error, Status::launch_error, Status::invalid, Status::wrong_result,
                              Status::timeout, Status::implausible, Status::slow})
    builder.add(std::vector<Value>{static_cast<int>(status), "ü"},
                {.outcome = {status, 0, "said, \"so\""}, .build_seconds = 0.3, .run_seconds = 0.25}, {});
  const Records records = builder.finish();
  for (const Format format : {Format::kernel_tuner, Format::t4, Format::table}) {
    const std::string text = print_records(records, format);
    const Records again = parse_records(text, "again");
    EXPECT_TRUE(alike(records, again)) << text;
    EXPECT_EQ(print_records(again, format), text);
  }
}

TEST(Readers, DamagedBytesNeverCrash) {
  const Records good = parse_records(cache, "cache"),
                other = parse_records(cache, "cache", {.objective = parse_objective("compile_time:max")});
  Rng rng(11);
  int read = 0;
  for (const Format format : {Format::kernel_tuner, Format::t4, Format::table}) {
    for (int i = 0; i < 3000; ++i) {
      const std::string text = print_records(i % 2 == 0 ? good : other, format);
      std::string damaged = text;
      for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
        const std::size_t at = rng.below(damaged.size());
        switch (rng.below(3)) {
          case 0:
            damaged[at] = static_cast<char>(rng.below(256));
            break;
          case 1:
            damaged.erase(at, 1 + rng.below(20));
            break;
          default:
            damaged.insert(at, damaged.substr(rng.below(damaged.size()), rng.below(30)));
        }
      }
      try {
        const TableSpace space(std::make_shared<const Records>(parse_records(damaged, "damaged")));
        EXPECT_GE(space.size(), 1u);
        ++read;
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      }
    }
  }
  EXPECT_GT(read, 100);
}

const std::filesystem::path spaces = std::filesystem::path(DEPLO_SOURCE_DIR) / "../shared/spaces";

TEST(SharedSpaces, CacheAndT4AreTheSame) {
  if (!std::filesystem::exists(spaces)) GTEST_SKIP() << "no shared spaces";
  const Records records = read_records(spaces / "convolution_milo/A100.json.gz");
  EXPECT_EQ(records.name, "convolution_milo/A100");
  EXPECT_EQ(records.records.size(), 4362u);
  double cost = 0, time = 0;
  std::size_t failed = 0;
  for (const Record& record : records.records) {
    cost += record.cost();
    time += record.outcome.microseconds;
    failed += record.outcome.ok() ? 0 : 1;
  }
  EXPECT_NEAR(cost, 12199.116946197348, 1e-6);
  EXPECT_NEAR(time / 1e3, 9618.212226247415, 1e-6);
  EXPECT_NEAR(std::accumulate(records.launches.begin(), records.launches.end(), 0.0) / 1e3, 307782.7912399173, 1e-5);
  EXPECT_EQ(failed, 161u);
  const Records t4 = read_records(spaces / "convolution_milo/A100_T4.json.gz");
  ASSERT_EQ(t4.records.size(), 4362u);
  double t4_cost = 0;
  for (std::size_t i = 0; i < t4.records.size(); ++i) {
    t4_cost += t4.records[i].cost();
    EXPECT_EQ(t4.records[i].outcome.microseconds, records.records[i].outcome.microseconds);
    EXPECT_EQ(t4.records[i].outcome.status, records.records[i].outcome.status);
    for (std::size_t k = 0; k < t4.knobs.size(); ++k) EXPECT_EQ(t4.value(i, k), records.value(i, k));
  }
  EXPECT_NEAR(t4_cost, 12190.867138947602, 1e-6);
}

TEST(SharedSpaces, SgemmInAZip) {
  if (!std::filesystem::exists(spaces)) GTEST_SKIP() << "no shared spaces";
  const Records records = read_records(spaces / "uci_sgemm/sgemm_product_dataset.zip");
  EXPECT_EQ(records.records.size(), 241600u);
  EXPECT_EQ(records.knobs.size(), 14u);
  EXPECT_EQ(records.launches.size(), 4 * 241600u);
  const auto fastest = std::ranges::min(records.records, {}, [](const Record& r) { return r.outcome.microseconds; });
  EXPECT_NEAR(fastest.outcome.microseconds, 13317.5, 1e-6);
}

}  // namespace
}  // namespace deplo::search::records_test
