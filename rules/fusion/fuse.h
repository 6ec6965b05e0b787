// Tensor IR → Loop IR: lift every node to a kernel of its own, then merge kernels while that pays.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "core/target.h"
#include "ir/module.h"
#include "ir/tensor/tensor.h"

namespace deplo::rules {

/// Scores, softmax and the product with the values as one kernel: always where that is right, where it pays
/// (fusion/guard.h), or never.
enum class Attention : std::uint8_t { automatic, fused, split };

/// The same, and of an attention in one kernel in how many parts its keys come (fusion/key_parts.h): 1 leaves it one, 0:
/// in as many as keep the target's units busy.
struct AttentionChoice {
  Attention kernels = Attention::automatic;
  std::int64_t key_parts = 0;
  // NOLINTNEXTLINE(google-explicit-constructor): mostly the first alone is chosen
  AttentionChoice(Attention as = Attention::automatic, std::int64_t parts = 0) : kernels(as), key_parts(parts) {}
};

struct FuseOptions {
  bool merge = true;    // false: one kernel per node of the Tensor IR (--passes dol)
  bool guard = true;    // false: merge whatever is legal, whatever it costs
  bool layouts = true;  // parameters and results between kernels are stored in the order that their readers want
  AttentionChoice attention = {};
  Target target = {};  // its matrix instructions multiply both products of an attention of 16 bits
};

/// A softmax with a product behind it, and why it is one kernel or stays several.
struct FoundAttention {
  std::string output;  // of the kernel that has the product
  ir::Shape scores;    // empty where no kernel computes them for it
  bool fused = false;
  bool may_be_other = false;  // by `attention`
  std::size_t kernels = 0;    // where it may: that are one, or would be
  std::string why;            // "": because `attention` says so
};

/// How the keys of an attention in one kernel are parted: the last part may begin among those of the part before, and
/// counts its own only. 1: not at all.
struct KeyParts {
  std::string kernel;
  std::int64_t parts = 1, keys = 0;  // keys of each
  std::string why;                   // "": because `key_parts` says so
};

/// Is told of each attention, and of each that is one kernel.
struct AttentionObserver {
  std::function<void(const FoundAttention&)> found = [](const FoundAttention&) {};
  std::function<void(const KeyParts&)> parted = [](const KeyParts&) {};
};

/// `graph` is what compose() gives: every output is computed.
ir::Module fuse(const ir::tensor::Graph&, const FuseOptions& = {}, const AttentionObserver& = {});

}  // namespace deplo::rules
