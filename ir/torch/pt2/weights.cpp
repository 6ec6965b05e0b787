#include "ir/torch/pt2/weights.h"

#include <fmt/format.h>

#include "core/error.h"
#include "ir/torch/pt2/pickle.h"
#include "ir/torch/pt2/program/program.h"

namespace deplo::ir::torch::pt2 {
namespace {

// Returns the largest number of elements that all values together may have. It depends on the archive's size, because
// views may repeat elements and names may share a storage.
std::int64_t max_elements_of(const Zip& archive) {
  return static_cast<std::int64_t>((std::uint64_t{16} << 20) + 16 * archive.size());
}

// Returns a complex tensor as a real tensor with a last dimension of the two parts, which are adjacent in memory.
StoredTensor in_parts(StoredTensor tensor) {
  if (!is_complex(tensor.type)) return tensor;
  tensor.type = tensor.type == ScalarType::complex64 ? ScalarType::float32 : ScalarType::float64;
  for (std::int64_t& stride : tensor.strides) stride *= 2;
  tensor.offset *= 2;
  tensor.sizes.push_back(2);
  tensor.strides.push_back(1);
  return tensor;
}

}  // namespace

Weights::Weights(const Zip& archive, const std::string& prefix, const std::string& program)
    : archive_(archive), elements_left_(max_elements_of(archive)) {
  const std::string constants = prefix + "data/constants/", weights = prefix + "data/weights/";
  // The state dictionary comes after the constants: it takes precedence for a name that both have.
  for (const std::string& entry : {prefix + "serialized_constants.pt", constants + program + ".pt",
                                   prefix + "serialized_state_dict.pt", weights + program + ".pt"})
    if (archive.has(entry)) add_pickles(entry, "");
  for (const auto& [folder, config] : {std::pair(constants, constants + program + "_constants_config.json"),
                                       std::pair(weights, weights + program + "_weights_config.json")})
    if (archive.has(config)) add_raw(folder, config);
}

void Weights::add_pickles(const std::string& entry, const std::string& name) {
  const std::string where = fmt::format("{}: {}", archive_.where(), entry);
  std::string bytes = archive_.read(entry);
  if (bytes.empty()) return;  // the program has no such part
  const auto nested = std::make_shared<Zip>(std::move(bytes), where);
  const std::string pickle = nested->find_suffix("data.pkl");
  if (pickle.empty()) throw Error(where + ": expected an entry 'data.pkl', found none");
  const std::string folder = pickle.substr(0, pickle.size() - std::string_view("data.pkl").size());
  if (nested->has(folder + "byteorder") && nested->read(folder + "byteorder") != "little")
    throw Error(where + ": expected little-endian tensors, found another byte order");
  for (auto& [key, tensor] : read_pickle(nested->read(pickle), fmt::format("{}: {}", where, pickle))) {
    tensor.storage.insert(0, folder + "data/");
    stored_.insert_or_assign(key.empty() ? name : key, Stored{tensor, nested});
  }
}

void Weights::add_raw(const std::string& folder, const std::string& config) {
  const std::string where = fmt::format("{}: {}", archive_.where(), config);
  for (auto& [name, payload] : parse_payloads(archive_.read(config), where)) {
    payload.tensor.storage.insert(0, folder);
    if (payload.pickled)
      add_pickles(payload.tensor.storage, name);
    else
      stored_.insert_or_assign(name, Stored{payload.tensor, nullptr});
  }
}

ValueSource Weights::find(const std::string& name, const TensorType& type) {
  if (stored_.empty()) return {{Fill::Draw::normal, 0, 0.02}, nullptr};  // the archive has only the program, for timing
  const std::string where = fmt::format("{}: values of '{}'", archive_.where(), name);
  const auto found = stored_.find(name);
  if (found == stored_.end()) throw Error(where + ": expected to find them, found none");
  const StoredTensor tensor = in_parts(found->second.tensor);
  if (tensor.sizes != type.shape || dtype(tensor.type) != type.dtype)
    throw Error(fmt::format("{}: expected {} as in the graph, found {} {}", where, print(type), print(tensor.sizes),
                            scalar_type_name(tensor.type)));
  return {{}, values({tensor, found->second.nested}, where)};
}

std::shared_ptr<const Numbers> Weights::values(const Stored& stored, const std::string& where) {
  const Zip& zip = stored.nested ? *stored.nested : archive_;
  auto& cached = read_[{&zip, stored.tensor}];
  if (!cached) {
    auto values = row_major(stored.tensor, zip.read(stored.tensor.storage), elements_left_, where);
    elements_left_ -= static_cast<std::int64_t>(values.size());
    cached = std::make_shared<const Numbers>(std::move(values));
  }
  return cached;
}

}  // namespace deplo::ir::torch::pt2
