"""Kernels in cuTile Python, for experiments/export_tile.py; their bytecode is what tests/data/tile_programs has."""
import cuda.tile as ct

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
