/** Definitions that the tests of the workflow `run` walk; what each is for stands at the test. */
import type { Definition } from '../../../src/definition/document/types.ts';

export const approve: Definition = {
  name: 'Approve',
  slug: 'approve',
  version: '1.0.0',
  tags: ['finance'],
  state: { customer: { type: 'string', searchable: true } },
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'note' } },
    note: {
      stepType: 'set',
      config: { target: 'state', values: { customer: '{{ input.customer }}' } },
      nextSteps: { success: 'review' },
    },
    review: {
      stepType: 'approval',
      config: { message: 'Refund {{ input.amount }}?' },
      nextSteps: { approved: 'done', rejected: 'refused' },
    },
    done: {
      stepType: 'finish',
      config: { output: { paid: '{{ input.amount }}', by: '{{ steps.review.output.data.decidedBy }}' } },
    },
    refused: { stepType: 'finish', config: { output: { paid: 0 } } },
  },
};

/** Two approvals, one after the other. */
export const twice: Definition = {
  name: 'Twice',
  slug: 'twice',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'first' } },
    first: { stepType: 'approval', config: { message: 'First?' }, nextSteps: { approved: 'second' } },
    second: { stepType: 'approval', config: { message: 'Second?' }, nextSteps: { approved: 'done' } },
    done: { stepType: 'finish', config: { output: '{{ steps.second.output.data.decision }}' } },
  },
};

export const threeSeconds: Definition = {
  name: 'Three seconds',
  slug: 'three-seconds',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'rest' } },
    rest: { stepType: 'sleep', config: { duration: '3s' }, nextSteps: { success: 'done' } },
    done: { stepType: 'finish', config: { output: 'rested' } },
  },
};

/** As `threeSeconds`, for nobody to wait for. */
export const oneDay: Definition = {
  ...threeSeconds,
  steps: {
    ...threeSeconds.steps,
    rest: { stepType: 'sleep', config: { duration: '1d' }, nextSteps: { success: 'done' } },
  },
};

/** One http step, tried at most four times. */
export const fetchOnce: Definition = {
  name: 'Fetch',
  slug: 'fetch',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'get' } },
    get: {
      stepType: 'http',
      config: { url: 'https://example.com/{{ input.what }}' },
      retry: { maxAttempts: 4, initialInterval: '20ms', nonRetryable: ['gone'] },
      nextSteps: { success: 'done' },
    },
    done: { stepType: 'finish', config: { output: '{{ steps.get.output.data }}' } },
  },
};

/** For each of `input.rounds`: a short sleep, then an approval. */
export const rounds: Definition = {
  name: 'Rounds',
  slug: 'rounds',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'each' } },
    each: { stepType: 'loop', config: { items: '{{ input.rounds }}' }, nextSteps: { loop: 'rest', done: 'done' } },
    rest: { stepType: 'sleep', config: { duration: 50 }, nextSteps: { success: 'ask' } },
    ask: {
      stepType: 'approval',
      config: { message: 'Round {{ loop.item }}?' },
      saveToState: 'last',
      nextSteps: { approved: 'each' },
    },
    done: { stepType: 'finish', config: { output: '{{ steps.each.output.data.state.iterations }}' } },
  },
};

/** Takes `input.count` messages `n`, one a tick, and keeps their payloads in order. */
export const collect: Definition = {
  name: 'Collect',
  slug: 'collect',
  config: { variables: { count: '{{ input.count }}' } },
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'each' } },
    each: {
      stepType: 'loop',
      config: {
        initial: [],
        while: 'loop.carry.length < input.count',
        next: '{{ loop.carry|concat([lastOutput.data]) }}',
        maxIterations: 100_000,
      },
      nextSteps: { loop: 'next', done: 'done' },
    },
    next: { stepType: 'listen', config: { name: 'n' } },
    done: { stepType: 'finish', config: { output: '{{ steps.each.output.data.value }}' } },
  },
};

/** Fetches `input.rounds` times in a row: an activity is in flight at every moment. */
export const fetchMany: Definition = {
  name: 'Fetch many',
  slug: 'fetch-many',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'each' } },
    each: { stepType: 'loop', config: { items: '{{ input.rounds }}' }, nextSteps: { loop: 'get', done: 'done' } },
    get: { stepType: 'http', config: { url: 'https://example.com/{{ loop.item }}' } },
    done: { stepType: 'finish', config: { output: '{{ steps.get.output.data }}' } },
  },
};

/** Three concurrent branches: an activity, a sleep, an approval. */
export const abreast: Definition = {
  name: 'Abreast',
  slug: 'abreast',
  steps: {
    received: { stepType: 'trigger', nextSteps: { success: 'all' } },
    all: {
      stepType: 'parallel',
      config: { mode: 'all' },
      nextSteps: { web: 'get', clock: 'rest', person: 'ask', done: 'done' },
    },
    get: { stepType: 'http', config: { url: 'https://example.com/' } },
    rest: { stepType: 'sleep', config: { duration: 200 } },
    ask: { stepType: 'approval', config: { message: 'Go on?' } },
    done: { stepType: 'finish', config: { output: '{{ steps.ask.output.data.decision }}' } },
  },
};
