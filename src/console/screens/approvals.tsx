/** The inbox: what runs ask of the caller, or of anybody, and what was decided. */
import { useState } from 'preact/hooks';
import { countText } from '../data/format-text.ts';
import { usePages } from '../data/pages.ts';
import { audienceText, isUrgent, messageOf, type Question, workflowNameOf } from '../data/questions.ts';
import { useGet, useNow } from '../data/resource.ts';
import type { ApprovalCount } from '../data/types.ts';
import { changeQuery, navigate } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { CheckField } from '../parts/fields.tsx';
import { KindIcon } from '../parts/icons.tsx';
import { ScreenLink } from '../parts/link.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Screen } from '../parts/screen.tsx';
import { useShortcuts } from '../parts/shortcuts.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Time } from '../parts/time.tsx';
import { addressOf, type RouteMatch } from '../routes.ts';
import { CLEARED_FILTERS, DecidedApprovals, UnreadableQuestion } from './approvals-decided.tsx';
import '../style/people.css';

const POLL_MS = 5_000;
const PAGE_SIZE = 50;

const TABS = [
  { name: 'open', label: 'Open' },
  { name: 'decided', label: 'Decided' },
] as const;

export function ApprovalsScreen({ route }: { readonly route: RouteMatch<'approvals'> }) {
  const { query } = route;
  const tab = query['decided'] === undefined ? 'open' : 'decided';
  const isAll = query['all'] === 'true';
  const count = useGet<ApprovalCount>('/api/approvals/count', { pollMs: POLL_MS });
  const others = count.data === undefined ? 0 : count.data.all - count.data.mine;
  return (
    <div class="narrow-screen">
      <Screen
        title="Approvals"
        headingExtra={
          count.data === undefined ? null : (
            <span class="dim">
              {countText(count.data.mine, 'question')} for you{count.data.isPartial === true ? ', and more' : ''}
            </span>
          )
        }
        actions={
          tab === 'decided' ? null : (
            <CheckField
              label="Of others too"
              isChecked={isAll}
              onChange={(checked) => changeQuery({ all: checked ? 'true' : undefined })}
            />
          )
        }
      >
        <Tabs
          id="approvals"
          label="Approvals"
          tabs={TABS}
          selected={tab}
          onSelect={(name) => changeQuery(name === 'open' ? CLEARED_FILTERS : { decided: 'any' })}
        >
          {tab === 'decided' ? <DecidedApprovals query={query} /> : <OpenQuestions isAll={isAll} others={others} />}
        </Tabs>
      </Screen>
    </div>
  );
}

function OpenQuestions({ isAll, others }: { readonly isAll: boolean; readonly others: number }) {
  const list = usePages<Question>('/api/approvals', { limit: PAGE_SIZE, all: `${isAll}` }, { pollMs: POLL_MS });
  const { items } = list;

  const [chosen, setChosen] = useState<string>();
  const current = items.findIndex((one) => keyOf(one) === chosen);
  const choose = (index: number): void => {
    const one = items[Math.max(0, Math.min(items.length - 1, index))];
    if (one === undefined) return;
    setChosen(keyOf(one));
    document.querySelector<HTMLElement>(`[data-question="${CSS.escape(keyOf(one))}"] a`)?.focus();
  };
  useShortcuts([
    { key: 'j', label: 'Next question', run: () => choose(current + 1) },
    { key: 'k', label: 'Question before', run: () => choose(current < 0 ? 0 : current - 1) },
    { key: 'Enter', label: 'Open the question', run: () => openQuestion(items[current]) },
  ]);

  return (
    <PagedList
      list={list}
      what="the questions"
      empty={
        <>
          <p>{isAll ? 'No run asks anybody anything.' : 'Nothing waits for you.'}</p>
          {!isAll && others > 0 ? (
            <Button onClick={() => changeQuery({ all: 'true' })}>Show {countText(others, 'question')} of others</Button>
          ) : (
            <p class="dim">Questions of runs stand here, the newest first. New ones appear by themselves.</p>
          )}
        </>
      }
    >
      {() => (
        <ul class="plain stack questions" aria-label="Questions">
          {items.map((one) => (
            <li key={keyOf(one)} data-question={keyOf(one)} class={keyOf(one) === chosen ? 'card current' : 'card'}>
              <QuestionRow question={one} />
            </li>
          ))}
        </ul>
      )}
    </PagedList>
  );
}

const keyOf = ({ executionId, path, since }: Question): string => `${executionId} ${path} ${since}`;

/** Opens a question. `replace`: replaces another question in the history. */
export function openQuestion(question: Question | undefined, { replace = false } = {}): void {
  if (question === undefined || question.path === '') return;
  navigate(addressOf('approval', { executionId: question.executionId, path: question.path }), { replace });
}

function QuestionRow({ question }: { readonly question: Question }) {
  const { executionId, path, kind, since, until, priority, votes, audience, mayAnswer, unreadable } = question;
  if (unreadable !== undefined)
    return <UnreadableQuestion row={question}>asks something that cannot be read</UnreadableQuestion>;
  const audienceLabel = audienceText(audience);
  return (
    <>
      <ScreenLink to="approval" params={{ executionId, path }} class="question-link">
        <KindIcon kind={kind === 'input' ? 'user_input' : 'approval'} /> {messageOf(question)}
      </ScreenLink>
      <p class="question-facts dim">
        <span>{workflowNameOf(question)}</span>
        <Time at={since} />
        {until === undefined ? null : <Deadline until={until} />}
        {priority === undefined ? null : <Priority value={priority} />}
        {votes === undefined ? null : (
          <span>
            {votes.have} of {votes.needed} votes
          </span>
        )}
        {kind === 'input' ? <span>asks for data</span> : null}
        {mayAnswer ? null : <span>{audienceLabel === undefined ? 'not for you' : `asks ${audienceLabel}`}</span>}
      </p>
    </>
  );
}

/** The time until which a question can be answered; red in the last hour. */
export function Deadline({ until }: { readonly until: string }) {
  const now = useNow(15_000);
  return (
    <span class={isUrgent(until, now) ? 'urgent' : ''}>
      {Date.parse(until) < now ? 'was due ' : 'due '}
      <Time at={until} />
    </span>
  );
}

export const Priority = ({ value }: { readonly value: string }) => (
  <span class={value === 'urgent' || value === 'high' ? 'priority urgent' : 'priority'}>{value}</span>
);
