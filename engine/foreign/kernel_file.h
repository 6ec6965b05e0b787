// A kernel in a user's file, in OpenCL C or CUDA C++, with parameters that the preprocessor sets. A second file says
// which values may be chosen and how the kernel is launched: the field's T1 format
// (https://github.com/odgaard/TuningSchema) as JSON, or the same keys as YAML. docs/kernel_files.md lists all keys.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config.h"
#include "engine/foreign/files.h"
#include "engine/foreign/launch_sizes.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/foreign/parameter_space.h"
#include "ir/program.h"
#include "measure/check/expectation.h"
#include "measure/device.h"
#include "measure/store/quantity.h"
#include "measure/work_folder.h"

namespace deplo::engine::foreign {

/// An argument of the kernel, in the order of the space's file.
struct Argument {
  std::string name, type;                 // the type as the space names it: "float", "int"
  std::optional<std::size_t> buffer;      // index in signature().buffers; nullopt: a scalar, or local memory
  std::vector<std::uint8_t> bytes = {};   // only for a scalar
  std::string text = {};                  // a scalar's value as text, for people
  std::optional<ir::DType> element = {};  // element type of a scalar; nullopt: a struct
  std::optional<Expression> local = {};   // only for local memory: the number of its elements
  std::size_t element_bytes = 0;          // only for local memory
  bool is_symbol = false;                 // true: an array that is copied to a __constant__ variable
  bool is_parameter = true;               // false: only a __constant__ variable, not a parameter of the kernel
};

/// Reads a list of names of objectives. Throws Error at `config`.
measure::Objectives read_objectives(const Config& config);

/// Most methods implement OpaqueKernel.
class KernelFile final : public OpaqueKernel {
 public:
  /// Reads both files. Throws Error `file:line: expected …, found …` or `file: …`. Errors in given arguments are thrown
  /// at the arguments' own places. Given names that no argument has are ignored.
  explicit KernelFile(const Files&, const GivenArguments& = {});
  /// Returns the names of the arguments that can be given.
  std::vector<std::string> argument_names() const;

  const std::string& name() const override { return name_; }
  const measure::Objectives& objectives() const override { return objectives_; }
  Dialect language() const override { return language_; }
  const ParameterSpace& space() const override { return *space_; }
  const ir::Program& signature() const override { return signature_; }
  measure::InputFiles inputs() const override { return inputs_; }
  /// Returns the source, arguments and problem size, without the values of parameters.
  std::string identity() const override { return identity_; }
  /// `text` is in the format of parse_configuration().
  search::PositionPtr candidate(std::string_view text, std::string_view place) const override {
    return space_->candidate(parse_configuration(text, place), place);
  }
  std::string replaced_defaults(std::string_view text, std::string_view place) const override {
    return space_->replaced_defaults(parse_configuration(text, place), place);
  }
  std::vector<std::string> notes() const override { return space_->notes(); }
  /// Returns the text of the space's file.
  std::string space_text() const override { return space_text_; }
  std::string reference() const override;
  measure::KernelCode code(const search::Position& candidate) const override {
    return code(space_->configuration(candidate));
  }
  /// Returns what is built and launched for a configuration, which has a value for each parameter. Throws Error if a
  /// size is not a number above 0.
  measure::KernelCode code(const std::vector<Scalar>& configuration) const;
  /// Returns what the outputs are compared with: files, an expression, a program, or this kernel with fixed parameters.
  measure::Expectation expectation() const override;

 private:
  struct Reader;
  /// Returns true for an output that is compared, false for an input or scratch memory.
  bool is_compared(const ir::Buffer&) const;
  /// Returns the signature with the outputs that the reference computes.
  ir::Program compared() const;

  std::string place_, name_, entry_, file_, source_, identity_, space_text_;
  Dialect language_ = Dialect::opencl;
  std::shared_ptr<const ParameterSpace> space_;
  LaunchSizes sizes_;
  std::vector<std::string> options_;  // compiler options; ${NAME} stands for a parameter's value
  std::vector<Argument> arguments_;
  std::vector<std::size_t> zeroed_;      // buffers that are zeroed before each launch
  std::vector<std::size_t> restored_;    // buffers that get their initial contents before each launch
  std::map<std::string, Scalar> fixed_;  // the reference's parameters; a parameter that is not here has its default
  measure::InputFiles inputs_, expected_;
  std::string expression_, program_;            // the reference: an expression, or the text of a program in Loop IR
  std::set<std::string, std::less<>> scratch_;  // outputs that are not compared
  std::set<std::string, std::less<>> summed_;   // outputs that are compared by their sum only
  std::shared_ptr<const measure::WorkFolder> folder_;  // holds arrays extracted from .npz files
  ir::Program signature_;
  measure::Objectives objectives_;
};

}  // namespace deplo::engine::foreign
