import { describe, expect, it } from 'vitest';
import { bytesText, countText, durationText, relativeTimeText } from '../../src/console/data/format-text.ts';
import { asApiProblem, parseProblem, problemAt } from '../../src/console/data/problem.ts';

describe('a problem', () => {
  it('is read from problem+json', () => {
    const problem = parseProblem(
      422,
      JSON.stringify({
        type: 'about:blank',
        title: 'Invalid input',
        status: 422,
        detail: 'The input does not fit.',
        code: 'invalid_input',
        problems: [{ pointer: '/amount', code: 'type', message: 'Expected a number.' }, 'odd'],
        paths: ['review'],
      }),
      'r-1',
    );
    expect(problem).toMatchObject({
      status: 422,
      code: 'invalid_input',
      message: 'The input does not fit.',
      requestId: 'r-1',
      extensions: { paths: ['review'] },
    });
    expect(problem.problems).toHaveLength(1);
    expect(problemAt(problem, '/amount')).toBe('Expected a number.');
    expect(problemAt(problem, '/name')).toBeUndefined();
  });

  it('is made of what a proxy answers, and of any error', () => {
    expect(parseProblem(502, '<html>Bad gateway</html>', undefined)).toMatchObject({ status: 502, code: 'http_502' });
    expect(parseProblem(500, '[1]', undefined)).toMatchObject({ code: 'http_500' });
    expect(asApiProblem(new TypeError('odd'))).toMatchObject({ status: 0, message: 'odd' });
  });
});

describe('words', () => {
  it('tell lengths of time', () => {
    expect([0, 410, 1_500, 59_960, 125_000, 3_600_000, 10_920_000, 90_000_000].map(durationText)).toEqual([
      '0 ms',
      '410 ms',
      '1.5 s',
      '59.9 s',
      '2 min 5 s',
      '1 h',
      '3 h 2 min',
      '1 d 1 h',
    ]);
  });

  it('tell times from now', () => {
    const now = 1_000_000_000;
    expect([-2_000, -40_000, -300_000, -7_200_000, -200_000_000].map((by) => relativeTimeText(now + by, now))).toEqual([
      'just now',
      '40 s ago',
      '5 min ago',
      '2 h ago',
      '2 d ago',
    ]);
    expect(relativeTimeText(now + 3_600_000, now)).toBe('in 1 h');
  });

  it('tell numbers', () => {
    expect([countText(1, 'run'), countText(2, 'run'), countText(12_345, 'reply', 'replies')]).toEqual([
      '1 run',
      '2 runs',
      '12,345 replies',
    ]);
    expect([bytesText(812), bytesText(12_340), bytesText(4_100_000)]).toEqual(['812 B', '12.3 kB', '4.1 MB']);
  });
});
