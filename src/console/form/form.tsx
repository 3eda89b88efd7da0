/** A form for a payload format. JSON always works too. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { getOwn, isObject, type Json, type JsonObject } from '../../json/json.ts';
import { childPointer } from '../../json/pointer.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import type { ApiProblem } from '../data/problem.ts';
import { Button } from '../parts/button.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../parts/fields.tsx';
import { Icon } from '../parts/icons.tsx';
import {
  canRepresent,
  draftOf,
  type FieldDraft,
  type FieldProblem,
  type FormField,
  formatProblemsOf,
  readDraft,
  rootField,
  validateDraft,
} from './form-fields.ts';
import './form.css';

interface FormState {
  readonly field: FormField;
  readonly draft: FieldDraft;
  /** The text, while the value is written as JSON. */
  readonly json: string | undefined;
  /** Why the fields cannot be shown now. */
  readonly notice: string | undefined;
  readonly problems: readonly FieldProblem[];
  setDraft(draft: FieldDraft): void;
  setJson(text: string): void;
  showJson(): void;
  showFields(): void;
  /** Takes a value, for example that of an earlier run. */
  fill(value: Json): void;
  /** The value if it fits the format. Otherwise undefined, and the problems are shown. */
  submit(): { readonly value: Json } | undefined;
  /** Shows problems that the server found, with pointers into the value. */
  showProblems(problems: readonly FieldProblem[]): void;
}

/** The state of a form for a format. A form without a format takes any JSON. */
export function useForm(format: JsonObject | undefined, initial?: Json): FormState {
  const key = JSON.stringify(format ?? null);
  const knownFormat = useMemo<JsonObject>(() => format ?? {}, [key]);
  const field = useMemo(() => rootField(knownFormat), [knownFormat]);
  const [draft, setDraft] = useState<FieldDraft>(() => draftOf(field, initial));
  const [json, setJson] = useState<string>();
  const [notice, setNotice] = useState<string>();
  const [problems, setProblems] = useState<readonly FieldProblem[]>([]);
  const renderedField = useRef(field);
  // Another format: another form.
  if (renderedField.current !== field) {
    renderedField.current = field;
    setDraft(draftOf(field, initial));
    setJson(undefined);
    setProblems([]);
  }
  const acceptIfValid = (read: ReturnType<typeof validateDraft>): { value: Json } | undefined => {
    setProblems(read.problems);
    return read.problems.length === 0 ? { value: read.value ?? {} } : undefined;
  };
  return {
    field,
    draft,
    json,
    notice,
    problems,
    setDraft: (next) => {
      setDraft(next);
      // Problems that were shown are validated again, so that a corrected field shows none.
      if (problems.length > 0) setProblems(validateDraft(knownFormat, field, next).problems);
    },
    setJson,
    showJson: () => {
      setJson(JSON.stringify(readDraft(field, draft).value ?? {}, null, 2));
      setProblems([]);
    },
    showFields: () => {
      const value = parseJsonInput(json ?? '').value as Json | undefined;
      if (value === undefined) setNotice('This is not JSON yet.');
      else if (!canRepresent(field, value)) setNotice('The fields cannot hold all of this. It can be sent as JSON.');
      else {
        setDraft(draftOf(field, value));
        setJson(undefined);
        setNotice(undefined);
        setProblems([]);
      }
    },
    fill: (value) => {
      setProblems([]);
      setNotice(undefined);
      if (canRepresent(field, value)) {
        setDraft(draftOf(field, value));
        setJson(undefined);
      } else setJson(JSON.stringify(value, null, 2));
    },
    submit: () => {
      if (json === undefined) return acceptIfValid(validateDraft(knownFormat, field, draft));
      const value = parseJsonInput(json).value as Json | undefined;
      if (value === undefined)
        return acceptIfValid({ value, problems: [{ pointer: '', message: 'This is not JSON.' }] });
      return acceptIfValid({ value, problems: formatProblemsOf(knownFormat, value) });
    },
    showProblems: setProblems,
  };
}

/** The fields or the JSON, with the switch between them. */
export function FormFields({ form, label }: { readonly form: FormState; readonly label: string }) {
  const { field, draft, json, notice, problems } = form;
  const isOnlyJson = field.kind === 'json';
  const formProblems = problems.filter(({ pointer }) => json !== undefined || isOnlyJson || pointer === '');
  return (
    <div class="value-form">
      {json === undefined ? (
        isOnlyJson ? (
          <TextArea
            label={label}
            value={typeof draft === 'string' ? draft : ''}
            onValue={form.setDraft}
            rows={6}
            isCode
            error={problemText(formProblems)}
          />
        ) : (
          <Group field={field} draft={draft} onDraft={form.setDraft} pointer="" problems={problems} />
        )
      ) : (
        <TextArea
          label={`${label} as JSON`}
          value={json}
          onValue={form.setJson}
          rows={10}
          isCode
          error={problemText(formProblems)}
          hint={notice}
        />
      )}
      {json === undefined && !isOnlyJson && formProblems.length > 0 ? (
        <p class="error" role="alert">
          {problemText(formProblems)}
        </p>
      ) : null}
      {isOnlyJson ? null : (
        <div>
          <Button kind="link" onClick={json === undefined ? form.showJson : form.showFields}>
            {json === undefined ? 'Write it as JSON' : 'Fill in the fields'}
          </Button>
        </div>
      )}
    </div>
  );
}

const problemText = (problems: readonly FieldProblem[]): string | undefined =>
  problems.length === 0
    ? undefined
    : problems.map(({ pointer, message }) => (pointer === '' ? message : `${pointer}: ${message}`)).join(' ');

interface FieldViewProps {
  readonly field: FormField;
  readonly draft: FieldDraft | undefined;
  readonly onDraft: (draft: FieldDraft) => void;
  readonly pointer: string;
  readonly problems: readonly FieldProblem[];
}

function Group({ field, draft, onDraft, pointer, problems }: FieldViewProps) {
  const drafts = (draft ?? {}) as { readonly [name: string]: FieldDraft };
  return (
    <>
      {(field.fields ?? []).map((inner) => (
        <FieldView
          key={inner.name}
          field={inner}
          draft={drafts[inner.name]}
          onDraft={(next) => onDraft({ ...drafts, [inner.name]: next })}
          pointer={childPointer(pointer, inner.name)}
          problems={problems}
        />
      ))}
    </>
  );
}

function List({ field, draft, onDraft, pointer, problems }: FieldViewProps) {
  const rows = Array.isArray(draft) ? (draft as readonly FieldDraft[]) : [];
  const item = field.item as FormField;
  return (
    <>
      {rows.map((row, index) => (
        <div class="row" key={index}>
          <FieldView
            field={{ ...item, label: `${item.label} ${index + 1}` }}
            draft={row}
            onDraft={(next) => onDraft(rows.map((one, at) => (at === index ? next : one)))}
            pointer={childPointer(pointer, index)}
            problems={problems}
          />
          <Button
            kind="quiet"
            label={`Remove ${item.label} ${index + 1}`}
            onClick={() => onDraft(rows.filter((_, at) => at !== index))}
          >
            <Icon name="cross" />
          </Button>
        </div>
      ))}
      <div>
        <Button onClick={() => onDraft([...rows, draftOf(item)])}>
          <Icon name="plus" /> Add {item.label.toLowerCase()}
        </Button>
      </div>
    </>
  );
}

function FieldView(props: FieldViewProps) {
  const { field, draft = draftOf(field), onDraft, pointer, problems } = props;
  const { label, description: hint, isRequired, kind } = field;
  const error = problemText(
    problems.filter((one) => one.pointer === pointer).map(({ message }) => ({ pointer: '', message })),
  );
  const shared = { label, error, isRequired, ...(hint === undefined ? {} : { hint }) };
  const text = typeof draft === 'string' ? draft : '';
  switch (kind) {
    case 'group':
    case 'list':
      return (
        <fieldset class={error === undefined ? 'group stack' : 'group stack invalid'}>
          <legend>{label}</legend>
          {hint === undefined ? null : <p class="hint">{hint}</p>}
          {kind === 'group' ? <Group {...props} /> : <List {...props} />}
          {error === undefined ? null : <p class="error">{error}</p>}
        </fieldset>
      );
    case 'boolean':
      return <CheckField label={label} hint={hint} isChecked={draft === true} onChange={onDraft} />;
    case 'choice':
      return (
        <SelectField
          {...shared}
          value={text}
          onValue={onDraft}
          choices={[
            { value: '', label: isRequired ? 'Choose…' : '—' },
            ...(field.choices ?? []).map((choice, at) => ({ value: String(at), label: choiceText(choice) })),
          ]}
        />
      );
    case 'json':
      return <TextArea {...shared} value={text} onValue={onDraft} isCode hint={hint ?? 'JSON'} />;
    case 'number':
    case 'integer':
      return (
        <TextField {...shared} type="number" step={kind === 'integer' ? '1' : 'any'} value={text} onValue={onDraft} />
      );
    case 'date':
      return <TextField {...shared} type="date" value={text} onValue={onDraft} />;
    case 'datetime':
      return <TextField {...shared} type="datetime-local" step="1" value={text} onValue={onDraft} />;
    default:
      return field.isLong === true ? (
        <TextArea {...shared} value={text} onValue={onDraft} />
      ) : (
        <TextField {...shared} value={text} onValue={onDraft} />
      );
  }
}

const choiceText = (choice: Json): string =>
  typeof choice === 'string' ? choice : typeof choice === 'boolean' ? (choice ? 'yes' : 'no') : JSON.stringify(choice);

/** The items of a problem about the value at a pointer, with pointers into the value. */
export const problemsUnder = (problem: ApiProblem, prefix: string): FieldProblem[] =>
  problem.problems
    .filter(({ pointer }) => isUnder(pointer, prefix))
    .map(({ pointer, message }) => ({ pointer: pointer.slice(prefix.length), message }));

/** The pointers of a problem that the form of the value at a pointer shows. */
export const pointersUnder = (problem: ApiProblem | undefined, prefix: string): string[] =>
  (problem?.problems ?? []).map(({ pointer }) => pointer).filter((pointer) => isUnder(pointer, prefix));

const isUnder = (pointer: string, prefix: string): boolean => pointer === prefix || pointer.startsWith(`${prefix}/`);

/** The format in a definition or a wait, if it is one. */
export const formatIn = (value: unknown): JsonObject | undefined =>
  isObject(value) && getOwn(value, '') === undefined ? value : undefined;
