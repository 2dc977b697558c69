/** The catalogue. One file per fusion; a test proves that every file is listed. */
import { adamwLoop } from './adamwLoop';
import { aiCpuKernel } from './aiCpuKernel';
import { castStorm } from './castStorm';
import { causalConv } from './causalConv';
import { crossEntropy } from './crossEntropy';
import { eagerAttention } from './eagerAttention';
import { expertWeightsStacked } from './expertWeightsStacked';
import type { Fusion } from './fusion';
import { gatedDeltaRule } from './gatedDeltaRule';
import { gatedRmsNorm } from './gatedRmsNorm';
import { geGlu } from './geGlu';
import { geluByHand } from './geluByHand';
import { gradientNorm } from './gradientNorm';
import { l2Norm } from './l2Norm';
import { layerNorm } from './layerNorm';
import { layoutConversion } from './layoutConversion';
import { maskRebuilt } from './maskRebuilt';
import { moeExpertLoop } from './moeExpertLoop';
import { moePermute } from './moePermute';
import { moeRouter } from './moeRouter';
import { nonzeroStall } from './nonzeroStall';
import { parameterLoop } from './parameterLoop';
import { rmsNorm } from './rmsNorm';
import { rotaryEmbedding } from './rotaryEmbedding';
import { rotaryTables } from './rotaryTables';
import { scalarCopy } from './scalarCopy';
import { swiGlu } from './swiGlu';
import { zeroCentredRmsNorm } from './zeroCentredRmsNorm';

export const FUSIONS: readonly Fusion[] = [
  gatedRmsNorm, zeroCentredRmsNorm, rmsNorm, l2Norm, layerNorm, swiGlu, geGlu, geluByHand, rotaryEmbedding, rotaryTables, eagerAttention, crossEntropy,
  moeExpertLoop, moeRouter, moePermute, expertWeightsStacked, causalConv, gatedDeltaRule, adamwLoop, gradientNorm, nonzeroStall,
  // Found by what they are, not by a chain of their own: after the chains, on what those leave.
  maskRebuilt, parameterLoop, castStorm, layoutConversion, aiCpuKernel, scalarCopy,
];
