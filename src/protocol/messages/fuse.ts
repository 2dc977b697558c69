/** Replacing eager forms by fused operators: why not, what else, what is promised. */
export const fuseMessages: Readonly<Record<string, string>> = {
  'fuse.status.fixable': 'can be fused',
  'fuse.status.advice': 'advice',
  'fuse.status.refused': 'left as it is',
  'fuse.promise.exact': 'The numbers stay the same bit for bit.',
  'fuse.promise.rounding': 'Equal within bf16 rounding: the fused operator rounds fewer times, so single bits differ.',
  'fuse.promise.fp32Inside': 'Equal within bf16 rounding: the fused operator computes in fp32 inside.',
  'fuse.reason.no-replacement': 'No fused operator with a gradient is known for this form on this backend.',
  'fuse.reason.needs-cat': 'Gate and up are two tensors: the fused operator would need a concatenation that costs as much as it saves.',
  'fuse.reason.halves-swapped': 'The second half is the gate, the fused operator activates the first.',
  'fuse.reason.no-operator': 'This approximation of GELU has no fused operator on this backend.',
  'fuse.reason.no-weight': 'The fused operator wants a weight, and this norm has none.',
  'fuse.reason.no-eps': 'Nothing is added under the root, and the fused operator always adds an eps.',
  'fuse.reason.no-square': 'The mean is taken of the values, not of their squares: this is no RMSNorm.',
  'fuse.reason.other-dimension': 'The mean is taken over another dimension than the last.',
  'fuse.reason.eps-outside': 'eps is added outside the root, the fused operator adds it inside.',
  'fuse.reason.other-rotation': 'The halves are turned another way than the fused operator turns them.',
  'fuse.reason.outside-workspace': 'The file belongs to an installed package, which is never edited.',
  'fuse.reason.notebook': 'Notebooks are not edited.',
  'fuse.reason.compiled': 'The code is compiled by torch.compile or torch.jit, which fuses by itself.',
  'fuse.reason.autocast': 'The code runs under autocast, where dtypes are not what the source says.',
  'fuse.reason.in-place': 'A value of the form is changed in place.',
  'fuse.reason.hooks': 'Hooks are registered here, and they would no longer see the values between.',
  'fuse.reason.dtensor': 'The file works with DTensor, whose sharded weights the fused operator may not take.',
  'fuse.reason.checkpoint-policy': 'A checkpoint policy names operators, and the fused operator is not in its list.',
  'fuse.reason.overridden': 'A subclass has its own version of a helper of this form.',
  'fuse.reason.shared': 'Something else uses a value between, so the eager operators would run all the same.',
  'fuse.reason.no-keepdim': 'The mean drops its dimension, so the product broadcasts another way.',
  'fuse.reason.dimension-unknown': 'The source does not say that the last dimension is meant.',
  'fuse.reason.cast-unknown': 'The source does not tell which dtype the form computes in.',
  'fuse.reason.control-flow': 'The form is spread over branches or files.',
  'fuse.reason.result-in-fp32': 'The result stays in fp32, and the fused operator would round it.',
  'fuse.reason.not-transposed': 'The keys are not transposed in the way the fused operator expects.',
  'fuse.reason.role-ambiguous': 'The form reads one of its values in two shapes.',
  'fuse.reason.value-not-named': 'A value that the fused operator needs has no name at this place.',
  'fuse.reason.value-overwritten': 'A name that the fused operator needs holds another value by then.',
  'fuse.reason.number-not-named': 'The number that the form adds is not written where it can be read.',
  'fuse.reason.no-torch-import': 'The file does not import torch by a name of its own.',
  'fuse.reason.runs-elsewhere': 'The file also runs on other devices, and no portable form could be written beside the fused one.',
  'fuse.reason.would-not-parse': 'The edited file would not be Python any more.',
  'fuse.remedy.rms-norm': 'Call F.rms_norm, or torch_npu.npu_rms_norm with a weight of ones, where the conditions allow.',
  'fuse.remedy.zero-centred-rms-norm': 'Call the fused RMSNorm with gamma = 1.0 + weight.float(), kept in fp32.',
  'fuse.remedy.gated-rms-norm': 'Fuse the norm by hand; on CUDA, FusedRMSNormGated of fla does norm and gate in one kernel (pass the eps: its default differs).',
  'fuse.remedy.l2-norm': 'use_qk_l2norm_in_kernel=True of the gated delta rule does this inside its kernel.',
  'fuse.remedy.layer-norm': 'Call F.layer_norm.',
  'fuse.remedy.swiglu': 'On CUDA, liger_swiglu takes gate and up apart; on Ascend, npu_swiglu wants one weight for both (state-dict keys change then).',
  'fuse.remedy.geglu': 'On CUDA, liger_geglu takes gate and up apart; on Ascend, npu_geglu wants one weight for both (state-dict keys change then).',
  'fuse.remedy.gelu': 'Call F.gelu with the approximation you need.',
  'fuse.remedy.rope': 'On CUDA, liger_rope does both rotations in one kernel (in place); on Ascend, npu_rotary_mul.',
  'fuse.remedy.rope-tables': 'Compute cos and sin once per step and hand them to the layers.',
  'fuse.remedy.attention': 'Choose attn_implementation="sdpa" or "flash_attention_2" where the model is made; on Ascend, npu_fusion_attention (its mask is 1 where masked).',
  'fuse.remedy.cross-entropy': 'Use a chunked or fused linear cross entropy: loss_cfg.mode = "chunk" or "liger" in XTuner, LigerFusedLinearCrossEntropyLoss elsewhere, but not with a sharded or shared lm_head.',
  'fuse.remedy.moe-expert-loop': 'Use grouped matrix products: experts_implementation="grouped_mm" in transformers 5, a grouped-GEMM module elsewhere.',
  'fuse.remedy.moe-router': 'Keep the softmax in fp32; npu_moe_gating_top_k is the fused router that has a gradient.',
  'fuse.remedy.moe-permute': 'npu_moe_token_permute and npu_moe_token_unpermute do this with a gradient.',
  'fuse.remedy.expert-weights-stacked': 'Stack the expert weights once, when the checkpoint is loaded.',
  'fuse.remedy.causal-conv1d': 'Call causal_conv1d_fn with activation="silu", or npu_masked_causal_conv1d.',
  'fuse.remedy.gated-delta-rule': 'Call chunk_gated_delta_rule of fla, or its Ascend build; the torch_npu operator has no gradient.',
  'fuse.remedy.adamw-loop': 'torch.optim.AdamW(params, fused=True), which also takes DTensor parameters.',
  'fuse.remedy.gradient-norm': 'clip_grad_norm_(params, foreach=True) takes all norms in one call.',
  'fuse.remedy.nonzero-stall': 'Avoid nonzero and boolean masks in the step: a sort by expert and grouped products need no size on the host.',
  'cli.help.fuse': `fuselens fuse FILE|DIR [options]

Finds eager forms in Python source and swaps in fused operators; without --write nothing is changed.

  --backend NAME    ascend, cuda or torch (default: torch)
  --list            what was found, one line each (the default)
  --json            with --list: as JSON
  --diff            the edits as a unified diff
  --write           write the edits
  --only ID         only this fusion, for example rms-norm
  --line N          only the form that this line is part of
  --profile PATH    only forms whose chain this profile shows; its device is the backend
  --lang LANG       en or zh-cn

Installed packages are never edited.`,
  'cli.fuse.none': 'No eager form of the catalogue was found in {file}.',
  'cli.fuse.entry': '{file}:{line}  {fusion}: {status}',
  'cli.fuse.summary': '{fixable} can be fused, {advice} with advice, {refused} left as they are.',
  'cli.fuse.wrote': 'Fused {count} {count#form#forms} in {file}.',
  'cli.usage.fuse-no-path': 'No file was named: give a Python file or a folder.',
  'cli.usage.fuse-mode': 'Choose one of --list, --diff and --write.',
  'cli.usage.fuse-backend': '--backend takes {known}, not “{value}”.',
  'cli.usage.fuse-only': 'There is no fusion “{value}”; known are {known}.',
  'cli.usage.fuse-line': '--line takes a line number and a single file, not “{value}”.',
  'cli.failure.no-python': '{file}: no Python file to read there.',
};
