/** `workspace/config.json`: dimensions, the same as `model/dimensions.ts`; a test compares them. */
export const CONFIG_SOURCE = `{
  "model_type": "q35_sample",
  "note": "Synthetic sample of FuseLens: Qwen3.5-like dimensions, no trained weights.",
  "hidden_size": 2048,
  "intermediate_size": 6144,
  "num_hidden_layers": 24,
  "full_attention_interval": 4,
  "num_attention_heads": 8,
  "num_key_value_heads": 2,
  "head_dim": 256,
  "partial_rotary_factor": 0.25,
  "rope_theta": 10000000.0,
  "linear_num_heads": 16,
  "linear_head_dim": 128,
  "linear_conv_kernel_dim": 4,
  "rms_norm_eps": 1e-06,
  "vocab_size": 154880,
  "sequence_length": 4096,
  "micro_batches": 2,
  "loss_chunks": 8
}
`;
