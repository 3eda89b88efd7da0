import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveKeys } from '../../src/client/payloads/keys.ts';
import { seal, unseal } from '../../src/client/payloads/seal.ts';
import { isResumeToken, resumeToken } from '../../src/client/runs/resume-token.ts';
import { definitionId, hookId, keyedRunId, newRunId, versionId } from '../../src/client/temporal/ids.ts';
import { readCursor, writeCursor } from '../../src/client/visibility/cursor.ts';

const keys = deriveKeys(randomBytes(32));

describe('sealed secrets', () => {
  it('open with the same key and context only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (clear, place) => {
        const sealed = seal(keys.secrets, place, clear);
        expect(unseal(keys.secrets, place, sealed)).toBe(Buffer.from(clear).toString());
        expect(unseal(keys.secrets, `${place}!`, sealed)).toBeUndefined();
        expect(unseal(deriveKeys(randomBytes(32)).secrets, place, sealed)).toBeUndefined();
      }),
    );
  });

  it('differ each time, and do not open when touched', () => {
    const sealed = seal(keys.secrets, 'p', 'canary');
    expect(seal(keys.secrets, 'p', 'canary')).not.toBe(sealed);
    expect(sealed).not.toContain('canary');
    for (const touched of [`${sealed.slice(0, -2)}AA`, sealed.replace('v1.', 'v2.'), 'v1.', 'v1.AAAA', '']) {
      expect(unseal(keys.secrets, 'p', touched)).toBeUndefined();
    }
  });
});

describe('cursors', () => {
  it('are good for their own list', () => {
    const cursor = writeCursor(keys.cursors, 'list a', Buffer.from('position'));
    expect(Buffer.from(readCursor(keys.cursors, 'list a', cursor)).toString()).toBe('position');
    for (const forged of [
      cursor.slice(1),
      `${cursor}A`,
      'x',
      '',
      writeCursor(keys.resumeTokens, 'list a', Buffer.from('position')),
    ]) {
      expect(() => readCursor(keys.cursors, 'list a', forged)).toThrow(/not one of this list/);
    }
    expect(() => readCursor(keys.cursors, 'list b', cursor)).toThrow(/not one of this list/);
  });
});

describe('resume tokens', () => {
  const wait = { path: 'review', since: '2026-01-15T10:30:00.000Z' };
  const token = resumeToken(keys.resumeTokens, 'run.default.a.b', wait);

  it('belong to one wait of one run', () => {
    expect(token).toMatch(/^wrf_rt_[0-9a-f]{24}$/);
    expect(isResumeToken(keys.resumeTokens, 'run.default.a.b', wait, token)).toBe(true);
    expect(isResumeToken(keys.resumeTokens, 'run.default.a.c', wait, token)).toBe(false);
    expect(isResumeToken(keys.resumeTokens, 'run.default.a.b', { ...wait, path: 'review#2' }, token)).toBe(false);
    expect(
      isResumeToken(keys.resumeTokens, 'run.default.a.b', { ...wait, since: '2026-01-15T10:30:01.000Z' }, token),
    ).toBe(false);
  });
});

describe('ids', () => {
  it('are those of the design', () => {
    expect(definitionId('default', 'refund-approval')).toBe('def.default.refund-approval');
    expect(versionId('default', 'a', `sha256:${'0'.repeat(64)}`)).toBe(`ver.default.a.${'0'.repeat(64)}`);
    expect(hookId('default', 'refunds')).toBe('hook.default.refunds');
    expect(newRunId('default', 'a')).toMatch(/^run\.default\.a\.[0-9A-Z]{26}$/);
    expect(keyedRunId('default', 'a', 'manual', 'order 17')).toMatch(/^run\.default\.a\.key-[0-9a-f]{32}$/);
  });

  it('keep apart what is apart, stay short, and have no dots but their own', () => {
    expect(keyedRunId('default', 'a', 'x', 'y z')).not.toBe(keyedRunId('default', 'a', 'x y', 'z'));
    fc.assert(
      fc.property(fc.string({ maxLength: 500 }), (text) => {
        const id = hookId('default', text);
        expect(id.length).toBeLessThanOrEqual(255);
        expect(id.split('.')).toHaveLength(3);
      }),
    );
  });
});
