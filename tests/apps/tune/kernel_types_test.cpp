// Arrays and vectors of each type in kernels of users' own files, compared with NumPy's values.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr int elements = 16;

struct Case {
  // `element` names the values in tests/data/kernel_files/types.npz.
  std::string type, element;
  int lanes = 1;
  std::string fault = "1";  // added to element 2, or to the last element of a shorter array
};
const std::vector<Case> cases = {{"float", "float", 1, "1e-3f"},
                                 {"double", "double", 1, "1e-9"},
                                 {"half", "half", 1, "1e-2f"},
                                 {"char", "char"},
                                 {"uchar", "uchar"},
                                 {"short", "short"},
                                 {"ushort", "ushort"},
                                 {"int", "int"},
                                 {"uint", "uint"},
                                 {"long", "long"},
                                 {"ulong", "ulong"},
                                 {"uchar4", "uchar", 4},
                                 {"double2", "double", 2, "1e-9"},
                                 {"ushort16", "ushort", 16}};

class KernelTypes : public ::testing::Test {
 protected:
  /// Writes a kernel that doubles an array of each type. PLANTED is the index of the type with a fault; -1: no fault.
  KernelTypes() {
    std::string parameters, body, arguments, outputs;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const auto& [type, element, lanes, fault] = cases[k];
      const std::string data = DEPLO_SOURCE_DIR "/tests/data/kernel_files/types.npz";
      const int size = elements / lanes;
      const char* const comma = k == 0 ? "" : ", ";
      parameters += fmt::format("{}__global const {}* x{}, __global {}* y{}", comma, type, k, type, k);
      const bool half = type == "half";
      body += fmt::format("#if PLANTED == {}\n  f = i == {} ? {} : 0;\n#else\n  f = 0;\n#endif\n", k,
                          std::min(2, size - 1), fault);
      body += half ? fmt::format("  vstore_half(vload_half(i, x{0}) * 2 + (float)f, i, y{0});\n", k)
                   : fmt::format("  if (i < {1}) y{0}[i] = x{0}[i] + x{0}[i] + ({2})f;\n", k, size, element);
      arguments += fmt::format("    - {{Name: x{}, Type: {}, Size: {}, FillType: File, FillValue: \"{}:x_{}\"}}\n", k,
                               type, size, data, element);
      arguments += fmt::format("    - {{Name: y{}, Type: {}, Size: {}, AccessType: WriteOnly}}\n", k, type, size);
      outputs += fmt::format("{}y{}: \"{}:y_{}\"", comma, k, data, element);
    }
    write_file(
        folder_.path(), "k.cl",
        "__kernel void k(" + parameters + ") {\n  const int i = get_global_id(0);\n  double f;\n" + body + "}\n");
    space_ = write_file(folder_.path(), "k.yaml",
                        "ConfigurationSpace:\n  TuningParameters: [{Name: PLANTED, Values: \"[i - 1 for i in range(" +
                            std::to_string(cases.size() + 1) +
                            ")]\"}]\nKernelSpecification:\n  Language: OpenCL\n  KernelName: k\n  KernelFile: k.cl\n"
                            "  LocalSize: {X: 1}\n  ProblemSize: [16]\n  Arguments:\n" +
                            arguments + "Reference: {Outputs: {" + outputs + "}}\n");
  }
  /// Returns the message of the trial with this fault.
  std::string message(std::size_t planted) const {
    measure::sqlite::Database database(store_);
    measure::sqlite::Statement row(
        database,
        fmt::format("SELECT message FROM trial WHERE status = 'wrong_result' AND trail = 'PLANTED={}'", planted));
    return row.step() ? row.text(0) : "";
  }

  measure::TemporaryFolder folder_;
  std::string space_;
  const std::string store_ = folder_.file("s.db");
};

// Each fault would be below another type's tolerance: the fault of double is a millionth of that of float, and the
// fault of 1 in a 64-bit integer is a digit that a double cannot represent.
TEST_F(KernelTypes, AreRightAndFaultsAreFound) {
  const Ran ran = run_program({"deplo-tune", "--space", space_, "--store", store_, "--quiet", "--json", "--search",
                               "exhaustive", "--time", "100", "--tolerance", "1e-10", "--in-process"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json kernel = Json::parse(ran.out)["kernels"][0];
  EXPECT_EQ(kernel["trials"], cases.size() + 1);
  EXPECT_EQ(kernel["trail"], "PLANTED=-1");
  EXPECT_EQ(kernel["failures"]["wrong_result"], cases.size()) << kernel;
  for (std::size_t k = 0; k < cases.size(); ++k)
    EXPECT_THAT(message(k), StartsWith(fmt::format("y{}[", k))) << cases[k].type;
  const std::string ulong = message(10);
  const auto number = [&](const std::string& word) {
    return std::stoull(ulong.substr(ulong.find(word) + word.size()));
  };
  EXPECT_GT(number("expected "), std::uint64_t{1} << 60) << ulong;
  EXPECT_EQ(number("expected ") + 1, number("found ")) << ulong;
}

}  // namespace
}  // namespace deplo::testing
