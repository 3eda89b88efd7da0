/** The actor `sync.{org}.{hash}`: the slugs of one set of synced definitions (src/contract/sync.ts). */
import { continueAsNew, defineQuery, setHandler } from '@temporalio/workflow';
import { type ChangeSynced, MOST_SYNCED, type SyncedAnswer, type SyncStart } from '../../src/contract/sync.ts';
import { refuse, stored, untilFull, writes } from './actor.ts';

export function sync(start: SyncStart): Promise<never> {
  return stored(() => keepSync(start));
}

async function keepSync(start: SyncStart): Promise<never> {
  const slugs = new Set(start.carried?.slugs ?? []);
  const taken = writes(start.carried?.answers ?? []);

  taken.on<ChangeSynced, SyncedAnswer>(
    'change',
    ({ add }) => {
      if (new Set([...slugs, ...add]).size > MOST_SYNCED)
        refuse('too_many', `A set holds ${MOST_SYNCED} definitions at most. Divide it, and give each part a source.`);
    },
    ({ add, remove }) => {
      for (const slug of add) slugs.add(slug);
      for (const slug of remove) slugs.delete(slug);
      return { slugs: [...slugs] };
    },
  );
  setHandler(defineQuery<SyncedAnswer>('slugs'), () => ({ slugs: [...slugs] }));

  await untilFull(start.historyLimit);
  return continueAsNew<typeof sync>({ ...start, carried: { slugs: [...slugs], answers: taken.answers() } });
}
