// Work that is counted: how much a test took says the same on every machine, how long it took does not.
import { Session } from 'node:inspector';

type Coverage = { result: { functions: { ranges: { count: number }[] }[] }[] };

/** How many calls of functions written in JavaScript this thread makes during `act`. */
export async function countCalls(act: () => unknown): Promise<number> {
  const session = new Session();
  session.connect();
  const taken = (): Promise<Coverage> =>
    new Promise((resolve, reject) =>
      session.post('Profiler.takePreciseCoverage', (error, counted) => (error ? reject(error) : resolve(counted))),
    );
  try {
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await taken();
    await act();
    const { result } = await taken();
    return result.flatMap(({ functions }) => functions).reduce((sum, { ranges: [all] }) => sum + (all?.count ?? 0), 0);
  } finally {
    session.disconnect();
  }
}

/** How many characters `act` reads, one at a time or by a search of JavaScript, which may read all of both texts. */
export function countCharactersRead(act: () => void): number {
  const { charCodeAt, indexOf, split } = String.prototype;
  let read = 0;
  String.prototype.charCodeAt = function (at) {
    read++;
    return charCodeAt.call(this, at);
  };
  const counted = <Given extends unknown[], Found>(search: (this: string, text: string, ...more: Given) => Found) =>
    function (this: string, text: string, ...more: Given): Found {
      read += this.length * text.length;
      return search.call(this, text, ...more);
    };
  Object.assign(String.prototype, {
    indexOf: counted(indexOf),
    split: counted(split as (this: string, text: string, limit?: number) => string[]),
  });
  try {
    act();
    return read;
  } finally {
    Object.assign(String.prototype, { charCodeAt, indexOf, split });
  }
}
