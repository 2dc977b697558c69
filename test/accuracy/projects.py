"""Runs tiny models of public projects on the CPU and writes what an NPU would have recorded; see record.py, which it uses.

    python projects.py CHECKOUTS OUT_DIR [NAME,NAME…]

CHECKOUTS holds a checkout of each project under the name of its repository. Nothing of them is copied here: PROJECTS says which
model file of which repository is run, and how a tiny one is built. Packages a model file imports and does not need for its
forward pass may be missing; names from them are stand-ins. Needs torch and einops.
"""
import importlib
import importlib.abc
import importlib.machinery
import os
import subprocess
import sys
import types

import torch
import torch.nn.functional as F

import record

torch.Tensor.cuda = lambda self, *args, **kwargs: self
# Inference code runs with a backward pass too: without gradients the recorder would see calls, not their operators.
torch.inference_mode = lambda *args, **kwargs: torch.enable_grad()
# Written for float32 throughout.
FLOAT32 = {'rwkv1', 'dit', 'whisper', 'mamba-minimal', 'mambapy', 'nanochat', 'clip', 'transformer'}
DTYPE = torch.float32 if FLOAT32.intersection(sys.argv[3:]) else torch.bfloat16
RANDOM = torch.Generator().manual_seed(1)
IDS = torch.randint(3, 60, (2, 24), generator=RANDOM)
IMAGES = torch.randn(2, 3, 64, 64, generator=RANDOM).to(DTYPE)
SMALL_IMAGES = torch.randn(2, 3, 32, 32, generator=RANDOM).to(DTYPE)
LATENTS = torch.randn(2, 4, 8, 8, generator=RANDOM).to(DTYPE)
FEATURES = torch.randn(2, 24, 32, generator=RANDOM).to(DTYPE)
MEL = torch.randn(2, 16, 48, generator=RANDOM).to(DTYPE)
CLASSES = torch.tensor([1, 2])


class AnyAttribute(type):
    def __getattr__(cls, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return StandIn

    def __add__(cls, other):
        return other


class StandIn(torch.nn.Module, metaclass=AnyAttribute):
    """What a missing package's name stands for: a class, a decorator, a constant."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def __class_getitem__(cls, item):
        return cls

    def forward(self, *args, **kwargs):
        return args[0] if args else self


class StandInModule(types.ModuleType):
    __path__ = ()

    def __getattr__(self, name):
        if name == '__version__':
            return '0.0'
        if name.startswith('__'):
            raise AttributeError(name)
        return StandIn


class Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Found last: packages that are not installed."""
    names = ('torchvision', 'xformers', 'simple_parsing', 'fire', 'rotary_emb', 'dropout_layer_norm', 'xentropy_cuda_lib', 'mistral_common', 'triton', 'blobfile', 'importlib_resources', 'lightning_utilities', 'openai_harmony', 'lightning', 'lightning_fabric', 'tiktoken', 'numba', 'ftfy', 'kernel', 'boto3', 'google', 'cached_path', 'botocore', 'jsonargparse', 'litdata', 'flash_attn', 'fla', 'wandb', 'datasets', 'sentencepiece', 'torchmetrics', 'safetensors', 'loguru', 'psutil', 'PIL')

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split('.')[0] in self.names else None

    def create_module(self, spec):
        return StandInModule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Missing())


def loss_of(out):
    """A scalar to go backward from: the loss where the model gives one, else cross entropy over its logits, else a mean."""
    if isinstance(out, (tuple, list)):
        scalars = [o for o in out if isinstance(o, torch.Tensor) and o.dim() == 0]
        return scalars[0] if scalars else loss_of(next(o for o in out if isinstance(o, torch.Tensor)))
    if isinstance(out, torch.Tensor) and out.dim() == 3 and out.shape[1] == IDS.shape[1]:
        return F.cross_entropy(out.reshape(-1, out.shape[-1]).float(), IDS[:len(out)].reshape(-1) % out.shape[-1])
    if isinstance(out, torch.Tensor) and out.dim() == 4:
        return F.mse_loss(out.float(), torch.zeros(out.shape))
    if isinstance(out, torch.Tensor) and out.dim() == 2 and len(out) == len(CLASSES):
        return F.cross_entropy(out.float(), CLASSES % out.shape[1])
    return out if out.dim() == 0 else out.float().mean()


def load(module, name=None):
    found = importlib.import_module(module)
    return found if name is None else getattr(found, name)


def fair():
    """Model-parallel layers with one rank."""
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29555', RANK='0', WORLD_SIZE='1')
    import torch.distributed as dist
    dist.init_process_group('gloo')
    load('fairscale.nn.model_parallel.initialize').initialize_model_parallel(1)


def nanogpt():
    m = load('model')
    return m.GPT(m.GPTConfig(block_size=32, vocab_size=64, n_layer=4, n_head=4, n_embd=64, dropout=0.0)), lambda g: g(IDS, IDS)


def mingpt():
    gpt = load('mingpt.model', 'GPT')
    config = gpt.get_default_config()
    config.model_type, config.n_layer, config.n_head, config.n_embd, config.vocab_size, config.block_size = None, 4, 4, 64, 64, 32
    config.embd_pdrop = config.resid_pdrop = config.attn_pdrop = 0.0
    return gpt(config), lambda g: g(IDS, IDS)


def llama2c():
    m = load('model')
    return m.Transformer(m.ModelArgs(dim=64, n_layers=4, n_heads=4, n_kv_heads=2, vocab_size=64, multiple_of=32, max_seq_len=32)), lambda g: (g(IDS, IDS), g.last_loss)


def llama():
    fair()
    m = load('llama.model')
    return m.Transformer(m.ModelArgs(dim=64, n_layers=4, n_heads=4, vocab_size=64, multiple_of=32, max_seq_len=32, max_batch_size=2)), lambda g: g(IDS, 0)


def gpt_fast():
    m = load('model')
    model = m.Transformer(m.ModelArgs(block_size=32, vocab_size=64, n_layer=4, n_head=4, dim=64, n_local_heads=2, intermediate_size=96))
    with torch.device('cpu'):
        model.setup_caches(2, 32)
    return model, lambda g: g(IDS, torch.arange(24)) if 'mask' not in g.forward.__code__.co_varnames[:2] else g(None, IDS, torch.arange(24))


def litgpt():
    m, c = load('litgpt.model'), load('litgpt.config')
    return m.GPT(c.Config(name='tiny', block_size=32, vocab_size=64, padded_vocab_size=64, n_layer=4, n_head=4, n_query_groups=2, n_embd=64, rotary_percentage=1.0, norm_class_name='RMSNorm', mlp_class_name='LLaMAMLP', intermediate_size=96, bias=False)), lambda g: g(IDS)


def lit_llama():
    m = load('lit_llama.model')
    return m.LLaMA(m.LLaMAConfig(block_size=32, vocab_size=64, padded_vocab_size=64, n_layer=4, n_head=4, n_embd=64)), lambda g: g(IDS)


def x_transformers(**options):
    def build():
        m = load('x_transformers.x_transformers')
        return m.TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=m.Decoder(dim=64, depth=4, heads=4, attn_dim_head=16, **options)), lambda g: g(IDS)
    return build


def mamba_minimal():
    m = load('model')
    return m.Mamba(m.ModelArgs(d_model=32, n_layer=4, vocab_size=64)), lambda g: g(IDS)


def mambapy(name):
    def build():
        m = load(f'mambapy.{name}')
        config = m.MambaConfig(d_model=32, n_layers=4) if name == 'mamba' else m.Mamba2Config(d_model=32, n_layers=4, d_head=16)
        return (m.Mamba if name == 'mamba' else m.Mamba2)(config), lambda g: g(FEATURES)
    return build


def dit():
    m = load('models')
    return m.DiT(input_size=8, patch_size=2, hidden_size=64, depth=4, num_heads=4, num_classes=10), lambda g: g(LATENTS, CLASSES, CLASSES)


def attention_is_all():
    m = load('transformer.Models')
    return m.Transformer(64, 64, 0, 0, d_word_vec=64, d_model=64, d_inner=96, n_layers=4, n_head=4, d_k=16, d_v=16, dropout=0.0, n_position=32), lambda g: g(IDS, IDS)


def olmo():
    m, c = load('olmo.model'), load('olmo.config')
    return m.OLMo(c.ModelConfig(d_model=64, n_heads=4, n_layers=4, mlp_hidden_size=96, vocab_size=64, embedding_size=64, max_sequence_length=32, rope=True, alibi=False, attention_dropout=0.0, residual_dropout=0.0, embedding_dropout=0.0, flash_attention=False, init_device='cpu', layer_norm_type=c.LayerNormType.rms, activation_type=c.ActivationType.swiglu, include_bias=False)), lambda g: g(IDS).logits


def whisper():
    m = load('whisper.model')
    return m.Whisper(m.ModelDimensions(n_mels=16, n_audio_ctx=24, n_audio_state=64, n_audio_head=4, n_audio_layer=4, n_vocab=64, n_text_ctx=32, n_text_state=64, n_text_head=4, n_text_layer=4)), lambda g: g(MEL, IDS)


def clip():
    m = load('model')
    return m.CLIP(embed_dim=64, image_resolution=32, vision_layers=4, vision_width=64, vision_patch_size=8, context_length=24, vocab_size=64, transformer_width=64, transformer_heads=4, transformer_layers=4), lambda g: g(SMALL_IMAGES, IDS)


def deepseek():
    m = load('model')
    return m.Transformer(m.ModelArgs(max_batch_size=2, max_seq_len=32, dtype='bf16', vocab_size=64, dim=64, inter_dim=96, moe_inter_dim=48, n_layers=4, n_dense_layers=1, n_heads=4, n_routed_experts=4, n_shared_experts=1, n_activated_experts=2, q_lora_rank=16, kv_lora_rank=16, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16)), lambda g: g(IDS, 0)


def nanochat():
    m = load('nanochat.gpt')
    model = m.GPT(m.GPTConfig(sequence_len=32, vocab_size=64, n_layer=4, n_head=4, n_kv_head=4, n_embd=64))
    return model, lambda g: g(IDS, IDS)


def timm(module, name, **options):
    def build():
        load(f'timm.models.{module}')
        size = options.get('img_size', 64)
        return load('timm').create_model(name, num_classes=10, **options), lambda g: g(IMAGES[:, :, :size, :size])
    return build


def vit_pytorch(module, name, **options):
    def build():
        cls = getattr(load(f'vit_pytorch.{module}'), name)
        return cls(**{**dict(image_size=32, patch_size=8, num_classes=10, dim=64, depth=4, heads=4, mlp_dim=96), **options}), lambda g: g(SMALL_IMAGES)
    return build


def dino():
    m = load('vision_transformer')
    # The usual small model of the paper's family, with a classifier's head.
    return m.VisionTransformer(img_size=[32], patch_size=8, num_classes=10, embed_dim=64, depth=4, num_heads=4, mlp_ratio=2, qkv_bias=True), lambda g: g.head(g(SMALL_IMAGES))


def lingua():
    m = load('apps.main.transformer')
    return m.LMTransformer(m.LMTransformerArgs(dim=64, n_layers=4, n_heads=4, n_kv_heads=2, vocab_size=64, max_seqlen=32, multiple_of=32)), lambda g: g(IDS, IDS, attn_impl='sdpa')


def gemma():
    m, c = load('gemma.model'), load('gemma.config')
    model = m.GemmaModel(c.GemmaConfig(vocab_size=64, max_position_embeddings=32, num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, hidden_size=64, intermediate_size=96, head_dim=16, dtype='bfloat16', architecture=c.Architecture.GEMMA_1))
    shape = (2, 24, 2, 16)
    caches = [(torch.zeros(shape, dtype=DTYPE), torch.zeros(shape, dtype=DTYPE)) for _ in range(4)]
    rotations = m.precompute_freqs_cis(16, 32)[:24]
    states = torch.randn(2, 24, 64, generator=RANDOM).to(DTYPE)
    mask = torch.triu(torch.full((1, 1, 24, 24), -1e4), 1).to(DTYPE)
    return model, lambda g: g(hidden_states=states, freqs_cis={kind: rotations for kind in (c.AttentionType.LOCAL_SLIDING, c.AttentionType.GLOBAL)}, kv_write_indices=torch.arange(24), kv_caches=caches, mask=mask, local_mask=mask)


def rwkv1():
    m = load('src.model')
    return m.GPT(m.GPTConfig(64, 32, model_type='RWKV', rwkv_emb_scale=0.4, rwkv_tiny_attn=0, rwkv_tiny_head=0, n_layer=4, n_head=4, n_embd=64, n_attn=64, n_ffn=64)), lambda g: g(IDS, IDS)


def transformer():
    m = load('models.model.transformer')
    return m.Transformer(src_pad_idx=1, trg_pad_idx=1, trg_sos_idx=2, enc_voc_size=64, dec_voc_size=64, d_model=64, n_head=4, max_len=32, ffn_hidden=96, n_layers=4, drop_prob=0.1, device='cpu'), lambda g: g(IDS, IDS)


def ijepa():
    m = load('src.models.vision_transformer')
    return m.VisionTransformer(img_size=[32], patch_size=8, embed_dim=64, predictor_embed_dim=32, depth=4, num_heads=4, mlp_ratio=2, qkv_bias=True), lambda g: g(SMALL_IMAGES)


def gpt_oss():
    m = load('gpt_oss.torch.model')
    config = m.ModelConfig(num_hidden_layers=4, num_experts=4, experts_per_token=2, vocab_size=64, hidden_size=64, intermediate_size=64, head_dim=64, num_attention_heads=4, num_key_value_heads=2, sliding_window=8)
    return m.Transformer(config, device=torch.device('cpu')), lambda g: g(IDS[0])[None]


def palm():
    m = load('palm_pytorch.palm_pytorch')
    return m.PaLM(num_tokens=64, dim=64, depth=4, heads=4, dim_head=16), lambda g: g(IDS)


# name: (repository, model file, how to build it)
PROJECTS = {
    'nanogpt': ('karpathy/nanoGPT', 'model.py', nanogpt),
    'mingpt': ('karpathy/minGPT', 'mingpt/model.py', mingpt),
    'llama2c': ('karpathy/llama2.c', 'model.py', llama2c),
    'nanochat': ('karpathy/nanochat', 'nanochat/gpt.py', nanochat),
    'llama': ('meta-llama/llama', 'llama/model.py', llama),
    'llama3': ('meta-llama/llama3', 'llama/model.py', llama),
    'gpt-fast': ('pytorch-labs/gpt-fast', 'model.py', gpt_fast),
    'litgpt': ('Lightning-AI/litgpt', 'litgpt/model.py', litgpt),
    'lit-llama': ('Lightning-AI/lit-llama', 'lit_llama/model.py', lit_llama),
    'x-transformers': ('lucidrains/x-transformers', 'x_transformers/x_transformers.py', x_transformers()),
    'x-transformers-glu': ('lucidrains/x-transformers', 'x_transformers/x_transformers.py', x_transformers(rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)),
    'palm': ('lucidrains/PaLM-pytorch', 'palm_pytorch/palm_pytorch.py', palm),
    'mamba-minimal': ('johnma2006/mamba-minimal', 'model.py', mamba_minimal),
    'mambapy': ('alxndrTL/mamba.py', 'mambapy/mamba.py', mambapy('mamba')),
    'dit': ('facebookresearch/DiT', 'models.py', dit),
    'attention-is-all': ('jadore801120/attention-is-all-you-need-pytorch', 'transformer/Models.py', attention_is_all),
    'olmo': ('allenai/OLMo', 'olmo/model.py', olmo),
    'whisper': ('openai/whisper', 'whisper/model.py', whisper),
    'clip': ('openai/CLIP', 'clip/model.py', clip),
    'deepseek-v3': ('deepseek-ai/DeepSeek-V3', 'inference/model.py', deepseek),
    'timm-vit': ('huggingface/pytorch-image-models', 'timm/models/vision_transformer.py', timm('vision_transformer', 'vit_tiny_patch16_224', img_size=64, depth=4, embed_dim=64, num_heads=4)),
    'timm-mixer': ('huggingface/pytorch-image-models', 'timm/models/mlp_mixer.py', timm('mlp_mixer', 'mixer_s32_224', img_size=64)),
    'timm-swin': ('huggingface/pytorch-image-models', 'timm/models/swin_transformer.py', timm('swin_transformer', 'swin_tiny_patch4_window7_224', img_size=56, window_size=7, depths=(2, 2), num_heads=(2, 4), embed_dim=32)),
    'timm-convnext': ('huggingface/pytorch-image-models', 'timm/models/convnext.py', timm('convnext', 'convnext_atto', depths=(2, 2, 2, 2), dims=(16, 32, 48, 64))),
    'timm-eva': ('huggingface/pytorch-image-models', 'timm/models/eva.py', timm('eva', 'eva02_tiny_patch14_224', img_size=56, depth=4, embed_dim=64, num_heads=4)),
    'vit': ('lucidrains/vit-pytorch', 'vit_pytorch/vit.py', vit_pytorch('vit', 'ViT')),
    'simple-vit': ('lucidrains/vit-pytorch', 'vit_pytorch/simple_vit.py', vit_pytorch('simple_vit', 'SimpleViT')),
    'deepvit': ('lucidrains/vit-pytorch', 'vit_pytorch/deepvit.py', vit_pytorch('deepvit', 'DeepViT')),
    'dino': ('facebookresearch/dino', 'vision_transformer.py', dino),
    'lingua': ('facebookresearch/lingua', 'apps/main/transformer.py', lingua),
    'gemma': ('google/gemma_pytorch', 'gemma/model.py', gemma),
    'rwkv1': ('BlinkDL/RWKV-LM', 'RWKV-v1/src/model.py', rwkv1),
    'transformer': ('hyunwoongko/transformer', 'models/model/transformer.py', transformer),
    'ijepa': ('facebookresearch/ijepa', 'src/models/vision_transformer.py', ijepa),
    'gpt-oss': ('openai/gpt-oss', 'gpt_oss/torch/model.py', gpt_oss),
    'cait': ('lucidrains/vit-pytorch', 'vit_pytorch/cait.py', vit_pytorch('cait', 'CaiT', cls_depth=2)),
}


class ProjectRecorder(record.Recorder):
    """Frames below the checkouts."""
    root = ''

    @staticmethod
    def frames():
        node = torch._C._current_autograd_node()
        inner = []
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename.startswith(ProjectRecorder.root):
                inner.append((frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_lineno))
            frame = frame.f_back
        if node is not None and not inner:
            found = []
            for line in reversed(node.metadata.get('traceback_', [])):
                head = line.strip().split('\n')[0]
                if f'"{ProjectRecorder.root}' in head:
                    found.append((head.split('"')[1], head.rsplit(' in ', 1)[1], int(head.split('line ')[1].split(',')[0])))
            return found, 'backward'
        return inner, ('recompute' if node is not None else 'forward')


def run_one(name, checkouts, out):
    repository, file, build = PROJECTS[name]
    root = os.path.join(os.path.abspath(checkouts), repository.split('/')[1])
    sys.path[:0] = [root, os.path.join(root, os.path.dirname(file)), os.path.join(root, 'src'), os.path.join(root, 'RWKV-v1')]
    # Some import timm, which is a project here too.
    sys.path.append(os.path.join(os.path.abspath(checkouts), 'pytorch-image-models'))
    ProjectRecorder.root = record.MODEL_CODE = os.path.abspath(checkouts) + os.sep
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, call = build()
    model = model.to(DTYPE).train()
    recorder = ProjectRecorder()
    with torch.autograd.set_detect_anomaly(True, check_nan=False), recorder:
        loss = loss_of(call(model))
        if loss.requires_grad:
            loss.backward()
    options = types.SimpleNamespace(seed=1, no_dtypes=False, no_api=False, drops=0.0, satellites=0.0)
    record.write(record.with_device_dropout(recorder.rows), os.path.join(out, name), options)
    print(f'{name}: {len(recorder.rows)} kernels of {repository} {file}', flush=True)


def main():
    checkouts, out, *names = sys.argv[1:]
    wanted = names[0].split(',') if names else list(PROJECTS)
    if len(wanted) == 1:
        run_one(wanted[0], checkouts, out)
        return
    for name in wanted:
        # Projects share module names (`model`): each gets a process of its own.
        done = subprocess.run([sys.executable, __file__, checkouts, out, name], capture_output=True, text=True)
        print(done.stdout.strip() if done.returncode == 0 else f'{name}: not recorded, {(done.stderr.strip().splitlines() or [""])[-1][:200]}', flush=True)


if __name__ == '__main__':
    main()
