/** One question of a run: what is asked, the facts, the form, and the answer; made for a thumb. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isObject, type Json } from '../../json/json.ts';
import { at, post } from '../data/api.ts';
import { absoluteText } from '../data/labels.ts';
import {
  answerIn,
  audienceText,
  formatOfQuestion,
  messageOf,
  neighbours,
  type Question,
  subjectOf,
  webAddress,
  workflowNameOf,
} from '../data/questions.ts';
import { useAction, useGet } from '../data/resource.ts';
import { isOpen } from '../data/run-words.ts';
import type { Approval, ApprovalPage } from '../data/types.ts';
import { FormFields, formatIn, problemsUnder, useForm } from '../form/form.tsx';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Actions, Dialog } from '../parts/dialog.tsx';
import { Facts } from '../parts/facts.tsx';
import { Form, TextArea } from '../parts/fields.tsx';
import { Icon } from '../parts/icons.tsx';
import { Json as JsonTree } from '../parts/json.tsx';
import { useKeys } from '../parts/keys.tsx';
import { RunLink, To, WorkflowLink } from '../parts/link.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import type { Place } from '../routes.ts';
import { goTo, Priority, Until } from './approvals.tsx';
import { AnswerLine } from './approvals-decided.tsx';
import '../style/people.css';

const POLL_MS = 4_000;
/** After an answer the run is watched more closely. */
const WATCH_MS = 1_000;

export function ApprovalScreen({ place }: { readonly place: Place<'approval'> }) {
  const { executionId, path } = place.params;
  const [isAnswered, setAnswered] = useState(false);
  const question = useGet<Approval>(at`/api/approvals/${executionId}/${path}`, {
    pollMs: isAnswered ? WATCH_MS : POLL_MS,
    isLast: ({ status, executionStatus }) => status !== 'pending' && !isOpen({ status: executionStatus }),
  });
  const { data } = question;
  const ended = data === undefined ? undefined : data.status !== 'pending';
  const status = data?.executionStatus;
  useEffect(() => {
    if (ended === true) setAnswered(true);
    if (ended === true && status !== undefined) announce(`The run is ${status}.`);
  }, [ended, status]);

  const list = useGet<ApprovalPage>('/api/approvals', { query: { limit: 100 } });
  const { before, after } = neighbours(list.data?.items ?? [], executionId, path);
  useKeys([
    { key: 'j', label: 'Next question', run: () => goTo(after, { replace: true }) },
    { key: 'k', label: 'Question before', run: () => goTo(before, { replace: true }) },
  ]);

  return (
    <div class="question narrow-screen">
      <Screen title={data === undefined ? 'Question' : messageOf(data)} actions={<To to="approvals">All questions</To>}>
        <Loaded resource={question} what="the question">
          {(one) => (
            <>
              {one.status === 'pending' ? null : <Answered question={one} next={after} />}
              <About question={one} />
              {one.status === 'pending' ? (
                <Answer
                  key={`${one.path} ${one.since}`}
                  question={one}
                  onAnswered={() => {
                    setAnswered(true);
                    question.again();
                    list.again();
                  }}
                />
              ) : null}
            </>
          )}
        </Loaded>
      </Screen>
    </div>
  );
}

interface AnsweredProps {
  readonly question: Approval;
  readonly next: Question | undefined;
}

/** How the question ended, and what the run does since. */
function Answered({ question, next }: AnsweredProps) {
  const { answer, executionId, executionStatus, kind } = question;
  return (
    <section class="answered card" aria-label="The answer">
      {answer && <AnswerLine answer={answer} isStop />}
      {answer?.data === undefined ? null : (
        <details>
          <summary>{kind === 'input' ? 'What was submitted' : 'The values of the form'}</summary>
          <JsonTree value={answer.data} name="answer" />
        </details>
      )}
      <p>
        The run: <StatusBadge status={executionStatus} /> <RunLink id={executionId}>Show it</RunLink>
      </p>
      {next === undefined ? null : (
        <div>
          <Button kind="primary" onClick={() => goTo(next, { replace: true })} keys="j">
            Next: {messageOf(next)}
          </Button>
        </div>
      )}
    </section>
  );
}

function About({ question }: { readonly question: Approval }) {
  const { executionId, workflowVersion, since, until, requester, priority, dueDate } = question;
  const { votes, audience, input, stepInput } = question;
  const link = webAddress(question.deeplink);
  const asked = audienceText(audience);
  return (
    <section class="card" aria-label="The facts">
      <Facts
        of={{
          Workflow: (
            <>
              <WorkflowLink slug={question.workflowId}>{workflowNameOf(question)}</WorkflowLink>
              {workflowVersion === undefined ? null : <span class="dim"> {workflowVersion}</span>}
            </>
          ),
          Run: (
            <>
              <RunLink id={executionId} />
              {requester === undefined ? null : ` of ${requester}`}
            </>
          ),
          Asked: (
            <>
              <Time at={since} isStop />
              {asked === undefined ? null : ` · ${asked}`}
            </>
          ),
          Time: until === undefined || question.status !== 'pending' ? undefined : <Until at={until} />,
          Priority: priority && <Priority value={priority} />,
          Due: dueDate && absoluteText(Date.parse(dueDate)),
          Subject: subjectOf(question) || undefined,
          'See also': link && (
            <a href={link} target="_blank" rel="noreferrer">
              {link} <Icon name="external" size={12} />
            </a>
          ),
          Votes: votes && `${votes.have} of ${votes.needed}`,
        }}
      />
      {question.unreadable === undefined ? null : <p class="notice">{question.unreadable.message}</p>}
      {isEmpty(input) ? null : (
        <>
          <h2>The input of the run</h2>
          <Values value={input} name="input" />
        </>
      )}
      {stepInput === undefined ? null : (
        <details>
          <summary>What the step was given</summary>
          <JsonTree value={stepInput} name="step" />
        </details>
      )}
    </section>
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const MOST_PLAIN = 12;

/** An object of a few plain values as a list, which a phone shows well; anything else as a tree. */
function Values({ value, name }: { readonly value: unknown; readonly name: string }) {
  const entries = isObject(value) ? Object.entries(value) : [];
  const isPlain = entries.length > 0 && entries.length <= MOST_PLAIN && entries.every(([, one]) => isShort(one));
  if (!isPlain) return <JsonTree value={value} name={name} />;
  return <Facts of={Object.fromEntries(entries.map(([key, one]) => [key, String(one)]))} />;
}

const isShort = (value: unknown): boolean =>
  value === null ||
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length < 300);

interface AnswerProps {
  readonly question: Approval;
  readonly onAnswered: () => void;
}

/** The form, the comment and the buttons. */
function Answer({ question, onAnswered }: AnswerProps) {
  const { executionId, path, kind, resumeToken, mayAnswer, commentRequired, audience } = question;
  const isInput = kind === 'input';
  const format = formatIn(formatOfQuestion(question));
  const form = useForm(format);
  const [comments, setComments] = useState('');
  const [wants, setWants] = useState<string>();
  const [isRejecting, setRejecting] = useState(false);
  const [note, setNote] = useState<string>();
  const key = useRef({ body: '', key: '' });

  const send = useAction(async (body: { readonly [member: string]: Json | undefined }) => {
    const text = JSON.stringify(body);
    // A repetition of the same answer, after a lost connection, is the same request.
    if (key.current.body !== text) key.current = { body: text, key: crypto.randomUUID() };
    const verb = isInput ? 'submit' : 'approve';
    const answer = await post<{ recorded?: string; votes?: { have: number; needed: number } }>(
      `${at`/api/executions/${executionId}`}/${verb}`,
      body,
      { headers: { 'Idempotency-Key': key.current.key } },
    );
    if (answer.recorded === 'vote')
      setNote(`Your vote is recorded: ${answer.votes?.have} of ${answer.votes?.needed} approvals.`);
    announce(answer.recorded === 'vote' ? 'Your vote is recorded.' : 'Your answer is recorded.');
    onAnswered();
  });
  const { problem } = send;
  const answer = problem === undefined ? undefined : answerIn(problem.more);
  useEffect(() => {
    if (problem === undefined) return;
    const at = problemsUnder(problem, '/data');
    if (at.length > 0) form.refuse(at);
  }, [problem]);

  const lacksComment = (): boolean => {
    const isMissing = commentRequired === true && comments.trim() === '';
    setWants(isMissing ? 'This decision needs a comment.' : undefined);
    if (isMissing)
      document.querySelector<HTMLElement>('.question textarea[name="comment"], .comment textarea')?.focus();
    return isMissing;
  };
  const decide = (approve: boolean): void => {
    const hasForm = approve && format !== undefined;
    const data = hasForm ? form.submit() : undefined;
    if (lacksComment() || (hasForm && data === undefined)) return;
    void send.run({
      approve,
      step: path,
      resumeToken,
      comments: comments.trim() === '' ? undefined : comments,
      data: data?.value,
    });
  };
  const submit = (): void => {
    const data = form.submit();
    if (data !== undefined) void send.run({ step: path, data: data.value });
  };
  const reject = (): void => {
    if (!lacksComment()) setRejecting(true);
  };
  useKeys(
    mayAnswer
      ? isInput
        ? [{ key: 'a', label: 'Submit', run: submit }]
        : [
            { key: 'a', label: 'Approve', run: () => decide(true) },
            { key: 'r', label: 'Reject', run: reject },
          ]
      : [],
  );

  const answering = { isBusy: send.isRunning, isDisabled: !mayAnswer, why: 'You are not asked.' };
  if (note !== undefined && !mayAnswer) return <p class="notice">{note}</p>;
  const asked = audienceText(audience);
  return (
    <Form class="form card" label="Your answer" onSubmit={() => (isInput ? submit() : decide(true))}>
      {mayAnswer ? null : <p class="notice">You cannot answer this{asked === undefined ? '.' : `: ${asked} can.`}</p>}
      {isInput || format !== undefined ? (
        <FormFields form={form} label={isInput ? 'Answer' : 'Values for an approval'} />
      ) : null}
      {isInput ? null : (
        <div class="comment">
          <TextArea
            label="Comment"
            value={comments}
            onValue={setComments}
            rows={2}
            isRequired={commentRequired === true}
            error={wants}
          />
        </div>
      )}
      <Problem
        problem={answer === undefined ? problem : undefined}
        shown={(problem?.problems ?? []).map(({ pointer }) => pointer)}
      />
      {answer === undefined ? null : (
        <div class="notice" role="alert">
          <AnswerLine answer={answer} isStop />
        </div>
      )}
      <div class="thumbs">
        {isInput ? (
          <Button type="submit" kind="primary" needs="runner" {...answering} keys="a">
            Submit
          </Button>
        ) : (
          <>
            <Button kind="danger" needs="approver" {...answering} onClick={reject} keys="r">
              Reject
            </Button>
            <Button type="submit" kind="primary" needs="approver" {...answering} keys="a">
              Approve
            </Button>
          </>
        )}
      </div>
      {isRejecting ? (
        <Dialog title="Reject this?" onClose={() => setRejecting(false)}>
          <p>{messageOf(question)}</p>
          <p class="dim">A decision cannot be taken back.</p>
          <Actions>
            <Button onClick={() => setRejecting(false)}>Back</Button>
            <Button
              kind="danger"
              onClick={() => {
                setRejecting(false);
                decide(false);
              }}
            >
              Reject
            </Button>
          </Actions>
        </Dialog>
      ) : null}
    </Form>
  );
}
