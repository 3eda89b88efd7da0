import { describe, expect, it } from 'vitest';
import { compareVersions, nextVersion } from '../../workflows/actors/version-number.ts';

describe('versions of definitions', () => {
  it('begin at 1.0.0 or where the author says', () => {
    expect(nextVersion(undefined, undefined, true)).toBe('1.0.0');
    expect(nextVersion(undefined, '0.3.0', true)).toBe('0.3.0');
  });

  it('bump the patch of a changed body unless the author bumped it', () => {
    expect(nextVersion('1.2.3', undefined, true)).toBe('1.2.4');
    expect(nextVersion('1.2.3', '1.2.3', true)).toBe('1.2.4');
    expect(nextVersion('1.2.3', '1.0.0', true)).toBe('1.2.4');
    expect(nextVersion('1.2.3', '2.0.0', true)).toBe('2.0.0');
    expect(nextVersion('1.2.3', undefined, false)).toBe('1.2.3');
    expect(nextVersion('1.2.3', '1.3.0', false)).toBe('1.3.0');
    expect(nextVersion('2.0.0-rc.1', undefined, true)).toBe('2.0.0');
  });

  it('are ordered as semver orders them', () => {
    const ordered = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.10',
      '1.2.0',
    ];
    for (let i = 1; i < ordered.length; i++) expect(compareVersions(ordered[i - 1]!, ordered[i]!)).toBeLessThan(0);
    expect(compareVersions('1.0.0+a', '1.0.0+b')).toBe(0);
  });
});
