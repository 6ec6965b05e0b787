"""Kernels in cuTile Python, for experiments/export_tile.py; their bytecode is what experiments/tile/exported has."""
import cuda.tile as ct
import numpy as np

ConstInt = ct.Constant[int]


@ct.kernel
def scale(x, y, factor, TILE: ConstInt):
    """y = factor x, by pointers with masks."""
    i = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ct.scatter(y, i, ct.astype(ct.astype(ct.gather(x, i), ct.float32) * factor, y.dtype))


@ct.kernel
def softmax(x, y, TILE: ConstInt):
    """Of each row, whose length is at most TILE."""
    row = ct.bid(0)
    tile = ct.load(x, (row, 0), shape=(1, TILE), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(y, (row, 0), e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def running_sum(x, y, TILE: ConstInt):
    """Of each row, whose length is at most TILE."""
    row = ct.bid(0)
    tile = ct.load(x, (row, 0), shape=(1, TILE), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (row, 0), ct.cumsum(tile, axis=1))


@ct.kernel
def transpose(x, y, TILE: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, (j, i), ct.transpose(ct.load(x, (i, j), shape=(TILE, TILE))))


@ct.kernel
def histogram(x, counts, TILE: ConstInt):
    """How often each number below the length of counts is in x, by atomic additions of all blocks."""
    i = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    bin = ct.gather(x, i, padding_value=-1)
    ct.atomic_add(counts, bin, 1)


@ct.kernel
def locked_sum(x, total, lock, TILE: ConstInt):
    """total[0] += the sum of a tile of x, in a section that one block enters at a time."""
    tile = ct.load(x, (ct.bid(0),), shape=(TILE,), padding_mode=ct.PaddingMode.ZERO)
    part = ct.sum(tile)
    while ct.atomic_cas(lock, 0, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    ct.scatter(total, 0, ct.gather(total, 0) + part)
    ct.atomic_xchg(lock, 0, 0, memory_order=ct.MemoryOrder.RELEASE)


@ct.kernel
def matmul(a, b, c, M: ConstInt, N: ConstInt, K: ConstInt):
    i, j = ct.bid(0), ct.bid(1)
    sum = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        x = ct.load(a, (i, k), shape=(M, K), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), shape=(K, N), padding_mode=ct.PaddingMode.ZERO)
        sum = ct.mma(x, y, sum)
    ct.store(c, (i, j), sum.astype(c.dtype))


@ct.kernel
def attention(q, k, v, out, scale: float, offset: int, D: ConstInt, H: ConstInt, M: ConstInt, N: ConstInt,
              GROUP: ConstInt, CAUSAL: ct.Constant[bool], EVEN: ct.Constant[bool]):
    """softmax(scale q k^T) v for H heads, of which GROUP share one of k and v. Causal: query i sees keys up to i + offset.
    Not EVEN: N does not divide the number of keys."""
    i, batch, head = ct.bid(0), ct.bid(1) // H, ct.bid(1) % H
    query = offset + i * M + ct.arange(M, dtype=ct.int32)[:, None]
    greatest = ct.full((M, 1), -np.inf, dtype=ct.float32)
    total = ct.full((M, 1), 0, dtype=ct.float32)
    sum = ct.full((M, D), 0, dtype=ct.float32)
    q_tile = ct.load(q, (batch, head, i, 0), shape=(1, 1, M, D)).reshape((M, D))
    keys = k.shape[2]
    end = min(offset + (i + 1) * M, keys) if CAUSAL else keys
    for j in range(ct.cdiv(end, N)):
        k_tile = ct.load(k, (batch, head // GROUP, 0, j), shape=(1, 1, D, N), order=(0, 1, 3, 2)).reshape((D, N))
        score = ct.mma(q_tile, k_tile, ct.full((M, N), 0, dtype=ct.float32)) * scale
        key = j * N + ct.arange(N, dtype=ct.int32)[None, :]
        if CAUSAL:
            score = ct.where(query >= key, score, -np.inf)
        if not EVEN:
            score = ct.where(key < keys, score, -np.inf)
        next = ct.maximum(ct.max(score, axis=1, keepdims=True), greatest)
        weight = ct.exp(score - next)
        change = ct.exp(greatest - next)
        v_tile = ct.load(v, (batch, head // GROUP, j, 0), shape=(1, 1, N, D)).reshape((N, D))
        total = ct.sum(weight, axis=1, keepdims=True) + change * total
        sum = ct.mma(weight.astype(v.dtype), v_tile, change * sum)
        greatest = next
    ct.store(out, (batch, head, i, 0), (sum / total).reshape((1, 1, M, D)).astype(out.dtype))


@ct.kernel
def attention_open_end(q, k, v, out, scale: float, D: ConstInt, M: ConstInt, N: ConstInt):
    """Of one head. Only keys behind the last whole tile are masked: the compiler makes two loops of this one."""
    i = ct.bid(0)
    keys = k.shape[0]
    whole = keys // N
    greatest = ct.full((M, 1), -np.inf, dtype=ct.float32)
    total = ct.full((M, 1), 0, dtype=ct.float32)
    sum = ct.full((M, D), 0, dtype=ct.float32)
    q_tile = ct.load(q, (i, 0), shape=(M, D))
    for j in range(ct.cdiv(keys, N)):
        score = ct.mma(q_tile, ct.transpose(ct.load(k, (j, 0), shape=(N, D))), ct.full((M, N), 0, dtype=ct.float32))
        if j >= whole:
            shown = j * N + ct.arange(N, dtype=ct.int32)[None, :] < keys
            score += ct.where(shown, 0.0, -np.inf)
        next = ct.maximum(greatest, ct.max(score, axis=1, keepdims=True) * scale)
        weight = ct.exp(score * scale - next)
        change = ct.exp(greatest - next)
        total = total * change + ct.sum(weight, axis=1, keepdims=True)
        sum = ct.mma(weight.astype(v.dtype), ct.load(v, (j, 0), shape=(N, D)), sum * change)
        greatest = next
    ct.store(out, (i, 0), (sum / total).astype(out.dtype))


@ct.kernel
def attention_with_lse(q, k, v, out, lse, scale: float, D: ConstInt, M: ConstInt, N: ConstInt):
    """Of one head, in powers of 2 that are scaled late, and beside it the logarithm of each row's sum of exponentials."""
    i = ct.bid(0)
    log2_e = 1.4426950408889634
    greatest = ct.full((M,), -np.inf, dtype=ct.float32)
    total = ct.full((M,), 0, dtype=ct.float32)
    sum = ct.full((M, D), 0, dtype=ct.float32)
    q_tile = ct.load(q, (i, 0), shape=(M, D))
    for j in range(ct.cdiv(k.shape[0], N)):
        score = ct.mma(q_tile, ct.transpose(ct.load(k, (j, 0), shape=(N, D))), ct.full((M, N), 0, dtype=ct.float32))
        shown = j * N + ct.arange(N, dtype=ct.int32) < k.shape[0]
        score = score + ct.where(shown, 0.0, -np.inf)[None, :]
        next = ct.maximum(greatest, ct.max(score, axis=1))
        change = ct.exp2((greatest - next) * (scale * log2_e))
        weight = ct.exp2((score - next[:, None]) * (scale * log2_e))
        sum = sum * change[:, None]
        total = total * change + ct.sum(weight, axis=1)
        sum = ct.mma(weight.astype(v.dtype), ct.load(v, (j, 0), shape=(N, D)), sum)
        greatest = next
    ct.store(out, (i, 0), ct.truediv(sum, total[:, None]).astype(out.dtype))
    ct.store(lse, (i,), greatest * scale + ct.log(total))


@ct.kernel
def chunked_softmax(x, y, N: ConstInt):
    """Of each row in chunks: its maximum and its sum in one sweep, then the quotients."""
    row = ct.bid(0)
    greatest = ct.full((1, 1), -np.inf, dtype=ct.float32)
    total = ct.full((1, 1), 0, dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(1, N))):
        tile = ct.load(x, (row, j), shape=(1, N), padding_mode=ct.PaddingMode.NEG_INF)
        next = ct.maximum(greatest, ct.max(tile, axis=1, keepdims=True))
        total = total * ct.exp(greatest - next) + ct.sum(ct.exp(tile - next), axis=1, keepdims=True)
        greatest = next
    for j in range(ct.num_tiles(x, axis=1, shape=(1, N))):
        tile = ct.load(x, (row, j), shape=(1, N), padding_mode=ct.PaddingMode.NEG_INF)
        ct.store(y, (row, j), ct.exp(tile - greatest) / total)


@ct.kernel
def triangular_matmul(a, b, c, N: ConstInt):
    """The product of a's lower triangle and b, whose upper tiles are not read."""
    i, j = ct.bid(0), ct.bid(1)
    sum = ct.full((N, N), 0, dtype=ct.float32)
    row = i * N + ct.arange(N, dtype=ct.int32)[:, None]
    for k in range(i + 1):
        column = k * N + ct.arange(N, dtype=ct.int32)[None, :]
        x = ct.load(a, (i, k), shape=(N, N), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), shape=(N, N), padding_mode=ct.PaddingMode.ZERO)
        sum = ct.mma(ct.where(row >= column, x, 0), y, sum)
    ct.store(c, (i, j), sum.astype(c.dtype))


@ct.kernel
def banded_matmul(a, b, c, N: ConstInt):
    """The product of b and of a's tiles on its diagonal and beside it."""
    i, j = ct.bid(0), ct.bid(1)
    sum = ct.full((N, N), 0, dtype=ct.float32)
    for k in range(max(i - 1, 0), min(i + 2, ct.num_tiles(a, axis=1, shape=(N, N)))):
        x = ct.load(a, (i, k), shape=(N, N), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), shape=(N, N), padding_mode=ct.PaddingMode.ZERO)
        sum = ct.mma(x, y, sum)
    ct.store(c, (i, j), sum.astype(c.dtype))


@ct.kernel
def batched_matmul(a, b, c, M: ConstInt, N: ConstInt, K: ConstInt):
    batch, i, j = ct.bid(0), ct.bid(1), ct.bid(2)
    sum = ct.full((1, M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=2, shape=(1, M, K))):
        x = ct.load(a, (batch, i, k), shape=(1, M, K), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (batch, k, j), shape=(1, K, N), padding_mode=ct.PaddingMode.ZERO)
        sum = ct.mma(x, y, sum)
    ct.store(c, (batch, i, j), sum.astype(c.dtype))


@ct.kernel
def persistent_matmul(a, b, c, M: ConstInt, N: ConstInt, K: ConstInt, GROUP: ConstInt):
    """Blocks take tile after tile, in groups of GROUP rows of tiles."""
    rows, columns = ct.cdiv(a.shape[0], M), ct.cdiv(b.shape[1], N)
    for tile in range(ct.bid(0), rows * columns, ct.num_blocks(0)):
        first = tile // (GROUP * columns) * GROUP
        in_group = min(rows - first, GROUP)
        i = first + tile % (GROUP * columns) % in_group
        j = tile % (GROUP * columns) // in_group
        sum = ct.full((M, N), 0, dtype=ct.float32)
        for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
            x = ct.load(a, (i, k), shape=(M, K), padding_mode=ct.PaddingMode.ZERO)
            y = ct.load(b, (k, j), shape=(K, N), padding_mode=ct.PaddingMode.ZERO)
            sum = ct.mma(x, y, sum)
        ct.store(c, (i, j), sum.astype(c.dtype))


@ct.kernel
def integer_matmul(a, b, c, N: ConstInt):
    sum = ct.mma(ct.load(a, (0, 0), shape=(N, N)), ct.load(b, (0, 0), shape=(N, N)), ct.full((N, N), 0, dtype=ct.int32))
    ct.store(c, (0, 0), sum)


@ct.kernel
def layer_norm_backward(dx, dy, x, weight, mean, rstd, N: ConstInt):
    """dx of each row, from its mean and the reciprocal of its deviation."""
    row = ct.bid(0)
    columns, tiles = x.shape[1], ct.num_tiles(x, axis=1, shape=(1, N))
    m, r = ct.load(mean, (row,), shape=(1,)), ct.load(rstd, (row,), shape=(1,))
    both = ct.full((1, N), 0, dtype=ct.float32)
    gradient = ct.full((1, N), 0, dtype=ct.float32)
    for j in range(tiles):
        inside = j * N + ct.arange(N, dtype=ct.int32)[None, :] < columns
        xhat = (ct.load(x, (row, j), shape=(1, N), padding_mode=ct.PaddingMode.ZERO) - m) * r
        wdy = (ct.load(weight, (j,), shape=(N,), padding_mode=ct.PaddingMode.ZERO) *
               ct.load(dy, (row, j), shape=(1, N), padding_mode=ct.PaddingMode.ZERO))
        xhat = ct.where(inside, xhat, 0)
        both += xhat * wdy
        gradient += wdy
    c1 = ct.sum(both, axis=1, keepdims=True) / columns
    c2 = ct.sum(gradient, axis=1, keepdims=True) / columns
    for j in range(tiles):
        xhat = (ct.load(x, (row, j), shape=(1, N), padding_mode=ct.PaddingMode.ZERO) - m) * r
        wdy = (ct.load(weight, (j,), shape=(N,), padding_mode=ct.PaddingMode.ZERO) *
               ct.load(dy, (row, j), shape=(1, N), padding_mode=ct.PaddingMode.ZERO))
        ct.store(dx, (row, j), ((wdy - (xhat * c1 + c2)) * r).astype(dx.dtype))


@ct.kernel
def column_sums(x, y, M: ConstInt, N: ConstInt):
    """Of all rows: what is left of a layer norm's gradients when each block has added up its own."""
    j = ct.bid(0)
    sum = ct.full((M, N), 0, dtype=ct.float32)
    for i in range(ct.num_tiles(x, axis=0, shape=(M, N))):
        sum += ct.load(x, (i, j), shape=(M, N), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (j,), ct.sum(sum, axis=0))


@ct.kernel
def layer_norm_backward_locked(dy, x, w, mean, rstd, dx, dw, db, lock, TILE: ConstInt):
    """Of a row of at most TILE: its dx, and its part of dw and db, which one block at a time adds."""
    row = ct.bid(0)
    n = x.shape[1]
    g = ct.load(dy, (row, 0), shape=(1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    scale = ct.load(rstd, (row,), shape=(1,))
    h = (ct.load(x, (row, 0), shape=(1, TILE), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
         - ct.load(mean, (row,), shape=(1,))) * scale
    wg = g * ct.load(w, (0,), shape=(TILE,), padding_mode=ct.PaddingMode.ZERO).astype(ct.float32)
    slope = ct.sum(h * wg, axis=1, keepdims=True) / n
    shift = ct.sum(wg, axis=1, keepdims=True) / n
    ct.store(dx, (row, 0), ((wg - (h * slope + shift)) * scale).astype(dx.dtype))
    while ct.atomic_cas(lock, 0, 0, 1, memory_order=ct.MemoryOrder.ACQUIRE) == 1:
        pass
    ct.store(dw, (0,), ct.load(dw, (0,), shape=(TILE,)) + ct.reshape(g * h, (TILE,)))
    ct.store(db, (0,), ct.load(db, (0,), shape=(TILE,)) + ct.reshape(g, (TILE,)))
    ct.atomic_xchg(lock, 0, 0, memory_order=ct.MemoryOrder.RELEASE)


@ct.kernel
def fourier(x_re, x_im, y_re, y_im, f_re, f_im, t_re, t_im, N: ConstInt):
    """Of N x N numbers, as N transforms of N, twiddle factors t, and N more: k1 + N k2 of n2 + N n1. f is that of N."""
    b = ct.bid(0)
    a_re, a_im = ct.load(f_re, (0, 0), shape=(N, N)), ct.load(f_im, (0, 0), shape=(N, N))
    re = ct.reshape(ct.load(x_re, (b, 0, 0), shape=(1, N, N)), (N, N))
    im = ct.reshape(ct.load(x_im, (b, 0, 0), shape=(1, N, N)), (N, N))
    zero = ct.full((N, N), 0, dtype=ct.float32)
    p_re = ct.mma(a_re, re, zero) - ct.mma(a_im, im, zero)
    p_im = ct.mma(a_re, im, ct.mma(a_im, re, zero))
    w_re, w_im = ct.load(t_re, (0, 0), shape=(N, N)), ct.load(t_im, (0, 0), shape=(N, N))
    q_re, q_im = p_re * w_re - p_im * w_im, p_re * w_im + p_im * w_re
    r_re = ct.mma(q_re, a_re, zero) - ct.mma(q_im, a_im, zero)
    r_im = ct.mma(q_re, a_im, ct.mma(q_im, a_re, zero))
    ct.store(y_re, (b, 0, 0), ct.reshape(ct.transpose(r_re), (1, N, N)))
    ct.store(y_im, (b, 0, 0), ct.reshape(ct.transpose(r_im), (1, N, N)))


@ct.kernel
def cumulative_softmax(x, y, TILE: ConstInt):
    """The running sum of a row's softmax, whose length is at most TILE."""
    row = ct.bid(0)
    tile = ct.load(x, (row, 0), shape=(1, TILE), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(tile - ct.max(tile, axis=1, keepdims=True))
    ct.store(y, (row, 0), ct.cumsum(e / ct.sum(e, axis=1, keepdims=True), axis=1))


@ct.kernel
def last_block_sum(x, parts, count, total, TILE: ConstInt, BLOCKS: ConstInt):
    """Each block leaves a part; the one that finds itself the last adds them."""
    part = ct.sum(ct.load(x, (ct.bid(0),), shape=(TILE,), padding_mode=ct.PaddingMode.ZERO))
    ct.scatter(parts, ct.bid(0), part)
    if ct.atomic_add(count, 0, 1, memory_order=ct.MemoryOrder.ACQ_REL) == ct.num_blocks(0) - 1:
        ct.scatter(total, 0, ct.sum(ct.load(parts, (0,), shape=(BLOCKS,), padding_mode=ct.PaddingMode.ZERO)))


@ct.kernel
def scatter_add(x, index, y, TILE: ConstInt):
    """y[index[i]] += x[i], by atomic additions of floats."""
    i = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ct.atomic_add(y, ct.gather(index, i, padding_value=-1), ct.gather(x, i))


@ct.kernel
def matmul_tf32(a, b, c, M: ConstInt, N: ConstInt, K: ConstInt):
    """The same as matmul, its factors rounded to tf32."""
    i, j = ct.bid(0), ct.bid(1)
    sum = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        x = ct.load(a, (i, k), shape=(M, K), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), shape=(K, N), padding_mode=ct.PaddingMode.ZERO)
        sum = ct.mma(x.astype(ct.tfloat32), y.astype(ct.tfloat32), sum)
    ct.store(c, (i, j), sum)


@ct.kernel
def unchecked(x, keep, y, TILE: ConstInt):
    """y = 2 x where keep, else -1: gathers and scatters that promise to stay within their arrays."""
    i = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    kept = ct.gather(keep, i, check_bounds=False)
    ct.scatter(y, i, ct.where(kept, 2 * ct.gather(x, i, check_bounds=False), -1), check_bounds=False)


@ct.kernel
def powers(x, n, y, TILE: ConstInt):
    """y = x^n + x^3, with whole exponents, in tiles that lie within their arrays."""
    i = ct.bid(0)
    base, exponent = ct.load(x, (i,), shape=(TILE,), check_bounds=False), ct.load(n, (i,), shape=(TILE,))
    ct.store(y, (i,), base ** exponent + base ** 3, check_bounds=False)


@ct.kernel
def swap_quarters(x, y, N: ConstInt):
    """Of an N x N tile the upper left and the lower right quarter change places; then y[0, N-1] = 7. Waits for the launch
    before, and lets the next one begin."""
    ct.grid_dependency_control_wait()
    tile = ct.load(x, (0, 0), shape=(N, N))
    first, last = ct.extract(tile, (0, 0), shape=(N // 2, N // 2)), ct.extract(tile, (1, 1), shape=(N // 2, N // 2))
    tile = ct.insert(ct.insert(tile, (1, 1), first), (0, 0), last)
    ct.grid_dependency_control_launch_dependents()
    ct.store(y, (0, 0), ct.insert(tile, (0, N - 1), ct.full((), 7, dtype=x.dtype)))
