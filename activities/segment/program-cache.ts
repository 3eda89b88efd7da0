/** Compiled definitions of the segments that this process has run lately. */
import { createHash } from 'node:crypto';
import type { SegmentConfig } from '../../src/engine/segment.ts';
import { compile } from '../../src/steps/compile/program.ts';
import type { Program } from '../../src/steps/program-types.ts';

/** Characters of the definitions that are kept, as JSON. A compiled definition takes a few times as much memory. */
const MAX_CACHED_CHARACTERS = 8_000_000;

interface CachedProgram {
  readonly program: Program;
  readonly characters: number;
}

/** The key is a hash of what is compiled: definitions of one workflow and version may differ, such as in defaults. */
export class ProgramCache {
  readonly #cache = new Map<string, CachedProgram>();
  #characters = 0;

  /** @throws Error for a definition that does not compile, although it did in the run. */
  get({ definition, dataBytes, marks = [] }: Pick<SegmentConfig, 'definition' | 'dataBytes' | 'marks'>): Program {
    const text = JSON.stringify(definition);
    const key = `${dataBytes} ${marks.join('-')} ${createHash('sha256').update(text).digest('base64')}`;
    const known = this.#cache.get(key);
    if (known !== undefined) {
      // The last used is the last to be dropped.
      this.#cache.delete(key);
      this.#cache.set(key, known);
      return known.program;
    }
    const result = compile(definition, { dataBytes: () => dataBytes, isMarked: (mark) => marks.includes(mark) });
    if ('problems' in result) throw new Error('The definition of the segment does not compile.');
    this.#add(key, { program: result.program, characters: text.length });
    return result.program;
  }

  #add(key: string, cached: CachedProgram): void {
    this.#cache.set(key, cached);
    this.#characters += cached.characters;
    for (const [oldest, { characters }] of this.#cache) {
      if (this.#characters <= MAX_CACHED_CHARACTERS || oldest === key) return;
      this.#cache.delete(oldest);
      this.#characters -= characters;
    }
  }
}
