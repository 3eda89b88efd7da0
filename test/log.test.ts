import fs, { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { logTo } from '../src/log.ts';

it('writes what a full disk did not take as soon as it takes more', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'logs', 'one.log');
  const log = pino({ base: null, timestamp: false }, logTo(file));
  log.info('before');
  const write = vi.spyOn(fs, 'writeSync').mockImplementation(() => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  onTestFinished(() => write.mockRestore());
  log.info('while it is full');
  expect(write).toHaveBeenCalled();
  write.mockRestore();
  log.info('after');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    'before',
    'while it is full',
    'after',
  ]);
});
