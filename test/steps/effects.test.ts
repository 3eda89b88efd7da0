import { describe, expect, it } from 'vitest';
import { action } from '../../src/steps/kinds/action.ts';
import { http } from '../../src/steps/kinds/http.ts';
import { begin, Driven, parse } from './kind-driver.ts';

const config = {
  method: 'POST',
  url: 'https://api.example.com/orders/{{ input.id }}',
  headers: { 'x-trace': '{{ input.id }}', authorization: 'Bearer {{ secrets.KEY }}' },
  timeout: '5s',
};
const roots = { input: { id: 'A7' } };

describe('http', () => {
  it('runs the activity http with its evaluated config, and names where secrets belong', () => {
    const outcome = begin(http, config, { roots });
    expect(outcome).toMatchObject({
      do: 'suspend',
      run: [
        {
          activity: 'http',
          timeoutMs: 15_000,
          config: {
            value: {
              method: 'POST',
              url: 'https://api.example.com/orders/A7',
              headers: { 'x-trace': 'A7' },
              timeout: 5_000,
            },
            secrets: [{ path: ['headers', 'authorization'], parts: ['Bearer ', { secret: 'KEY' }] }],
          },
        },
      ],
    });
  });

  it('ends with the data and meta of the answer', () => {
    const driven = new Driven(http, config, { roots });
    driven.begin();
    expect(driven.resume({ on: 'completed', suffix: '', result: { data: { ok: 1 }, meta: { status: 200 } } })).toEqual({
      do: 'end',
      port: 'success',
      data: { ok: 1 },
      meta: { status: 200 },
    });
  });

  it('fails as the activity failed', () => {
    const driven = new Driven(http, config, { roots });
    driven.begin();
    const error = { code: 'http_status', message: 'The answer was 503.', retryable: true, attempts: 3 };
    expect(driven.resume({ on: 'failed', suffix: '', error })).toEqual({ do: 'fail', error });
  });

  it('lets no secret stand in the method, the limits or the expectations', () => {
    for (const member of ['method', 'timeout', 'expect', 'as', 'maxBytes', 'bodyAs'])
      expect(() =>
        http.plan({ url: 'https://a.example', [member]: '{{ secrets.KEY }}' }, parse, { stepType: 'http' }),
      ).toThrow(expect.objectContaining({ code: 'secret_not_allowed' }));
  });

  it('wants a URL', () => {
    expect(() => http.plan({}, parse, { stepType: 'http' })).toThrow(expect.objectContaining({ at: '/url' }));
  });
});

describe('action', () => {
  it.each(['http.request', 'http.http_request'])('%s makes the same request as http', (type) => {
    expect(begin(action, { type, parameters: config }, { roots })).toEqual(begin(http, config, { roots }));
  });

  it('leaves one that is not its own to the activity hostAction, which knows whether there is one', () => {
    const parameters = { id: '{{ input.id }}', key: '{{ secrets.KEY }}' };
    expect(begin(action, { type: 'crm.update', parameters }, { roots })).toMatchObject({
      run: [
        {
          activity: 'hostAction',
          light: true,
          config: {
            value: { type: 'crm.update', parameters: { id: 'A7' } },
            secrets: [{ path: ['parameters', 'key'], parts: [{ secret: 'KEY' }] }],
          },
        },
      ],
    });
  });

  it('points at what is wrong within the parameters', () => {
    expect(() => action.plan({ type: 'http.request', parameters: {} }, parse, { stepType: 'action' })).toThrow(
      expect.objectContaining({ at: '/parameters/url' }),
    );
  });
});
