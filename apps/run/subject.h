// What `deplo run` launches the kernels of: a graph, or a launch of a tile program.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/run/run.h"
#include "ir/module.h"
#include "ir/torch/evaluate.h"
#include "measure/baselines/tile_call.h"
#include "rules/raise/raise.h"

namespace deplo::apps {

/// Its kernels, the values of its inputs, and a reference that was not made of the kernels.
class Subject {
 public:
  struct Output {            // as the module's outputs
    std::string name, file;  // the file without a folder
    ir::TensorType type;
    std::size_t place = 0;  // among all outputs, those without elements too
  };
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  const ir::Module& module() const { return module_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  /// Outputs of a graph that have no elements, which no kernel writes.
  const std::vector<Output>& empty_outputs() const { return empty_outputs_; }
  /// Of an input or parameter, row-major.
  virtual ir::Numbers values(const ir::Tensor&) const = 0;
  /// Of each output in double, row-major.
  virtual std::vector<std::vector<double>> reference() const = 0;
  /// How far rounding may take each element of these from what a device computes.
  virtual std::vector<std::vector<double>> rounding(const std::vector<std::vector<double>>& reference) const = 0;
  /// What NVIDIA's compiler is given for all of it; nullopt: the source is no tile program.
  virtual std::optional<measure::TileCall> tile_call() const { return std::nullopt; }
  /// Bytes of the host that the reference takes.
  virtual double reference_bytes() const = 0;

 protected:
  ir::Module module_;
  std::vector<Output> outputs_, empty_outputs_;
};

/// How far each output of a graph goes where each value that it comes of is off by as much as rounding in f32 may take it,
/// twice.
std::vector<std::vector<double>> rounding_of(const ir::torch::Graph&, const std::vector<ir::torch::Values>& sources,
                                             const std::vector<std::vector<double>>& reference);

/// How far an array goes that a tile program writes. It is rounded to its type already: where that has 16 bits, a sum
/// in f32 may round to the number beside it. It also has what the program rounds on the way, such as the weights of an
/// attention, which a device rounds otherwise or not at all: `exact` is without that (Launch::exact16).
std::vector<double> rounding_of(const std::vector<double>& reference, const std::vector<double>& exact,
                                ir::DType stored);

/// Each throws Error where there is no such source, or its inputs are not as they should be.
std::unique_ptr<Subject> read_graph_subject(const engine::Source&, const RunOptions&);
/// NotRaised: a device may run the blocks instead.
std::variant<std::unique_ptr<Subject>, rules::NotRaised> read_tile_subject(const engine::TileSource&,
                                                                           const RunOptions&);

}  // namespace deplo::apps
