import { Cancelled, UnreadableInput } from '../engine/profile/problems';
import { RunFailure } from '../run/failure';
import { CommandFailure } from './io';

/** What a failed call means to the user: one message. Mistakes of our own stay exceptions. */
export function failureOf(error: unknown): CommandFailure | undefined {
  if (error instanceof CommandFailure) {
    return error;
  }
  if (error instanceof UnreadableInput) {
    return new CommandFailure(error.detail.code, error.detail.args ?? {});
  }
  if (error instanceof RunFailure) {
    return new CommandFailure(error.explanation.code, error.explanation.args);
  }
  return error instanceof Cancelled ? new CommandFailure('error.cancelled') : undefined;
}
