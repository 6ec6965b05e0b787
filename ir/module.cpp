#include "ir/module.h"

#include <algorithm>

namespace deplo::ir {

const Tensor* Module::find(std::string_view tensor) const {
  const auto found = std::ranges::find(tensors, tensor, &Tensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

std::string title(const Program& kernel, std::size_t number) {
  std::string inputs, outputs;
  for (const Buffer& buffer : kernel.buffers) {
    std::string& list = buffer.role == Role::input ? inputs : outputs;
    (list += list.empty() ? "" : ", ") += buffer.name;
  }
  return std::to_string(number) + ": " + inputs + (inputs.empty() ? "-> " : " -> ") + outputs;
}

std::string print(const Module& module) {
  std::string text;
  for (std::size_t i = 0; i < module.kernels.size(); ++i)
    text += "# " + title(module.kernels[i], i) + "\n" + print(module.kernels[i]);
  return text;
}

}  // namespace deplo::ir
