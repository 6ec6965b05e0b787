// A kernel whose meaning no Loop IR states, so that it brings its own decisions and its own expected outputs: a user's
// kernel file, or a tile program that runs block by block.
#pragma once
#include <string>
#include <string_view>
#include <vector>

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
  /// For people.
  virtual const std::string& name() const = 0;
  /// What a store knows the kernel by: all that its outputs depend on, without what is decided.
  virtual std::string identity() const = 0;
  /// Identifies the decisions.
  virtual std::string space_text() const = 0;
  /// What a search minimises unless the user says otherwise; none: the time.
  virtual const measure::Objectives& objectives() const {
    static const measure::Objectives time;
    return time;
  }
  /// A program without statements that has the kernel's buffers, in their order.
  virtual const ir::Program& signature() const = 0;
  /// The language of its source.
  virtual Dialect language() const = 0;
  /// Files of inputs, and of the initial contents of outputs, by buffer. They exist as long as this object.
  virtual measure::InputFiles inputs() const = 0;
  /// Identifies what the outputs are compared with.
  virtual std::string reference() const = 0;
  /// What the outputs are compared with. Throws Error if it cannot be computed.
  virtual measure::Expectation expectation() const = 0;
  virtual const search::Space& space() const = 0;
  /// The candidate of space() that takes the decisions in the text, and otherwise those of the untuned kernel. Throws
  /// Error, prefixed by `place`.
  virtual search::PositionPtr candidate(std::string_view text, std::string_view place) const = 0;
  /// For people: decisions of the untuned kernel that are not legal, with what candidate() takes instead; "": none.
  virtual std::string replaced_defaults(std::string_view /*text*/, std::string_view /*place*/) const { return ""; }
  /// For people who are about to search space(): what in it may not be as they think.
  virtual std::vector<std::string> notes() const { return {}; }
  /// What is built and launched for a candidate of space(). Throws Error if it cannot be launched this way.
  virtual measure::KernelCode code(const search::Position& candidate) const = 0;
};

}  // namespace deplo::engine
