import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../activities/run-code/python-answer.ts';

const read = (answer: unknown) => readAnswer(JSON.stringify(answer));

describe('the answer of a Python process', () => {
  it('is taken as it is', () => {
    const console = [{ level: 'log', text: 'a' }];
    expect(read({ result: '[1]', console, consoleIsCut: false })).toEqual({
      result: '[1]',
      console,
      consoleIsCut: false,
    });
    const error = { code: 'script_error', message: 'No.', details: { name: 'Error' } };
    expect(read({ error, console: [], consoleIsCut: true })).toEqual({ error, console: [], consoleIsCut: true });
  });

  it.each([['not JSON'], ['5'], ['null'], ['{"result": 5}'], ['{"result": "no JSON"}']])('is none: %s', (line) => {
    expect(readAnswer(line)).toBeUndefined();
  });

  it('is kept in bounds where the script has written it itself', () => {
    const long = 'x'.repeat(1_000_000);
    const error = { code: 'secret_not_found', message: long, details: { long } };
    expect(read({ error, console: [{ level: 'log', text: long }] })).toEqual({
      error: { code: 'script_error', message: 'x'.repeat(1_500) },
      console: [],
      consoleIsCut: true,
    });
    expect(read({ result: '1', console: 'lines' })).toMatchObject({ console: [] });
  });
});
