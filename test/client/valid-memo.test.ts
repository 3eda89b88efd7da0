import { expect, it } from 'vitest';
import { validMemo } from '../../src/client/runs/valid-memo.ts';

it('omits every member of a memo that has another shape, and keeps what is not of a run', () => {
  const sound = {
    workflow: 'w',
    organizationId: 'default',
    status: 'running',
    waitingFor: [],
    unread: 0,
    dropped: 3,
    paused: null,
    trigger: { type: 'manual' },
    startedAt: '2026-01-01T00:00:00.000Z',
    owner: 'ann',
  };
  expect(validMemo(sound)).toEqual(sound);
  expect(validMemo({ ...sound, paused: '2026-01-01T00:00:00.000Z', other: [1] })).toMatchObject({ other: [1] });
  for (const [field, value] of Object.entries(sound)) {
    const wrong = { ...sound, [field]: typeof value === 'number' ? 'many' : 7 };
    const { [field as 'owner']: _omitted, ...rest } = sound;
    expect(validMemo(wrong), field).toEqual(rest);
  }
  for (const dropped of [-1, 1.5, Number.NaN]) expect(validMemo({ dropped })).toEqual({});
  expect(validMemo({ toString: 1, constructor: 'x' })).toEqual({ toString: 1, constructor: 'x' });
});
