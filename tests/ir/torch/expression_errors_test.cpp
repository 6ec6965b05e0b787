// Texts that are not expressions of the language: the place and the words of the error message.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/torch/expression_calls.h"

namespace deplo::ir::torch::expression_errors_test {
namespace {

struct Case {
  std::string text, place, words;  // parts of the message
};

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const std::string message = error_of(c.text), place = "<expression>:" + c.place + ": ";
    EXPECT_TRUE(message.starts_with(place)) << c.text << "\n" << message << "\nnot at " << c.place;
    EXPECT_NE(message.find(c.words), std::string::npos) << c.text << "\n" << message << "\nnot: " << c.words;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(ExpressionErrors, Words) {
  check({
      {"", "1:1", "expected an expression"},
      {"# nothing", "1:1", "expected an expression"},
      {"1 +", "1:4", "expected an expression, found the end of the line"},
      {"torch.exp(torch.randn(8)", "1:25", "expected an operator, `,` or `)`, found the end of the line"},
      {"x = torch.randn(8); x $ 2", "1:23", "found `$`"},
      {"x = torch.randn(8)\nx \x01", "2:3", "found the byte 0x01"},
      {"x = \xc3\xa4", "1:5", "found the byte 0xc3"},
      {"x y", "1:3", "expected an operator, `;` or the end of the line, found `y`"},
      {"x = 'abc", "1:5", "at the end of the string, found the end of the text"},
      {"x = 'abc\n'", "1:5", "found the end of the line"},
      {"x = 99999999999999999999", "1:5", "an integer of 64 bits"},
      {"x = 1e999", "1:5", "a number that a double holds"},
      {"x = {1: 2", "1:10", "expected an operator, `,` or `}`"},
      {"x = {1: 2, 3}", "1:13", "expected `:`, found `}`"},
      {"for i range(3): pass", "1:7", "expected `in`, found `range`"},
      {"[i for i (1, 2)]", "1:16", "expected `in`, found `]`"},
      {"if True pass", "1:9", "expected `:`, found `pass`"},
      {"1 if True", "1:10", "expected `else`, found the end of the line"},
      {"break", "1:1", "expected an expression, found `break`"},
      {"else: pass", "1:1", "expected an expression, found `else`"},
      {"f = lambda x, x: x", "1:15", "a different name for each parameter"},
      {"try: pass\ny = 2", "2:1", "expected `except` or `finally`, found `y`"},
      {"try: import flash_attn\nfinally: pass\nflash_attn", "3:1", "found flash_attn"},
      {"try: import flash_attn\nexcept ValueError: pass\nflash_attn", "3:1", "found flash_attn"},
      {"try: torch.spline()\nexcept Exception: pass", "1:12", "found `spline`"},
      {"def f(x): y = yield x", "1:15", "export the module to a .pt2 file"},
      {"x[0] := 3", "1:6", "expected an operator"},
      {"match {'a': 1}:\n  case {**rest, 'a': 1}: pass", "2:11", "expected `**` and a name only at the end"},
      {"f'{1'", "1:2", "expected `{` and `}` around each value"},
      {"f'{1 +}'", "1:7", "expected an expression"},
      {"@property\nx = 3", "2:1", "expected def or class, found `x`"},
      {"f(a=1, 2)", "1:8", "positional arguments before keywords"},
      {"x[]", "1:3", "expected an expression, found `]`"},
      {"def f(*a, *b): pass", "1:11", "expected one parameter with `*`"},
      {"def f(**a, b): pass", "1:12", "expected `**` at the last parameter"},
      {"def f(a, a): pass", "1:10", "a different name for each parameter"},
      {"def f(a=1, b): pass", "1:12", "a default value here as well"},
      {"def f(x):\nreturn x", "2:1", "expected a line that is indented more"},
      {"def f(x):\n    y = x\n  return y", "3:3", "spaces of indentation"},
      {"x = 1\n  y = 2", "2:3", "found a line that is indented more"},
      {"return 3", "1:1", "expected an expression, found `return`"},
      {"class M(int): pass", "1:9", "expected torch.nn.Module or another class as the base, found the function int"},
      {"class A: pass\nclass B(A): pass\nclass C(A, B): pass", "3:1", "C: expected bases in an order that suits"},
      {"class A(nn.Linear, nn.Flatten): pass", "1:23", "expected one module of torch.nn among the bases"},
  });
}

TEST(ExpressionErrors, Names) {
  check({
      {"torch.softmx(torch.randn(4), 0)", "1:7", "found `softmx`; did you mean 'softmax'?"},
      {"F.scaled_dot_product_atention(1)", "1:3", "did you mean 'scaled_dot_product_attention'?"},
      {"nn.Conv4d(3, 4, 5)", "1:4", "expected a name that torch.nn has (docs/expressions.md), found `Conv4d`"},
      {"torch.randn(4).sofmax(0)", "1:16",
       "expected an attribute or a method of a tensor (docs/expressions.md), found `sofmax`"},
      {"torch.randn(4).expp_()", "1:16", "expected an attribute or a method of a tensor"},
      {"nn.Fold2(3)", "1:4", "found `Fold2`"},
      {"weigt = 3; weight", "1:12", "expected a name that is defined, found `weight`; did you mean 'weigt'?"},
      {"import pandas; pandas.DataFrame", "1:16", "expected torch, math, numpy, einops, a module of Python's library"},
      {"from torch import optimal; optimal.x", "1:28", "expected a name that torch has"},
      {"from torch import optim; optim.Adam", "1:26", "expected a name that torch has"},
      {"math.sin.x", "1:10", "expected a tensor or a module before `.x`, found the function sin"},
      {"nn.Linear(2, 2).wight", "1:17", "expected an attribute of a Linear, found `wight`; did you mean 'weight'?"},
      {"torch.complex32", "1:7", "found `complex32`"},
      {"nn.MultiheadAttention(10, 3)", "1:4", "expected an embed_dim that num_heads divides, found 10 and 3"},
  });
}

TEST(ExpressionErrors, ComplexNumbers) {
  const std::string z = "z = 1j * torch.ones(2); ";  // 24 characters
  check({
      {z + "torch.relu(z)", "1:31",
       "relu: expected real numbers, found complex ones; docs/expressions.md lists the functions that take them"},
      {z + "z.max()", "1:27", "max: expected real numbers, found complex ones"},
      {z + "z.sofmax()", "1:27",
       "expected an attribute or a method of a complex tensor (docs/expressions.md), found `sofmax`"},
      {z + "z < z", "1:27", "expected tensors or numbers around `<`, found a complex tensor and a complex tensor"},
      {z + "x = torch.ones(2); x *= z", "1:46", "expected real numbers to put into a real tensor, found complex ones"},
      {z + "x = torch.ones(2); x.mul_(z)", "1:46", "expected a complex tensor to put complex numbers into"},
      {z + "torch.fft.rfft(z)", "1:35", "expected real numbers for rfft; fft takes complex numbers"},
      {z + "torch.ones(2)[0] = z[0]", "1:38", "[]: expected a tensor or a number, found a complex tensor"},
      {"torch.stft(torch.randn(9), 4)", "1:7", "expected return_complex=True"},
      {"torch.fft.fft(torch.randn(9), dim=1)", "1:11", "expected a dimension from -1 to 0, found 1"},
      {"torch.istft(torch.randn(5, 9), 8)", "1:7", "expected complex numbers, such as those of stft"},
      {z + "torch.istft(z[:, None], 8)", "1:31", "expected 5 numbers for each window, found 2"},
      {"torch.fft.fft(torch.randn(9000))", "1:11", "expected from 1 to 8192 numbers along a dimension"},
      {"nn.Linear(2, 2).to(torch.cfloat)", "1:17", "to: expected a dtype such as torch.float16"},
      {"nn.ReLU().to(dtype=torch.cfloat)", "1:11", "to: expected a dtype such as torch.float16"},
      {"nn.Linear(2, 2, dtype=torch.cfloat)", "1:4", "found torch.complex64"},
      {"1 + 1e999j", "1:5", "expected a number that a double holds, found `1e999j`"},
      {"1jx", "1:2", "found `jx`"},
  });
}

TEST(ExpressionErrors, Arguments) {
  const std::string x = "x = torch.randn(2, 3); ";  // 23 characters
  check({
      {x + "torch.exp(x, x)", "1:30",
       "exp: expected at most 1 positional arguments, found 2; the signature is exp(input)"},
      {x + "torch.exp()", "1:30", "exp: expected a value for input, found none"},
      {x + "torch.exp(3)", "1:30", "exp: expected a tensor for input, found the integer 3"},
      {x + "x.sum(dim=0, keepdm=True)", "1:26", "found keepdm=; did you mean 'keepdim'?"},
      {x + "x.sum(0, dim=1)", "1:26", "expected dim once, found it twice"},
      {x + "x.view(torch.int32)", "1:26", "the bits of a tensor cannot be read as another type"},
      {x + "x.sum('a')", "1:26", "expected an integer for dim, found the string 'a'"},
      {x + "x.sum(0, 1)", "1:26", "expected True or False for keepdim, found the integer 1"},
      {x + "F.softmax(x, dim='a')", "1:26", "softmax: expected an integer for dim, found the string 'a'"},
      {x + "nn.Conv2d(3, 3, 3, padding_mode='valid')(x)", "1:27", "'zeros', 'reflect', 'replicate' or 'circular'"},
      {x + "nn.ConvTranspose2d(3, 3, 3, padding_mode='reflect')(x)", "1:27", "expected 'zeros' for padding_mode"},
      {x + "x[x[0] > 0] *= 2", "1:36", "expected truth values of the shape of the tensor's first"},
      {x + "'{} {}'.format(1)", "1:32", "format: expected a value for each {}, found 1"},
      {x + "'{a}'.format(1)", "1:30", "format: expected a value for {a}, found none"},
      {x + "'%d %d' % 1", "1:32", "`%`: expected a value for each %, found 1"},
      {"from collections import namedtuple; namedtuple('P', 'a b')(1)", "1:37", "expected a value for b, found none"},
      {"from dataclasses import dataclass\n@dataclass\nclass A:\n  a: int\nA()", "5:1", "A: expected a value for a"},
      {"from dataclasses import dataclass\n@dataclass\nclass A:\n  a: int\nA(b=1)", "5:1",
       "one of its fields, found b="},
      {"from dataclasses import dataclass\n@dataclass\nclass A:\n  a: int\nA(1, 2)", "5:1", "at most 1 arguments"},
      {"torch.nn.utils.weight_norm(nn.LSTM(2, 2))", "1:16", "a module other than LSTM, GRU and RNN"},
      {"next(iter([]))", "1:1", "expected at least one value left"},
      {"import einops; x = torch.randn(2, 3); einops.reduce(x, 'a b -> a', 'middle')", "1:46", "'mean', 'sum', 'max'"},
      {x + "F.cross_entropy(x, x[0])", "1:26", "expected a class (int64) for each row"},
      {x + "F.cross_entropy(x, x, reduce=True)", "1:26", "cross_entropy: expected None (no other value is supported)"},
      {x + "F.nll_loss(x, x, reduction='all')", "1:26", "nll_loss: expected 'none', 'mean' or 'sum' for reduction"},
      {x + "F.mse_loss(x, x, reduction=None)", "1:26", "mse_loss: expected 'none', 'mean' or 'sum' for reduction"},
      {x + "x.diff(n=None)", "1:26", "diff: expected an integer for n, found None"},
      {x + "F.softmax(x, dim=2)", "1:26", "softmax: expected"},
      {x + "F.gelu(x, 'fast')", "1:26", "gelu: expected"},
      {x + "x.view(2, 4)", "1:26", "reshape: expected a shape of 6 elements"},
      {x + "x.view(2.0, 3)", "1:26", "expected integers in shape, found the float 2"},
      {x + "torch.cat(x)", "1:30", "expected a tuple or list of tensors for tensors, found a tensor"},
      {x + "torch.cat([x, 3])", "1:30", "expected tensors in tensors, found the integer 3"},
      {x + "x.split(0)", "1:26", "split: expected at least 1 for split_size, found the integer 0"},
      {x + "x.split([1, 2])", "1:26", "expected extents whose sum is 2 for split_size"},
      {x + "x.chunk(0)", "1:26", "chunk: expected at least 1 for chunks"},
      {x + "x.transpose(0, 2)", "1:26", "transpose: expected"},
      {x + "nn.GRU(3, 4)(x, x)", "1:27", "gru: expected an initial state of shape (1, 1, 4), found (2, 1, 3)"},
      {x + "nn.LSTM(3, 4)(x[None], (x, x))", "1:27",
       "lstm: expected an initial state of shape (1, 2, 4), found (2, 3)"},
      {x + "x.unflatten(1, (2, -1))", "1:26", "expected extents whose product is 3"},
      {x + "x.flatten(1, 0)", "1:26", "expected a dimension not before start_dim for end_dim"},
      {x + "x.narrow(0, 1, 2)", "1:26", "narrow: expected 0 to 1 for length"},
      {x + "x.narrow(0, -3, 1)", "1:26", "narrow: expected -2 to 2 for start"},
      {x + "torch.einsum('ii->i', x)", "1:30", "einsum: expected one extent for 'i', found 2 and 3"},
      {x + "F.layer_norm(x, (3,), eps=torch.nan)", "1:26", "layer_norm: expected a number for eps"},
      {x + "x.clamp()", "1:26", "clamp: expected a number for min, found None"},
      {x + "torch.mm(x, x[0])", "1:30", "mm: expected two tensors of 2 dimensions"},
      {x + "torch.outer(x, x)", "1:30", "outer: expected two vectors"},
      {x + "F.dropout()", "1:26", "dropout: expected a value for input"},
      {x + "F.layer_norm(x, (4,))", "1:26", "layer_norm: expected an input that ends in (4,), found (2, 3)"},
      {x + "F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)", "1:26", "expected 0 (dropout is not supported)"},
      {x + "x.to(3)", "1:26", "expected a dtype, a tensor or a device for other, found the integer 3"},
      {x + "x.masked_fill(x, 1.0)", "1:26", "masked_fill: expected"},
      {x + "torch.where(1, x, x)", "1:30", "where: expected a tensor for condition"},
  });
}

TEST(ExpressionErrors, ArgumentsOfWhatMakesTensorsModulesAndFunctions) {
  check({
      {"torch.tensor([[1, 2], [3]])", "1:7", "tensor: expected numbers in lists of equal lengths for data"},
      {"torch.tensor([])", "1:7", "tensor: expected at least one number for data"},
      {"torch.randn(4, dtype=torch.int32)", "1:7", "expected a dtype of floats for dtype, found torch.int32"},
      {"torch.randint(5, 2, (3,))", "1:7", "randint: expected more than 5"},
      {"torch.arange(0.5, 4, dtype=torch.int64)", "1:7", "arange: expected a type of floats"},
      {"torch.arange(0.5, 4, 0)", "1:7", "arange: expected a number other than 0 for step"},
      {"torch.arange(4, 0.5)", "1:7", "arange: expected a bound in the direction of the step for end"},
      {"torch.arange(9007199254740993)", "1:7", "arange: expected a number from -2^53 to 2^53 for start"},
      {"torch.full((2,), 'a')", "1:7", "full: expected a number for fill_value"},
      {"nn.Parameter(3)", "1:4", "Parameter: expected a tensor for data"},
      {"nn.Linear(0, 3)", "1:4", "Linear: expected at least 1 for in_features, found the integer 0"},
      {"nn.Linear(3)", "1:4",
       "Linear: expected a value for out_features, found none; the signature is Linear(in_features,"},
      {"nn.Linear(3, 4)()", "1:4", "Linear: expected one argument, the input, found 0"},
      {"nn.Sequential(3)", "1:4", "Sequential: expected modules, found the integer 3"},
      {"nn.ModuleList([nn.ReLU()])(torch.randn(3))", "1:4", "expected a call of one of its modules"},
      {"math.sqrt(-1)", "1:6", "sqrt: expected an argument for which it is defined, found the integer -1"},
      {"float('none')", "1:1", "expected a number, 'inf', '-inf' or 'nan'"},
      {"int(1e300)", "1:1", "expected a number that fits in 64 bits"},
      {"def f(x): return x\nf()", "2:1", "f: expected a value for x, found none; the signature is f(x)"},
      {"def f(x): return x\nf(1, 2)", "2:1", "f: expected at most 1 arguments, found 2"},
      {"def f(x): return x\nf(y=2)", "2:1", "f: expected one of its arguments, found y="},
      {"class M(nn.Module): pass\nM()(3)", "2:1", "M: expected a method forward(self, …), found none"},
      {"(3)(4)", "1:2", "expected a function, found the integer 3"},
  });
}

TEST(ExpressionErrors, Values) {
  const std::string x = "x = torch.randn(2, 3); ";
  check({
      {"3 + 4", "1:1", "expected a tensor as output, found the integer 7"},
      {"x = 3", "1:1", "expected a tensor as output, found the integer 3"},
      {"()", "1:1", "expected a tensor as output, found nothing"},
      {"[(), {}]", "1:1", "expected a tensor as output, found nothing"},
      {"(None,)", "1:1", "expected a tensor as output, found None"},
      {"l = []; l.append(l); l.append(l); l", "1:35", "expected at most 200000 steps"},
      {"torch.tensor(2 ** 60)", "1:1", "expected a tensor as output, found a number"},
      {x + "x, 3", "1:24", "expected a tensor as output, found the integer 3"},
      {x + "x + 'a'", "1:26", "expected tensors or numbers around `+`, found a tensor and the string 'a'"},
      {"x = torch.randn(3)\nif x.sum() > 0: pass", "2:12", "use torch.where, or export the module to a .pt2 file"},
      {"x = torch.randn(3)\nwhile x: pass", "2:7", "use torch.where, or export"},
      {x + "assert x.shape[0] == 3, f'two {x.ndim}'", "1:24", "expected the condition of `assert` to hold: two 2"},
      {x + "raise ValueError(f'no {1.5:.2f}')", "1:24", "expected no `raise`, found ValueError: no 1.50"},
      {"x = torch.randn(1, 2, 3, 4); y = F.scaled_dot_product_attention(x, x, x); z = y.flatten(); z += 1; y.exp()",
       "1:102", "expected a tensor whose memory is known"},
      {"x = torch.randn(1, 2, 3, 4); y = F.scaled_dot_product_attention(x, x, x); z = y.contiguous()[0]; z += 1; "
       "y.exp()",
       "1:108", "expected a tensor whose memory is known"},
      {x + "y = x.expand(5, *x.shape)[1]; y.add_(1); y.mul_(2); x.exp()", "1:78",
       "expected a tensor whose memory is known"},
      {x + "y = x.expand(5, *x.shape); y.add_(1)", "1:53", "expected a tensor whose elements have memory of their own"},
      {x + "y = x.expand(5, *x.shape); y[1] = 0", "1:52", "expected a tensor whose elements have memory of their own"},
      {x + "y = x.unfold(1, 2, 1); y[0] = 0", "1:48", "expected a tensor whose elements have memory of their own"},
      {x + "x.int().add_(0.5)", "1:32", "expected a result of int32 to put in place"},
      {x + "torch.add(x, 1, out=x[0])", "1:30", "expected a tensor of the result's shape (2, 3) as out"},
      {x + "torch.add(x, 1, out=3)", "1:30", "expected a tensor as out"},
      {x + "y = x.int(); y[0] += 0.5", "1:42", "expected values of int32 to put into a tensor"},
      {x + "x.data = 1", "1:26", "expected a tensor as the data of a tensor, found the integer 1"},
      {x + "x[0] += torch.randn(2, 2)", "1:29", "add: expected"},
      {x + "x.shape.append(3)", "1:32", "append: expected a list, because a tuple cannot be changed"},
      {x + "{'a': 1}['b']", "1:32", "expected a key of the dict, found the string 'b'"},
      {x + "[1, 2].index(3)", "1:31", "index: expected one of the elements"},
      {"for i in 3: pass", "1:10", "expected a tuple, a list or another sequence, found the integer 3"},
      {x + "x.int() % 0", "1:32", "expected a divisor other than 0, found 0"},
      {x + "x & x", "1:26", "expected integers or truth values around `&`, found (2, 3) float32"},
      {x + "x @ 2", "1:26", "expected tensors around `@`"},
      {x + "x + torch.randn(4)", "1:26", "add: expected"},
      {x + "x[2]", "1:25", "expected an index from -2 to 1, found 2"},
      {x + "x[0, 0, 0]", "1:25", "expected at most 2 indices, found 3"},
      {x + "x[..., ...]", "1:25", "expected at most one `...`"},
      {x + "x[::-1]", "1:25", "slice: expected a step of at least 1"},
      {x + "x[5:].max()", "1:30", "amax: expected at least one element to reduce"},
      {x + "x[x > 0]", "1:25", "expected integers in a tensor of indices, found truth values"},
      {x + "i = torch.randint(2, (4,)); x[i, i, i]", "1:53", "expected at most 2 indices, found 3"},
      {x + "x[:, x[:, 0] > 0] = 1", "1:25",
       "expected a mask of the shape (3,), as the dimensions that it selects from"},
      {x + "import einops; einops.rearrange(x, 'a b -> a')", "1:46",
       "expected every axis of the left once on the right"},
      {x + "import einops; einops.rearrange(x, '(a b) c -> a b c')", "1:46", "expected the extent of a or b"},
      {x + "x['a']", "1:25", "expected an integer, a slice, None, ... or a tensor as an index, found the string"},
      {x + "torch.topk(x, 4)", "1:30", "topk: expected a k from 0 to 3, found 4"},
      {x + "torch.sort(x).value", "1:38",
       "expected a method of a tuple of 2 (docs/expressions.md), found `value`; did you mean 'values'?"},
      {x + "F.one_hot(x.long())", "1:26", "one_hot: expected a value for num_classes, found none"},
      {x + "x.index_add(0, torch.randint(2, (3,)), x)", "1:26",
       "scatter_add: expected an index of one dimension with an element for each row of the source (2, 3), found (3,)"},
      {x + "x[0.5:]", "1:26", "expected an integer in a slice, found the float 0.5"},
      {x + "x[2] = 1", "1:25", "expected an index from -2 to 1, found 2"},
      {x + "x[0] = torch.randn(4)", "1:25", "expand: expected"},
      {x + "x.shape[2]", "1:31", "expected an index from -2 to 1, found 2"},
      {"l = [1]; del l[1]", "1:15", "expected an index from -1 to 0, found 1"},
      {"d = {}; del d['a']", "1:14", "expected a key of the dict after `del`, found the string 'a'"},
      {"t = (1, 2); del t[0]", "1:18",
       "expected an element of a list, of a dict or of a module that holds others after `del`, found an element of a "
       "tuple of 2"},
      {x + "torch.quantile(x, x)", "1:30", "expected a number that does not depend on the values of inputs"},
      {x + "torch.linalg.inv(torch.randn(5, 5))", "1:37", "square matrices of at most 4 rows"},
      {x + "torch.linalg.solve_triangular(x, x, upper=True)", "1:37", "square matrices A, and B of at least two"},
      {x + "torch.vmap(lambda a, b=1: a, in_dims=(0,))(x, x)", "1:30", "one dimension for each of 2 tensors, found 1"},
      {x + "torch.vmap(lambda a: (a, a), out_dims=(0,))(x)", "1:30", "one dimension for each of 2 tensors, found 1"},
      {"F.grid_sample(torch.randn(1, 1, 2, 2), torch.randn(2, 2, 2, 2))", "1:3", "a grid (N, H, W, 2)"},
      {x + "torch.vmap(torch.exp, randomness='same')", "1:30", "expected randomness='error' or 'different'"},
      {x + "torch.einsum(x, [0, 52])", "1:30", "einsum: expected labels from 0 to 51 for operands"},
      {"torch.float32.size", "1:15", "expected itemsize, is_floating_point, is_complex or is_signed of a dtype"},
      {"math.factorial(21)", "1:6", "expected an integer of 64 bits"},
      {"torch.autocast('cuda')", "1:7", "autocast: expected False"},
      {"[1].push(2)", "1:5", "expected a method of a list of 1 (docs/expressions.md), found `push`"},
      {"{1}[0]", "1:4", "expected a tensor, a tuple or a list before `[`, found a set of 1"},
      {"f'{1:y}'", "1:4", "expected a format such as .2f, 3d or >8, found y"},
      {"f'{1.5:d}'", "1:4", "expected an integer for the format `d`, found the float 1.5"},
      {x + "x.foo = 1", "1:26", "expected a module or another object before `.`, found a tensor"},
      {x + "a, b, c = x.chunk(2)", "1:24", "expected 3 values, found 2"},
      {x + "a, b, c = x", "1:24", "expected 3 values, found 2"},
      {x + "a, *b, c, d = x", "1:24", "expected 4 values, found 2"},
      {x + "x.int() ** -1", "1:32", "pow: expected an exponent of at least 0 for integers, found -1"},
      {x + "3 = x", "1:24", "expected a variable, an attribute or an element to the left of `=`"},
      {x + "x * (float('inf') - float('inf'))", "1:42", "found nan"},
      {"1 / 0", "1:3", "expected a divisor other than 0"},
      {"7 % 0", "1:3", "expected a divisor other than 0"},
      {"9223372036854775807 + 1", "1:21", "expected an integer of 64 bits"},
      {"-9223372036854775807 - 2", "1:22", "expected an integer of 64 bits"},
      {"(-9223372036854775807 - 1) // -1", "1:28", "expected an integer of 64 bits"},
      {"3 ** 100", "1:3", "expected an integer of 64 bits"},
      {"torch.randn(1099511627776, 2)", "1:1", "expected"},
      {"torch.exp(*3)", "1:11", "expected a tuple, a list or another sequence, found the integer 3"},
  });
}

TEST(ExpressionErrors, WhereStandsInTheMessage) {
  try {
    parse_expression("x = torch.randn(3)\n  \ny", "model.py");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "model.py:3:1: expected a name that is defined, found `y`");
  }
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string out;
  while (count-- > 0) out += piece;
  return out;
}

// Without limits, each of these texts would exhaust the stack, the memory or the user's patience.
TEST(ExpressionErrors, Limits) {
  const auto fails = [](const std::string& text, std::string_view words) {
    const std::string message = error_of(text);
    EXPECT_NE(message.find(words), std::string::npos) << text.substr(0, 60) << "\n" << message.substr(0, 200);
  };
  fails(repeated("(", 100000), "at most 200 levels of nesting");
  fails(repeated("-", 100000) + "1", "at most 200 levels of nesting");
  fails("2" + repeated("**2", 100000), "at most 200 levels of nesting");
  fails("1" + repeated("+1", 100000), "at most 200 nested operations");
  fails("torch.randn(1)" + repeated(".exp()", 100000), "at most 200 nested operations");
  fails("x" + repeated("[0]", 100000), "at most 200 nested operations");
  fails("a = 1\n" + repeated("a = a,\n", 1000), "at most 200 nested lists");
  fails(std::string(2000000, ' '), "expected at most 1000000 bytes, found 2000000");
  fails(std::string(1000, 'x'), "expected a name of at most 100 letters, found 1000");
  fails("def f(x): return f(x)\nf(1)", "at most 200 nested calls");
  fails("def f(x): return " + repeated("-(", 50) + "f(x)" + repeated(")", 50) + "\nf(1)", "nested expressions");
  fails("def f(x): f(x); f(x)\n" + std::string("def g(n): return n\nf(1)"), "at most 200 nested calls");
  std::string doubling = "def f0(x): return x\n";
  for (int i = 1; i < 60; ++i)
    doubling +=
        "def f" + std::to_string(i) + "(x): f" + std::to_string(i - 1) + "(x); f" + std::to_string(i - 1) + "(x)\n";
  fails(doubling + "f59(1)", "at most 200000 steps");
  fails("a = (1, 2)\n" + repeated("a = a + a\n", 40), "at most 200000 steps");
  std::string nested = "s = nn.Identity()\n" + repeated("s = nn.Sequential(s, s)\n", 60);
  fails(nested + "s(torch.randn(3))", "at most 200000 steps");
  fails("s = nn.Identity()\n" + repeated("s = nn.Sequential(s)\n", 300) + "s(torch.randn(3))",
        "at most 200 nested calls");
  fails("torch.randn(1099511627776).split(1)", "split: expected at most 200000 pieces, found 1099511627776");
  fails("torch.randn(1099511627776).unbind()", "expected at most 200000 pieces");
  fails("nn.LSTM(2, 2, 30)(torch.randn(512, 2, 2))", "expected at most 200000");
  fails("x = torch.randn(2)\n" + repeated("y = 1 + x\n", 30000), "at most 200000 steps");
  fails(repeated("torch.randn(1),", 60000), "at most 200000 steps");
  fails("class M(nn.Module): pass\nm = M()\n" + repeated("m.a = M()\nm = m.a\n", 1000) + "m.x = M()",
        "at most 200 nested modules");
  fails("x = torch.randn(1)\nl = [x" + repeated(", x", 5000) + "]\n" + repeated("torch.cat(l)\n", 1000),
        "at most 200000 steps");
}

TEST(ExpressionErrors, ObjectsThatHoldThemselvesAreFreed) {
  EXPECT_EQ(error_of("class M(nn.Module):\n  def forward(self, x): return x.exp()\n"
                     "m = M(); n = M(); m.self = m; m.n = n; n.m = m; m.n.m.n(torch.randn(2))"),
            "");
}

}  // namespace
}  // namespace deplo::ir::torch::expression_errors_test
