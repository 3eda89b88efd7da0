import { describe, expect, it } from 'vitest';
import type { Simulated } from '../src/engine/simulate.ts';
import { compile } from '../src/steps/compile/program.ts';
import { loadPrograms, type ProgramFile } from './programs/load.ts';
import { type SimulationOptions, START, sentConfigs, simulateProgram, traceLines } from './programs/run.ts';

const programs = loadPrograms();

describe('programs', () => {
  it.each(programs.filter((file) => file.expect !== undefined))('$name: $about', (file) => {
    const run = simulateProgram(file);
    const { status, output, error, reason, waits, trace, traceIncludes, tookMs, sent: configs } = file.expect!;
    if (trace !== undefined) expect(traceLines(run)).toEqual(trace);
    if (traceIncludes !== undefined) {
      const wanted = new Set(traceIncludes);
      expect(traceLines(run).filter((row) => wanted.has(row))).toEqual(traceIncludes);
    }
    expect({ status: run.status, error: run.error?.code }).toEqual({ status, error: error?.code });
    if (error !== undefined) expect(run.error).toMatchObject(error);
    // `details` is compared to the letter: toMatchObject would let members slip by.
    if (error?.details !== undefined) expect(run.error?.details).toEqual(error.details);
    if (output !== undefined) expect(run.output).toEqual(output);
    if (reason !== undefined) expect(run.state.ending).toMatchObject({ reason });
    if (waits !== undefined) expect(run.waits.map(({ path, kind }) => `${path} ${kind}`)).toEqual(waits);
    if (tookMs !== undefined) expect(run.state.now - START).toBe(tookMs);
    if (configs !== undefined) expect(sentConfigs(run)).toMatchObject(configs);
    expect(run.unsent).toEqual([]);
  });

  it.each(programs.filter((file) => file.expect !== undefined))(
    '$name: continuing as new after every event changes nothing (E2)',
    (file) => {
      expect(shown(file, { serializesAlways: true })).toEqual(shown(file));
    },
  );

  it.each(programs.filter((file) => file.expect !== undefined))('$name: light effects in segments', (file) => {
    const [plain, inSegments] = [simulateProgram(file), simulateProgram(file, { segments: true })];
    expect(traceLines(inSegments)).toEqual(traceLines(plain));
    expect(ended(inSegments)).toEqual(ended(plain));
  });

  it('many of them have segments', () => {
    const counts = programs
      .filter((file) => file.expect !== undefined)
      .map((file) => simulateProgram(file, { segments: true }).segments);
    expect(counts.filter((count) => count > 0).length).toBeGreaterThan(20);
    expect(Math.max(...counts)).toBeGreaterThan(2);
  });

  it.each(programs.filter((file) => file.problems !== undefined))('$name: $about', (file) => {
    const compiled = compile(file.definition);
    const problems = 'problems' in compiled ? compiled.problems : [];
    expect(problems.map(({ pointer, code }) => ({ pointer, code }))).toEqual(file.problems);
    for (const { message } of problems) expect(message).toMatch(/^.{20,}[.]$/s);
  });
});

const ended = ({ status, output, error }: Simulated) => ({ status, output, error });

function shown(file: ProgramFile, walk: SimulationOptions = {}) {
  const { trace, commands, status, output, error, waits } = simulateProgram(file, walk);
  return { trace, commands, status, output, error, waits };
}
