// A kernel in a file of its user, OpenCL C or CUDA C++, with parameters that the preprocessor sets. What may be chosen,
// and how it is launched, is in a second file: the field's T1 format (https://github.com/odgaard/TuningSchema) as JSON,
// or the same keys as YAML. docs/kernel_files.md has all keys.
#pragma once
#include <cstdint>
#include <filesystem>
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

/// An argument of the kernel, in its order.
struct Argument {
  std::string name, type;                 // the type as the space names it: "float", "int"
  std::optional<std::size_t> buffer;      // its number in signature().buffers; nullopt: a scalar, or local memory
  std::vector<std::uint8_t> bytes = {};   // of a scalar
  std::string text = {};                  // a scalar's value, for people
  std::optional<ir::DType> element = {};  // of a scalar, unless it is a struct
  std::optional<Expression> local = {};   // of local memory: its elements
  std::size_t element_bytes = 0;          // of local memory
  bool is_symbol = false;                 // an array whose contents a __constant__ variable has
  bool is_parameter = true;               // false: only such a variable
};

/// A list of names. Throws Error at `config`.
measure::Objectives read_objectives(const Config& config);

/// Most of its methods are those of an OpaqueKernel.
class KernelFile final : public OpaqueKernel {
 public:
  /// Reads both files. Throws Error `file:line: expected …, found …` or `file: …`, and of what is given at its place.
  /// Names that no argument has are ignored.
  explicit KernelFile(const Files&, const GivenArguments& = {});
  /// What can be given.
  std::vector<std::string> argument_names() const;

  const std::string& name() const override { return name_; }
  const measure::Objectives& objectives() const override { return objectives_; }
  Dialect language() const override { return language_; }
  const ParameterSpace& space() const override { return *space_; }
  const ir::Program& signature() const override { return signature_; }
  measure::InputFiles inputs() const override { return inputs_; }
  /// Its source, arguments and problem size, without the values of parameters.
  std::string identity() const override { return identity_; }
  /// `text`: as of parse_configuration().
  search::PositionPtr candidate(std::string_view text, std::string_view place) const override {
    return space_->candidate(parse_configuration(text, place), place);
  }
  std::string replaced_defaults(std::string_view text, std::string_view place) const override {
    return space_->replaced_defaults(parse_configuration(text, place), place);
  }
  std::vector<std::string> notes() const override { return space_->notes(); }
  /// The text of the space's file.
  std::string space_text() const override { return space_text_; }
  std::string reference() const override;
  measure::KernelCode code(const search::Position& candidate) const override {
    return code(space_->configuration(candidate));
  }
  /// What is built and launched for a value of each parameter. Throws Error if a size is no whole number above 0.
  measure::KernelCode code(const std::vector<Scalar>& configuration) const;
  /// What the outputs are compared with: files, or a kernel with fixed parameters.
  measure::Expectation expectation() const override;

 private:
  struct Reader;
  /// Is it an output, and not scratch memory?
  bool is_compared(const ir::Buffer&) const;
  /// The signature, as the reference computes it.
  ir::Program compared() const;

  std::string place_, name_, entry_, file_, source_, identity_, space_text_;
  Dialect language_ = Dialect::opencl;
  std::shared_ptr<const ParameterSpace> space_;
  LaunchSizes sizes_;
  std::vector<std::string> options_;  // for the compiler; ${NAME} stands for a parameter's value
  std::vector<Argument> arguments_;
  std::vector<std::size_t> zeroed_;      // buffers that are 0 before each launch
  std::vector<std::size_t> restored_;    // buffers that have their initial contents before each launch
  std::map<std::string, Scalar> fixed_;  // the reference's parameters; those that it lacks have their defaults
  measure::InputFiles inputs_, expected_;
  std::string expression_, program_;                   // the reference; of Loop IR its text
  std::set<std::string, std::less<>> scratch_;         // outputs that are not compared
  std::set<std::string, std::less<>> summed_;          // outputs of which the sum alone is compared
  std::shared_ptr<const measure::WorkFolder> folder_;  // of arrays from .npz files
  ir::Program signature_;
  measure::Objectives objectives_;
};

}  // namespace deplo::engine::foreign
