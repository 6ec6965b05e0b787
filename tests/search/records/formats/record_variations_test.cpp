// How legitimate files of other tuners vary: missing members, numbers that are not numbers, old versions, several
// tasks, truncated ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "search/records/formats/one_space.h"

namespace deplo::search::record_variations_test {
namespace {

using ::testing::ElementsAre;

/// Returns the times of the configurations of all spaces in µs; for a failure, its status. " | " stands between spaces.
std::string outcomes(std::string_view text, const std::string& place = "file") {
  std::string all;
  for (const Records& records : parse_spaces(text, place)) {
    all += all.empty() ? "" : " | ";
    for (const Record& record : records.records)
      all += (all.empty() || all.ends_with(' ') ? "" : " ") + (record.outcome.ok()
                                                                   ? fmt::format("{:.9g}", record.outcome.microseconds)
                                                                   : std::string(status_name(record.outcome.status)));
  }
  return all;
}

/// Returns a cache file with these entries, which have the parameter a.
std::string cache(std::string_view entries, std::string_view more = "") {
  return fmt::format(R"({{"tune_params_keys": ["a"], {} "cache": {{{}}}}})", more, entries);
}

TEST(RecordVariations, KernelTuner) {
  EXPECT_EQ(outcomes(cache(R"("1": {"a": 1, "time": NaN, "compile_time": NaN}, "2": {"a": 2, "time": 2.5,
    "times": [Infinity, 2.5], "benchmark_time": -Infinity}, "3": {"a": 3, "time": nan}, "4": {"a": 4, "time": -inf})")),
            "invalid 2500 invalid invalid");
  EXPECT_EQ(outcomes(cache(R"("1": {"a": 1, "time": "1.5", "times": ["1", 2]}, "2": {"a": 2, "time": 1e20})",
                           R"("objective": null,)")),
            "1500 implausible");
  EXPECT_EQ(outcomes("\xef\xbb\xbf\r\n" + cache("\r\n\"1\": {\"a\": [1, \"é\"], \"time\": 1},\r\n\"2\": {\"a\": null, "
                                                "\"time\": {\"no\": 1}}\r\n")),
            "1000 invalid");
}

TEST(RecordVariations, EveryEntryOfACacheIsAConfiguration) {
  EXPECT_THAT([] { outcomes(cache(R"("1": {"a": 1, "time": 1}, "2": 7, "3": {"a": 3, "time": 3})")); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                  "file: expected configurations in the Kernel Tuner cache, found 7 in number 2")));
}

// They do not fit in 64 bits, and the nearest doubles are equal.
TEST(RecordVariations, IntegersOfManyDigitsStayDistinct) {
  const std::string big = "1000000000000000000000000000000", next = "1000000000000000000000000000001";
  const Records records = parse_records(
      cache(fmt::format(R"("1": {{"a": {}, "time": 1}}, "2": {{"a": {}, "time": 2}}, "3": {{"a": 1e30, "time": 3}})",
                        big, next)),
      "file");
  ASSERT_EQ(records.knobs.size(), 1u);
  EXPECT_THAT(records.knobs[0].values, ElementsAre(Value(big), Value(next), Value("1e+30")));
  EXPECT_EQ(outcomes(cache(R"("1": {"a": 1, "time": 100000000000000000000}, "2": {"a": 2, "time": 2})")),
            "implausible 2000");
}

std::string t4(std::string_view results) { return fmt::format(R"({{"results": [{}]}})", results); }

TEST(RecordVariations, T4) {
  // Conditional parameters, and times that are null or missing.
  const std::string text = t4(R"({"configuration": {"a": 1}, "times": null, "measurements": [{"name": "time",
    "value": "1.25", "unit": "ms"}]}, {"configuration": {"b": 2, "a": 1}, "invalidity": "compile"},
    {"configuration": {"b": 3, "a": 1}, "times": {"runtimes": [NaN, 2.5]}})");
  EXPECT_EQ(outcomes(text), "1250 build_error 2500");
  const Records records = parse_records(text, "file");
  EXPECT_EQ(records.knobs[1].name, "b");
  EXPECT_EQ(records.json(0, 1), "\"-\"");
}

TEST(RecordVariations, Ktt) {
  const auto result = [](std::string_view kernel, std::string_view pairs, std::string_view duration) {
    return fmt::format(R"({{"KernelName": "{}", "Status": "Ok", "TotalDuration": {}, "Configuration": [{}]}})", kernel,
                       duration, pairs);
  };
  const std::string one = result("g", R"({"Name": "A", "Type": "Double", "Value": 1.0})", "2.5"),
                    two = result("g", R"({"Name": "A", "Type": "Bool", "Value": true})", "\"3.5\""),
                    none = result("reference", "", "1");
  EXPECT_EQ(outcomes(fmt::format(R"({{"Metadata": {{"TimeUnit": "ms"}}, "Results": [{}, {}, {}]}})", none, one, two)),
            "2500 3500");
  EXPECT_EQ(outcomes(fmt::format(R"({{"Metadata": {{"TimeUnit": "Nanoseconds"}}, "Results": [{}]}})", one)), "0.0025");
}

TEST(RecordVariations, ClBlastAndClTune) {
  const auto results = [](std::string_view list) {
    return fmt::format(R"({{"device": "D", "kernel_family": "x", "results": [{}]}})", list);
  };
  EXPECT_EQ(outcomes(results(R"({"kernel": "k", "time": inf, "parameters": {"A": 1}},
    {"kernel": "k", "time": "1.5", "parameters": {"A": 2}}, {"kernel": "k", "time": -nan, "parameters": {"A": 3}})")),
            "launch_error 1500 launch_error");
  // The kernels of one CLTune run may have different parameters.
  EXPECT_EQ(outcomes(R"({"device": "D", "results": [{"kernel": "a", "time": 1.5, "parameters": {"A": 1, "B": 2}},
    {"kernel": "b", "time": 2.5, "parameters": {"A": 1, "C": 2}}]})"),
            "1500 2500");
}

TEST(RecordVariations, Tvm) {
  const auto autotvm = [](std::string_view target, std::string_view x, std::string_view result) {
    return fmt::format(R"({{"input": [{}, "dense", [], {{}}], "config": {{"entity": [["x", "sp", [-1, {}]]]}},
"result": {}, "version": 0.2}})",
                       target, x, result);
  };
  const auto line = [&](std::string_view target, std::string_view x, std::string_view result) {
    std::string text = autotvm(target, x, result);
    std::erase(text, '\n');
    return text + "\r\n";
  };
  const std::string log = "# a comment\r\n" + line(R"({"kind": "cuda", "arch": "sm_75"})", "1", "[[0.5], 0, 1.5, 2]") +
                          line(R"({"kind": "cuda", "arch": "sm_75"})", "2", "[[NaN], 0, 1.5, 2]") +
                          line(R"({"kind": "cuda", "arch": "sm_75"})", "3", "[[0.0], 0, null, null]") +
                          line(R"({"kind": "cuda", "arch": "sm_75"})", "4", R"([["Traceback"], 2, 1.5, 2])") +
                          line(R"("llvm")", "5", "[[], 0, 1.5, 2]") + "\r\n";
  EXPECT_EQ(outcomes(log), "500000 launch_error launch_error build_error | launch_error");
  EXPECT_EQ(parse_spaces(log, "file")[0].device, "cuda sm_75");
  EXPECT_EQ(outcomes(log + log.substr(log.find('{'), 60)),
            "500000 launch_error launch_error build_error | launch_error");
}

TEST(RecordVariations, Triton) {
  EXPECT_EQ(outcomes(R"({"key": null, "timestamp": 1, "configs_timings": [[{"kwargs": {"B": [1, 2]}, "num_warps": 4},
    []], [{"kwargs": {"B": [2, 2]}, "num_warps": 4}, [NaN, 1, 2]], [{"kwargs": {"B": null}, "num_warps": 4}, ["0.5"]]]})"),
            "invalid invalid 500");
  // Triton's own members take precedence over members of the kernel with the same name.
  const Records records = parse_records(
      R"({"key": [], "configs_timings": [[{"kwargs": {"num_stages": 2, "B": 1}, "num_stages": 3}, 0.5]]})", "file");
  EXPECT_EQ(records.json(0, 1), "3");
}

TEST(RecordVariations, MetaSchedule) {
  const auto line = [](int choice, std::string_view seconds) {
    return fmt::format("[0, [[[[\"SampleCategorical\", [], [], [\"v\"]]], [[0, {}]]], {}, \"llvm\", []]]\n", choice,
                       seconds);
  };
  EXPECT_EQ(outcomes(line(1, "[0.5, \"0.5\"]") + line(2, "null") + line(3, "[Infinity]") + line(4, "[]")),
            "500000 launch_error launch_error launch_error");
  EXPECT_THAT([] { outcomes("[0s] the search begins\n"); },
              ::testing::ThrowsMessage<NotRecorded>(::testing::HasSubstr("expected a recorded space in JSON")));
}

TEST(RecordVariations, LooperSet) {
  EXPECT_EQ(outcomes(R"json({"f": {"schedules_list": null}, "g": {"schedules_list": [
    {"sched_str": "{C0}:P(L0)", "execution_times": ["1.5", null]}]}})json"),
            "1500");
}

TEST(RecordVariations, Helion) {
  const std::string head = "config_index,status,perf_ms,compile_time_s,config\n";
  const std::string log = head +
                          "0,ok,nan,None,\"Config(b=[1], m=[None, ''])\"\r\n1,error,inf,,\"{\"\"b\"\": [2]}\"\n"
                          "2,ok,0.5,1.5,\"{'b': [3], 'x': float}\"\n";
  EXPECT_EQ(outcomes(log), "launch_error launch_error 500");
  for (std::size_t cut = log.size() - 30; cut < log.size(); ++cut)
    EXPECT_THAT(outcomes(log.substr(0, cut)), ::testing::StartsWith("launch_error launch_error")) << cut;
}

// Printing a value is recursive, so the nesting must be limited.
TEST(RecordVariations, NestedTextsInsideAreLimited) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  EXPECT_THAT([&] { outcomes("status,perf_ms,config\nok,0.5,\"{\"\"a\"\": " + deep + "}\"\nok,0.5,{}\n"); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("file:2: expected a configuration of Helion")));
  EXPECT_EQ(outcomes(R"({"i": [["[\"a\", )" + deep +
                     R"(]", "llvm"], [[], [["SP", 1, 0, 8, [2], 1]]]], "r": [[0.5], 0, 1, 2]})"),
            "500000");
}

TEST(RecordVariations, Cutile) {
  EXPECT_EQ(outcomes(R"({"config_id": "A=1", "outcome": "Skipped"}
{"config_id": "A=2", "outcome": {"CompileError": {"message": "x"}}, "time": 3}
{"config_id": "A=3", "outcome": {"Measured": {"median_ms": "0.5"}}}
{"config_id": "A=4", "outcome": {"Measured": {"median_ms": NaN}}}
)"),
            "invalid invalid 500 noop");
}

TEST(RecordVariations, TablesWithOtherSeparators) {
  const Records tabs = parse_records("bx\tnote\ttime (ms)\r\n1\t\t2.5\r\n2\t a, b \t\r\n", "file");
  EXPECT_EQ(tabs.json(0, 1), "\"\"");
  EXPECT_EQ(tabs.json(1, 1), "\"a, b\"");
  EXPECT_EQ(outcomes("bx\tnote\ttime (ms)\n1\t\t2.5\n2\ta\t\n"), "2500 invalid");
  EXPECT_EQ(outcomes("\"b,x\";time (ms)\n1;2.5\n"), "2500") << "a comma inside quotes";
  EXPECT_EQ(outcomes("a;b,time (ms)\n1,2.5\n"), "2500") << "a comma comes first";
  EXPECT_THAT(
      [] { outcomes("bx;time (ms)\n1;2,5\n"); },
      ::testing::ThrowsMessage<Error>(::testing::HasSubstr("expected a time in column 'time (ms)', found '2,5'")));
}

// Statuses as other programs name them.
TEST(RecordVariations, ForeignStatuses) {
  EXPECT_EQ(
      outcomes(
          "bx,status,time (ms)\n1,success,2\n2,COMPILE_FAIL,\n3,runtime error,\n4,incorrect,\n5,oom,\n6,Passed,1\n"),
      "2000 build_error launch_error wrong_result invalid 1000");
  const Records records = parse_records("bx,status,message,time (ms)\n1,oom,,\n2,oom,too much,\n3,ok,,1\n", "file");
  EXPECT_EQ(records.records[0].outcome.message, "oom");
  EXPECT_EQ(records.records[1].outcome.message, "too much");
  const auto cache = [](const char* members) {
    return fmt::format(R"({{"tune_params_keys": ["a"], "cache": {{"1": {{"a": 1, {}}}, "2": {{"a": 2, "time": 1}}}}}})",
                       members);
  };
  EXPECT_EQ(outcomes(cache(R"("__error__": "CompilationFailedConfig", "status": "failed")")), "build_error 1000");
  EXPECT_EQ(outcomes(cache(R"("__error__": "InvalidConfig", "status": "hang")")), "hang 1000");
}

TEST(RecordVariations, Tables) {
  EXPECT_EQ(outcomes(",bx,time (ms)\n0,1,nan\n1,2,inf\n2,4,\n3,8,2.5\n"), "invalid invalid invalid 2500");
  EXPECT_EQ(outcomes("bx,time (ms),build (s)\n1,null,1\n2,None,null\n4,NULL,1\n5,NA,1\n6,n/a,1\n8,2.5,NA\n"),
            "invalid invalid invalid invalid invalid 2500");
  // The first column has pandas' row numbers.
  EXPECT_EQ(parse_records(",bx,time (ms)\n0,1,nan\n1,2,2.5\n", "file").knobs.size(), 1u);
  // Another column without a name may have parameters, so it is refused unless it is empty.
  EXPECT_EQ(parse_records("bx,,time (ms)\n1,,1\n2,,2\n", "file").knobs.size(), 1u);
  const auto parse = [](const char* text) { return [text] { parse_records(text, "file"); }; };
  EXPECT_THAT(parse("bx,,time (ms)\n1,,1\n1,7,2\n"),
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr(
                  "file:3: expected nothing in column 2, which has no name in the first line, found '7'")));
  EXPECT_THAT(parse("bx,time (ms)\n1,nothing\n2,2\n"),
              ::testing::ThrowsMessage<Error>(
                  ::testing::HasSubstr("file:2: expected a time in column 'time (ms)', found 'nothing'")));
  EXPECT_THAT(parse(",bx,time (ms)\n1,1,1\n1,2,2\n"),
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("file:3: expected nothing in column 1")))
      << "row numbers are distinct";
  Reading named;
  named.columns.parameters = {"bx"};
  EXPECT_EQ(parse_records("bx,,time (ms)\n1,7,1\n2,7,2\n", "file", named).knobs.size(), 1u);
  const Records spaced = parse_records("bx, by, \"time (ms)\"\n1,\t\" a\" , 2.5\n", "file");
  EXPECT_EQ(spaced.knobs[1].name, "by");
  EXPECT_EQ(spaced.json(0, 1), "\" a\"");
  EXPECT_EQ(parse_records(print_records(spaced, Format::table), "file").json(0, 1), "\" a\"");
}

}  // namespace
}  // namespace deplo::search::record_variations_test
