import { Cancelled } from './problems';

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
}

/**
 * Keeps loaded ranks within a memory budget: the least recently used go first. The rank asked for last always stays, also
 * when it alone is over the budget, since somebody is about to use it.
 */
export class RankPool<T> {
  /** Insertion order is use order: a hit is taken out and put back at the end. */
  private readonly entries = new Map<string, Entry<T>>();
  private readonly loading = new Map<string, Promise<T>>();
  private used = 0;
  /** Goes up with `clear`, so that a load under way then does not bring back what was dropped. */
  private generation = 0;

  constructor(private readonly budgetBytes: number) {}

  /** Bytes of all kept ranks. */
  get bytes(): number {
    return this.used;
  }

  has(id: string): boolean {
    return this.entries.has(id);
  }

  /**
   * The rank, loaded at most once: callers that ask while it is being read wait for the same read. When that read is
   * cancelled by whoever started it, a waiting caller starts its own.
   */
  async get(id: string, load: () => Promise<T>, bytesOf: (value: T) => number): Promise<T> {
    const known = this.entries.get(id);
    if (known !== undefined) {
      this.entries.delete(id);
      this.entries.set(id, known);
      return known.value;
    }
    const underWay = this.loading.get(id);
    if (underWay !== undefined) {
      try {
        return await underWay;
      } catch (error) {
        if (!(error instanceof Cancelled)) {
          throw error;
        }
        return this.get(id, load, bytesOf);
      }
    }
    const started = this.start(id, load, bytesOf);
    this.loading.set(id, started);
    return started;
  }

  /** Drops a rank; false when it was not kept. */
  delete(id: string): boolean {
    const entry = this.entries.get(id);
    if (entry === undefined) {
      return false;
    }
    this.entries.delete(id);
    this.used -= entry.bytes;
    return true;
  }

  clear(): void {
    this.entries.clear();
    this.loading.clear();
    this.used = 0;
    this.generation++;
  }

  private async start(id: string, load: () => Promise<T>, bytesOf: (value: T) => number): Promise<T> {
    const { generation } = this;
    try {
      const value = await load();
      if (generation === this.generation) {
        this.keep(id, { value, bytes: bytesOf(value) });
      }
      return value;
    } finally {
      if (generation === this.generation) {
        this.loading.delete(id);
      }
    }
  }

  private keep(id: string, entry: Entry<T>): void {
    this.delete(id);
    this.entries.set(id, entry);
    this.used += entry.bytes;
    for (const oldest of this.entries.keys()) {
      if (this.used <= this.budgetBytes || oldest === id) {
        return;
      }
      this.delete(oldest);
    }
  }
}
