/** A cluster analysis over all ranks, as `msprof-analyze cluster` leaves it in `cluster_analysis_output`. */
import type { CommunicationLink, CommunicationSummary } from './columns';

/** One row of the step table: a rank, or a pipeline stage (whose figures are the maxima over its ranks). Times in µs as written; NaN unknown. */
export interface ClusterStep {
  /** Step as written, '' when the recording had none. */
  readonly step: string;
  readonly kind: 'rank' | 'stage';
  /** The rank, or all ranks of the stage. */
  readonly ranks: readonly number[];
  readonly computingUs: number;
  readonly exposedCommunicationUs: number;
  readonly overlappedUs: number;
  readonly communicationUs: number;
  readonly freeUs: number;
  readonly stageUs: number;
  readonly bubbleUs: number;
  readonly exposedCommunicationWithoutReceiveUs: number;
  /** NaN before 2025. */
  readonly preparingUs: number;
}

/** Communication of one rank, with the ranks of its group where the file names them. */
export interface ClusterCommunication extends CommunicationSummary {
  readonly rank: number;
  /** Ranks of the group; empty for p2p of unknown partners. */
  readonly ranks: readonly number[];
}

/** A link between two ranks of the job (not of a group). */
export interface ClusterLink extends CommunicationLink {
  readonly ranks: readonly number[];
}

export interface CommunicationGroup {
  readonly kind: 'collective' | 'p2p';
  readonly ranks: readonly number[];
  /** Hash that ends operation names (`…@<hash>`); '' in old files. */
  readonly hash: string;
  /** `tp`, `dp`, `pp` … as the framework named it; '' when unknown. */
  readonly parallelism: string;
}

export interface ClusterData {
  readonly folder: string;
  readonly steps: readonly ClusterStep[];
  readonly communication: readonly ClusterCommunication[];
  readonly links: readonly ClusterLink[];
  readonly groups: readonly CommunicationGroup[];
}
