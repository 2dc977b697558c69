"""Runs a tiny, randomly initialised model on the CPU and writes what an NPU would have recorded.

    python record.py FAMILY[,FAMILY…] OUT_DIR [--attention eager|sdpa] [--checkpoint] [--layers N] [--seed N]
                     [--dropout P] [--experts NAME] [--fused-norms] [--satellites P] [--drops P] [--no-api] [--no-dtypes]

A dispatch recorder lists every operator of one forward and backward pass. Operators that launch a kernel become rows of
OUT_DIR/FAMILY/x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv under the names of the operator table; truth.csv beside it
has, for each row, the frames in model code, innermost first: file, function, first and last line of the statement; and the side.
Needs torch and transformers.
"""
import argparse
import ast
import csv
import functools
import json
import os
import random
import re
import sys
import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MODEL_CODE = os.sep + 'transformers' + os.sep
VIEWS = {'view', '_unsafe_view', 'reshape', 'permute', 'transpose', 't', 'unsqueeze', 'squeeze', 'expand', 'slice', 'select', 'split', 'split_with_sizes', 'chunk', 'unbind', 'detach', 'alias', 'as_strided', 'lift_fresh', 'empty', 'empty_like', 'new_empty', 'empty_strided', 'new_empty_strided', '_reshape_alias', 'unfold', 'diagonal', 'movedim', 'narrow', 'real', 'imag', 'view_as_real', 'view_as_complex', '_local_scalar_dense', 'is_same_size', 'resize_', 'set_', 'result_type', '_is_all_true', 'sym_size', 'equal', 'is_nonzero', '_has_compatible_shallow_copy_type', 'positive', 'item', 'scalar_tensor'}

# aten name -> (API segment, tag, type); None as API: a bare type name.
KERNELS = {
    '_to_copy': ('Cast', 'CastAiCore', 'Cast'), 'copy_': ('InplaceCopy', 'TensorMoveAiCore', 'TensorMove'), 'clone': ('InplaceCopy', 'TensorMoveAiCore', 'TensorMove'), 'pow': ('PowTensorScalar', 'PowsAiCore', 'Pows'),
    'mean': ('Mean', 'ReduceMeanAiCore', 'ReduceMean'), 'sum': ('ReduceSum', 'ReduceSumOpAiCore', 'ReduceSum'), 'add': ('Add', 'AddAiCore', 'Add'), 'add_': ('InplaceAdd', 'AddAiCore', 'Add'), 'sub': ('Sub', 'SubAiCore', 'Sub'), 'rsub': ('Rsubs', 'SubAiCore', 'Sub'), 'sub_': ('Sub', 'SubAiCore', 'Sub'),
    'rsqrt': ('Rsqrt', 'RsqrtAiCore', 'Rsqrt'), 'sqrt': ('Sqrt', 'SqrtAiCore', 'Sqrt'), 'reciprocal': ('Reciprocal', 'ReciprocalAiCore', 'Reciprocal'), 'mul': ('Mul', 'MulAiCore', 'Mul'), 'mul_': ('InplaceMul', 'MulAiCore', 'Mul'), 'div': ('Div', 'RealDivAiCore', 'RealDiv'), 'div_': ('InplaceDiv', 'RealDivAiCore', 'RealDiv'), 'neg': ('Neg', 'NegAiCore', 'Neg'),
    'sigmoid': ('Sigmoid', 'SigmoidAiCore', 'Sigmoid'), 'silu': ('Silu', 'SiluAiCore', 'Swish'), 'gelu': ('Gelu', 'GeluAiCore', 'Gelu'), 'tanh': ('Tanh', 'TanhAiCore', 'Tanh'), 'relu': ('Relu', 'ReluAiCore', 'Relu'), 'erf': ('Erf', 'ErfAiCore', 'Erf'), 'softplus': ('Softplus', 'SoftplusV2AiCore', 'SoftplusV2'), 'exp': ('Exp', 'ExpAiCore', 'Exp'), 'log': ('Log', 'LogAiCore', 'Log'), 'cos': ('Cos', 'CosAiCore', 'Cos'), 'sin': ('Sin', 'SinAiCore', 'Sin'), 'abs': ('Abs', 'AbsAiCore', 'Abs'),
    'sigmoid_backward': ('SigmoidBackward', 'SigmoidGradAiCore', 'SigmoidGrad'), 'silu_backward': ('SiluBackward', 'SiluGradAiCore', 'SiluGrad'), 'gelu_backward': ('GeluBackward', 'GeluGradAiCore', 'GeluGrad'), 'tanh_backward': ('TanhBackward', 'TanhGradAiCore', 'TanhGrad'), 'threshold_backward': ('ThresholdBackward', 'ReluGradAiCore', 'ReluGrad'), 'softplus_backward': ('SoftplusBackward', 'SoftplusV2GradAiCore', 'SoftplusV2Grad'),
    '_softmax': ('Softmax', 'SoftmaxV2AiCore', 'SoftmaxV2'), '_softmax_backward_data': ('SoftmaxBackward', 'SoftmaxGradAiCore', 'SoftmaxGrad'), '_log_softmax': ('LogSoftmax', 'LogSoftmaxAiCore', 'LogSoftmaxV2'), '_log_softmax_backward_data': ('LogSoftmaxBackward', 'LogSoftmaxGrad', 'LogSoftmaxGrad'), 'nll_loss_forward': ('NLLLoss', 'NLLLossAiCore', 'NLLLoss'), 'mse_loss_backward': ('MseLossBackward', 'MseLossGradAiCore', 'MseLossGrad'), 'nll_loss_backward': ('NLLLossBackward', 'NLLLossGradAiCore', 'NLLLossGrad'),
    'mm': ('Matmul', 'MatMulV3Common', 'MatMulV3'), 'addmm': ('Addmm', 'MatMulV3Common', 'MatMulV3'), 'bmm': ('BatchMatMul', 'BatchMatMulNd', 'BatchMatMulV2'), 'baddbmm': ('Baddbmm', 'BatchMatMulNd', 'BatchMatMulV2'), 'convolution': ('Convolution', 'Conv2DV2', 'Conv2DV2'), 'convolution_backward': ('ConvolutionBackward', 'Conv2DBackprop', 'Conv2DBackpropInput'),
    'cat': ('Cat', 'ConcatD', 'ConcatD'), 'stack': ('Stack', 'Pack', 'Pack'), 'slice_backward': ('InplaceCopy', 'SliceAiCore', 'Slice'), 'select_backward': ('InplaceCopy', 'SliceAiCore', 'Slice'), 'index_select': ('IndexSelect', 'GatherV3AiCore', 'GatherV3'), 'embedding': ('Embedding', 'GatherV2AiCore', 'GatherV2'), 'embedding_dense_backward': ('EmbeddingDenseBackward', 'EmbeddingDenseGradV2', 'EmbeddingDenseGradV2'), 'index': ('Index', 'IndexAiCore', 'Index'), 'index_put': ('IndexPutImpl', 'IndexPutV2', 'IndexPutV2'), 'index_put_': ('IndexPutImpl', 'IndexPutV2', 'IndexPutV2'), '_index_put_impl_': ('IndexPutImpl', 'IndexPutV2', 'IndexPutV2'), 'index_add': ('IndexAdd', 'InplaceIndexAdd', 'InplaceIndexAdd'), 'index_add_': ('IndexAdd', 'InplaceIndexAdd', 'InplaceIndexAdd'), 'gather': ('Gather', 'GatherElementsAiCore', 'GatherElements'), 'scatter': ('Scatter', 'ScatterElementsV2', 'ScatterElements'), 'scatter_': ('Scatter', 'ScatterElementsV2', 'ScatterElements'), 'scatter_add': ('ScatterAdd', 'ScatterAdd', 'ScatterAdd'), 'scatter_add_': ('ScatterAdd', 'ScatterAdd', 'ScatterAdd'),
    'nonzero': ('NonzeroV2', 'NonzeroAiCore', 'NonZero'), 'where': ('SWhere', 'SelectV2AiCore', 'SelectV2'), 'masked_fill': ('InplaceMaskedFillScalar', 'MaskedFill', 'MaskedFill'), 'masked_fill_': ('InplaceMaskedFillScalar', 'MaskedFill', 'MaskedFill'), 'topk': ('Topk', 'TopkV2', 'TopKV2'), 'sort': ('Sort', 'SortAiCore', 'Sort'), 'argsort': ('Sort', 'SortAiCore', 'Sort'), 'cumsum': ('Cumsum', 'CumsumAiCore', 'Cumsum'), 'arange': ('Arange', 'ArangeAiCore', 'Range'), 'bincount': ('Bincount', 'BincountAiCpu', 'Bincount'), 'histc': ('Histc', 'Histogram', 'Histogram'), 'triu': ('Triu', 'TriuAiCore', 'Triu'), 'tril': ('Tril', 'TrilAiCore', 'Tril'),
    'native_dropout': ('DropoutDoMask', 'DropoutDoMaskAiCore', 'DropOutDoMask'), 'native_dropout_backward': ('DropoutDoMask', 'DropoutDoMaskAiCore', 'DropOutDoMask'), 'native_layer_norm': ('LayerNormWithImplMode', 'LayerNormV3WithImplMode', 'LayerNormV3'), 'native_layer_norm_backward': ('LayerNormBackward', 'LayerNormGradV3', 'LayerNormGradV3'), '_scaled_dot_product_flash_attention_for_cpu': (None, '', 'FlashAttentionScore'), '_scaled_dot_product_flash_attention_for_cpu_backward': (None, '', 'FlashAttentionScoreGrad'),
    'zeros': ('InplaceZero', 'ZerosLikeAiCore', 'ZerosLike'), 'zeros_like': ('InplaceZero', 'ZerosLikeAiCore', 'ZerosLike'), 'new_zeros': ('InplaceZero', 'ZerosLikeAiCore', 'ZerosLike'), 'zero_': ('InplaceZero', 'ZerosLikeAiCore', 'ZerosLike'), 'ones': ('InplaceOne', 'OnesLikeAiCore', 'OnesLike'), 'ones_like': ('InplaceOne', 'OnesLikeAiCore', 'OnesLike'), 'new_ones': ('InplaceOne', 'OnesLikeAiCore', 'OnesLike'), 'full': ('InplaceFillScalar', 'FillAiCore', 'Fill'), 'full_like': ('InplaceFillScalar', 'FillAiCore', 'Fill'), 'fill_': ('InplaceFillScalar', 'FillAiCore', 'Fill'), 'new_full': ('InplaceFillScalar', 'FillAiCore', 'Fill'),
    'clamp': ('Clamp', 'ClipByValueV2', 'ClipByValueV2'), 'clamp_min': ('Clamp', 'ClipByValueV2', 'ClipByValueV2'), 'clamp_': ('Clamp', 'ClipByValueV2', 'ClipByValueV2'), 'constant_pad_nd': ('ConstantPadNd', 'PadV3', 'PadV3'), 'max': ('MaxDim', 'Max2AiCore', 'ArgMaxWithValue'), 'amax': ('Amax', 'ReduceMax', 'ReduceMax'), 'argmax': ('ArgMax', 'ArgMaxV2', 'ArgMaxV2'), 'linalg_vector_norm': ('LinalgVectorNorm', 'LpNormV2', 'LpNormV2'), 'repeat': ('Repeat', 'TileAiCore', 'Tile'), 'flip': ('Flip', 'ReverseV2', 'ReverseV2'), 'linalg_solve_triangular': ('TriangularSolve', 'MatrixTriangularSolve', 'MatrixTriangularSolve'), '_grouped_mm': ('GroupedMatmulV4', 'GroupedMatmul', 'GroupedMatmul'), 'any': ('Any', 'ReduceAny', 'ReduceAny'), 'all': ('All', 'ReduceAll', 'ReduceAll'), 'square': ('PowTensorScalar', 'PowsAiCore', 'Pows'), 'isinf': ('IsInf', 'IsInf', 'IsInf'), 'isnan': ('IsNan', 'IsNan', 'IsNan'), 'floor_divide': ('FloorDivide', 'FloorDiv', 'FloorDiv'), 'remainder': ('Remainder', 'FloorMod', 'FloorMod'), 'roll': ('Roll', 'Roll', 'Roll'), 'addcmul': ('Addcmul', 'Addcmul', 'Addcmul'), 'sign': ('Sign', 'Sign', 'Sign'), 'cumprod': ('Cumprod', 'Cumprod', 'Cumprod'), 'one_hot': ('OneHot', 'OneHot', 'OneHot'),
}
for _name, _type in (('eq', 'Equal'), ('ne', 'NotEqual'), ('gt', 'Greater'), ('ge', 'GreaterEqual'), ('lt', 'Less'), ('le', 'LessEqual')):
    KERNELS[_name] = (_name.capitalize() + 'Tensor', _type + 'AiCore', _type)
for _name, _type in (('logical_and', 'LogicalAnd'), ('logical_or', 'LogicalOr'), ('logical_not', 'LogicalNot'), ('bitwise_and', 'LogicalAnd'), ('bitwise_not', 'LogicalNot'), ('bitwise_or', 'LogicalOr')):
    KERNELS[_name] = (_name.title().replace('_', ''), _type + 'AiCore', _type)
SCALAR = {'add': 'Adds', 'sub': 'Subs', 'mul': 'Muls', 'div': 'Divs', 'add_': 'InplaceAdds', 'mul_': 'InplaceMuls', 'div_': 'InplaceDivs'}
DTYPES = {torch.float32: 'FLOAT', torch.bfloat16: 'DT_BF16', torch.float16: 'FLOAT16', torch.int64: 'INT64', torch.int32: 'INT32', torch.bool: 'BOOL', torch.float64: 'DOUBLE'}


def kernel_name(op, args):
    """(Name, Type) of the kernel of an aten operator; None when it launches none."""
    base = op.__name__.split('.')[0] if '.' in op.__name__ else op.__name__
    if base in VIEWS:
        return None
    api, tag, kind = KERNELS.get(base, (base.title().replace('_', ''), base.title().replace('_', '') + 'AiCore', base.title().replace('_', '')))
    second = args[1] if len(args) > 1 else None
    is_scalar = base in SCALAR and (isinstance(second, (int, float)) or (isinstance(second, torch.Tensor) and second.dim() == 0 and getattr(second, '_wrapped_number', True) and second.device.type == 'cpu' and second.numel() == 1 and not second.requires_grad))
    if is_scalar:
        api = SCALAR[base]
    if base == 'pow' and isinstance(second, (int, float)) and second == 1:
        return None
    return (kind, kind) if api is None else (f'aclnn{api}_{tag}_{kind}', kind)


class Recorder(TorchDispatchMode):
    """Rows of (aten operator, kernel, operands, frames, side)."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = kernel_name(func, args)
        if name is not None and not (func.__name__.startswith('_to_copy') and isinstance(args[0], torch.Tensor) and isinstance(out, torch.Tensor) and args[0].dtype == out.dtype):
            self.rows.append((name, [a for a in args if isinstance(a, torch.Tensor)], out, *self.frames()))
        return out

    @staticmethod
    def frames():
        """Frames in model code, innermost first, and the side they were found on."""
        node = torch._C._current_autograd_node()
        frames = []
        frame = sys._getframe(2)
        while frame is not None:
            path = frame.f_code.co_filename
            if MODEL_CODE in path:
                frames.append((path, frame.f_code.co_qualname if hasattr(frame.f_code, 'co_qualname') else frame.f_code.co_name, frame.f_lineno))
            frame = frame.f_back
        inner = [f for f in frames if os.sep + 'models' + os.sep in f[0] or 'activations' in f[0] or 'loss' in f[0] or 'integrations' in f[0] or 'masking' in f[0] or 'rope_utils' in f[0] or 'pytorch_utils' in f[0]]
        if node is not None and not inner:
            trace = node.metadata.get('traceback_', [])
            found = []
            for line in reversed(trace):
                head = line.strip().split('\n')[0]
                if MODEL_CODE in head:
                    parts = head.split('"')
                    number = int(head.split('line ')[1].split(',')[0])
                    found.append((parts[1], head.rsplit(' in ', 1)[1], number))
            return [f for f in found if os.sep + 'models' + os.sep in f[0] or 'activations' in f[0] or 'loss' in f[0] or 'integrations' in f[0] or 'masking' in f[0] or 'pytorch_utils' in f[0]], 'backward'
        return inner, ('recompute' if node is not None else 'forward')


@functools.lru_cache(None)
def statements(path):
    """Line -> (first, last) line of the innermost statement."""
    with open(path, encoding='utf-8') as source:
        tree = ast.parse(source.read())
    best = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.For, ast.With, ast.Try, ast.While)):
            for line in range(node.lineno, node.end_lineno + 1):
                size = node.end_lineno - node.lineno
                if line not in best or size < best[line][1] - best[line][0]:
                    best[line] = (node.lineno, node.end_lineno)
    return best


SMALL = dict(hidden_size=64, d_model=64, n_embd=64, intermediate_size=96, ffn_dim=96, d_ff=96, n_inner=96, num_hidden_layers=4, n_layer=4, num_layers=4, num_decoder_layers=4, decoder_layers=4, encoder_layers=2, num_attention_heads=4, n_head=4, num_heads=4, decoder_attention_heads=4, encoder_attention_heads=4, num_key_value_heads=2, head_dim=16, d_kv=16, vocab_size=256, max_position_embeddings=128, num_experts=4, num_local_experts=4, n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=48, shared_expert_intermediate_size=48, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=16, state_size=16, n_groups=1, conv_kernel=4, time_step_rank=8, kv_lora_rank=16, q_lora_rank=24, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16, expand=2, n_group=1, topk_group=1, first_k_dense_replace=1, sliding_window=32, pad_token_id=0, bos_token_id=1, eos_token_id=2, use_cache=False, attention_dropout=0.0, num_nextn_predict_layers=0, hidden_size_per_layer_input=8, vocab_size_per_layer_input=256, moe_num_experts=4, moe_k=2, mamba_d_ssm=64, mamba_n_heads=4, mamba_d_head=16, mamba_d_state=16, mamba_n_groups=1, layer_types=None, max_seq_len=128, ffn_hidden_size=96, expert_ffn_hidden_size=48)


def tiny_config(family, layers, attention, dropout, experts):
    from transformers import AutoConfig
    config = AutoConfig.for_model(family)
    config = getattr(config, 'text_config', config)
    known = config.to_dict()
    values = {key: value for key, value in SMALL.items() if key in known}
    if layers:
        values.update({key: layers for key in ('num_hidden_layers', 'n_layer', 'num_layers') if key in known})
    values.update({'mamba2': {'num_heads': 8, 'head_dim': 16}, 'deepseek_v2': {'num_key_value_heads': 4}, 'deepseek_v3': {'num_key_value_heads': 4}, 'gptj': {'rotary_dim': 8}, 'codegen': {'rotary_dim': 8}, 'gpt_neo': {'attention_types': [[['global', 'local'], 2]]}}.get(family, {}))
    if dropout:
        values.update({key: dropout for key in known if re.search(r'(dropout|pdrop|drop_rate)(_rate|_prob)?$', key) and isinstance(known[key], (int, float))})
    config = type(config)(**values)
    config._attn_implementation = attention
    if experts:
        config._experts_implementation = experts
    if config.is_encoder_decoder:
        config.decoder_start_token_id = 0
    return config


def run(family, options):
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM
    torch.manual_seed(options.seed)
    config = tiny_config(family, options.layers, options.attention, options.dropout, options.experts)
    try:
        model = AutoModelForCausalLM.from_config(config)
    except ValueError:
        model = AutoModelForSeq2SeqLM.from_config(config)
    model = model.to(torch.bfloat16).train()
    if options.checkpoint:
        model.gradient_checkpointing_enable()
    ids = torch.randint(3, 250, (2, 24))
    recorder = Recorder()
    with torch.autograd.set_detect_anomaly(True, check_nan=False), recorder:
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward() if 'use_cache' in model.forward.__code__.co_varnames else model(input_ids=ids, labels=ids).loss.backward()
    return recorder.rows


def shape_text(tensors):
    return ';'.join(','.join(str(d) for d in t.shape) for t in tensors)


def framed(frame):
    path, function, line = frame
    first, last = line if isinstance(line, tuple) else statements(path).get(line, (line, line))
    return f'{path.split(MODEL_CODE)[-1]}|{function}|{first}|{last}'


def with_device_dropout(rows):
    """The CPU draws a mask, scales it and multiplies; an NPU draws bits and applies them in one kernel."""
    done, scale, apply = [], None, None
    for row in rows:
        (name, kind), frames, side = row[0], row[3], row[4]
        place = frames[:1]
        if kind == 'Bernoulli':
            done.append((('aclnnDropoutGenMaskV2_DSAGenBitMask_DSAGenBitMask', 'DSAGenBitMask'),) + row[1:])
            scale, apply = place, None
        elif scale is not None and scale == place and kind == 'RealDiv':
            scale, apply = None, place
        elif apply is not None and apply == place and kind == 'Mul':
            done.append((('aclnnDropoutDoMask_DropoutDoMaskAiCore_DropOutDoMask', 'DropOutDoMask'),) + row[1:])
            apply = None
        else:
            done.append(row)
    return done


@functools.lru_cache(None)
def classes(path):
    """Line -> name of the class around it; frames of a backward pass name functions only."""
    with open(path, encoding='utf-8') as source:
        tree = ast.parse(source.read())
    return {line: node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for line in range(node.lineno, node.end_lineno + 1)}


def with_fused_norms(rows):
    """Rows where what a norm class launches is one kernel, as in a run with a patched norm."""
    fused, before = [], None
    for row in rows:
        frames, side = row[3], row[4]
        owner = classes(frames[0][0]).get(frames[0][2], '') if frames else ''
        key = (frames[0][0], owner, side) if owner.endswith('RMSNorm') else None
        if key is None:
            fused.append(row)
        elif key != before:
            name = 'RmsNormGrad' if side == 'backward' else 'RmsNorm'
            fused.append(((name, name), row[1], row[2], frames, side))
        before = key
    return fused


SATELLITES = (('Slice', 'SliceAiCore'), ('TransposeAiCore', 'Transpose'), ('AsStrided', 'AsStridedAiCore'), ('Cast', 'CastAiCore'), ('TensorMove', 'TensorMoveAiCore'), ('ViewCopy', 'ViewCopyAiCore'))


def write(rows, out, options):
    rng = random.Random(options.seed)
    folder = os.path.join(out, 'host_1_20260101000000000_ascend_pt')
    output = os.path.join(folder, 'ASCEND_PROFILER_OUTPUT')
    os.makedirs(output, exist_ok=True)
    with open(os.path.join(folder, 'profiler_info_0.json'), 'w', encoding='utf-8') as info:
        json.dump({'config': {'experimental_config': {'_profiler_level': 'Level1', '_export_type': 'text'}}, 'rank_id': 0}, info)
    head = ['Step Id', 'Device_id', 'Model ID', 'Task ID', 'Stream ID', 'Name', 'Type', 'OP State', 'Accelerator Core', 'Start Time(us)', 'Duration(us)', 'Wait Time(us)', 'Block Dim', 'Mix Block Dim', 'HF32 Eligible', 'Input Shapes', 'Input Data Types', 'Input Formats', 'Output Shapes', 'Output Data Types', 'Output Formats']
    clock = 1_767_225_600_000_000_000
    with open(os.path.join(output, 'kernel_details.csv'), 'w', newline='', encoding='utf-8') as table, open(os.path.join(out, 'truth.csv'), 'w', newline='', encoding='utf-8') as truth:
        kernels, answers = csv.writer(table), csv.writer(truth)
        kernels.writerow(head)
        answers.writerow(['startNs', 'side', 'name', 'frames'])

        def emit(name, kind, ins, outs, frames, side):
            nonlocal clock
            size = max([t.numel() for t in ins] + [t.numel() for t in outs] + [1])
            duration = 2000 + size * (8 if 'MatMul' in kind or 'Attention' in kind else 1) // 4
            shapes = [] if options.no_dtypes else [shape_text(ins), ';'.join(DTYPES.get(t.dtype, 'FLOAT') for t in ins), '', shape_text(outs), ';'.join(DTYPES.get(t.dtype, 'FLOAT') for t in outs), '']
            name = kind if options.no_api else name
            kernels.writerow([1, 0, 4294967295, 0, 2, name, kind, 'dynamic', 'AI_CORE' if 'MatMul' in kind else 'AI_VECTOR_CORE', f'{clock // 1000}.{clock % 1000:03d}\t', f'{duration // 1000}.{duration % 1000:03d}', '0', 8, 0, 'NO'] + (shapes or [''] * 6))
            answers.writerow([clock, side, name, ' < '.join(framed(frame) for frame in frames)])
            clock += duration + 1500

        for (name, kind), ins, out_value, frames, side in rows:
            if rng.random() < options.drops:
                continue
            outs = [t for t in (out_value if isinstance(out_value, (tuple, list)) else [out_value]) if isinstance(t, torch.Tensor)]
            if options.satellites and rng.random() < options.satellites and name.startswith('aclnn'):
                helper, tag = rng.choice(SATELLITES)
                emit(f'{name.split("_")[0]}_{tag}_{helper}', helper, ins, outs, frames, side)
            emit(name, kind, ins, outs, frames, side)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('families')
    parser.add_argument('out')
    parser.add_argument('--attention', default='eager')
    parser.add_argument('--experts')
    parser.add_argument('--dropout', type=float, default=0.0)
    parser.add_argument('--checkpoint', action='store_true')
    parser.add_argument('--fused-norms', action='store_true')
    parser.add_argument('--layers', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--satellites', type=float, default=0.0)
    parser.add_argument('--drops', type=float, default=0.0)
    parser.add_argument('--no-api', action='store_true')
    parser.add_argument('--no-dtypes', action='store_true')
    options = parser.parse_args()
    torch.set_num_threads(1)
    for family in options.families.split(','):
        try:
            rows = with_device_dropout(run(family, options))
            write(with_fused_norms(rows) if options.fused_norms else rows, os.path.join(options.out, family), options)
            print(f'{family}: {len(rows)} kernels', flush=True)
        except Exception as error:  # A family this version cannot run tiny: reported, the others go on.
            print(f'{family}: not recorded, {type(error).__name__}: {str(error).splitlines()[-1] if str(error) else ""}', flush=True)
            if os.environ.get('TRACE'):
                traceback.print_exc()


if __name__ == '__main__':
    main()
