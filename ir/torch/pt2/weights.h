// The values of parameters, buffers and constants in a `.pt2` archive, in the layouts of PyTorch 2.5 to 2.11.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/torch/pt2/tensor.h"
#include "ir/torch/pt2/zip.h"
#include "ir/types.h"
#include "ir/value_source.h"

namespace deplo::ir::torch::pt2 {

class Weights {
 public:
  /// `prefix`: of the archive's entries, "" or ending in '/'. Throws Error on a damaged archive.
  Weights(const Zip& archive, const std::string& prefix);
  /// Of a tensor of that type, named as in the module ("norm.weight"); equal views of one storage share their values.
  /// An archive without any values gives random ones. Throws Error where the name is missing or stored with another
  /// type.
  ValueSource find(const std::string& name, const TensorType& type);

 private:
  struct Stored {
    StoredTensor tensor;
    std::shared_ptr<Zip> nested;  // the archive with the storage; none: the outer one
  };
  void add_pickles(const std::string& entry,
                   const std::string& name);  // an archive of torch.save; name: of a lone tensor
  void add_raw(const std::string& folder, const std::string& config);
  std::shared_ptr<const Numbers> values(const Stored& stored, const std::string& where);

  const Zip& archive_;
  std::map<std::string, Stored> stored_;
  std::map<std::pair<const Zip*, StoredTensor>, std::shared_ptr<const Numbers>> read_;
  std::int64_t elements_left_;
};

}  // namespace deplo::ir::torch::pt2
