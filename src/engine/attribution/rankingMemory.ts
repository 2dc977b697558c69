/**
 * What aligning the ranks before has shown. Ranks of a job mostly run the same program, so the next one is first aligned with
 * the few candidates that came near before; only where those do not explain it as well are all ranked again.
 */
import type { BackendLook, Candidate } from './candidates';
import type { Ranked } from './rankCandidates';

/** Candidates this far behind the best cannot change the answer: the margin that counts is far smaller. */
const NEAR = 0.1;
const LEAST = 8;
/** A rank that its candidate explains this much worse may run another model (a pipeline stage of its own). */
const MUCH_WORSE = 0.005;

export interface Finalists {
  readonly candidates: readonly Candidate[];
  /** Whether the candidate that was best is best again, and explains this rank as well. */
  readonly holds: (ranked: readonly Ranked[]) => boolean;
}

export class RankingMemory {
  private kept: { readonly look: string; readonly candidates: readonly Candidate[]; readonly best: Candidate; readonly penalty: number; readonly region: string } | undefined;

  finalists(region: readonly string[], look: BackendLook): Finalists | undefined {
    const { kept } = this;
    if (kept?.look !== JSON.stringify(look)) {
      return undefined;
    }
    const same = kept.region === region.join(' ');
    return {
      candidates: kept.candidates,
      holds: (ranked) => same || (ranked[0]?.candidate === kept.best && ranked[0].penalty <= kept.penalty + MUCH_WORSE),
    };
  }

  keep(region: readonly string[], look: BackendLook, ranked: readonly Ranked[]): void {
    const [best] = ranked;
    if (best !== undefined) {
      const near = ranked.filter((entry, i) => i < LEAST || entry.penalty <= best.penalty + NEAR).map(({ candidate }) => candidate);
      this.kept = { look: JSON.stringify(look), candidates: near, best: best.candidate, penalty: best.penalty, region: region.join(' ') };
    }
  }
}
