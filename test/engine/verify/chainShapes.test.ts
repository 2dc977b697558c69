import assert from 'node:assert/strict';
import { EventKind } from '../../../src/engine/profile/columns';
import { StringTable } from '../../../src/engine/profile/strings';
import { chainShapes, occurrenceFrom } from '../../../src/engine/verify/chainShapes';
import { rankOf, type EventSpec } from '../analysis/rankBuilder';

/** A rank whose kernels have these input shapes and dtypes. */
function withShapes(kernels: readonly (readonly [shapes: string, dtypes: string])[], events: readonly EventSpec[] = kernels.map((_, i) => ({ start: i * 10, duration: 5 }))): ReturnType<typeof rankOf> {
  const rank = rankOf({ events });
  const strings = new StringTable();
  kernels.forEach(([shapes, dtypes], i) => {
    rank.deviceEvents.shapes[i] = strings.intern(shapes);
    rank.deviceEvents.dtypes[i] = strings.intern(dtypes);
  });
  return { ...rank, strings };
}

describe('shapes of a chain in a profile', () => {
  it('are those of the first kernel that reads a tensor of full size', () => {
    const rank = withShapes([['4096,16,128', 'DT_BF16'], ['4096,16,128', 'FLOAT'], ['4096,16,128;4096,16,1', 'FLOAT;FLOAT'], ['4096,16,128;128', 'FLOAT;FLOAT']]);
    assert.deepEqual(chainShapes(rank, [0, 1, 2, 3], 'gated-rms-norm'), { shapes: { x: [4096, 16, 128] }, dtype: 'bfloat16' });
  });

  it('name the tables of a rotation', () => {
    const rank = withShapes([['64,1,32;64,8,32', 'c10::Half;c10::Half'], ['64,8,16', 'c10::Half']]);
    assert.deepEqual(chainShapes(rank, [0, 1], 'rope'), { shapes: { x: [64, 8, 32], cos: [64, 1, 32], sin: [64, 1, 32] }, dtype: 'float16' });
  });

  it('are unknown where the profile has none, and for dtypes that are none of ours', () => {
    assert.equal(chainShapes(withShapes([['', ''], ['', '']]), [0, 1], 'rms-norm'), undefined);
    assert.deepEqual(chainShapes(withShapes([['8,4;;', 'INT64;N/A;']]), [0], 'rms-norm'), { shapes: { x: [8, 4] }, dtype: undefined });
  });

  it('take the compute kernels of one stream from an event on', () => {
    const events: readonly EventSpec[] = [
      { start: 0, duration: 1 }, { start: 1, duration: 1, stream: 1 }, { start: 2, duration: 1 }, { start: 3, duration: 1, kind: EventKind.Copy }, { start: 4, duration: 1 }, { start: 5, duration: 1 },
    ];
    assert.deepEqual(occurrenceFrom(rankOf({ events }), 0, 3), [0, 2, 4]);
    assert.deepEqual(occurrenceFrom(rankOf({ events }), 4, 9), [4, 5]);
  });
});
