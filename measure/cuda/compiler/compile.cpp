#include "measure/cuda/compiler/compile.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <utility>

#include "core/hash.h"
#include "core/text/text.h"
#include "measure/cuda/compiler/elf.h"
#include "measure/cuda/compiler/headers.h"
#include "measure/cuda/compiler/ptxas.h"
#include "measure/opencl/opencl.h"
#include "rules/cost/resources.h"

namespace deplo::measure::cuda {
namespace {

const Nvrtc& nvrtc_of(const CompileOptions& options) { return options.nvrtc ? *options.nvrtc : Nvrtc::get(); }

// Returns NVRTC's options, then the user's.
std::vector<std::string> words_of(const Nvrtc& nvrtc, const std::string& architecture, const CompileOptions& options) {
  std::vector<std::string> words = nvrtc.options(architecture);
  std::istringstream more(options.more);
  for (std::string word; more >> word;) words.push_back(word);
  return words;
}

// Returns a digest of everything that the machine code depends on.
std::string key_of(const std::string& source, const std::vector<std::string>& options, const Nvrtc& nvrtc) {
  return digest(
      fmt::format("NVRTC {}\n{}\n{}{}", nvrtc.version(), join(options, " "), source, headers_of(source).text()));
}

// An entry of the cache consists of the size of the log, the log, and the code.
std::string pack(const std::string& log, const std::string& code) {
  return fmt::format("{}\n{}{}", log.size(), log, code);
}

std::optional<std::pair<std::string, std::string>> unpack(const std::string& entry) {
  std::size_t size = 0;
  const char* const end = entry.data() + entry.size();
  const auto [stop, error] = std::from_chars(entry.data(), end, size);
  if (error != std::errc() || stop == end || *stop != '\n' || size > static_cast<std::size_t>(end - stop - 1))
    return std::nullopt;
  return std::pair(std::string(stop + 1, size), std::string(stop + 1 + size, end));
}

/// True if the kernel is an instance of a template or in a namespace, so that its name in the machine code is mangled.
bool is_mangled(const std::string& entry) { return entry.find_first_of("<:") != std::string::npos; }

// the last line of the log in the cache begins with this
constexpr std::string_view entry_line = "\nentry of the template: ";

// Returns the mangled name if the log has one, else the name in the source.
std::string entry_of(const std::string& log, const ir::KernelSource& source) {
  const std::size_t at = log.rfind(entry_line);
  return at == std::string::npos ? source.entry : log.substr(at + entry_line.size());
}

// Returns nullopt if the code is not machine code.
std::optional<Cubin> describe(const std::string& log, std::string code, const ir::KernelSource& source) {
  const std::string entry = entry_of(log, source);
  const auto facts = inspect_cubin(code, entry);
  if (!facts) return std::nullopt;
  const PtxasLog said = parse_log(log, entry);
  Cubin cubin;
  cubin.entry = entry;
  cubin.code = std::move(code);
  cubin.warnings = said.warnings;
  // The driver uses the values in the code, so they take precedence over the log. Only the log has the spills, and from
  // sm_90 on the shared memory in the code includes the system's part.
  cubin.resources.registers = facts->registers >= 0 ? facts->registers : said.registers;
  cubin.resources.stack_bytes = facts->stack_bytes >= 0 ? facts->stack_bytes : said.stack_bytes;
  cubin.resources.spill_bytes = said.spill_bytes;
  cubin.resources.static_shared_bytes = said.static_shared_bytes;
  cubin.resources.dynamic_shared_bytes = source.dynamic_shared ? source.shared_bytes : 0;
  cubin.resources.code_bytes = facts->code_bytes;
  cubin.resources.binary_digest = facts->digest;
  cubin.resources.compiler_notes = said.notes;
  return cubin;
}

Failure failure_of(const Nvrtc::Output& output, double seconds) {
  if (output.timed_out) return {Status::build_timeout, fmt::format("NVRTC did not finish within {:g} s", seconds)};
  const std::string text = first_errors(output.log);
  // ptxas says: "Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)".
  const bool too_much = text.find("uses too much") != std::string::npos;
  return {too_much ? Status::resource : Status::build_error, text.empty() ? "NVRTC gave no code and no log" : text};
}

std::optional<Failure> unsupported(const Nvrtc& nvrtc, std::string_view architecture) {
  if (nvrtc.supports(architecture)) return std::nullopt;
  return Failure{Status::build_error, fmt::format("expected an architecture that NVRTC {} knows ({}), found '{}'",
                                                  nvrtc.version(), join(nvrtc.architectures(), ", "), architecture)};
}

// Returns the variant of the architecture if this NVRTC knows it. Before sm_90 there are no variants.
std::string variant_of(const Nvrtc& nvrtc, std::string_view architecture, const ir::KernelSource& source) {
  const std::string variant = architecture_of(source, architecture);
  return nvrtc.supports(variant) ? variant : std::string(architecture);
}

}  // namespace

std::string architecture_of(const ir::KernelSource& source, std::string_view architecture) {
  return std::string(architecture) + (source.architecture_specific ? "a" : "");
}

std::string first_errors(const std::string& log) {
  // The log lists warnings before the first error. Its last line counts the errors, and names the file that NVRTC got,
  // not the file of the user.
  const auto begin_of_line = [&](std::size_t at) { return at == std::string::npos ? at : log.rfind('\n', at) + 1; };
  const std::size_t error = begin_of_line(log.find(" error"));
  const std::size_t from = error == std::string::npos ? 0 : error;
  const std::size_t count = begin_of_line(log.find(" detected in the compilation of ", from));
  std::string text = first_lines(log.substr(from, count == std::string::npos ? count : count - from));
  if (const auto advice = advice_on_header(log)) text += "; " + *advice;
  return text;
}

Result<Cubin> compile_cubin(const ir::KernelSource& source, std::string_view target, const CompileOptions& options) {
  const Nvrtc& nvrtc = nvrtc_of(options);
  const std::string architecture = variant_of(nvrtc, target, source);
  if (auto failure = unsupported(nvrtc, architecture)) return *failure;
  const std::vector<std::string> words = words_of(nvrtc, architecture, options);
  const std::string name = is_mangled(source.entry) ? source.entry : "";
  const std::string key = key_of(source.text + name, words, nvrtc);
  // The key lacks the text of the user's headers.
  DiskCache* const cache = may_include_own(source.text, options.more) ? nullptr : options.cache;
  if (cache != nullptr)
    if (const auto entry = cache->get(key))
      if (const auto parts = unpack(*entry))
        if (auto cubin = describe(parts->first, parts->second, source)) {
          cubin->cached = true;
          return *std::move(cubin);
        }
  Nvrtc::Output output = nvrtc.compile(source.text, words, options.seconds, name);
  if (output.cubin.empty()) return failure_of(output, options.seconds);
  if (!output.lowered.empty()) output.log += std::string(entry_line) + output.lowered;
  auto cubin = describe(output.log, output.cubin, source);
  if (!cubin) return Failure{Status::build_error, "expected a cubin from NVRTC, found no ELF file of CUDA"};
  if (cache != nullptr) cache->put(key, pack(output.log, output.cubin));
  return *std::move(cubin);
}

Result<std::string> compile_ptx(const ir::KernelSource& source, std::string_view target,
                                const CompileOptions& options) {
  auto ptx = compile_ptx_entry(source, target, options);
  if (!ptx.ok()) return ptx.failure();
  return std::move(ptx.value().text);
}

Result<Ptx> compile_ptx_entry(const ir::KernelSource& source, std::string_view target, const CompileOptions& options) {
  const Nvrtc& nvrtc = nvrtc_of(options);
  const std::string architecture = variant_of(nvrtc, target, source);
  if (auto failure = unsupported(nvrtc, architecture)) return *failure;
  // For a virtual architecture NVRTC produces PTX but no machine code.
  std::vector<std::string> words = words_of(nvrtc, "compute_" + architecture.substr(3), options);
  if (options.lines) words.emplace_back("--generate-line-info");
  const std::string name = is_mangled(source.entry) ? source.entry : "";
  Nvrtc::Output output = nvrtc.compile(source.text, words, options.seconds, name);
  if (output.ptx.empty()) return failure_of(output, options.seconds);
  return Ptx{std::move(output.ptx), output.lowered.empty() ? source.entry : output.lowered};
}

Result<Resources> with_occupancy(Resources resources, const ir::KernelSource& source, const Target& target) {
  const std::int64_t shared = resources.static_shared_bytes + resources.dynamic_shared_bytes;
  const rules::Occupancy found = rules::occupancy(source.threads, resources.registers, shared, target);
  if (found.blocks == 0 || source.threads > target.max_threads || shared > target.shared_bytes)
    return Failure{Status::resource,
                   fmt::format("a block of {} threads of {} registers and {} bytes of shared memory does not fit {}",
                               source.threads, resources.registers, shared, target.name)};
  resources.occupancy = found.fraction;
  resources.limiter = found.limiter;
  return resources;
}

}  // namespace deplo::measure::cuda
