#include "engine/foreign/kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/config.h"
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/mapped.h"
#include "core/text/characters.h"
#include "core/text/nearest.h"
#include "core/text/split.h"
#include "core/text/text.h"
#include "engine/foreign/argument_bytes.h"
#include "engine/foreign/argument_fit.h"
#include "engine/foreign/array_files.h"
#include "engine/foreign/declaration.h"
#include "engine/loop/kernel.h"
#include "ir/text/words.h"
#include "measure/check/expected_values.h"
#include "measure/check/npy.h"
#include "measure/cuda/compiler/headers.h"
#include "measure/named_source.h"

namespace deplo::engine::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_array = std::int64_t{1} << 32;
constexpr std::size_t max_values = 4096;  // values of one parameter
constexpr const char* axes[] = {"X", "Y", "Z"};

/// Returns the value as a C or C++ literal: 2.0 stays a floating-point number.
std::string spelled(const Scalar& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string number = fmt::format("{}", std::get<double>(value));
  return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
}

/// Reads an element of a YAML list, or the value of a member: a number or a text. If `is_text` is set, numbers are read
/// as text too.
Scalar scalar_of(const Config& config, bool is_text) {
  if (config.is_list() || config.is_map()) config.expected("a number or a text");
  const std::string text = config.is_text() ? config.text() : "";
  if (is_text) return text;
  if (text.empty()) config.expected("a number, or Type: string");
  const Expression expression = Expression::parse(text, config.place());
  if (!expression.names().empty()) config.expected("a number, or Type: string");
  return expression.scalar({});
}

/// Reads a constraint or a size.
Expression expression_of(const Config& config) { return Expression::parse(config.text(), config.place()); }

/// Evaluates an expression that must not contain names.
Operand constant(const Expression& expression, const Config& at) {
  if (!expression.names().empty()) at.expected("values without names");
  return expression.evaluate({});
}

/// Returns the elements of a list, or a single value as a list.
List elements_of(Operand value) {
  if (auto* list = std::get_if<List>(&value)) return std::move(*list);
  return {std::get<Scalar>(std::move(value))};
}

/// Reads a list, or a text that contains a list in Python's syntax.
List values_of(const Config& config, bool is_text) {
  List values;
  if (config.is_list()) {
    for (const Config& item : config.items()) values.push_back(scalar_of(item, is_text));
    return values;
  }
  return elements_of(constant(Expression::parse(config.text(), config.place()), config));
}

Parameter read_parameter(const Config& config) {
  Parameter parameter;
  parameter.name = config.at("Name").text();
  if (!is_identifier(parameter.name)) config.at("Name").expected("a name of letters, digits and _");
  const bool is_text = config.text_or("Type", "int") == "string";
  for (Scalar& value : values_of(config.at("Values"), is_text)) {
    const auto same = [&](const Scalar& other) { return value_of(other) == value_of(value); };
    if (std::ranges::none_of(parameter.values, same)) parameter.values.push_back(std::move(value));
  }
  if (parameter.values.empty() || parameter.values.size() > max_values)
    throw Error(fmt::format("{}: expected 1 to {} values, found {}", config.at("Values").place(), max_values,
                            parameter.values.empty() ? "none" : fmt::format("{}", parameter.values.size())));
  parameter.meaning = config.text_or("Meaning", "");
  const auto fallback = config.find("Default");
  const bool is_given = fallback && (is_text || fallback->is_list() || fallback->is_text());  // null is none
  if (!is_given) return parameter;
  const List given = fallback->is_list() ? values_of(*fallback, is_text) : List{scalar_of(*fallback, is_text)};
  const auto found = std::ranges::find_if(parameter.values, [&](const Scalar& value) {
    return !given.empty() && value_of(value) == value_of(given.front());
  });
  if (found != parameter.values.end()) {
    parameter.fallback = static_cast<std::size_t>(found - parameter.values.begin());
  } else if (parameter.values.size() > 1) {  // published T1 files have such defaults of constants
    constexpr std::size_t max_shown = 20;
    const std::size_t shown = std::min(parameter.values.size(), max_shown);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < shown; ++i) words.push_back(spelled(parameter.values[i]));
    fallback->expected(fmt::format("one of the Values of {} ({}{})", parameter.name, join(words, ", "),
                                   shown < parameter.values.size() ? ", …" : ""));
  }
  return parameter;
}

std::vector<std::int64_t> read_problem(const std::optional<Config>& config) {
  std::vector<std::int64_t> sizes;
  if (!config) return sizes;
  const auto add = [&](const Scalar& value, const Config& at) {
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer == nullptr || *integer < 1) at.expected("a whole number above 0");
    sizes.push_back(*integer);
  };
  if (config->is_text())
    for (const Scalar& value : values_of(*config, false)) add(value, *config);
  else
    for (const Config& item : config->items()) add(scalar_of(item, false), item);
  if (sizes.empty() || sizes.size() > 3) config->expected("one to three sizes");
  return sizes;
}

/// Returns the kernel's name without namespaces and template arguments.
std::string plain_entry(const std::string& entry) {
  const std::string plain = entry.substr(0, entry.find('<'));
  return plain.substr(plain.rfind(':') + 1);
}

/// Returns the name of a template's instance: parameters among the template arguments are replaced by their values.
std::string with_values(const std::string& entry, const ParameterSpace& space,
                        const std::vector<Scalar>& configuration) {
  const std::size_t arguments = entry.find('<');
  if (arguments == std::string::npos) return entry;
  std::string text = entry.substr(0, arguments);
  for (std::size_t at = arguments; at < entry.size();) {
    std::size_t end = at;
    while (end < entry.size() && is_word_char(entry[end])) ++end;
    const std::string word = entry.substr(at, std::max<std::size_t>(end - at, 1));
    const auto found = std::ranges::find(space.parameters(), word, &Parameter::name);
    text += found == space.parameters().end()
                ? word
                : spelled(configuration[static_cast<std::size_t>(found - space.parameters().begin())]);
    at += word.size();
  }
  return text;
}

/// Returns the compiler options, with parameters replaced by their values.
std::string options_of(const std::vector<std::string>& options, Dialect language, const ParameterSpace& space,
                       const std::vector<Scalar>& configuration) {
  std::string all;
  for (std::string option : options) {
    for (std::size_t i = 0; i < configuration.size(); ++i) {
      const std::string name = "${" + space.parameters()[i].name + "}";
      for (std::size_t at = option.find(name); at != std::string::npos; at = option.find(name))
        option.replace(at, name.size(), spelled(configuration[i]));
    }
    // T1 files also list options of the host's compiler here; OpenCL has no option -std=.
    if (language == Dialect::opencl && option.starts_with("-std=")) continue;
    if (!option.empty()) all += (all.empty() ? "" : " ") + option;
  }
  return all;
}

/// Returns the compiler option for headers that the source names in quotes: they begin at its folder. The text of a
/// candidate does not have the option, because the folder's name says nothing about the kernel. A folder with a blank
/// in its name cannot be an option, because blanks separate options.
std::string own_folder(const std::string& source, const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  const bool is_option = !folder.empty() && folder.find_first_of(" \t") == std::string::npos;
  return is_option && measure::cuda::may_include_own(source, "") ? fmt::format("-I {} ", folder) : "";
}

/// Kernel Tuner also passes arrays in constant memory as kernel arguments, although kernels seldom use such parameters.
/// Here these arrays are arguments, too, unless the kernel declares too few parameters.
void pass_constants(std::vector<Argument>& arguments, const std::vector<DeclaredParameter>& declared) {
  const auto symbols = std::ranges::count(arguments, false, &Argument::is_parameter);
  const bool are_few = std::ssize(declared) < std::ssize(arguments) - symbols;
  for (Argument& argument : arguments)
    if (argument.is_symbol && are_few) argument.is_parameter = false;
}

PassedArgument passed_as(const Argument& argument, const ir::Program& signature) {
  if (argument.local) return {PassedArgument::Kind::local, {}, 0};
  const bool is_opaque = argument.type == "struct" || argument.type == "custom";
  if (argument.buffer) {
    const ir::DType element = signature.buffers[*argument.buffer].dtype;
    return {PassedArgument::Kind::array, is_opaque ? std::nullopt : std::optional(element), 0};
  }
  return {PassedArgument::Kind::value, argument.element, argument.bytes.size()};
}

/// Returns true if a define, from the space or from an option, may give a word of the type another meaning.
bool is_defined(const std::string& type, const ParameterSpace& space, const std::vector<std::string>& options) {
  const auto is_parameter = [&](const Parameter& p) { return has_word(type, p.name); };
  const auto has_define = [&](const std::string& option) {
    const std::size_t at = option.find("-D");
    return at != std::string::npos && has_word(option.substr(at + 2), type);
  };
  return std::ranges::any_of(space.parameters(), is_parameter) || std::ranges::any_of(options, has_define);
}

/// Returns true for an array in constant memory: Kernel Tuner's `MemType: Constant`, or `MemoryType: Constant`.
bool is_constant(const Config& argument) {
  return argument.text_or("MemoryType", "Vector") == "Constant" || argument.text_or("MemType", "") == "Constant";
}

std::string text_of(const std::vector<Scalar>& values) { return join(values, ",", spelled); }

/// Returns the element type of an array. KTT's type `custom` is a struct; each element has TypeSize bytes.
ArgumentType element_type(const Config& argument, Dialect language) {
  if (argument.at("Type").text() != "custom") return read_type(argument.at("Type"), language);
  constexpr std::int64_t max_bytes = 4096;  // size of one struct
  const std::int64_t bytes = argument.at("TypeSize").integer(1, max_bytes);
  return {ir::DType::u8, bytes, bytes};
}

double number(const Scalar& value, const Config& at) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  at.expected("a number");
}

std::optional<ir::Fill> fill_of(const Config& argument, const std::string& fill, double value, ir::DType type) {
  if (fill == "File" || fill == "BinaryRaw" || fill == "Generator") return std::nullopt;
  if (fill == "Constant") return ir::Fill{ir::Fill::Draw::constant, value, 0};
  if (fill != "Random") argument.at("FillType").expected("Random, Constant, Generator, File or BinaryRaw");
  if (type == ir::DType::boolean) return ir::Fill{ir::Fill::Draw::integers, 0, 2};
  if (ir::is_integer(type)) return ir::Fill{ir::Fill::Draw::integers, 0, std::max(std::floor(value), 1.0) + 1};
  return ir::Fill{ir::Fill::Draw::uniform, std::min(value, 0.0), value == 0 ? 1 : std::max(value, 0.0)};
}

// The keys that deplo reads, and T1's keys that say nothing about a kernel.
const std::vector<std::string_view> top_keys{
    "General", "ConfigurationSpace", "KernelSpecification", "Reference", "Objectives", "Search", "Budget", "$schema"};
const std::vector<std::string_view> specification_keys{
    "Language",     "KernelName",      "KernelTypeNames",    "KernelFile",   "CompilerOptions", "LocalSize",
    "GlobalSize",   "GlobalSizeType",  "GridDivX",           "GridDivY",     "GridDivZ",        "ProblemSize",
    "SharedMemory", "Arguments",       "ReferenceArguments", "Modifiers",    "Profiling",       "Stream",
    "Device",       "SimulationInput", "BenchmarkName",      "BenchmarkPath"};
const std::vector<std::string_view> argument_keys{"Name",       "Type",       "TypeSize", "Size",      "MemoryType",
                                                  "MemType",    "AccessType", "Output",   "FillType",  "FillValue",
                                                  "DataSource", "Value",      "Members",  "RandomSeed"};

}  // namespace

measure::Objectives read_objectives(const Config& config) {
  const std::vector<std::string> names = mapped(config.items(), &Config::text);
  return measure::objectives_of(names, config.place());
}

/// Fills a KernelFile from the space's text. There is one function for each part of the file; the parts refer to each
/// other's names.
struct KernelFile::Reader {
  KernelFile& to;
  const GivenArguments& user_arguments;
  const Config config;
  ArrayFiles files;
  bool is_t1 = false;               // true: the space is a T1 file (JSON)
  std::vector<std::string> places;  // places of the arguments in the file, for messages

  Reader(KernelFile& kernel, const Files& of, const GivenArguments& arguments)
      : to(kernel), user_arguments(arguments), config(load(of.space)), files(fs::path(of.space).parent_path()) {
    to.place_ = of.space;
    is_t1 = of.space.ends_with(".json");
    check_keys(config, top_keys);
    to.space_text_ = read_file(of.space);
    const Config specification = config.at("KernelSpecification");
    check_keys(specification, specification_keys);
    if (const Config entry = specification.at("KernelName"); entry.is_list())
      entry.expected("one kernel, because each kernel has its own space (docs/kernel_files.md, \"Limits\")");
    to.entry_ = specification.at("KernelName").text();
    if (const auto types = specification.find("KernelTypeNames")) {  // KTT's template arguments
      const std::vector<std::string> names = mapped(types->items(), &Config::text);
      if (!names.empty()) to.entry_ += fmt::format("<{}>", join(names, ", "));
    }
    to.name_ = to.entry_;
    if (const auto general = config.find("General")) to.name_ = general->text_or("BenchmarkName", to.name_);
    to.file_ = of.kernel.empty() ? files.path(specification.at("KernelFile").text()) : of.kernel;
    to.source_ = read_text(to.file_);
    read_language(specification);
    read_instance(specification);
    to.sizes_.problem = read_problem(specification.find("ProblemSize"));
    read_space();
    read_launch(specification);
    for (const Config& argument : specification.at("Arguments").items()) read_argument(argument);
    if (const auto declared = declared_parameters(to.source_, plain_entry(to.entry_))) {
      for (const DeclaredParameter& parameter : *declared)
        if (is_handle(parameter))
          throw Error(
              fmt::format("{}: expected a kernel with arrays and values as parameters, found a parameter of the "
                          "type {}: kernel files have no images, textures, samplers and tensor maps",
                          specification.at("Arguments").place(), parameter.type));
      pass_constants(to.arguments_, *declared);
      check_types(*declared);
    }
    if (to.arguments_.empty()) specification.at("Arguments").expected("at least one argument");
    if (std::ranges::none_of(to.signature_.buffers, [&](const ir::Buffer& b) { return to.is_compared(b); }))
      throw Error(
          fmt::format("{}: expected an output to compare, which is an argument with AccessType WriteOnly or ReadWrite "
                      "and without Output: 0, found none; if an array differs between configurations, such as the "
                      "partial sums of blocks, Output: sum compares only its sum",
                      specification.at("Arguments").place()));
    if (const auto reference = config.find("Reference"))
      read_reference(*reference);
    else if (const auto expected = specification.find("ReferenceArguments"))
      read_reference_arguments(*expected);
    if (const auto objectives = config.find("Objectives")) to.objectives_ = read_objectives(*objectives);
    check_names();
    check_defines();
    to.folder_ = files.made();
  }

  static Config load(const std::string& file) {
    if (file.ends_with(".py"))
      throw Error(
          fmt::format("{}: expected a space in the T1 format (JSON) or in YAML, found a Python script: write its "
                      "parameters, restrictions and arguments as keys of a space (docs/kernel_files.md)",
                      file));
    if (file.ends_with(".cl") || file.ends_with(".cu"))
      throw Error(
          fmt::format("{}: expected a space in the T1 format (JSON) or in YAML, found a kernel: its parameters, sizes "
                      "and arguments are in a space, which names the kernel's file (docs/kernel_files.md)",
                      file));
    return Config::load(file);
  }

  /// Rejects unknown keys. A T1 file may contain keys of other tools, so there only misspelt keys are rejected.
  void check_keys(const Config& map, const std::vector<std::string_view>& known) const {
    if (!is_t1) {
      map.only(known);
      return;
    }
    for (const auto& [key, value] : map.entries()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      if (const std::string hint = did_you_mean(key, {known.begin(), known.end()}); !hint.empty())
        throw Error(fmt::format("{}: expected a key of T1, found '{}'{}", value.place(), key, hint));
    }
  }

  void read_language(const Config& specification) const {
    const auto language = specification.find("Language");
    const bool cuda = language ? language->text() == "CUDA" : to.file_.ends_with(".cu");
    if (language && !cuda && language->text() != "OpenCL") language->expected("OpenCL or CUDA");
    to.language_ = cuda ? Dialect::cuda : Dialect::opencl;
  }

  /// Adds the template arguments to the kernel's name if the name lacks them and the source has only one instance.
  void read_instance(const Config& specification) const {
    const std::string plain = plain_entry(to.entry_);
    if (to.language_ != Dialect::cuda || to.entry_.find('<') != std::string::npos || !is_template(to.source_, plain))
      return;
    const std::vector<std::string> instances = template_instances(to.source_, plain);
    if (instances.size() != 1)
      specification.at("KernelName")
          .expected(fmt::format("an instance of the template '{0}', such as {0}{1}", to.entry_,
                                instances.empty() ? "<float>" : instances.front()));
    to.entry_ += instances.front();
  }

  void read_space() const {
    const Config space = config.at("ConfigurationSpace");
    for (const char* const name : {"Constraints", "Restrictions"})
      if (space.has(name)) throw Error(fmt::format("{}: expected Conditions, found {}", space.place(), name));
    check_keys(space, {"TuningParameters", "Conditions"});
    std::vector<Parameter> parameters;
    for (const Config& item : space.at("TuningParameters").items()) {
      check_keys(item, {"Name", "Type", "Values", "Default", "Meaning"});
      Parameter parameter = read_parameter(item);
      if (std::ranges::find(parameters, parameter.name, &Parameter::name) != parameters.end())
        item.at("Name").expected("each parameter once");
      parameters.push_back(std::move(parameter));
    }
    if (parameters.empty()) space.at("TuningParameters").expected("at least one parameter");
    std::vector<Expression> constraints;
    if (const auto conditions = space.find("Conditions"))
      for (const Config& condition : conditions->items())
        constraints.push_back(expression_of(condition.is_text() ? condition : condition.at("Expression")));
    to.space_ = std::make_shared<const ParameterSpace>(std::move(parameters), constraints, to.place_);
    to.sizes_.place = to.place_;
    to.sizes_.space = to.space_;
  }

  void read_launch(const Config& specification) const {
    if (specification.has("Modifiers"))
      specification.at("Modifiers").expected("LocalSize and GlobalSize as expressions of parameters, not Modifiers");
    if (const auto local = specification.find("LocalSize"))
      to.sizes_.block = read_extents(*local, [&](const Config& size) { return block_size(size); });
    if (to.sizes_.block.empty()) throw Error(fmt::format("{}: expected LocalSize, found none", specification.place()));
    if (const auto global = specification.find("GlobalSize"))
      to.sizes_.global = read_extents(*global, [&](const Config& size) { return launch_size(size); });
    // The default follows the language, as in KTT.
    const std::string type = specification.text_or("GlobalSizeType", to.language_ == Dialect::cuda ? "CUDA" : "OpenCL");
    if (type != "CUDA" && type != "OpenCL") specification.at("GlobalSizeType").expected("CUDA or OpenCL");
    to.sizes_.in_blocks = type == "CUDA";
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (const auto divisors = specification.find(fmt::format("GridDiv{}", axes[axis])))
        for (const Config& divisor : elements(*divisors)) to.sizes_.divisors[axis].push_back(launch_size(divisor));
    if (to.sizes_.global.empty() && to.sizes_.problem.empty())
      throw Error(fmt::format("{}: expected GlobalSize or ProblemSize, found neither", specification.place()));
    if (const auto shared = specification.find("SharedMemory"); shared && shared->text() != "0") {
      if (to.language_ != Dialect::cuda)
        shared->expected("no SharedMemory in OpenCL: use an argument with MemoryType: Local instead");
      to.sizes_.shared = launch_size(*shared);
    }
    if (const auto options = specification.find("CompilerOptions"))
      for (const Config& option : elements(*options))
        if (option.is_text()) read_option(option);
  }

  /// Returns the elements of a list. A single value counts as a list of one, and null in a T1 file as an empty list.
  std::vector<Config> elements(const Config& given) const {
    if (given.is_text()) return {given};
    const bool is_null = !given.is_list() && !given.is_map();
    return is_t1 && is_null ? std::vector<Config>{} : given.items();
  }

  /// Reads the sizes of a launch: a map of X, Y and Z, or these sizes as a list. An axis that the map omits has the
  /// size 1.
  template <class Read>
  std::vector<Expression> read_extents(const Config& given, const Read& read) const {
    std::vector<Expression> sizes;
    if (!given.is_map()) {
      for (const Config& size : elements(given)) sizes.push_back(read(size));
      if (sizes.size() > std::size(axes)) given.expected("one to three sizes");
      return sizes;
    }
    given.only({axes, axes + std::size(axes)});
    for (std::size_t axis = 0; axis < std::size(axes); ++axis)
      if (const auto size = given.find(axes[axis])) {
        sizes.resize(axis, Expression::parse("1", given.place()));
        sizes.push_back(read(*size));
      }
    return sizes;
  }

  /// Reads a size that may depend on the configuration.
  Expression launch_size(const Config& text) const {
    Expression expression = expression_of(text);
    for (const std::string& name : expression.names())
      if (name != "ProblemSize") parameter(name, text.place());
    return expression;
  }

  /// Reads a number of threads. If it is the same in all configurations, it must be legal. It may name a parameter that
  /// the space lacks (LaunchSizes::operands()).
  Expression block_size(const Config& text) const {
    Expression expression = expression_of(text);
    if (std::ranges::all_of(expression.names(), [](const std::string& name) { return name == "ProblemSize"; }))
      to.sizes_.size(expression, {}, "a block size");
    return expression;
  }

  void read_option(const Config& option) const {
    const std::string text = option.text();
    for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 1)) {
      const std::size_t end = text.find('}', at);
      if (end == std::string::npos) option.expected("a parameter between ${ and }");
      parameter(text.substr(at + 2, end - at - 2), option.place());
    }
    const auto names_architecture = [](std::string_view word) {
      constexpr std::string_view starts[] = {"-arch", "--gpu-architecture", "-gencode", "--generate-code"};
      return std::ranges::any_of(starts, [&](std::string_view start) { return word.starts_with(start); });
    };
    if (to.language_ == Dialect::cuda && std::ranges::any_of(split_at(text, ' '), names_architecture))
      option.expected("no option for the architecture, which is that of the device, or --target of `deplo check`");
    to.options_.push_back(text);
  }

  /// Evaluates an expression at reading time. It may contain the problem size and parameters. A parameter stands for
  /// the list of all its values, such as in max(BLOCK_X).
  Operand fixed(const Expression& expression, const std::string& place) const {
    std::vector<Operand> values;
    for (const std::string& name : expression.names()) {
      if (name == "ProblemSize")
        values.emplace_back(List(to.sizes_.problem.begin(), to.sizes_.problem.end()));
      else if (const List& all = parameter(name, place).values; all.size() == 1)
        values.emplace_back(all.front());
      else
        values.emplace_back(all);
    }
    return expression.evaluate(values);
  }

  /// Evaluates an expression that must give a single value.
  Scalar fixed(const Config& text) const {
    Operand value = fixed(expression_of(text), text.place());
    if (!std::holds_alternative<Scalar>(value)) text.expected("one value");
    return std::get<Scalar>(std::move(value));
  }

  /// Evaluates a list of expressions, or one expression that gives a list or a single value.
  std::vector<Scalar> fixed_values(const Config& given) const {
    if (!given.is_list()) return elements_of(fixed(expression_of(given), given.place()));
    return mapped(given.items(), [&](const Config& item) { return fixed(item); });
  }

  /// Returns the size of an array. If the size depends on the configuration, returns the largest over all legal
  /// configurations.
  Scalar size_of(const Config& text) const {
    const Expression expression = launch_size(text);
    try {
      Operand value = fixed(expression, text.place());
      if (auto* scalar = std::get_if<Scalar>(&value)) return *scalar;
    } catch (const Error&) {  // arithmetic on a parameter's list of values; any other error is thrown again below
    }
    return to.sizes_.largest(expression);
  }

  /// Returns the parameter of this name. Throws Error if there is none.
  const Parameter& parameter(const std::string& name, const std::string& place) const {
    const auto found = std::ranges::find(to.space_->parameters(), name, &Parameter::name);
    if (found != to.space_->parameters().end()) return *found;
    std::vector<std::string> names{"ProblemSize"};
    for (const Parameter& parameter : to.space_->parameters()) names.push_back(parameter.name);
    throw Error(
        fmt::format("{}: expected ProblemSize or a parameter, found '{}'{}", place, name, did_you_mean(name, names)));
  }

  void read_argument(const Config& argument) {
    check_keys(argument, argument_keys);
    places.push_back(argument.place());
    const std::string name = argument.text_or("Name", fmt::format("arg{}", to.arguments_.size()));
    if (std::ranges::find(to.arguments_, name, &Argument::name) != to.arguments_.end())
      throw Error(fmt::format("{}: expected each argument once, found '{}'", argument.place(), name));
    Argument& made = to.arguments_.emplace_back(Argument{name, argument.at("Type").text(), {}});
    const std::string memory = memory_of(argument);
    if (made.type == "custom" && memory != "Vector" && memory != "Symbol")
      argument.at("Type").expected("struct with Members for a value of a user-defined type");
    if (made.type == "struct") {
      read_struct(argument, made);
    } else if (memory == "Scalar") {
      const Config type = argument.at("Type");
      const Given* const said = given_of(name);
      const Config value = argument.has("FillValue") ? argument.at("FillValue") : argument.at("Value");
      const std::vector<Scalar> values = said != nullptr ? given_values(*said, type) : fixed_values(value);
      made.bytes = encode(values, type, to.language_, said != nullptr ? said->place : type.place());
      made.text = text_of(values);
      made.element = read_type(type, to.language_).element;
    } else if (memory == "Local") {
      if (to.language_ != Dialect::opencl)
        argument.at("MemoryType").expected("Vector or Scalar, because Local exists only in OpenCL");
      made.local = launch_size(argument.at("Size"));
      made.element_bytes = static_cast<std::size_t>(read_type(argument.at("Type"), to.language_).bytes());
      made.text = fmt::format("local, {} elements", made.local->text());
    } else if (memory == "Vector" || memory == "Symbol") {
      if (!ir::is_name(name))
        throw Error(
            fmt::format("{}: expected a name of letters, digits and _ that is no word of Loop IR, found '{}'; "
                        "the array may have another name in the kernel",
                        argument.place(), name));
      made.buffer = to.signature_.buffers.size();
      made.is_symbol = memory == "Symbol";
      made.is_parameter = !made.is_symbol || is_constant(argument);
      if (made.is_symbol && to.language_ != Dialect::cuda)
        argument.at("MemoryType").expected("Vector, Scalar or Local, because Symbol exists only in CUDA");
      read_buffer(argument, name);
    } else {
      argument.at("MemoryType").expected("Vector, Scalar, Local, Symbol or Constant");
    }
  }

  /// Returns the kind of memory. An array in constant memory is a normal parameter in OpenCL, and a __constant__
  /// variable in CUDA.
  std::string memory_of(const Config& argument) const {
    const std::string memory = argument.text_or("MemoryType", "Vector");
    if (!is_constant(argument)) return memory;
    if (memory != "Constant" && memory != "Vector")
      argument.at("MemType").expected("Constant with MemoryType: Vector only");
    return to.language_ == Dialect::cuda ? "Symbol" : "Vector";
  }

  /// Rejects arguments that certainly do not fit the parameters in the kernel's source. The number of parameters is
  /// checked when the kernel is built.
  void check_types(const std::vector<DeclaredParameter>& declared) const {
    const auto passed = std::ranges::count(to.arguments_, true, &Argument::is_parameter);
    if (std::ssize(declared) != passed) return;
    auto parameter = declared.begin();
    for (std::size_t i = 0; i < to.arguments_.size(); ++i) {
      const Argument& argument = to.arguments_[i];
      if (!argument.is_parameter) continue;
      DeclaredParameter now = *parameter++;
      now.is_known = now.is_known && !is_defined(now.type, *to.space_, to.options_);
      if (const std::string wanted = misfit(passed_as(argument, to.signature_), now); !wanted.empty())
        throw Error(fmt::format("{}: expected {} as argument '{}' of the kernel '{}', found {} {}", places[i], wanted,
                                argument.name, to.entry_,
                                argument.buffer  ? "an array of"
                                : argument.local ? "local memory of"
                                                 : "a value of the type",
                                argument.type));
    }
  }

  /// Reads the values of all members. The types of the members come from the space. In the text for people, members are
  /// separated by blanks.
  void read_struct(const Config& argument, Argument& made) const {
    std::vector<StructMember> members;
    const Given* const said = given_of(made.name);
    const std::vector<Scalar> all = said != nullptr ? given_values(*said, argument.at("Type")) : std::vector<Scalar>{};
    std::size_t taken = 0;
    for (const Config& member : argument.at("Members").items()) {
      check_keys(member, {"Name", "Type", "FillValue"});
      const Config type = member.at("Type");
      const ArgumentType read = read_type(type, to.language_);
      std::vector<Scalar> values = fixed_values(member.at("FillValue"));
      if (said != nullptr) {
        const std::size_t first = taken;
        taken += static_cast<std::size_t>(read.given);
        if (taken <= all.size())
          values.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                        all.begin() + static_cast<std::ptrdiff_t>(taken));
      }
      members.push_back({encode(values, type, to.language_, said != nullptr ? said->place : type.place()),
                         static_cast<std::size_t>(read.alignment())});
      made.text += (made.text.empty() ? "" : " ") + text_of(values);
    }
    if (members.empty()) argument.at("Members").expected("at least one member");
    if (said != nullptr && taken != all.size())
      throw Error(fmt::format("{}: {}: expected the {} values of the struct's members, found {}", said->place,
                              made.name, taken, all.size()));
    made.bytes = encode_struct(members);
    made.text = "{" + made.text + "}";
  }

  /// Returns what the user gave for the argument, or nullptr if the space's own value holds.
  const Given* given_of(const std::string& name) const {
    const auto found = user_arguments.find(name);
    return found == user_arguments.end() ? nullptr : &found->second;
  }

  /// Returns the values that the user gave for a scalar.
  std::vector<Scalar> given_values(const Given& said, const Config& type) const {
    if (!said.values.empty()) return elements_of(fixed(Expression::parse(said.values, said.place), said.place));
    if (said.file.empty() || type.text() == "struct")
      throw Error(fmt::format("{}: expected a value of the type {}, such as 2 or [1, 2], found {}", said.place,
                              type.text(), said.file.empty() ? ir::print(*said.fill) : said.file));
    const ir::TensorType found{read_type(type, to.language_).element, measure::read_npy_header(said.file).shape};
    const ir::Numbers numbers = measure::read_npy(said.file, found);
    std::vector<Scalar> values;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (ir::is_float(found.dtype))
        values.emplace_back(numbers[i]);
      else
        values.emplace_back(numbers.visit([&](const auto& all) { return static_cast<std::int64_t>(all[i]); }));
    return values;
  }

  void read_buffer(const Config& argument, const std::string& name) {
    const auto [type, lanes, given] = element_type(argument, to.language_);
    const Scalar size = size_of(argument.at("Size"));
    const auto* count = std::get_if<std::int64_t>(&size);
    if (count == nullptr || *count < 1 || *count > max_array / lanes)
      argument.at("Size").expected(fmt::format("a whole number of elements from 1 to {}", max_array));
    const std::string access = argument.text_or("AccessType", "ReadOnly");
    if (access != "ReadOnly" && access != "WriteOnly" && access != "ReadWrite")
      argument.at("AccessType").expected("ReadOnly, WriteOnly or ReadWrite");
    const std::string compared = argument.text_or("Output", "");
    if (!compared.empty() && compared != "0" && compared != "1" && compared != "sum")
      argument.at("Output").expected("0, 1 or sum");
    const bool is_written = access == "WriteOnly" || access == "ReadWrite";
    const bool output = is_written || compared == "1" || compared == "sum";
    if (is_written && compared == "0") to.scratch_.insert(name);
    if (compared == "sum") to.summed_.insert(name);
    ir::Buffer buffer{name, type, output ? ir::Role::output : ir::Role::input, {*count * lanes}, {1}};
    std::string fill = argument.text_or("FillType", "Random");
    if (const auto list = argument.find("FillValue"); list && list->is_list())
      list->expected("one value; FillType: File or Generator gives each element a value of its own");
    const bool is_generated = fill == "File" || fill == "BinaryRaw" || fill == "Generator";
    const bool has_value = argument.has("FillValue") && argument.at("FillValue").is_text();
    const double value =
        has_value && !is_generated ? number(fixed(argument.at("FillValue")), argument.at("FillValue")) : 1;
    // People who write only a 0 want zeros, such as the counts of a histogram at the start.
    if (value == 0 && !argument.has("FillType")) fill = "Constant";
    // KTT's kernels add to arrays that are WriteOnly and have a FillValue, so such arrays are filled. For kernels that
    // overwrite the array this is harmless: the time of filling is not measured.
    const bool is_filled = !output || access == "ReadWrite" || (access == "WriteOnly" && has_value);
    if (const Given* const said = given_of(name); said != nullptr) {
      take_given(*said, buffer);
    } else if (output && access == "ReadWrite" && fill == "Constant" && value == 0) {
      to.zeroed_.push_back(to.signature_.buffers.size());
    } else if (is_filled) {
      buffer.fill = fill_of(argument, fill, value, type);
      if (const std::string fault = buffer.fill ? ir::fault(*buffer.fill, type) : ""; !fault.empty())
        throw Error(fmt::format("{}: FillValue: {}", argument.place(), fault));
      if (fill == "File") {
        to.inputs_[name] = files.flat(files.array(argument.at("FillValue").text(), name), *count * lanes);
        check_elements(to.inputs_[name], argument.at("FillValue"), buffer);
      }
      if (fill == "BinaryRaw") to.inputs_[name] = files.raw(argument.at("DataSource"), type, *count * lanes);
      if (fill == "Generator") to.inputs_[name] = generated_file(argument, type, *count * lanes);
      if (output) to.restored_.push_back(to.signature_.buffers.size());
    }
    if (compared == "sum" && ir::is_integer(type) && !is_filled)
      argument.at("Output").expected("a FillValue, such as 0, for integers that the kernel does not write");
    to.signature_.buffers.push_back(std::move(buffer));
  }

  /// Applies the contents that the user gave for an array. If the kernel writes the array, it gets these contents
  /// before each launch.
  void take_given(const Given& said, ir::Buffer& buffer) {
    if (!said.values.empty())
      throw Error(fmt::format("{}: expected contents of the array {}, such as constant({}), found {}", said.place,
                              buffer.name, said.values, said.values));
    if (!said.file.empty()) {
      to.inputs_[buffer.name] = files.flat(said.file, buffer.shape[0]);
      try {
        measure::read_npy(to.inputs_[buffer.name], {buffer.dtype, buffer.shape});  // reports errors in the file now
      } catch (const Error& error) {
        throw Error(fmt::format("{}: {}: {}", said.place, buffer.name, error.what()));
      }
    } else {
      if (const std::string fault = ir::fault(*said.fill, buffer.dtype, buffer.shape[0]); !fault.empty())
        throw Error(fmt::format("{}: {} ({}): {}", said.place, buffer.name, ir::name(buffer.dtype), fault));
      buffer.fill = said.fill;
    }
    if (buffer.role == ir::Role::output) to.restored_.push_back(to.signature_.buffers.size());
  }

  /// Checks that the file has as many elements as the buffer. `given` is the key that names the file.
  void check_elements(const std::string& file, const Config& given, const ir::Buffer& buffer) const {
    const std::int64_t found = ir::element_count(measure::read_npy_header(file).shape);
    const std::int64_t expected = ir::element_count(buffer);
    if (found == expected) return;
    const bool is_sum = to.summed_.contains(buffer.name);
    if (is_sum && found == 1) return;
    throw Error(fmt::format("{}: {}: expected {} elements of '{}'{}, found {}", given.place(), given.text(), expected,
                            buffer.name, is_sum ? ", or their sum as one element" : "", found));
  }

  /// Writes a .npy file with the values of KTT's expression of the index `i`, and returns its path.
  std::string generated_file(const Config& argument, ir::DType type, std::int64_t elements) {
    constexpr std::int64_t max_elements = std::int64_t{1} << 24;  // takes a few seconds
    if (elements > max_elements)
      argument.at("FillType")
          .expected(fmt::format("at most {} elements with Generator, or FillType: File", max_elements));
    const Config source = argument.at("DataSource");
    const Expression expression = expression_of(source);
    std::vector<Operand> values;
    std::vector<std::size_t> indices;  // indices in `values` of the operands that are `i`
    for (const std::string& name : expression.names()) {
      if (name == "i") indices.push_back(values.size());
      if (name != "i" && name != "ProblemSize") source.expected("an expression of i and ProblemSize");
      values.emplace_back(name == "i" ? List{} : List(to.sizes_.problem.begin(), to.sizes_.problem.end()));
    }
    ir::Numbers numbers(type, static_cast<std::size_t>(elements));
    for (std::int64_t i = 0; i < elements; ++i) {
      for (const std::size_t index : indices) values[index] = Scalar(i);
      numbers.set(static_cast<std::size_t>(i), number(expression.scalar(values), source));
    }
    return files.values(numbers, type, source.place());
  }

  /// Returns the path of the expected values of an output. KTT's users make this file with a kernel that they trust, so
  /// the file may be missing.
  std::string expected_file(const Config& argument, const ir::Buffer& buffer) {
    const std::string file = files.path(argument.at("DataSource").text());
    if (!fs::exists(file))
      throw Error(
          fmt::format("{}: expected the file {} with the values of '{}', found none; to compare with something "
                      "else, add a key Reference next to KernelSpecification, such as {{Parameters: {{}}}}",
                      argument.at("DataSource").place(), file, buffer.name));
    return files.raw(argument.at("DataSource"), buffer.dtype, buffer.shape[0]);
  }

  /// Throws the Error for a name that is not the name of an output.
  [[noreturn]] void no_output(const std::string& name, const std::string& place) const {
    std::vector<std::string> outputs;
    for (const ir::Buffer& buffer : to.signature_.buffers)
      if (to.is_compared(buffer)) outputs.push_back(buffer.name);
    throw Error(fmt::format("{}: expected the name of an output ({}), found '{}'{}", place, join(outputs, ", "), name,
                            did_you_mean(name, outputs)));
  }

  /// Reads T1's reference: arrays from files or from expressions.
  void read_reference_arguments(const Config& arguments) {
    for (const Config& argument : arguments.items()) {
      const std::string name = argument.at("TargetName").text();
      const ir::Buffer* const buffer = to.signature_.find(name);
      if (buffer == nullptr || !to.is_compared(*buffer)) no_output(name, argument.at("TargetName").place());
      const std::string fill = argument.at("FillType").text();
      const std::int64_t elements = buffer->shape[0];
      if (fill == "File") {
        to.expected_[name] = files.array(argument.at("FillValue").text(), name);
        check_elements(to.expected_[name], argument.at("FillValue"), *buffer);
      } else if (fill == "BinaryRaw")
        to.expected_[name] = expected_file(argument, *buffer);
      else if (fill == "Generator")
        to.expected_[name] = generated_file(argument, buffer->dtype, elements);
      else
        argument.at("FillType").expected("File, BinaryRaw or Generator");
    }
  }

  void read_reference(const Config& reference) {
    reference.only({"Parameters", "Outputs", "Expression", "Program"});
    if (const auto program = reference.find("Program")) {
      if (reference.has("Parameters") || reference.has("Outputs") || reference.has("Expression"))
        reference.expected("Program, or Expression, or Parameters and Outputs");
      const std::string file = files.path(program->text());
      to.program_ = print(parse_kernel(read_text(file), {}, file));
      (void)measure::program_for(to.program_, to.compared(), program->place());  // throws unless it fits
    }
    if (const auto expression = reference.find("Expression")) {
      if (reference.has("Parameters") || reference.has("Outputs"))
        reference.expected("Expression, or Parameters and Outputs");
      to.expression_ = expression->text();
      measure::check_expression(to.expression_, to.compared(), to.inputs_, expression->place());
    }
    if (const auto parameters = reference.find("Parameters"))
      for (const auto& [name, value] : parameters->entries()) {
        const Parameter& fixed = parameter(name, value.place());
        to.fixed_[name] = scalar_of(value, std::holds_alternative<std::string>(fixed.values.front()));
      }
    if (const auto outputs = reference.find("Outputs"))
      for (const auto& [name, file] : outputs->entries()) {
        const ir::Buffer* const buffer = to.signature_.find(name);
        if (buffer == nullptr || buffer->role != ir::Role::output) no_output(name, file.place());
        to.expected_[name] = files.array(file.text(), name);
        check_elements(to.expected_[name], file, *buffer);
      }
  }

  /// Rejects a parameter that nothing depends on as a mistake, unless the parameter has only one value.
  void check_names() const {
    for (const Parameter& parameter : to.space_->parameters()) {
      const std::string& name = parameter.name;
      const bool option = std::ranges::any_of(
          to.options_, [&](const std::string& text) { return text.find("${" + name + "}") != std::string::npos; });
      if (parameter.values.size() == 1 || option || to.sizes_.use(name) || has_word(to.source_, name) ||
          has_word(to.entry_, name))
        continue;
      throw Error(fmt::format(
          "{}: expected each parameter to be used in {}, in a size or in an option, found '{}' in none of them",
          to.place_, to.file_, name));
    }
  }

  /// Rejects a source that always gives a parameter a value of its own, because then all values of the parameter make
  /// the same kernel.
  void check_defines() const {
    for (const Parameter& parameter : to.space_->parameters())
      if (const std::size_t line = line_of_define(to.source_, parameter.name); line > 0)
        throw Error(
            fmt::format("{0}:{1}: expected no #define of {2}, whose values the space has, except between "
                        "#ifndef {2} and #endif, found #define {2}",
                        to.file_, line, parameter.name));
  }
};

std::vector<std::string> KernelFile::argument_names() const {
  std::vector<std::string> names;
  for (const Argument& argument : arguments_)
    if (!argument.local) names.push_back(argument.name);
  return names;
}

KernelFile::KernelFile(const Files& files, const GivenArguments& given) {
  Reader(*this, files, given);
  const std::string plain = plain_entry(entry_);
  signature_.name = ir::is_name(plain) ? plain : plain + "_";  // programs cannot have names such as "reduce"
  if (entry_.find('<') != std::string::npos && language_ != Dialect::cuda)
    throw Error(fmt::format("{}: expected a kernel's name without '<': only CUDA C++ has templates", place_));
  if (!has_word(source_, plain))
    throw Error(fmt::format("{}: expected a kernel '{}', found no such name{}", file_, entry_,
                            did_you_mean(plain, names_of_functions(source_))));
  identity_ = fmt::format("kernel file {}\n", entry_);
  for (const Argument& argument : arguments_) {
    identity_ += fmt::format("argument {} {}", argument.name, argument.type);
    if (argument.buffer) {
      const ir::Buffer& buffer = signature_.buffers[*argument.buffer];
      identity_ += fmt::format("[{}]{}{}{}", buffer.shape[0], buffer.role == ir::Role::output ? " output" : "",
                               scratch_.contains(buffer.name)  ? " scratch"
                               : summed_.contains(buffer.name) ? " sum"
                                                               : "",
                               argument.is_symbol ? (argument.is_parameter ? " symbol and parameter" : " symbol") : "");
    } else {
      identity_ += " = " + argument.text;
    }
    identity_ += "\n";
  }
  if (!sizes_.problem.empty()) identity_ += fmt::format("problem {}\n", join(sizes_.problem, " "));
  for (const std::string& option : options_) identity_ += fmt::format("option {}\n", option);
  identity_ += source_;
}

bool KernelFile::is_compared(const ir::Buffer& buffer) const {
  return buffer.role == ir::Role::output && !scratch_.contains(buffer.name);
}

ir::Program KernelFile::compared() const { return measure::compared_outputs(signature_, scratch_, summed_); }

measure::KernelCode KernelFile::code(const std::vector<Scalar>& configuration) const {
  CHECK(configuration.size() == space_->parameters().size());
  measure::Launch launch;
  launch.threads = sizes_.threads(configuration);
  launch.blocks = sizes_.blocks(configuration, launch.threads);
  launch.threads.resize(launch.blocks.size(), 1);
  const std::string options = options_of(options_, language_, *space_, configuration);
  launch.options = own_folder(source_, file_) + options;
  std::string scalars;
  std::size_t position = 0;  // index among the kernel's parameters; symbols that are not parameters do not count
  for (const Argument& argument : arguments_) {
    if (argument.is_symbol) launch.symbols.push_back({*argument.buffer, argument.name, argument.is_parameter});
    if (!argument.is_parameter) continue;
    if (argument.local) {
      const std::int64_t elements = sizes_.size(*argument.local, configuration, "a local array");
      launch.scalars.push_back({position, {}, static_cast<std::size_t>(elements) * argument.element_bytes});
      scalars += fmt::format(", {} = local, {} bytes", argument.name, launch.scalars.back().local_bytes);
    } else if (!argument.buffer) {
      launch.scalars.push_back({position, argument.bytes});
      scalars += fmt::format(", {} = {}", argument.name, argument.text);
    }
    ++position;
  }
  ir::KernelSource source;
  source.entry = with_values(entry_, *space_, configuration);
  constexpr std::int64_t max_threads = std::int64_t{1} << 31;  // prevents an overflow of products with this number
  for (const std::int64_t threads : launch.threads) source.threads = std::min(source.threads * threads, max_threads);
  if (sizes_.shared) {
    source.dynamic_shared = true;
    source.shared_bytes = sizes_.size(*sizes_.shared, configuration, "an amount of shared memory", 0);
  }
  source.zeroed = zeroed_;
  source.restored = restored_;
  source.dry_run = false;
  source.architecture_specific = true;  // the user's source may use wgmma and similar instructions
  // The text contains everything that the machine code and the launch depend on, because a candidate's digest is the
  // digest of its text.
  if (sizes_.shared) scalars += fmt::format(", {} bytes of shared memory", source.shared_bytes);
  source.text = fmt::format("// {}{}{}\n", describe(launch), scalars, options.empty() ? "" : "; options: " + options);
  for (std::size_t i = 0; i < configuration.size(); ++i)
    source.text += fmt::format("#define {} {}\n", space_->parameters()[i].name, spelled(configuration[i]));
  // Sources for Kernel Tuner define their parameters only if it does not compile them, which this macro tells them.
  if (has_word(source_, "kernel_tuner")) source.text += "#define kernel_tuner 1\n";
  const bool is_plain = language_ == Dialect::cuda && entry_ == plain_entry(entry_);
  const auto named = is_plain ? with_plain_name(source_, entry_) : std::nullopt;
  source.text += measure::with_file_name(named.value_or(source_), file_);
  if (is_plain && !named) source.entry = "::" + entry_;  // NVRTC finds the mangled name of a qualified name
  return {signature_, std::move(source), std::move(launch)};
}

std::string KernelFile::reference() const {
  const measure::Expectation expected = expectation();
  std::string text = expected.kernel ? expected.kernel->source.text : "";
  for (const auto& [name, file] : expected.files) text += name + read_file(file);
  return digest(text + expected.expression + expected.program);
}

measure::Expectation KernelFile::expectation() const {
  measure::Expectation expected;
  expected.files = expected_;
  expected.expression = expression_;
  expected.program = program_;
  expected.ignored = scratch_;
  expected.summed = summed_;
  if (!expression_.empty() || !program_.empty()) return expected;
  const auto outputs = std::ranges::count_if(signature_.buffers, [&](const ir::Buffer& b) { return is_compared(b); });
  if (static_cast<std::size_t>(outputs) == expected_.size()) return expected;
  std::vector<Scalar> configuration = space_->configuration(*search::heuristic(*space_));
  for (std::size_t i = 0; i < configuration.size(); ++i)
    if (const auto fixed = fixed_.find(space_->parameters()[i].name); fixed != fixed_.end())
      configuration[i] = fixed->second;
  expected.kernel = code(configuration);
  expected.name = fmt::format("{}: the reference", place_);
  for (std::size_t i = 0; i < configuration.size(); ++i)
    expected.name +=
        fmt::format("{}{}={}", i == 0 ? " (" : ", ", space_->parameters()[i].name, spelled(configuration[i]));
  expected.name += ")";
  return expected;
}

}  // namespace deplo::engine::foreign
