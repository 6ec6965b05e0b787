// Modules of torch.nn, written in the language itself. Their parameters have PyTorch's names.
#include "ir/torch/expression/functions/library.h"

namespace deplo::ir::torch::python {

// Embeddings and projections are initialised like nn.Linear, because zeros would hide a kernel that omits them.
std::string_view written_modules_text() {
  return R"python(
def uniform(*shape, features):
    bound = 1 / math.sqrt(features)
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


def Buffer(data, persistent=True): return data


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None,
                 vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        assert embed_dim % num_heads == 0, f"an embed_dim that num_heads divides, found {embed_dim} and {num_heads}"
        assert not add_bias_kv and not add_zero_attn, "add_bias_kv=False and add_zero_attn=False"
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.in_proj_weight = None
        if self.kdim == embed_dim and self.vdim == embed_dim:
            self.in_proj_weight = uniform(3 * embed_dim, embed_dim, features=embed_dim)
        else:
            self.q_proj_weight = uniform(embed_dim, embed_dim, features=embed_dim)
            self.k_proj_weight = uniform(embed_dim, self.kdim, features=self.kdim)
            self.v_proj_weight = uniform(embed_dim, self.vdim, features=self.vdim)
        self.in_proj_bias = uniform(3 * embed_dim, features=embed_dim) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def projected(self, query, key, value):
        if self.in_proj_weight is None:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        else:
            weights = self.in_proj_weight.chunk(3)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        heads = []
        for x, weight, bias in zip((query, key, value), weights, biases):
            x = F.linear(x, weight, bias)
            heads.append(x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).permute(1, 2, 0, 3))
        return heads

    def mask(self, attn_mask, key_padding_mask, shape):
        total = None
        for given, is_padding in ((attn_mask, False), (key_padding_mask, True)):
            if given is None:
                continue
            if given.dtype == torch.bool:
                given = torch.zeros(given.shape).masked_fill(given, -math.inf)
            if is_padding:
                given = given.view(given.shape[0], 1, 1, -1)
            elif given.dim() == 3:
                given = given.view(shape)
            total = given if total is None else total + given
        return total

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        batched = query.dim() == 3
        if not batched:
            query, key, value = (x.unsqueeze(1) for x in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        length, batch, width = query.shape
        q, k, v = self.projected(query, key, value)
        mask = self.mask(attn_mask, key_padding_mask, (batch, self.num_heads, length, k.shape[2]))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        out = self.out_proj(out.permute(2, 0, 1, 3).reshape(length, batch, width))
        if not batched:
            out = out.squeeze(1)
        elif self.batch_first:
            out = out.transpose(0, 1)
        if not need_weights:
            return out, None
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores if mask is None else scores + mask, dim=-1)
        if average_attn_weights:
            weights = weights.mean(dim=1)
        return out, weights if batched else weights.squeeze(0)


def activation_of(activation):
    if isinstance(activation, str):
        return {"relu": F.relu, "gelu": F.gelu}[activation]
    return activation


class TransformerLayer(nn.Module):
    has_memory = False

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        def norm(): return nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        def attention(): return MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.self_attn = attention()
        if self.has_memory:
            self.multihead_attn = attention()
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=bias)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias)
        self.norm1, self.norm2 = norm(), norm()
        if self.has_memory:
            self.norm3 = norm()
        self.norm_first = norm_first
        self.activation = activation_of(activation)

    def added(self, x, norm, part): return x + part(norm(x)) if self.norm_first else norm(x + part(x))
    def fed(self, x): return self.linear2(self.activation(self.linear1(x)))


class TransformerEncoderLayer(TransformerLayer):
    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        def attended(x):
            return self.self_attn(x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask,
                                  need_weights=False)[0]
        return self.added(self.added(src, self.norm1, attended), self.norm2, self.fed)


class TransformerDecoderLayer(TransformerLayer):
    has_memory = True

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        def attended(x):
            return self.self_attn(x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask,
                                  need_weights=False)[0]
        def remembered(x):
            return self.multihead_attn(x, memory, memory, attn_mask=memory_mask,
                                       key_padding_mask=memory_key_padding_mask, need_weights=False)[0]
        x = self.added(tgt, self.norm1, attended)
        x = self.added(x, self.norm2, remembered)
        return self.added(x, self.norm3, self.fed)


class TransformerEncoder(nn.Module):
    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(nn.Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.norm = norm

    def forward(self, tgt, memory, **masks):
        for layer in self.layers:
            tgt = layer(tgt, memory, **masks)
        return tgt if self.norm is None else self.norm(tgt)


class Cell(nn.Module):
    gates = 1

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.hidden_size, self.nonlinearity = hidden_size, nonlinearity
        self.weight_ih = uniform(self.gates * hidden_size, input_size, features=hidden_size)
        self.weight_hh = uniform(self.gates * hidden_size, hidden_size, features=hidden_size)
        self.bias_ih = uniform(self.gates * hidden_size, features=hidden_size) if bias else None
        self.bias_hh = uniform(self.gates * hidden_size, features=hidden_size) if bias else None

    def start(self, input):
        return input.new_zeros(*input.shape[:-1], self.hidden_size)

    def products(self, input, hidden):
        return F.linear(input, self.weight_ih, self.bias_ih), F.linear(hidden, self.weight_hh, self.bias_hh)


class RNNCell(Cell):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, nonlinearity)

    def forward(self, input, hx=None):
        a, b = self.products(input, self.start(input) if hx is None else hx)
        return torch.tanh(a + b) if self.nonlinearity == "tanh" else torch.relu(a + b)


class GRUCell(Cell):
    gates = 3

    def forward(self, input, hx=None):
        hx = self.start(input) if hx is None else hx
        a, b = self.products(input, hx)
        (ra, za, na), (rb, zb, nb) = a.chunk(3, -1), b.chunk(3, -1)
        reset, update = torch.sigmoid(ra + rb), torch.sigmoid(za + zb)
        fresh = torch.tanh(na + reset * nb)
        return (1 - update) * fresh + update * hx


class LSTMCell(Cell):
    gates = 4

    def forward(self, input, hx=None):
        hidden, cell = (self.start(input), self.start(input)) if hx is None else hx
        a, b = self.products(input, hidden)
        i, f, g, o = (a + b).chunk(4, -1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(cell), cell


class Pad(nn.Module):
    dims, mode = 2, "constant"

    def __init__(self, padding, value=0.0):
        super().__init__()
        self.padding = (padding,) * (2 * self.dims) if isinstance(padding, int) else tuple(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, mode=self.mode, value=self.value)


class ConstantPad1d(Pad): dims = 1
class ConstantPad2d(Pad): dims = 2
class ConstantPad3d(Pad): dims = 3
class ZeroPad1d(Pad): dims = 1
class ZeroPad2d(Pad): dims = 2
class ZeroPad3d(Pad): dims = 3
class ReflectionPad1d(Pad): dims, mode = 1, "reflect"
class ReflectionPad2d(Pad): dims, mode = 2, "reflect"
class ReflectionPad3d(Pad): dims, mode = 3, "reflect"
class ReplicationPad1d(Pad): dims, mode = 1, "replicate"
class ReplicationPad2d(Pad): dims, mode = 2, "replicate"
class ReplicationPad3d(Pad): dims, mode = 3, "replicate"
class CircularPad1d(Pad): dims, mode = 1, "circular"
class CircularPad2d(Pad): dims, mode = 2, "circular"
class CircularPad3d(Pad): dims, mode = 3, "circular"
class Dropout1d(nn.Dropout): pass
class Dropout2d(nn.Dropout): pass
class Dropout3d(nn.Dropout): pass
class AlphaDropout(nn.Dropout): pass
class FeatureAlphaDropout(nn.Dropout): pass


class Unflatten(nn.Module):
    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


class EmbeddingBag(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None,
                 dtype=None):
        super().__init__()
        self.max_norm, self.mode, self.padding_idx = max_norm, mode, padding_idx
        self.include_last_offset = include_last_offset
        self.weight = uniform(num_embeddings, embedding_dim, features=embedding_dim)

    def forward(self, input, offsets=None, per_sample_weights=None):
        return embedding_bag(input, self.weight, offsets, self.max_norm, mode=self.mode,
                             per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset,
                             padding_idx=self.padding_idx)


class Unpool(nn.Module):
    dims = 2

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def forward(self, input, indices, output_size=None):
        return unpooled(input, indices, self.kernel_size, self.stride, self.padding, output_size, self.dims)


class MaxUnpool1d(Unpool): dims = 1
class MaxUnpool2d(Unpool): dims = 2
class MaxUnpool3d(Unpool): dims = 3


class SyncBatchNorm(nn.BatchNorm2d):
    def forward(self, input):
        return F.batch_norm(input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)


class Transformer(nn.Module):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,
                 dropout=0.1, activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        def norm():
            return nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias)
        options = dict(dim_feedforward=dim_feedforward, dropout=dropout, activation=activation,
                       layer_norm_eps=layer_norm_eps, batch_first=batch_first, norm_first=norm_first, bias=bias)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            layer = TransformerEncoderLayer(d_model, nhead, **options)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is None:
            layer = TransformerDecoderLayer(d_model, nhead, **options)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, norm())

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        return torch.full((sz, sz), -math.inf).triu(1)


class UpsamplingNearest2d(nn.Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(nn.Upsample):
    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


# PyTorch's base classes of several modules, for isinstance and issubclass.
_BatchNorm = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, SyncBatchNorm)
_InstanceNorm = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
_NormBase = (_BatchNorm, _InstanceNorm)
_ConvTransposeNd = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_ConvNd = (nn.Conv1d, nn.Conv2d, nn.Conv3d, _ConvTransposeNd)
_DropoutNd = (nn.Dropout, Dropout1d, Dropout2d, Dropout3d, AlphaDropout, FeatureAlphaDropout)
_MaxPoolNd = (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
_AvgPoolNd = (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
RNNBase = (nn.LSTM, nn.GRU, nn.RNN)
)python";
}

}  // namespace deplo::ir::torch::python
