// The values of parameters, buffers and constants in a `.pt2` archive, in the layouts of PyTorch 2.5 to 2.15.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "ir/torch/pt2/program/tensor.h"
#include "ir/torch/pt2/zip.h"
#include "ir/types/types.h"
#include "ir/types/value_source.h"

namespace deplo::ir::torch::pt2 {

class Weights {
 public:
  /// `prefix`: the common prefix of the archive's entries, "" or ending in '/'. `program`: the program's name, "model"
  /// unless package_pt2 gave it another. Throws Error on a damaged archive.
  Weights(const Zip& archive, const std::string& prefix, const std::string& program);
  /// Returns the values of a tensor of that type. `name`: the tensor's name in the module ("norm.weight"). Equal views
  /// of one storage share their values. If the archive has no values at all, they are random. Throws Error if the name
  /// is missing, or is stored with another type.
  ValueSource find(const std::string& name, const TensorType& type);

 private:
  struct Stored {
    StoredTensor tensor;
    std::shared_ptr<Zip> nested;  // the archive with the storage; nullptr for the outer archive
  };
  /// Adds an archive of torch.save. `name`: the name of a lone tensor.
  void add_pickles(const std::string& entry, const std::string& name);
  void add_raw(const std::string& folder, const std::string& config);
  std::shared_ptr<const Numbers> values(const Stored& stored, const std::string& where);

  const Zip& archive_;
  std::map<std::string, Stored> stored_;
  std::map<std::pair<const Zip*, StoredTensor>, std::shared_ptr<const Numbers>> read_;
  std::int64_t elements_left_;
};

}  // namespace deplo::ir::torch::pt2
