#include "engine/loop/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/text/nearest.h"
#include "core/text/text.h"
#include "ir/canonical/canonical.h"
#include "ir/emit/reserved.h"
#include "ir/walk.h"

namespace deplo::engine {
namespace {

constexpr double max_bytes = 64e9;  // bytes of all buffers; more than any supported device has, and far below 2^63

std::filesystem::path kernel_file(std::string_view kernel, std::string_view place) {
  std::filesystem::path path(kernel);
  if (path.extension() == ".loop") return find_data(path);
  const std::vector<std::string> names = list_data("configs/kernels", ".loop");
  if (std::find(names.begin(), names.end(), kernel) == names.end())
    throw Error(fmt::format("{}: expected a kernel ({}) or the path of a .loop file, found '{}'{}", place,
                            join(names, ", "), kernel, did_you_mean(kernel, names)));
  return data_folder() / "configs/kernels" / (std::string(kernel) + ".loop");
}

void check_symbols(const std::vector<std::string>& declared, const ir::Symbols& given, std::string_view kernel,
                   std::string_view place) {
  const auto fail = [&](std::string_view fault, std::string_view name, const std::string& help) {
    const std::string expected = declared.empty() ? "no symbols" : "the symbols " + join(declared, ", ");
    throw Error(
        fmt::format("{}: expected {} of kernel '{}', found {} '{}'{}", place, expected, kernel, fault, name, help));
  };
  for (const auto& [name, value] : given)
    if (std::ranges::find(declared, name) == declared.end()) fail("the symbol", name, did_you_mean(name, declared));
  for (const std::string& name : declared)
    if (!given.contains(name)) fail("no value for", name, "");
}

// Rejects well-formed programs that leave nothing to tune.
void check_outputs(const ir::Program& program, const std::string& file) {
  std::set<std::string, std::less<>> written;
  ir::for_each(program.body, [&](const ir::Stmt& stmt) {
    if (const auto* write = stmt.as<ir::Write>()) written.insert(write->buffer);
  });
  bool outputs = false;
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.role != ir::Role::output) continue;
    outputs = true;
    if (!written.contains(buffer.name))
      throw Error(
          fmt::format("{}: expected a kernel that writes all its outputs, found no write to '{}'", file, buffer.name));
  }
  if (!outputs) throw Error(file + ": expected at least one output, found none");
}

void check_names(const ir::Program& program, const std::string& file) {
  const auto check = [&](const std::string& name) {
    if (ir::is_reserved(name))
      throw Error(
          fmt::format("{}: expected a name that is not reserved in OpenCL C or CUDA C++, found '{}'", file, name));
  };
  ir::for_each_new_name(program, check, check);
}

}  // namespace

void check_size(const ir::Program& program, std::string_view place) {
  double bytes = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    double elements = 1;
    for (const std::int64_t extent : buffer.shape) elements *= static_cast<double>(extent);
    bytes += elements * static_cast<double>(ir::bytes(buffer.dtype));
  }
  if (bytes > max_bytes)
    throw Error(fmt::format("{}: expected buffers of at most {:g} GB in total, found {:g} GB", place, max_bytes / 1e9,
                            bytes / 1e9));
}

ir::Program parse_kernel(std::string_view text, const ir::Symbols& symbols, const std::string& place) {
  ir::Program program = ir::parse(text, symbols, place);
  if (program.level != ir::Level::loop)
    throw Error(fmt::format("{}: expected Loop IR, found {} IR", place, ir::name(program.level)));
  check_size(program, place);
  if (const std::string fault = ir::verify(program); !fault.empty())
    throw Error(fmt::format("{}: expected a well-formed program, found: {}", place, fault));
  check_outputs(program, place);
  check_names(program, place);
  return program;
}

ir::Program load_kernel(std::string_view kernel, const ir::Symbols& symbols, std::string_view place) {
  const std::filesystem::path file = kernel_file(kernel, place);
  const std::string text = read_text(file);
  check_symbols(ir::declared_symbols(text, file.string()), symbols, kernel, place);
  check_size(ir::parse(text, symbols, file.string()), place);  // an error here is due to the symbols, not to the text
  return parse_kernel(text, symbols, file.string());
}

std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> first;
  for (const ir::Program& kernel : kernels)
    first.push_back(known.try_emplace(print(ir::canonical(kernel).program), first.size()).first->second);
  return first;
}

std::string print(const ir::Symbols& symbols) {
  return join(symbols, " ", [](const auto& size) { return fmt::format("{}={}", size.first, size.second); });
}

}  // namespace deplo::engine
