// A kernel whose meaning cannot be stated in Loop IR, so it brings its own decisions and its own expected outputs. It
// is a user's kernel file, or a tile program that runs block by block.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/outcome.h"
#include "core/target.h"
#include "ir/program.h"
#include "measure/check/expectation.h"
#include "measure/device.h"
#include "measure/store/quantity.h"
#include "search/space.h"

namespace deplo::engine {

class OpaqueKernel {
 public:
  virtual ~OpaqueKernel() = default;
  /// Returns the name for people.
  virtual const std::string& name() const = 0;
  /// Returns the identity under which a store keeps the kernel: everything that its outputs depend on, except the
  /// decisions.
  virtual std::string identity() const = 0;
  /// Returns a text that identifies the space of decisions.
  virtual std::string space_text() const = 0;
  /// Returns what a search minimises unless the user chooses otherwise. No objectives: the time.
  virtual const measure::Objectives& objectives() const {
    static const measure::Objectives time;
    return time;
  }
  /// Returns a program without statements that has the kernel's buffers, in their order.
  virtual const ir::Program& signature() const = 0;
  /// Returns the language of the kernel's source.
  virtual Dialect language() const = 0;
  /// Returns, by buffer, the files of inputs and of the initial contents of outputs. The files exist as long as this
  /// object.
  virtual measure::InputFiles inputs() const = 0;
  /// Returns a text that identifies the expected outputs.
  virtual std::string reference() const = 0;
  /// Returns the expected outputs. Throws Error if they cannot be computed.
  virtual measure::Expectation expectation() const = 0;
  virtual const search::Space& space() const = 0;
  /// Returns the candidate of space() with the decisions in `text`; the untuned kernel's decisions fill the rest.
  /// Throws Error, prefixed by `place`.
  virtual search::PositionPtr candidate(std::string_view text, std::string_view place) const = 0;
  /// Describes, for people, the untuned kernel's decisions that are not legal together with `text`, and what
  /// candidate() takes instead. Returns "" if there are none.
  virtual std::string replaced_defaults(std::string_view /*text*/, std::string_view /*place*/) const { return ""; }
  /// Returns warnings for people who are about to search space(): things in it that they may not expect.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Returns what is built and launched for a candidate of space(). Throws Error if the kernel cannot be launched with
  /// it.
  virtual measure::KernelCode code(const search::Position& candidate) const = 0;
  /// Like code(), but returns a failure if the kernel cannot be launched with the candidate.
  Result<measure::KernelCode> launchable(const search::Position& candidate) const {
    try {
      return code(candidate);
    } catch (const Error& error) {
      return Failure{Status::invalid, error.what()};
    }
  }
};

}  // namespace deplo::engine
