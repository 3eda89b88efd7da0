/** A recording as lists and readers see it. */
import {
  type RecordedStep,
  type RecordingStart,
  type RecordingState,
  type RecordingSummary,
  type RecordingView,
  SHOWN_OUTPUT_BYTES,
  type ShownStep,
} from '../contract/definitions/recording.ts';
import { exactJsonBytes } from '../json/bytes.ts';
import { omitUndefined } from '../json/omit-undefined.ts';

type RecordingIdentity = Pick<RecordingStart, 'id' | 'idleMs'>;

export function summaryOf({ id, idleMs }: RecordingIdentity, state: RecordingState): RecordingSummary {
  const { name, description, by, createdAt, changedAt, steps, saved, ended } = state;
  return {
    id,
    name,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(changedAt).toISOString(),
    expiresAt: new Date(changedAt + idleMs).toISOString(),
    steps: steps.length,
    ...omitUndefined({ description, by, saved, ended }),
  };
}

/** The recording without the outputs that are too large together: those of the latest steps are shown first. */
export function recordingViewOf(begun: RecordingIdentity, state: RecordingState): RecordingView {
  let room = SHOWN_OUTPUT_BYTES;
  const recorded = state.steps
    .toReversed()
    .map((step) => {
      const { output, ...shown } = shownStep(step);
      if (output === undefined) return shown;
      const outputBytes = exactJsonBytes(output);
      if (outputBytes > room) return { ...shown, outputBytes };
      room -= outputBytes;
      return { ...shown, output };
    })
    .toReversed();
  return { ...summaryOf(begun, state), input: state.input, recorded };
}

export function shownStep({ request: _request, ...step }: RecordedStep): ShownStep {
  return step;
}
