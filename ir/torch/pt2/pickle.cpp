#include "ir/torch/pt2/pickle.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/mapped.h"

namespace deplo::ir::torch::pt2 {
namespace {

// The values of the stack machine, and the names that it knows.
// clang-format off
enum class Kind : std::uint8_t {
  none, boolean, integer, text, list, dictionary, storage_class, storage, tensor,  // values
  make_tensor, make_parameter, make_dictionary                                     // functions that REDUCE may call
};
// clang-format on
// Composite values are indices into the machine's pools, because a pickle may contain cycles and any depth of nesting.
struct Value {
  Kind kind = Kind::none;
  std::int64_t number = 0;  // boolean and integer: the number; storage_class: the ScalarType; other kinds: the index
};

struct Global {
  std::string_view name;
  Kind kind;
  ScalarType type = ScalarType::unknown;
};
constexpr auto globals = std::to_array<Global>({
    {"torch._utils _rebuild_tensor_v2", Kind::make_tensor},
    {"torch._utils _rebuild_parameter", Kind::make_parameter},
    {"torch._utils _rebuild_parameter_with_state", Kind::make_parameter},
    {"collections OrderedDict", Kind::make_dictionary},
    {"torch ComplexFloatStorage", Kind::storage_class, ScalarType::complex64},
    {"torch ComplexDoubleStorage", Kind::storage_class, ScalarType::complex128},
    {"torch FloatStorage", Kind::storage_class, ScalarType::float32},
    {"torch HalfStorage", Kind::storage_class, ScalarType::float16},
    {"torch BFloat16Storage", Kind::storage_class, ScalarType::bfloat16},
    {"torch DoubleStorage", Kind::storage_class, ScalarType::float64},
    {"torch LongStorage", Kind::storage_class, ScalarType::int64},
    {"torch IntStorage", Kind::storage_class, ScalarType::int32},
    {"torch ShortStorage", Kind::storage_class, ScalarType::int16},
    {"torch CharStorage", Kind::storage_class, ScalarType::int8},
    {"torch ByteStorage", Kind::storage_class, ScalarType::uint8},
    {"torch BoolStorage", Kind::storage_class, ScalarType::boolean},
});

// The stack machine of the format (CPython's Lib/pickletools.py describes every opcode). It has one function for each
// group of opcodes. All of these work on one stack.
class Machine {
 public:
  Machine(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::map<std::string, StoredTensor> run() {
    while (step()) continue;
    const Value top = pop();
    std::map<std::string, StoredTensor> tensors;
    if (top.kind == Kind::tensor)
      tensors.emplace("", tensors_[index(top)]);
    else if (top.kind != Kind::dictionary)
      fail("a dictionary of tensors", "another value");
    else
      for (const auto& [key, value] : dictionaries_[index(top)])
        if (value.kind == Kind::tensor) tensors.insert_or_assign(std::string(text(key)), tensors_[index(value)]);
    return tensors;
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    throw Error(fmt::format("{}: byte {}: expected {}, found {}", where_, at_, expected, found));
  }
  static std::size_t index(Value v) { return static_cast<std::size_t>(v.number); }

  std::string_view take(std::size_t n) {
    if (bytes_.size() - at_ < n) fail("more bytes", "the end");
    return bytes_.substr(std::exchange(at_, at_ + n), n);
  }
  std::uint32_t unsigned_integer(std::size_t n) {  // little-endian
    std::uint32_t value = 0;
    std::memcpy(&value, take(n).data(), n);
    return value;
  }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail("the end of a line", "the end");
    const std::string_view text = take(end - at_);
    ++at_;
    return text;
  }

  void push(Value v) { stack_.push_back(v); }
  Value pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("a value", "an empty stack");
    const Value v = stack_.back();
    stack_.pop_back();
    return v;
  }
  Value pop(Kind kind, std::string_view expected) {
    const Value v = pop();
    if (v.kind != kind) fail(expected, "another value");
    return v;
  }
  std::vector<Value> pop_marked() {
    if (marks_.empty()) fail("a mark", "none");
    const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Value> values(from, stack_.end());
    stack_.erase(from, stack_.end());
    marks_.pop_back();
    return values;
  }
  std::vector<Value> pop_last(std::size_t n) {
    std::vector<Value> values(n);
    for (std::size_t i = n; i-- > 0;) values[i] = pop();
    return values;
  }

  void push_list(std::vector<Value> values) {
    push({Kind::list, static_cast<std::int64_t>(lists_.size())});
    lists_.push_back(std::move(values));
  }
  void push_dictionary() {
    push({Kind::dictionary, static_cast<std::int64_t>(dictionaries_.size())});
    dictionaries_.emplace_back();
  }
  void push_text(std::string_view text) {
    push({Kind::text, static_cast<std::int64_t>(texts_.size())});
    texts_.push_back(text);
  }
  void push_global() {
    const std::string_view module = line(), name = line();
    for (const Global& g : globals)
      if (g.name == fmt::format("{} {}", module, name)) return push({g.kind, static_cast<std::int64_t>(g.type)});
    const std::string found = fmt::format("'{}.{}'", module.substr(0, 64), name.substr(0, 64));
    if (name == "_rebuild_from_type_v2")
      fail("tensors of PyTorch's own class (call torchao.utils.unwrap_tensor_subclass(model) before the export)",
           found);
    fail("a tensor, a parameter or a dictionary", found);
  }
  void push_long() {
    const std::size_t n = unsigned_integer(1);
    if (n > 8) fail("an integer of at most 8 bytes", fmt::format("{}", n));
    const std::string_view raw = take(n);
    std::int64_t value = n > 0 && (raw.back() & 0x80) ? -1 : 0;
    std::memcpy(&value, raw.data(), n);
    push({Kind::integer, value});
  }

  std::string_view text(Value v) const {
    if (v.kind != Kind::text) fail("a string", "another value");
    return texts_[index(v)];
  }
  std::int64_t integer(Value v) const {
    if (v.kind != Kind::integer) fail("an integer", "another value");
    return v.number;
  }
  const std::vector<Value>& list(Value v, std::size_t min_size) const {
    if (v.kind != Kind::list || lists_[index(v)].size() < min_size)
      fail(fmt::format("a tuple of {} values", min_size), "another value");
    return lists_[index(v)];
  }
  std::vector<std::int64_t> integers(Value v) const {
    return mapped(list(v, 0), [&](Value e) { return integer(e); });
  }

  // Pushes a storage. Its description is ('storage', class, key, device, elements).
  void push_storage() {
    const std::vector<Value>& id = list(pop(), 5);
    if (text(id[0]) != "storage" || id[1].kind != Kind::storage_class) fail("a storage", "another persistent object");
    push({Kind::storage, static_cast<std::int64_t>(tensors_.size())});
    StoredTensor stored;
    stored.type = static_cast<ScalarType>(id[1].number);
    stored.storage = text(id[2]);
    tensors_.push_back(std::move(stored));
  }

  void reduce() {
    const Value arguments = pop(), callee = pop();
    if (callee.kind == Kind::make_dictionary) {
      list(arguments, 0);
      push_dictionary();
    } else if (callee.kind == Kind::make_parameter) {  // (tensor, requires_grad, hooks)
      push(list(arguments, 1)[0]);
    } else if (callee.kind == Kind::make_tensor) {  // (storage, offset, sizes, strides, …)
      const std::vector<Value>& a = list(arguments, 4);
      if (a[0].kind != Kind::storage) fail("a storage", "another value");
      StoredTensor tensor = tensors_[index(a[0])];
      tensor.offset = integer(a[1]);
      tensor.sizes = integers(a[2]);
      tensor.strides = integers(a[3]);
      push({Kind::tensor, static_cast<std::int64_t>(tensors_.size())});
      tensors_.push_back(std::move(tensor));
    } else {
      fail("a function", "another value");
    }
  }

  void set_items(const std::vector<Value>& items) {
    const Value dictionary = pop(Kind::dictionary, "a dictionary");
    if (items.size() % 2 != 0) fail("keys and values", "an odd number of them");
    for (std::size_t i = 0; i < items.size(); i += 2)
      dictionaries_[index(dictionary)].emplace_back(items[i], items[i + 1]);
    push(dictionary);
  }
  void memo_put(std::uint32_t key) {
    const Value v = pop();
    memo_[key] = v;
    push(v);
  }
  void memo_get(std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("a value of the memo", fmt::format("none with number {}", key));
    push(found->second);
  }

  // Executes one opcode. Returns false at the end of the pickle.
  bool step() {
    const char op = take(1)[0];
    // clang-format off
    switch (op) {
      case '.': return false;
      case '\x80': take(1); break;  // the protocol's version
      case '(': marks_.push_back(stack_.size()); break;
      case 'q': memo_put(unsigned_integer(1)); break;
      case 'r': memo_put(unsigned_integer(4)); break;
      case 'h': memo_get(unsigned_integer(1)); break;
      case 'j': memo_get(unsigned_integer(4)); break;
      case 'N': push({Kind::none, 0}); break;
      case '\x88': push({Kind::boolean, 1}); break;
      case '\x89': push({Kind::boolean, 0}); break;
      case 'K': push({Kind::integer, unsigned_integer(1)}); break;
      case 'M': push({Kind::integer, unsigned_integer(2)}); break;
      case 'J': push({Kind::integer, static_cast<std::int32_t>(unsigned_integer(4))}); break;
      case '\x8a': push_long(); break;
      case 'X': push_text(take(unsigned_integer(4))); break;
      case 'c': push_global(); break;
      case ')': push_list({}); break;
      case '\x85': push_list(pop_last(1)); break;
      case '\x86': push_list(pop_last(2)); break;
      case '\x87': push_list(pop_last(3)); break;
      case 't': push_list(pop_marked()); break;
      case '}': push_dictionary(); break;
      case 's': set_items(pop_last(2)); break;
      case 'u': set_items(pop_marked()); break;
      case 'Q': push_storage(); break;
      case 'R': reduce(); break;
      case 'b': pop(); break;  // the attributes of an object: a state dictionary's _metadata
      default: fail("an opcode that torch.save writes for tensors", fmt::format("0x{:02x}", op & 0xff));
    }
    // clang-format on
    return true;
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack at each mark
  std::unordered_map<std::uint32_t, Value> memo_;
  std::deque<std::string_view> texts_;
  std::deque<std::vector<Value>> lists_;
  std::deque<std::vector<std::pair<Value, Value>>> dictionaries_;
  std::deque<StoredTensor> tensors_;  // tensors and storages
};

}  // namespace

std::map<std::string, StoredTensor> read_pickle(std::string_view bytes, const std::string& where) {
  return Machine(bytes, where).run();
}

}  // namespace deplo::ir::torch::pt2
