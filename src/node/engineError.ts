import type { MessageArguments } from '../engine/profile/problems';

/** A failed engine call: a message code that `protocol/text` renders, and for a report the raw text of what went wrong. */
export class EngineError extends Error {
  constructor(readonly code: string, readonly args?: MessageArguments, readonly detail?: string) {
    super(detail === undefined ? code : `${code}: ${detail}`);
    this.name = 'EngineError';
  }

  /** True when the caller itself asked to stop: nothing to show. */
  get cancelled(): boolean {
    return this.code === 'error.cancelled';
  }
}
