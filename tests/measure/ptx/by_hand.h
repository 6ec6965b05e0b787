// Handwritten PTX kernels, run on the PTX machine.
#pragma once
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "measure/ptx/machine.h"
#include "measure/ptx/text/parser.h"

namespace deplo::measure::ptx {

/// Returns a kernel `k` with one parameter, the array `x`.
inline std::string by_hand(const std::string& body, const std::string& declarations = "",
                           const std::string& attributes = "") {
  return fmt::format(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_param_0) {}
{{
  .reg .pred %p<20>;
  .reg .b16 %h<20>;
  .reg .b32 %r<60>;
  .reg .f32 %f<200>;
  .reg .f64 %d<10>;
  .reg .b64 %rd<40>;
  {}
  ld.param.u64 %rd0, [k_param_0];
  mov.u32 %r0, %tid.x;
{}
  ret;
}}
)",
                     attributes, declarations, body);
}

/// Runs the entry `k` on the array `x` of words.
inline LaunchResult launch(const std::string& text, std::vector<std::uint32_t>& x, LaunchOptions options = {}) {
  const Program program = decode(parse(text), "k");
  GlobalMemory memory;
  const std::uint64_t address = memory.add(0, "x", std::as_writable_bytes(std::span(x)));
  std::vector<std::byte> parameters(program.parameter_bytes);
  if (!parameters.empty()) std::memcpy(parameters.data(), &address, sizeof address);
  return Machine(program, memory, parameters, {}, options, {0}).run();
}

/// Returns what the machine finds, or "" if it finds nothing.
inline std::string finding(const std::string& text, LaunchOptions options = {}, std::size_t words = 1024) {
  std::vector<std::uint32_t> x(words);
  try {
    launch(text, x, options);
  } catch (const Finding& found) {
    return found.what();
  }
  return "";
}

}  // namespace deplo::measure::ptx
