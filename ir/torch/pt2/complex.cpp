#include "ir/torch/pt2/complex.h"

#include "ir/torch/operations/written.h"

namespace deplo::ir::torch::pt2 {
namespace {

/// Converts the arguments of a call to values of the expression language.
class LanguageArguments {
 public:
  LanguageArguments(Call& call, python::Session& session, const ToValue& to_value,
                    const std::function<bool(std::string_view)>& is_complex)
      : call_(call), session_(session), to_value_(to_value), is_complex_(is_complex) {}

  python::Value all() const {
    python::Dict* given = session_.make_dict();
    for (const NamedArgument& a : call_.all())
      if (const std::optional<python::Value> value = value_of(a))
        python::set_item(*given, {session_.text(a.name)}, *value);
    return {given};
  }

 private:
  /// Returns nullopt for None, and for arguments without a meaning here, such as devices.
  std::optional<python::Value> value_of(const NamedArgument& a) const {
    if (std::holds_alternative<None>(a.value) || std::holds_alternative<Other>(a.value)) return std::nullopt;
    if (const bool* b = std::get_if<bool>(&a.value)) return python::Value{*b};
    if (const auto* n = std::get_if<std::int64_t>(&a.value)) return python::Value{*n};
    if (const auto* x = std::get_if<double>(&a.value)) return python::Value{*x};
    if (const auto* z = std::get_if<std::complex<double>>(&a.value))
      return of_torch("complex", {{z->real()}, {z->imag()}});
    if (const auto* text = std::get_if<std::string>(&a.value)) return python::Value{session_.text(*text)};
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a.value)) return list_of(*list);
    if (const auto* list = std::get_if<std::vector<double>>(&a.value)) return list_of(*list);
    if (const auto* type = std::get_if<ScalarType>(&a.value)) return type_of(a.name, *type);
    if (const auto* t = std::get_if<Tensor>(&a.value)) return tensor(t->name);
    const auto* tensors = std::get_if<Tensors>(&a.value);
    if (tensors == nullptr) call_.fail(a.name, "a value that the file states");
    python::Values items;
    for (const std::string& name : tensors->names) items.push_back(name.empty() ? python::Value{} : tensor(name));
    return session_.list(std::move(items));
  }

  python::Value of_torch(std::string_view name) const { return session_.attribute({python::Namespace{"torch"}}, name); }
  python::Value of_torch(std::string_view function, python::Values arguments) const {
    return session_.invoke(of_torch(function), {std::move(arguments), {}});
  }

  python::Value tensor(const std::string& name) const {
    const python::Value value = to_value_(call_.named(name));
    return is_complex_(name) ? of_torch("view_as_complex", {value}) : value;
  }

  python::Value type_of(std::string_view argument, ScalarType type) const {
    if (pt2::is_complex(type)) return of_torch("complex64");
    const std::optional<DType> found = dtype(type);
    if (!found) call_.fail(argument, supported_types);
    return {*found};
  }

  template <class T>
  python::Value list_of(const std::vector<T>& numbers) const {
    python::Values items;
    for (const T number : numbers) items.push_back({number});
    return session_.list(std::move(items));
  }

  Call& call_;
  python::Session& session_;
  const ToValue& to_value_;
  const std::function<bool(std::string_view)>& is_complex_;
};

}  // namespace

std::vector<Id> read_complex(Call& call, std::string_view name,
                             const std::function<bool(std::string_view)>& is_complex) {
  return call_definition(call, "of_program", [&](python::Session& session, const ToValue& to_value) {
    const std::string_view function = name.substr(name.find('.') + 1);
    const python::Value given = LanguageArguments(call, session, to_value, is_complex).all();
    return python::Arguments{{{session.text(std::string(function))}, given}, {}};
  });
}

}  // namespace deplo::ir::torch::pt2
