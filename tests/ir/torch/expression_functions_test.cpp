// Functions, and the calls that they make for x (2, 3), y (2, 3), w (4, 3), q (2, 5, 4), and the indices i (5,). A
// function with values of PyTorch in tests/data/torch_values/values.json needs no case here.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "core/file.h"
#include "ir/torch/expression/functions/library.h"
#include "ir/torch/expression_calls.h"
#include "torch_values.h"

namespace deplo::ir::torch::expression_functions_test {
namespace {

constexpr std::string_view inputs =
    "x = torch.randn(2, 3); y = torch.randn(2, 3); w = torch.randn(4, 3); q = torch.randn(2, 5, 4); i = "
    "torch.randint(4, (5,))\n";

struct Case {
  std::string_view text, calls;
};

const std::vector<Case> elementwise_cases = {
    {"torch.abs(x)", "abs(x) -> (2, 3) float32"},
    {"x.absolute()", "abs(x) -> (2, 3) float32"},
    {"abs(x)", "abs(x) -> (2, 3) float32"},
    {"torch.cos(input=x)", "cos(x) -> (2, 3) float32"},
    {"x.erf()", "erf(x) -> (2, 3) float32"},
    {"i.exp()", "exp(i) -> (5,) float32"},
    {"torch.log(x)", "log(x) -> (2, 3) float32"},
    {"-x", "neg(x) -> (2, 3) float32"},
    {"torch.neg(i)", "neg(i) -> (5,) int32"},
    {"x.negative()", "neg(x) -> (2, 3) float32"},
    {"x.reciprocal()", "reciprocal(x) -> (2, 3) float32"},
    {"torch.rsqrt(x)", "rsqrt(x) -> (2, 3) float32"},
    {"torch.sin(x)", "sin(x) -> (2, 3) float32"},
    {"torch.sqrt(x)", "sqrt(x) -> (2, 3) float32"},
    {"torch.square(x)", "mul(x, x) -> (2, 3) float32"},
    {"F.tanh(x)", "tanh(x) -> (2, 3) float32"},
    {"torch.sigmoid(x)", "sigmoid(x) -> (2, 3) float32"},
    {"torch.logical_not(x)", "logical_not(x) -> (2, 3) bool"},
    {"x.relu()", "relu(x) -> (2, 3) float32"},
    {"F.relu(x, inplace=True)", "relu(x) -> (2, 3) float32"},
    {"F.silu(x)", "silu(x) -> (2, 3) float32"},
    {"F.gelu(x)", "gelu(x) -> (2, 3) float32"},
    {"F.gelu(x, approximate='tanh')", "gelu(x, approximate='tanh') -> (2, 3) float32"},
    {"torch.add(x, y)", "add(x, y) -> (2, 3) float32"},
    {"x.add(y, alpha=2)", "mul(y, mul_c1) -> (2, 3) float32|add(x, mul) -> (2, 3) float32"},
    {"x.sub(1)", "sub(x, sub_c1) -> (2, 3) float32"},
    {"torch.subtract(x, y)", "sub(x, y) -> (2, 3) float32"},
    {"1 - x", "sub(sub_c0, x) -> (2, 3) float32"},
    {"torch.mul(x, y)", "mul(x, y) -> (2, 3) float32"},
    {"x.multiply(2)", "mul(x, mul_c1) -> (2, 3) float32"},
    {"x.div(y)", "div(x, y) -> (2, 3) float32"},
    {"i / 2", "div(i, div_c1) -> (5,) float32"},
    {"torch.divide(x, y)", "div(x, y) -> (2, 3) float32"},
    {"torch.true_divide(x, y)", "div(x, y) -> (2, 3) float32"},
    {"torch.pow(x, 2)", "pow(x, pow_c1) -> (2, 3) float32"},
    {"torch.pow(2, x)", "pow(pow_c0, x) -> (2, 3) float32"},
    {"2 ** x", "pow(pow_c0, x) -> (2, 3) float32"},
    {"torch.maximum(x, y)", "maximum(x, y) -> (2, 3) float32"},
    {"x.minimum(y)", "minimum(x, y) -> (2, 3) float32"},
    {"torch.eq(x, y)", "eq(x, y) -> (2, 3) bool"},
    {"x.ne(0)", "ne(x, ne_c1) -> (2, 3) bool"},
    {"x.lt(y)", "lt(x, y) -> (2, 3) bool"},
    {"x <= y", "le(x, y) -> (2, 3) bool"},
    {"torch.le(x, y)", "le(x, y) -> (2, 3) bool"},
    {"0 < x", "lt(lt_c0, x) -> (2, 3) bool"},
    {"torch.gt(x, 0)", "gt(x, gt_c1) -> (2, 3) bool"},
    {"x.ge(y)", "ge(x, y) -> (2, 3) bool"},
    {"x >= 0", "ge(x, ge_c1) -> (2, 3) bool"},
    {"(x < y) | (x > y)", "lt(x, y) -> (2, 3) bool|gt(x, y) -> (2, 3) bool|logical_or(lt, gt) -> (2, 3) bool"},
    {"0 == x", "eq(x, eq_c1) -> (2, 3) bool"},
    {"(x < y) & (x != 0)", "lt(x, y) -> (2, 3) bool|ne(x, ne_c1) -> (2, 3) bool|logical_and(lt, ne) -> (2, 3) bool"},
    {"~(x < y)", "lt(x, y) -> (2, 3) bool|logical_not(lt) -> (2, 3) bool"},
    {"torch.logical_and(x, y)", "logical_and(x, y) -> (2, 3) bool"},
    {"torch.logical_or(x, y)", "logical_or(x, y) -> (2, 3) bool"},
    {"torch.where(x > y, x, 0.0)", "gt(x, y) -> (2, 3) bool|where(gt, x, where_c2) -> (2, 3) float32"},
    {"x.where(x > y, y)", "gt(x, y) -> (2, 3) bool|where(gt, x, y) -> (2, 3) float32"},
    {"x.masked_fill(x > y, float('-inf'))",
     "gt(x, y) -> (2, 3) bool|masked_fill(x, gt, masked_fill_c2) -> (2, 3) float32"},
    {"x.clamp(-1, 1)", "maximum(x, maximum_c1) -> (2, 3) float32|minimum(maximum, minimum_c1) -> (2, 3) float32"},
    {"torch.clip(x, max=y)", "minimum(x, y) -> (2, 3) float32"},
    {"x.clamp_min(0)", "maximum(x, maximum_c1) -> (2, 3) float32"},
    {"torch.clamp_max(x, 0.5)", "minimum(x, minimum_c1) -> (2, 3) float32"},
    {"x.to(torch.float16)", "to(x, dtype=float16) -> (2, 3) float16"},
    {"x.to(dtype=torch.bool)", "to(x, dtype=bool) -> (2, 3) bool"},
    {"x.to(i)", "to(x, dtype=int64) -> (2, 3) int64"},
    {"x.to('cuda').cuda().cpu().to(torch.float32)", ""},
    {"i.type_as(x)", "to(i, dtype=float32) -> (5,) float32"},
    {"i.float()", "to(i, dtype=float32) -> (5,) float32"},
    {"x.half()", "to(x, dtype=float16) -> (2, 3) float16"},
    {"x.bfloat16()", "to(x, dtype=bfloat16) -> (2, 3) bfloat16"},
    {"x.int()", "to(x, dtype=int32) -> (2, 3) int32"},
    {"x.long()", "to(x, dtype=int64) -> (2, 3) int64"},
    {"x.bool()", "to(x, dtype=bool) -> (2, 3) bool"},
    {"torch.clone(x.contiguous()).detach()", ""},
};

const std::vector<Case> reduction_cases = {
    {"x.sum()", "sum(x) -> () float32"},
    {"torch.sum(q, (0, -1))", "sum(q, dims=[0, 2]) -> (5,) float32"},
    {"q.sum(axis=1, keepdims=True)", "sum(q, dims=[1], keepdim=True) -> (2, 1, 4) float32"},
    {"i.sum(0, dtype=torch.float32)", "to(i, dtype=float32) -> (5,) float32|sum(to) -> () float32"},
    {"x.mean(-1)", "mean(x, dims=[1]) -> (2,) float32"},
    {"torch.prod(x, 0)", "prod(x, dims=[0]) -> (3,) float32"},
    {"x.amax(dim=(0, 1))", "amax(x) -> () float32"},
    {"x.amin(1)", "amin(x, dims=[1]) -> (2,) float32"},
    {"x.max()", "amax(x) -> () float32"},
    {"torch.max(x, y)", "maximum(x, y) -> (2, 3) float32"},
    {"torch.min(x, 0).values", "amin(x, dims=[0]) -> (3,) float32"},
    {"v, _ = x.max(-1, keepdim=True); v", "amax(x, dims=[1], keepdim=True) -> (2, 1) float32"},
    {"x.max(-1)[0]", "amax(x, dims=[1]) -> (2,) float32"},
    {"x.var(-1, keepdim=True, unbiased=False)", "var(x, dims=[1], keepdim=True, correction=0) -> (2, 1) float32"},
    {"torch.var(x, 0)", "var(x, dims=[0]) -> (3,) float32"},
    {"x.std(1, correction=0)", "var(x, dims=[1], correction=0) -> (2,) float32|sqrt(var) -> (2,) float32"},
    {"x.softmax(0)", "softmax(x, dim=0) -> (2, 3) float32"},
    {"F.softmax(x, dim=-1, dtype=torch.float16)",
     "to(x, dtype=float16) -> (2, 3) float16|softmax(to, dim=1) -> (2, 3) float16"},
    {"torch.log_softmax(x, 1)", "log_softmax(x, dim=1) -> (2, 3) float32"},
    {"F.log_softmax(x, dim=1)", "log_softmax(x, dim=1) -> (2, 3) float32"},
    {"F.layer_norm(x, (3,))", "layer_norm(x, dims=1) -> (2, 3) float32"},
    {"F.layer_norm(x, (2, 3), x, y, 1e-6)", "layer_norm(x, x, y, dims=2, eps=1e-06) -> (2, 3) float32"},
    {"F.layer_norm(x, [3], bias=w[0])",
     "select(w, dim=0, index=0) -> (3,) float32|layer_norm(x, dims=1) -> (2, 3) float32|"
     "add(layer_norm, select_1) -> (2, 3) float32"},
    {"F.rms_norm(x, (3,), eps=1e-5)", "rms_norm(x, dims=1, eps=1e-05) -> (2, 3) float32"},
    {"torch.rms_norm(x, [3], w[1])",
     "select(w, dim=0, index=1) -> (3,) float32|rms_norm(x, select_1, dims=1) -> (2, 3) float32"},
};

const std::vector<Case> network_cases = {
    {"torch.matmul(x, w.T)", "transpose(w, dim0=0, dim1=1) -> (3, 4) float32|matmul(x, transpose) -> (2, 4) float32"},
    {"x @ w.mT", "transpose(w, dim0=0, dim1=1) -> (3, 4) float32|matmul(x, transpose) -> (2, 4) float32"},
    {"torch.mm(x, w.t())", "transpose(w, dim0=0, dim1=1) -> (3, 4) float32|matmul(x, transpose) -> (2, 4) float32"},
    {"torch.bmm(q, q.mT)",
     "transpose(q, dim0=1, dim1=2) -> (2, 4, 5) float32|matmul(q, transpose) -> (2, 5, 5) float32"},
    {"torch.outer(x[0], w[0])",
     "select(x, dim=0, index=0) -> (3,) float32|select(w, dim=0, index=0) -> (3,) float32|"
     "unsqueeze(select_1, dim=1) -> (3, 1) float32|mul(unsqueeze, select_2) -> (3, 3) float32"},
    {"F.linear(x, w)", "linear(x, w) -> (2, 4) float32"},
    {"F.linear(x, w, bias=torch.randn(4))", "linear(x, w, x_1) -> (2, 4) float32"},
    {"F.linear(x, w[0])", "select(w, dim=0, index=0) -> (3,) float32|matmul(x, select_1) -> (2,) float32"},
    {"F.scaled_dot_product_attention(q, q, q, is_causal=True)",
     "scaled_dot_product_attention(q, q, q, is_causal=True) -> (2, 5, 4) float32"},
    {"F.scaled_dot_product_attention(q, q, q, torch.randn(5, 5), scale=0.1)",
     "scaled_dot_product_attention(q, q, q, x_1, scale=0.1) -> (2, 5, 4) float32"},
    {"F.scaled_dot_product_attention(torch.randn(1, 4, 5, 8), torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8), "
     "enable_gqa=True)",
     "scaled_dot_product_attention(x_1, x_2, x_3, enable_gqa=True) -> (1, 4, 5, 8) float32"},
    {"F.embedding(i, w)", "embedding(w, i) -> (5, 3) float32"},
    {"torch.gather(x, 1, torch.randint(0, 3, (2, 2)))", "gather(x, x_1, dim=1) -> (2, 2) float32"},
    {"F.dropout(x, 0.5)", ""},
    {"torch.dropout(x, 0.5, False)", ""},
};

const std::vector<Case> shape_cases = {
    {"x.transpose(0, -1)", "transpose(x, dim0=0, dim1=1) -> (3, 2) float32"},
    {"torch.swapaxes(x, 0, 1)", "transpose(x, dim0=0, dim1=1) -> (3, 2) float32"},
    {"q.T", "permute(q, dims=[2, 1, 0]) -> (4, 5, 2) float32"},
    {"q.permute(2, 0, 1)", "permute(q, dims=[2, 0, 1]) -> (4, 2, 5) float32"},
    {"torch.permute(q, (0, -1, 1))", "permute(q, dims=[0, 2, 1]) -> (2, 4, 5) float32"},
    {"q.view(2, -1)", "reshape(q, shape=[2, 20]) -> (2, 20) float32"},
    {"torch.reshape(q, (10, 4))", "reshape(q, shape=[10, 4]) -> (10, 4) float32"},
    {"x.view_as(y)", "reshape(x, shape=[2, 3]) -> (2, 3) float32"},
    {"x.reshape_as(y.T)", "reshape(x, shape=[3, 2]) -> (3, 2) float32"},
    {"q.flatten(1)", "reshape(q, shape=[2, 20]) -> (2, 20) float32"},
    {"torch.flatten(q, end_dim=1)", "reshape(q, shape=[10, 4]) -> (10, 4) float32"},
    {"q.unflatten(-1, (2, -1))", "reshape(q, shape=[2, 5, 2, 2]) -> (2, 5, 2, 2) float32"},
    {"x.unsqueeze(-1)", "unsqueeze(x, dim=2) -> (2, 3, 1) float32"},
    {"x[None].squeeze()", "unsqueeze(x, dim=0) -> (1, 2, 3) float32|squeeze(unsqueeze) -> (2, 3) float32"},
    {"torch.squeeze(x, 1)", "squeeze(x) -> (2, 3) float32"},
    {"x.expand(4, -1, -1)", "expand(x, shape=[4, 2, 3]) -> (4, 2, 3) float32"},
    {"x[0].expand_as(x)", "select(x, dim=0, index=0) -> (3,) float32|expand(select_1, shape=[2, 3]) -> (2, 3) float32"},
    {"torch.broadcast_to(x, (5, 2, 3))", "expand(x, shape=[5, 2, 3]) -> (5, 2, 3) float32"},
    {"torch.cat((x, y, w))", "cat(x, y, w) -> (8, 3) float32"},
    {"torch.cat([x, y], dim=-1)", "cat(x, y, dim=1) -> (2, 6) float32"},
    {"torch.concat(tensors=[x, y], dim=1)", "cat(x, y, dim=1) -> (2, 6) float32"},
    {"torch.stack([x, y], 1)", "stack(x, y, dim=1) -> (2, 2, 3) float32"},
    {"q.split(2, 1)",
     "slice(q, dim=1, end=2) -> (2, 2, 4) float32|slice(q, dim=1, start=2, end=4) -> (2, 2, 4) float32|"
     "slice(q, dim=1, start=4) -> (2, 1, 4) float32"},
    {"torch.split(q, [1, 4], dim=1)",
     "slice(q, dim=1, end=1) -> (2, 1, 4) float32|slice(q, dim=1, start=1) -> (2, 4, 4) float32"},
    {"torch.chunk(q, 2, 1)",
     "slice(q, dim=1, end=3) -> (2, 3, 4) float32|slice(q, dim=1, start=3) -> (2, 2, 4) float32"},
    {"x.unbind()", "select(x, dim=0, index=0) -> (3,) float32|select(x, dim=0, index=1) -> (3,) float32"},
    {"q.narrow(1, 2, 3)", "slice(q, dim=1, start=2) -> (2, 3, 4) float32"},
    {"q.select(1, -1)", "select(q, dim=1, index=4) -> (2, 4) float32"},
    {"x.repeat_interleave(2, dim=0)",
     "unsqueeze(x, dim=1) -> (2, 1, 3) float32|expand(unsqueeze, shape=[2, 2, 3]) -> (2, 2, 3) float32|"
     "reshape(expand, shape=[4, 3]) -> (4, 3) float32"},
    {"torch.triu(x, diagonal=1)", "triu(x, diagonal=1) -> (2, 3) float32"},
    {"x.tril()", "tril(x) -> (2, 3) float32"},
    {"torch.zeros(x.size(0), x.size(-1), x.dim(), x.ndim, torch.numel(x), *x.size())",
     "full(shape=[2, 3, 2, 2, 6, 2, 3], value=0.0) -> (2, 3, 2, 2, 6, 2, 3) float32"},
};

const std::vector<Case> creation_cases = {
    {"torch.randn((2, 3)) + torch.rand(2, 3) + torch.randn(size=[2, 3])",
     "add(x_1, x_2) -> (2, 3) float32|add(add, x_3) -> (2, 3) float32"},
    {"torch.randn_like(x, dtype=torch.float16) * 2", "mul(x_1, mul_c1) -> (2, 3) float16"},
    {"-torch.rand_like(x)", "neg(x_1) -> (2, 3) float32"},
    {"-torch.randint(high=10, size=(2,))", "neg(x_1) -> (2,) int32"},
    {"torch.zeros(2, 3, dtype=torch.int64)", "full(shape=[2, 3], value=0.0, dtype=int64) -> (2, 3) int32"},
    {"torch.ones((4,))", "full(shape=[4], value=1.0) -> (4,) float32"},
    {"torch.full((2,), 3)", "full(shape=[2], value=3.0, dtype=int64) -> (2,) int32"},
    {"torch.full((2,), True)", "full(shape=[2], value=1.0, dtype=bool) -> (2,) bool"},
    {"torch.zeros_like(i)", "full(shape=[5], value=0.0, dtype=int64) -> (5,) int32"},
    {"torch.ones_like(x)", "full(shape=[2, 3], value=1.0) -> (2, 3) float32"},
    {"torch.full_like(x, 0.5, dtype=torch.bfloat16)",
     "full(shape=[2, 3], value=0.5, dtype=bfloat16) -> (2, 3) bfloat16"},
    {"torch.arange(2, 10, 3)", "arange(start=2, end=10, step=3) -> (3,) int32"},
    {"torch.arange(0, 4, dtype=torch.float32)", "arange(end=4, dtype=float32) -> (4,) float32"},
    {"torch.arange(4.0)", "arange(end=4, dtype=float32) -> (4,) float32"},
    {"torch.set_default_dtype(torch.float16); torch.zeros(2, dtype=torch.get_default_dtype())",
     "full(shape=[2], value=0.0, dtype=float16) -> (2,) float16"},
    {"x * torch.tensor(0.5)", "full(shape=[], value=0.5) -> () float32|mul(x, full) -> (2, 3) float32"},
    {"nn.Parameter(torch.randn(3)) + x", "add(p_weight, x) -> (2, 3) float32"},
};

const std::vector<Case> module_cases = {
    {"nn.Linear(3, 4)(x)", "linear(x, p_weight, p_bias) -> (2, 4) float32"},
    {"nn.RMSNorm((3,), eps=1e-6, elementwise_affine=False)(x)", "rms_norm(x, dims=1, eps=1e-06) -> (2, 3) float32"},
    {"nn.LayerNorm(3)(x)", "layer_norm(x, p_weight, p_bias, dims=1) -> (2, 3) float32"},
    {"nn.LayerNorm([2, 3], bias=False)(x)", "layer_norm(x, p_weight, dims=2) -> (2, 3) float32"},
    {"nn.Embedding(4, 8)(i)", "embedding(p_weight, i) -> (5, 8) float32"},
    {"nn.Softmax(-1)(x)", "softmax(x, dim=1) -> (2, 3) float32"},
    {"nn.LogSoftmax(dim=0)(x)", "log_softmax(x, dim=0) -> (2, 3) float32"},
    {"nn.GELU('tanh')(x)", "gelu(x, approximate='tanh') -> (2, 3) float32"},
    {"nn.SiLU()(x)", "silu(x) -> (2, 3) float32"},
    {"nn.ReLU(inplace=True)(x)", "relu(x) -> (2, 3) float32"},
    {"nn.Tanh()(x)", "tanh(x) -> (2, 3) float32"},
    {"nn.Sigmoid()(x)", "sigmoid(x) -> (2, 3) float32"},
    {"nn.Conv1d(3, 4, 2)(torch.randn(2, 3, 5))",
     "convolution(x_1, p_weight, p_bias, stride=[1], padding=[0], dilation=[1]) -> (2, 4, 4) float32"},
    {"nn.Conv2d(4, 6, (3, 1), stride=2, padding=1, groups=2, bias=False)(torch.randn(1, 4, 5, 5))",
     "convolution(x_1, p_weight, stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=2) -> (1, 6, 3, 4) float32"},
    {"nn.Conv3d(1, 2, 2)(torch.randn(1, 1, 3, 3, 3))",
     "convolution(x_1, p_weight, p_bias, stride=[1, 1, 1], padding=[0, 0, 0], dilation=[1, 1, 1]) -> (1, 2, 2, 2, 2) "
     "float32"},
    {"nn.ConvTranspose1d(3, 4, 2)(torch.randn(3, 5))",
     "unsqueeze(x_1, dim=0) -> (1, 3, 5) float32|"
     "convolution(unsqueeze, p_weight, p_bias, stride=[1], padding=[0], dilation=[1], transposed=True) -> (1, 4, 6) "
     "float32|"
     "select(convolution, dim=0, index=0) -> (4, 6) float32"},
    {"nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2)(torch.randn(1, 4, 5, 5))",
     "convolution(x_1, p_weight, p_bias, stride=[2, 2], padding=[1, 1], dilation=[1, 1], transposed=True, "
     "output_padding=[1, 1], groups=2) -> (1, 6, 10, 10) float32"},
    {"nn.ConvTranspose3d(1, 2, 2, bias=False)(torch.randn(1, 1, 3, 3, 3))",
     "convolution(x_1, p_weight, stride=[1, 1, 1], padding=[0, 0, 0], dilation=[1, 1, 1], transposed=True) -> (1, 2, "
     "4, 4, 4) float32"},
    {"nn.BatchNorm1d(3)(x)",
     "sub(x, p_running_mean) -> (2, 3) float32|"
     "add(p_running_var, batch_norm_c1) -> (3,) float32|"
     "rsqrt(add) -> (3,) float32|"
     "mul(sub, rsqrt_1) -> (2, 3) float32|"
     "mul(mul, p_weight) -> (2, 3) float32|"
     "add(mul_1, p_bias) -> (2, 3) float32"},
    {"nn.BatchNorm2d(3, affine=False)(torch.randn(1, 3, 2, 2))",
     "reshape(p_running_mean, shape=[3, 1, 1]) -> (3, 1, 1) float32|"
     "sub(x_1, reshape) -> (1, 3, 2, 2) float32|"
     "reshape(p_running_var, shape=[3, 1, 1]) -> (3, 1, 1) float32|"
     "add(reshape_1, batch_norm_c1) -> (3, 1, 1) float32|"
     "rsqrt(add) -> (3, 1, 1) float32|"
     "mul(sub, rsqrt_1) -> (1, 3, 2, 2) float32"},
    {"nn.BatchNorm3d(3, track_running_stats=False, affine=False)(torch.randn(1, 3, 2, 2, 2))",
     "permute(x_1, dims=[1, 0, 2, 3, 4]) -> (3, 1, 2, 2, 2) float32|"
     "reshape(permute, shape=[3, 8]) -> (3, 8) float32|"
     "layer_norm(reshape, dims=1) -> (3, 8) float32|"
     "reshape(layer_norm, shape=[3, 1, 2, 2, 2]) -> (3, 1, 2, 2, 2) float32|"
     "permute(reshape_1, dims=[1, 0, 2, 3, 4]) -> (1, 3, 2, 2, 2) float32"},
    {"nn.InstanceNorm1d(5)(q)", "layer_norm(q, dims=1) -> (2, 5, 4) float32"},
    {"nn.InstanceNorm2d(3)(torch.randn(1, 3, 2, 2))",
     "reshape(x_1, shape=[1, 3, 4]) -> (1, 3, 4) float32|"
     "layer_norm(reshape, dims=1) -> (1, 3, 4) float32|"
     "reshape(layer_norm, shape=[1, 3, 2, 2]) -> (1, 3, 2, 2) float32"},
    {"nn.InstanceNorm3d(3, affine=True)(torch.randn(1, 3, 2, 2, 2))",
     "reshape(x_1, shape=[1, 3, 8]) -> (1, 3, 8) float32|"
     "layer_norm(reshape, dims=1) -> (1, 3, 8) float32|"
     "reshape(layer_norm, shape=[1, 3, 2, 2, 2]) -> (1, 3, 2, 2, 2) float32|"
     "reshape(p_weight, shape=[3, 1, 1, 1]) -> (3, 1, 1, 1) float32|"
     "mul(reshape_1, reshape_2) -> (1, 3, 2, 2, 2) float32|"
     "reshape(p_bias, shape=[3, 1, 1, 1]) -> (3, 1, 1, 1) float32|"
     "add(mul, reshape_3) -> (1, 3, 2, 2, 2) float32"},
    {"nn.GroupNorm(1, 5)(q)",
     "reshape(q, shape=[2, 1, 20]) -> (2, 1, 20) float32|"
     "layer_norm(reshape, dims=1) -> (2, 1, 20) float32|"
     "reshape(layer_norm, shape=[2, 5, 4]) -> (2, 5, 4) float32|"
     "reshape(p_weight, shape=[5, 1]) -> (5, 1) float32|"
     "mul(reshape_1, reshape_2) -> (2, 5, 4) float32|"
     "reshape(p_bias, shape=[5, 1]) -> (5, 1) float32|"
     "add(mul, reshape_3) -> (2, 5, 4) float32"},
    {"nn.PReLU()(x)",
     "mul(p_weight, x) -> (2, 3) float32|"
     "gt(x, prelu_c1) -> (2, 3) bool|"
     "where(gt, x, mul) -> (2, 3) float32"},
    {"nn.Bilinear(3, 3, 2)(x, y)",
     "reshape(x, shape=[1, 2, 3]) -> (1, 2, 3) float32|"
     "permute(p_weight, dims=[1, 0, 2]) -> (3, 2, 3) float32|"
     "reshape(permute, shape=[1, 3, 6]) -> (1, 3, 6) float32|"
     "matmul(reshape, reshape_1) -> (1, 2, 6) float32|"
     "reshape(matmul, shape=[2, 2, 3]) -> (2, 2, 3) float32|"
     "reshape(y, shape=[2, 3, 1]) -> (2, 3, 1) float32|"
     "matmul(reshape_2, reshape_3) -> (2, 2, 1) float32|"
     "reshape(matmul_1, shape=[2, 2]) -> (2, 2) float32|"
     "add(reshape_4, p_bias) -> (2, 2) float32"},
    {"nn.LSTM(4, 3)(torch.randn(1, 1, 4))[0]",
     "full(shape=[1, 1, 3], value=0.0) -> (1, 1, 3) float32|"
     "select(full, dim=0, index=0) -> (1, 3) float32|"
     "select(full, dim=0, index=0) -> (1, 3) float32|"
     "linear(x_1, p_weight_ih_l0, p_bias_ih_l0) -> (1, 1, 12) float32|"
     "select(linear, dim=0, index=0) -> (1, 12) float32|"
     "linear(select_1, p_weight_hh_l0, p_bias_hh_l0) -> (1, 12) float32|"
     "add(select_3, linear_1) -> (1, 12) float32|"
     "slice(add, dim=1, end=3) -> (1, 3) float32|"
     "sigmoid(slice_1) -> (1, 3) float32|"
     "slice(add, dim=1, start=3, end=6) -> (1, 3) float32|"
     "sigmoid(slice_2) -> (1, 3) float32|"
     "slice(add, dim=1, start=6, end=9) -> (1, 3) float32|"
     "tanh(slice_3) -> (1, 3) float32|"
     "slice(add, dim=1, start=9) -> (1, 3) float32|"
     "sigmoid(slice_4) -> (1, 3) float32|"
     "mul(sigmoid, tanh_1) -> (1, 3) float32|"
     "mul(sigmoid_1, select_2) -> (1, 3) float32|"
     "add(mul_1, mul) -> (1, 3) float32|"
     "tanh(add_1) -> (1, 3) float32|"
     "mul(sigmoid_2, tanh_2) -> (1, 3) float32|"
     "stack(mul_2) -> (1, 1, 3) float32"},
    {"nn.GRU(4, 3, bias=False)(torch.randn(1, 1, 4))[0]",
     "full(shape=[1, 1, 3], value=0.0) -> (1, 1, 3) float32|"
     "select(full, dim=0, index=0) -> (1, 3) float32|"
     "linear(x_1, p_weight_ih_l0) -> (1, 1, 9) float32|"
     "select(linear, dim=0, index=0) -> (1, 9) float32|"
     "linear(select_1, p_weight_hh_l0) -> (1, 9) float32|"
     "slice(linear_1, dim=1, end=3) -> (1, 3) float32|"
     "slice(select_2, dim=1, end=3) -> (1, 3) float32|"
     "add(slice_2, slice_1) -> (1, 3) float32|"
     "sigmoid(add) -> (1, 3) float32|"
     "slice(linear_1, dim=1, start=3, end=6) -> (1, 3) float32|"
     "slice(select_2, dim=1, start=3, end=6) -> (1, 3) float32|"
     "add(slice_4, slice_3) -> (1, 3) float32|"
     "sigmoid(add_1) -> (1, 3) float32|"
     "slice(linear_1, dim=1, start=6) -> (1, 3) float32|"
     "mul(sigmoid, slice_5) -> (1, 3) float32|"
     "slice(select_2, dim=1, start=6) -> (1, 3) float32|"
     "add(slice_6, mul) -> (1, 3) float32|"
     "tanh(add_2) -> (1, 3) float32|"
     "mul(sigmoid_1, select_1) -> (1, 3) float32|"
     "sub(gru_c1, sigmoid_1) -> (1, 3) float32|"
     "mul(sub, tanh_1) -> (1, 3) float32|"
     "add(mul_2, mul_1) -> (1, 3) float32|"
     "stack(add_3) -> (1, 1, 3) float32"},
    {"nn.RNN(4, 3, nonlinearity='relu')(torch.randn(1, 1, 4))[0]",
     "full(shape=[1, 1, 3], value=0.0) -> (1, 1, 3) float32|"
     "select(full, dim=0, index=0) -> (1, 3) float32|"
     "linear(x_1, p_weight_ih_l0, p_bias_ih_l0) -> (1, 1, 3) float32|"
     "select(linear, dim=0, index=0) -> (1, 3) float32|"
     "linear(select_1, p_weight_hh_l0, p_bias_hh_l0) -> (1, 3) float32|"
     "add(select_2, linear_1) -> (1, 3) float32|"
     "relu(add) -> (1, 3) float32|"
     "stack(relu) -> (1, 1, 3) float32"},
    {"nn.Linear(3, 4, bias=None)(x)", "linear(x, p_weight) -> (2, 4) float32"},
    {"nn.LayerNorm(3, bias=0)(x)", "layer_norm(x, p_weight, dims=1) -> (2, 3) float32"},
    {"nn.LayerNorm(3, elementwise_affine=None)(x)", "layer_norm(x, dims=1) -> (2, 3) float32"},
    {"nn.Dropout(0.1)(nn.Identity(54)(x))", ""},
    {"F.gumbel_softmax(y, tau=0.5)",
     "log(x_1) -> (2, 3) float32|neg(log_1) -> (2, 3) float32|log(neg) -> (2, 3) float32|"
     "neg(log_2) -> (2, 3) float32|add(y, neg_1) -> (2, 3) float32|div(add, div_c1) -> (2, 3) float32|"
     "softmax(div, dim=1) -> (2, 3) float32"},
    {"nn.Flatten()(q)", "reshape(q, shape=[2, 20]) -> (2, 20) float32"},
    {"nn.Sequential(nn.Linear(3, 8, bias=False), nn.ReLU(), nn.Linear(8, 3, False))(x)",
     "linear(x, p_0_weight) -> (2, 8) float32|relu(linear) -> (2, 8) float32|linear(relu, p_2_weight) -> (2, 3) "
     "float32"},
    {"nn.ModuleList([nn.SiLU(), nn.Tanh()])[1](x)", "tanh(x) -> (2, 3) float32"},
    {"l = nn.Linear(3, 4).eval().train().cpu().cuda().requires_grad_(False); F.linear(x, l.weight)",
     "linear(x, p_weight) -> (2, 4) float32"},
    {"nn.Linear(3, 4, dtype=torch.float16)(x.half())",
     "to(x, dtype=float16) -> (2, 3) float16|linear(to, p_weight, p_bias) -> (2, 4) float16"},
};

// All functions except operators and those that only modules of torch.nn call.
constexpr unsigned named = ~unsigned{python::as_infix | python::as_prefix | python::of_modules_only};

// Functions that the numbers in tests/ir/torch/expression_language_test.cpp cover.
constexpr std::string_view elsewhere =
    "math.sqrt( math.exp( math.log( math.sin( math.cos( math.tanh( math.pow( math.floor( math.ceil( int( float( bool( "
    "len( "
    "max( min( register_buffer( RNNBase( _AvgPoolNd( _BatchNorm( _ConvNd( _ConvTransposeNd( _DropoutNd( _InstanceNorm( "
    "_MaxPoolNd( _NormBase( complex64( complex128( contextmanager( environ( "
    "getenv( range_push( range_pop(";

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    std::string expected(c.calls);
    for (char& letter : expected)
      if (letter == '|') letter = '\n';
    if (!expected.empty()) expected += '\n';
    try {
      EXPECT_EQ(calls(std::string(inputs).append(c.text)), expected) << c.text;
    } catch (const Error& e) {
      ADD_FAILURE() << c.text << "\n" << e.what();
    }
  }
}

TEST(ExpressionFunctions, Elementwise) { check(elementwise_cases); }
TEST(ExpressionFunctions, Reductions) { check(reduction_cases); }
TEST(ExpressionFunctions, Networks) { check(network_cases); }
TEST(ExpressionFunctions, Shapes) { check(shape_cases); }
TEST(ExpressionFunctions, Creations) { check(creation_cases); }
TEST(ExpressionFunctions, Modules) { check(module_cases); }

TEST(ExpressionFunctions, EveryFunctionHasACase) {
  std::string all(elsewhere);
  for (const auto* cases :
       {&elementwise_cases, &reduction_cases, &network_cases, &shape_cases, &creation_cases, &module_cases})
    for (const Case& c : *cases) all.append("\n").append(c.text);
  for (const tests::TorchCase& c : tests::torch_cases()) all.append("\n").append(c.code);
  for (const auto& entry : std::filesystem::directory_iterator(DEPLO_SOURCE_DIR "/tests/data/torch_modules"))
    if (entry.path().extension() == ".py") all.append("\n").append(read_file(entry.path()));
  for (const std::string& name : python::function_names(named))
    EXPECT_NE(all.find(name + "("), std::string::npos) << "no case of " << name;
  for (const std::string& name : python::written_names(~0U))
    EXPECT_NE(all.find(name + "("), std::string::npos) << "no case of " << name;
  for (const std::string& name : python::function_names(python::as_infix))
    EXPECT_NE(all.find(" " + name + " "), std::string::npos) << "no case of " << name;
  for (const std::string& name : python::function_names(python::as_prefix))
    EXPECT_NE(all.find("\n" + name), std::string::npos) << "no case of " << name;
  for (const python::ModuleType& m : python::module_types())
    EXPECT_NE(all.find("nn." + std::string(m.name) + "("), std::string::npos) << "no case of " << m.name;
}

TEST(ExpressionFunctions, ANameHasOneMeaningInEachSpace) {
  for (unsigned space = 1; space <= python::as_infix; space *= 2) {
    std::vector<std::string> names = python::function_names(space);
    std::ranges::move(python::written_names(space), std::back_inserter(names));
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << "space " << space;
  }
}

TEST(ExpressionFunctions, EveryFunctionIsInTheDocs) {
  std::ifstream file(DEPLO_SOURCE_DIR "/docs/expressions.md");
  const std::string docs((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::set<std::string> words;
  for (std::size_t at = 0, end = 0; at < docs.size(); at = end + 1) {
    for (end = at; end < docs.size() && is_letter(docs[end]);) ++end;
    words.insert(docs.substr(at, end - at));
  }
  for (const std::string& name : python::function_names(named)) EXPECT_TRUE(words.contains(name)) << name;
  for (const std::string& name : python::written_names(~0U)) EXPECT_TRUE(words.contains(name)) << name;
  for (const std::string& name : python::function_names(python::as_infix | python::as_prefix))
    EXPECT_TRUE(docs.find("`" + name) != std::string::npos || docs.find(" " + name) != std::string::npos) << name;
  for (const python::ModuleType& m : python::module_types()) EXPECT_TRUE(words.contains(std::string(m.name))) << m.name;
}

}  // namespace
}  // namespace deplo::ir::torch::expression_functions_test
