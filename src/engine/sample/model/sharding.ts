import type { Block } from './kernel';
import type { Parameter, Unit } from './parameters';
import type { ProgramBuilder } from './program';

const elements = (shape: string): number => shape.split(',').reduce((product, n) => product * Number(n), 1);
const shard = (p: Parameter): string => String(Math.max(1, elements(p.shape) / 16));
const mark = (p: Parameter): string => (p.fp32 ? ':f' : '');

/** FSDP on the device: each gather copies the shard in and every parameter out, each scatter copies every gradient in. */
const copyIn = (unit: Unit): Block => unit.parameters.map((p) => ['CastInto', `${shard(p)}:f`, `${shard(p)}${mark(p)}`]);
const copyOut = (unit: Unit): Block => unit.parameters.map((p) => ['Move', `${p.shape}${mark(p)}`, `${p.shape}${mark(p)}`]);
const gradientIn = (unit: Unit): Block => unit.parameters.map((p) => ['CastInto', `${p.shape}${mark(p)}`, `${p.shape}:f`]);

/** Gathers units in the order they will be used, a fixed number ahead of use. */
export class Gathering {
  private next = 0;
  private used = 0;
  private readonly ids: number[] = [];

  constructor(private readonly builder: ProgramBuilder, private readonly units: readonly Unit[], private readonly ahead: number) {}

  private start(count: number): void {
    while (this.next < Math.min(count, this.units.length)) {
      this.issueNext();
    }
  }

  /** Called before the next unit runs: issue what is due, wait, copy out. */
  use(): void {
    const index = this.used++;
    this.start(index + 1 + this.ahead);
    this.builder.wait(this.ids[index]);
    this.builder.run(copyOut(this.units[index]));
  }

  private issueNext(): void {
    const unit = this.units[this.next++];
    this.builder.run(copyIn(unit));
    this.ids.push(this.builder.issue({ kind: 'allGather', unit: unit.name, transferUs: unit.gatherUs, megabytes: unit.megabytes }));
  }
}

/** Reduce-scatter of a unit's gradients; on later micro-batches the shard is added to what is already there. */
export function scatter(builder: ProgramBuilder, unit: Unit, accumulate: boolean): number {
  builder.run(gradientIn(unit));
  const id = builder.issue({ kind: 'reduceScatter', unit: unit.name, transferUs: unit.scatterUs, megabytes: 2 * unit.megabytes });
  if (accumulate) {
    const size = String(Math.max(1, Math.round(unit.parameters.reduce((sum, p) => sum + elements(p.shape), 0) / 16)));
    builder.run([['Add', `${size}:f;${size}:f`, `${size}:f`]]);
  }
  return id;
}
