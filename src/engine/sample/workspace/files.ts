import { CONFIG_SOURCE } from './configSource';
import { DELTA_RULE_SOURCE } from './deltaRuleSource';
import { LOSS_SOURCE } from './lossSource';
import { MODEL_SOURCE } from './modelSource';
import { TRAIN_SOURCE } from './trainSource';

/** Name and text of every file of the sample's Python workspace; runnable with plain PyTorch. */
export const WORKSPACE_FILES: readonly (readonly [name: string, text: string])[] = [
  ['q35_npu_old.py', MODEL_SOURCE],
  ['gdn_ops.py', DELTA_RULE_SOURCE],
  ['chunk_loss.py', LOSS_SOURCE],
  ['train.py', TRAIN_SOURCE],
  ['config.json', CONFIG_SOURCE],
];
