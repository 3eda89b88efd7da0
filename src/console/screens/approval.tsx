/** One question of a run: what is asked, the facts, the form, and the answer; made for a thumb. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { isObject, type Json } from '../../json/json.ts';
import { apiPath, post } from '../data/api.ts';
import { absoluteTimeText } from '../data/format-text.ts';
import {
  adjacentQuestions,
  audienceText,
  conflictingAnswer,
  formatOfQuestion,
  messageOf,
  type Question,
  safeWebUrl,
  subjectOf,
  workflowNameOf,
} from '../data/questions.ts';
import { useAction, useGet } from '../data/resource.ts';
import { isOpen } from '../data/run-text.ts';
import type { Approval, ApprovalPage } from '../data/types.ts';
import { FormFields, formatIn, problemsUnder, useForm } from '../form/form.tsx';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { Actions, Dialog } from '../parts/dialog.tsx';
import { Facts } from '../parts/facts.tsx';
import { Form, TextArea } from '../parts/fields.tsx';
import { Icon } from '../parts/icons.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RunLink, ScreenLink, WorkflowLink } from '../parts/link.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { useShortcuts } from '../parts/shortcuts.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Time } from '../parts/time.tsx';
import type { RouteMatch } from '../routes.ts';
import { Deadline, openQuestion, Priority } from './approvals.tsx';
import { AnswerLine } from './approvals-decided.tsx';
import '../style/people.css';

const POLL_MS = 4_000;
/** After an answer the run is polled more often. */
const ANSWERED_POLL_MS = 1_000;

export function ApprovalScreen({ route }: { readonly route: RouteMatch<'approval'> }) {
  const { executionId, path } = route.params;
  const [isAnswered, setAnswered] = useState(false);
  const question = useGet<Approval>(apiPath`/api/approvals/${executionId}/${path}`, {
    pollMs: isAnswered ? ANSWERED_POLL_MS : POLL_MS,
    isFinal: ({ status, executionStatus }) => status !== 'pending' && !isOpen({ status: executionStatus }),
  });
  const { data } = question;
  const ended = data === undefined ? undefined : data.status !== 'pending';
  const status = data?.executionStatus;
  useEffect(() => {
    if (ended === true) setAnswered(true);
    if (ended === true && status !== undefined) announce(`The run is ${status}.`);
  }, [ended, status]);

  const list = useGet<ApprovalPage>('/api/approvals', { query: { limit: 100 } });
  const { before, after } = adjacentQuestions(list.data?.items ?? [], executionId, path);
  useShortcuts([
    { key: 'j', label: 'Next question', run: () => openQuestion(after, { replace: true }) },
    { key: 'k', label: 'Question before', run: () => openQuestion(before, { replace: true }) },
  ]);

  return (
    <div class="question narrow-screen">
      <Screen
        title={data === undefined ? 'Question' : messageOf(data)}
        actions={<ScreenLink to="approvals">All questions</ScreenLink>}
      >
        <ResourceView resource={question} what="the question">
          {(one) => (
            <>
              {one.status === 'pending' ? null : <AnsweredQuestion question={one} next={after} />}
              <QuestionDetails question={one} />
              {one.status === 'pending' ? (
                <Answer
                  key={`${one.path} ${one.since}`}
                  question={one}
                  onAnswered={() => {
                    setAnswered(true);
                    question.reload();
                    list.reload();
                  }}
                />
              ) : null}
            </>
          )}
        </ResourceView>
      </Screen>
    </div>
  );
}

interface AnsweredQuestionProps {
  readonly question: Approval;
  readonly next: Question | undefined;
}

/** The outcome of the question, and the status of the run. */
function AnsweredQuestion({ question, next }: AnsweredQuestionProps) {
  const { answer, executionId, executionStatus, kind } = question;
  return (
    <section class="answered card" aria-label="The answer">
      {answer && <AnswerLine answer={answer} isTabStop />}
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
          <Button kind="primary" onClick={() => openQuestion(next, { replace: true })} keys="j">
            Next: {messageOf(next)}
          </Button>
        </div>
      )}
    </section>
  );
}

function QuestionDetails({ question }: { readonly question: Approval }) {
  const { executionId, workflowVersion, since, until, requester, priority, dueDate } = question;
  const { votes, audience, input, stepInput } = question;
  const link = safeWebUrl(question.deeplink);
  const audienceLabel = audienceText(audience);
  return (
    <section class="card" aria-label="The facts">
      <Facts
        entries={{
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
              <Time at={since} isTabStop />
              {audienceLabel === undefined ? null : ` · ${audienceLabel}`}
            </>
          ),
          Time: until === undefined || question.status !== 'pending' ? undefined : <Deadline until={until} />,
          Priority: priority && <Priority value={priority} />,
          Due: dueDate && absoluteTimeText(Date.parse(dueDate)),
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

const MAX_PLAIN_VALUES = 12;

/** An object of a few plain values as a list, which a phone shows well; anything else as a tree. */
function Values({ value, name }: { readonly value: unknown; readonly name: string }) {
  const entries = isObject(value) ? Object.entries(value) : [];
  const isPlain = entries.length > 0 && entries.length <= MAX_PLAIN_VALUES && entries.every(([, one]) => isShort(one));
  if (!isPlain) return <JsonTree value={value} name={name} />;
  return <Facts entries={Object.fromEntries(entries.map(([key, one]) => [key, String(one)]))} />;
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
  const [commentError, setCommentError] = useState<string>();
  const [isRejecting, setRejecting] = useState(false);
  const [note, setNote] = useState<string>();
  const key = useRef({ body: '', key: '' });

  const send = useAction(async (body: { readonly [member: string]: Json | undefined }) => {
    const text = JSON.stringify(body);
    // A repetition of the same answer, after a lost connection, is the same request.
    if (key.current.body !== text) key.current = { body: text, key: crypto.randomUUID() };
    const verb = isInput ? 'submit' : 'approve';
    const answer = await post<{ recorded?: string; votes?: { have: number; needed: number } }>(
      `${apiPath`/api/executions/${executionId}`}/${verb}`,
      body,
      { headers: { 'Idempotency-Key': key.current.key } },
    );
    if (answer.recorded === 'vote')
      setNote(`Your vote is recorded: ${answer.votes?.have} of ${answer.votes?.needed} approvals.`);
    announce(answer.recorded === 'vote' ? 'Your vote is recorded.' : 'Your answer is recorded.');
    onAnswered();
  });
  const { problem } = send;
  const answer = problem === undefined ? undefined : conflictingAnswer(problem.extensions);
  useEffect(() => {
    if (problem === undefined) return;
    const at = problemsUnder(problem, '/data');
    if (at.length > 0) form.showProblems(at);
  }, [problem]);

  const lacksComment = (): boolean => {
    const isMissing = commentRequired === true && comments.trim() === '';
    setCommentError(isMissing ? 'This decision needs a comment.' : undefined);
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
  useShortcuts(
    mayAnswer
      ? isInput
        ? [{ key: 'a', label: 'Submit', run: submit }]
        : [
            { key: 'a', label: 'Approve', run: () => decide(true) },
            { key: 'r', label: 'Reject', run: reject },
          ]
      : [],
  );

  const answerButtonProps = { isBusy: send.isRunning, isDisabled: !mayAnswer, disabledReason: 'You are not asked.' };
  if (note !== undefined && !mayAnswer) return <p class="notice">{note}</p>;
  const audienceLabel = audienceText(audience);
  return (
    <Form class="form card" label="Your answer" onSubmit={() => (isInput ? submit() : decide(true))}>
      {mayAnswer ? null : (
        <p class="notice">You cannot answer this{audienceLabel === undefined ? '.' : `: ${audienceLabel} can.`}</p>
      )}
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
            error={commentError}
          />
        </div>
      )}
      <Problem
        problem={answer === undefined ? problem : undefined}
        shownPointers={(problem?.problems ?? []).map(({ pointer }) => pointer)}
      />
      {answer === undefined ? null : (
        <div class="notice" role="alert">
          <AnswerLine answer={answer} isTabStop />
        </div>
      )}
      <div class="thumbs">
        {isInput ? (
          <Button type="submit" kind="primary" needs="runner" {...answerButtonProps} keys="a">
            Submit
          </Button>
        ) : (
          <>
            <Button kind="danger" needs="approver" {...answerButtonProps} onClick={reject} keys="r">
              Reject
            </Button>
            <Button type="submit" kind="primary" needs="approver" {...answerButtonProps} keys="a">
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
