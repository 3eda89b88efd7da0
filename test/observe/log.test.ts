import fs, { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { logDestination, openLogger } from '../../src/observe/log.ts';
import { extendScope, inScope } from '../../src/observe/scope.ts';

it('writes what a full disk did not take as soon as it takes more', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'logs', 'one.log');
  const log = pino({ base: null, timestamp: false }, logDestination(file));
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

it('begins a new file where one is full, and keeps some', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'logs', 'one.log');
  const log = pino({ base: null, timestamp: false }, logDestination(file, 100));
  for (let n = 0; n < 16; n++) log.info({ n, text: 'x'.repeat(60) });
  const names = readdirSync(join(folder, 'logs')).sort();
  expect(names).toEqual(['one.log', 'one.log.1', 'one.log.2', 'one.log.3', 'one.log.4']);
  const linesOf = (name: string) =>
    readFileSync(join(folder, 'logs', name), 'utf8')
      .trimEnd()
      .split('\n');
  const numbers = names.reverse().flatMap((name) => linesOf(name).map((line) => (JSON.parse(line) as { n: number }).n));
  // The latest lines, in order, none lost between two files.
  expect(numbers).toEqual(numbers.map((_, index) => 16 - numbers.length + index));
  expect(numbers.length).toBeGreaterThan(5);
});

it('is readable by its owner only, also where an earlier version has left it readable for all', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [old, older, fresh] = ['old.log', 'old.log.1', 'fresh.log'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const file of [old, older]) {
    writeFileSync(file, 'a line of an earlier start');
    chmodSync(file, 0o644);
  }
  for (const file of [old, fresh]) pino(logDestination(file)).info('a line');
  for (const file of [old, older, fresh]) expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
});

it('names the request, the run and the trace in every line of their scope', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'one.log');
  const log = openLogger({ logLevel: 'warn' }, 'test', file);
  const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true };
  await inScope({ requestId: 'r-1', trace }, async () => {
    await Promise.resolve();
    extendScope({ executionId: 'run.x', organizationId: 'acme', step: 'pay' });
    log.info('below the level');
    log.warn('inside');
  });
  log.warn('outside');
  const [inside, outside] = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(inside).toMatchObject({
    msg: 'inside',
    requestId: 'r-1',
    executionId: 'run.x',
    step: 'pay',
    organizationId: 'acme',
    traceId: trace.traceId,
  });
  expect(Object.keys(outside ?? {})).not.toContain('requestId');
});
