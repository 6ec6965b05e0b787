#!/usr/bin/env python3
"""Writes a kernel of cuTile Python as bytecode, which `deplo compile --tile` and
`deplo run --tile` read. Needs no GPU.

    pip install cuda-tile
    export_tile.py experiments/tile/kernels.py softmax softmax.tileirbc 'f32[_,_]' 'f32[_,_]' =256
    export_tile.py --version 13.1 experiments/tile/kernels.py scale scale.tileirbc 'f16[_]' 'f16[_]' f32 =128

The parameters follow the file, the kernel and the output. A parameter is an array with a `_` for
each dimension, the type of a number, or a constant after `=`, which is compiled into the kernel.
The last stride of an array is 1, the other strides are divisible by 8, and the address is divisible
by 16. Arrays do not overlap. Extents and strides are 32-bit integers. For each array, the entry's
arguments are its address, its extents and its strides.
"""
import argparse
import ast
import re
import types

try:
    import cuda.tile as ct
    from cuda.tile.compilation import (ArrayConstraint, CallingConvention, ConstantConstraint, KernelSignature,
                                       ScalarConstraint, export_kernel)
except ModuleNotFoundError as error:
    raise SystemExit(f"export_tile.py: expected cuTile Python (`pip install cuda-tile`), found {error}") from None

TYPES = {'f16': ct.float16, 'bf16': ct.bfloat16, 'f32': ct.float32, 'f64': ct.float64, 'i8': ct.int8, 'i16': ct.int16,
         'i32': ct.int32, 'i64': ct.int64, 'f8e4m3': ct.float8_e4m3fn, 'f8e5m2': ct.float8_e5m2, 'i1': ct.bool_}


def constraint(text):
    if text.startswith('='):
        return ConstantConstraint(ast.literal_eval(text[1:]))
    match = re.fullmatch(r'(\w+)(?:\[(_(?:,_)*)\])?', text)
    if match is None or match[1] not in TYPES:
        raise SystemExit(f"expected an array such as f32[_,_], a type ({', '.join(TYPES)}) or a constant such as =128, "
                         f"found '{text}'")
    dtype = TYPES[match[1]]
    if match[2] is None:
        return ScalarConstraint(dtype)
    rank = match[2].count('_')
    return ArrayConstraint(dtype, rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
                           may_alias_internally=False, stride_constant=[None] * (rank - 1) + [1],
                           stride_divisible_by=[8] * (rank - 1) + [1], base_addr_divisible_by=16)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--version', default='13.3', help='version of the bytecode: 13.1 to 13.4 [%(default)s]')
    parser.add_argument('file')
    parser.add_argument('kernel')
    parser.add_argument('output')
    parser.add_argument('parameters', nargs='*')
    options = parser.parse_args()
    # An import would make the path absolute, and the debug info would then name a folder of this machine.
    module = types.ModuleType('kernels')
    with open(options.file) as source:
        exec(compile(source.read(), options.file, 'exec'), vars(module))
    signature = KernelSignature([constraint(p) for p in options.parameters], CallingConvention.cutile_python_v1(),
                                symbol=options.kernel)
    export_kernel(getattr(module, options.kernel), [signature], options.output, output_format='tileir_bytecode',
                  bytecode_version=options.version, gpu_code=None if options.version >= '13.3' else 'sm_100')


if __name__ == '__main__':
    main()
