import { describe, expect, it } from 'vitest';
import { check } from '../../src/check/check.ts';
import type { JsonObject } from '../../src/json/json.ts';

function found(stepType: string, config: JsonObject): string[] {
  const { problems } = check({ name: 'X', slug: 'x', start: 'a', steps: { a: { stepType, config } } });
  return problems.map(({ pointer, message, hint = '' }) => `${pointer.split('/').at(-1)}: ${message} ${hint}`.trim());
}

const OR_TEMPLATE = 'or a template such as {{ input.value }}';

describe('a wrong value where a template may stand too', () => {
  it('is reported with the known texts, and the one that was meant', () => {
    const methods = '"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"';
    expect(found('http', { url: 'https://x.y', method: 'PSOT', as: 'zip' })).toEqual([
      `method: Expected ${methods} ${OR_TEMPLATE}, got "PSOT". Did you mean "POST"?`,
      `as: Expected "json", "text", "base64" ${OR_TEMPLATE}, got "zip".`,
    ]);
    expect(found('approval', { message: 'm', quorum: 'most' })).toEqual([
      `quorum: Expected "any", "all", number ${OR_TEMPLATE}, got "most".`,
    ]);
  });

  it('is reported with the type, and that quotes make a text', () => {
    expect(found('run_code', { language: 'javascript', code: 'x', memoryMb: 'a', timeoutMs: '100' })).toEqual([
      `timeoutMs: Expected number ${OR_TEMPLATE}, got string. Write it without quotes: 100.`,
      `memoryMb: Expected number ${OR_TEMPLATE}, got string.`,
    ]);
    expect(found('run_workflow', { workflow: 'w', wait: 'true' })).toEqual([
      `wait: Expected boolean ${OR_TEMPLATE}, got string. Write it without quotes: true.`,
    ]);
    expect(found('forEach', { items: 'x' })).toEqual([`items: Expected array ${OR_TEMPLATE}, got string.`]);
    expect(found('forEach', { items: 5 })).toEqual([`items: Expected array ${OR_TEMPLATE}, got number.`]);
  });

  it('is reported with its bounds where only they are wrong', () => {
    expect(found('approval', { message: 'm', quorum: 0 })).toEqual([
      'quorum: "quorum": Too small: expected number to be >=1.',
    ]);
  });
});

describe('a sentence of the checker', () => {
  it('names what is missing in words', () => {
    expect(found('mapping', {})).toEqual(['output: "output" is missing: expected a value.']);
  });

  it('names what could stand where a callback or a quote is wrong', () => {
    expect(found('mapping', { output: "{{ callback('a') }}" })[0]).toContain(
      "Expected {{ callback('slug') }} with nothing else in the braces",
    );
    expect(found('mapping', { output: '{{ "abc }}' })[0]).toContain('At column 4, expected the closing ".');
  });

  it('says of a wait that its config says how long', () => {
    const steps = { a: { stepType: 'sleep', config: { duration: '1s' }, timeout: '1s' } };
    expect(check({ name: 'X', slug: 'x', start: 'a', steps }).problems).toMatchObject([
      { code: 'timeout_on_wait', message: expect.stringContaining("'sleep' waits, and its config says how long.") },
    ]);
  });
});

describe("a path of a trigger's mapping", () => {
  const problemsOf = (path: string) =>
    check({
      name: 'X',
      slug: 'x',
      start: 'a',
      steps: { a: { stepType: 'finish' } },
      triggers: [{ name: 't', type: 'manual', variableMapping: { value: path } }],
    }).problems;

  it.each(['$', '$.a.b', '$.items[0].id', "$['order id'].x", '$["a.b"][2]'])('may be %s', (path) => {
    expect(problemsOf(path)).toEqual([]);
  });

  it.each(['a.b', '$.a b', '$[a]', "$['a]", '$..a'])('may not be %s', (path) => {
    expect(problemsOf(path)).toMatchObject([{ pointer: '/triggers/0/variableMapping/value', code: 'invalid_value' }]);
  });
});
