// The subject of `deplo run`: a graph, or a launch of a tile program.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/run/run.h"
#include "engine/compile/tuned.h"
#include "engine/source/tile_program/tile_launch.h"
#include "ir/module.h"
#include "ir/torch/evaluate.h"
#include "measure/baselines/tile_call.h"

namespace deplo::apps {

/// The kernels of a source, the values of its inputs, and a reference that does not depend on the kernels.
class Subject {
 public:
  struct Output {            // outputs() returns them in the order of the module's outputs
    std::string name, file;  // file: its name without the folder and the suffix
    ir::TensorType type;
    std::size_t place = 0;  // index among all outputs, including those without elements
  };
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  /// Makes the kernels of a graph by the decisions of fusion in the store. Must be called before module().
  virtual engine::GraphSchedule lower(engine::TunedCache&) { return {}; }
  /// Returns a warning about the source; "" if there is none.
  const std::string& note() const { return note_; }
  const ir::Module& module() const { return module_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  /// The outputs of a graph that have no elements, so that no kernel writes them.
  const std::vector<Output>& empty_outputs() const { return empty_outputs_; }
  /// Returns the values of an input or parameter, row-major.
  virtual ir::Numbers values(const ir::Tensor&) const = 0;
  /// Returns the values of each output in double, row-major.
  virtual std::vector<std::vector<double>> reference() const = 0;
  /// Returns the largest difference from the reference that rounding explains, for each element.
  virtual std::vector<std::vector<double>> rounding(const std::vector<std::vector<double>>& reference) const = 0;
  /// Returns the launch for NVIDIA's compiler; nullopt: the source is not a tile program.
  virtual std::optional<measure::TileCall> tile_call() const { return std::nullopt; }
  /// Returns the bytes of host memory that the reference takes.
  virtual double reference_bytes() const = 0;

 protected:
  std::string note_;
  ir::Module module_;
  std::vector<Output> outputs_, empty_outputs_;
};

/// Estimates how much rounding in f32 can change each element of a graph's outputs: twice the largest change if all
/// values are disturbed at random by 16 units of rounding.
std::vector<std::vector<double>> rounding_of(const ir::torch::Graph&, const std::vector<ir::torch::Values>& sources,
                                             const std::vector<std::vector<double>>& reference);

/// Throws Error if there is no such source, or if its inputs are wrong.
std::unique_ptr<Subject> read_graph_subject(const RunOptions&);
/// `module`: the kernels of the launch.
std::unique_ptr<Subject> tile_subject(engine::TileLaunch, ir::Module, const RunOptions&);

}  // namespace deplo::apps
