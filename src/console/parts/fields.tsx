/** Fields of forms: a label, a description, the field, and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { parseJsonInput } from '../data/parse-json-input.ts';

interface FormProps {
  readonly class?: string;
  /** What it is for, for screen readers. */
  readonly label?: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}

/** A form that the page handles instead of the browser. */
export const Form = ({ class: name = 'form', label, onSubmit, children }: FormProps) => (
  <form
    class={name}
    aria-label={label}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);

/** The texts of a form's fields by name, and a function that returns the props of a field. */
export function useTextFields<Name extends string>(initial: { readonly [name in Name]: string }) {
  const [texts, setTexts] = useState(initial);
  const field = (name: Name) => ({
    value: texts[name],
    onValue: (text: string): void => setTexts((now) => ({ ...now, [name]: text })),
  });
  return [texts, field] as const;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
}

interface FieldAttributes {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': 'true' | undefined;
  readonly 'aria-required': 'true' | undefined;
}

/** A field with any control. The control gets the attributes that link it to label, description and error. */
function Field(props: FieldProps & { readonly children: (wiring: FieldAttributes) => ComponentChildren }) {
  const { label, hint, error, isRequired = false, children } = props;
  const id = useId();
  const describedBy = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`]
    .join(' ')
    .trim();
  return (
    <div class={error === undefined ? 'field' : 'field invalid'}>
      <label for={id}>
        {label}
        {isRequired ? <span class="dim"> (required)</span> : null}
      </label>
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {children({
        id,
        'aria-describedby': describedBy === '' ? undefined : describedBy,
        'aria-invalid': error === undefined ? undefined : 'true',
        'aria-required': isRequired ? 'true' : undefined,
      })}
      {error === undefined ? null : (
        <p id={`${id}-error`} class="error">
          {error}
        </p>
      )}
    </div>
  );
}

interface ValueProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

type TextType = 'text' | 'password' | 'number' | 'date' | 'datetime-local' | 'url' | 'email';

interface TextProps extends ValueProps {
  readonly type?: TextType;
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly step?: string;
  readonly isReadOnly?: boolean;
}

export const TextField = (props: TextProps) => (
  <Field {...props}>
    {(wiring) => (
      <input
        {...wiring}
        // One type stands for all: the union of Preact's types wants each apart.
        type={(props.type ?? 'text') as 'text'}
        value={props.value}
        autocomplete={props.autoComplete ?? 'off'}
        placeholder={props.placeholder}
        step={props.step}
        readOnly={props.isReadOnly ?? false}
        spellcheck={false}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
    )}
  </Field>
);

export const TextArea = (props: ValueProps & { readonly rows?: number; readonly isCode?: boolean }) => (
  <Field {...props}>
    {(wiring) => (
      <textarea
        {...wiring}
        class={props.isCode === true ? 'code' : ''}
        rows={props.rows ?? 4}
        value={props.value}
        spellcheck={props.isCode !== true}
        onInput={(event) => props.onValue(event.currentTarget.value)}
      />
    )}
  </Field>
);

/** A field of JSON. A syntax error takes precedence over `error`. */
export const JsonField = ({ error, ...props }: ValueProps & { readonly rows?: number }) => (
  <TextArea {...props} isCode error={parseJsonInput(props.value).error ?? error} />
);

interface SelectOption {
  readonly value: string;
  readonly label: string;
}

export const SelectField = (props: ValueProps & { readonly choices: readonly SelectOption[] }) => (
  <Field {...props}>
    {(wiring) => (
      <select {...wiring} value={props.value} onChange={(event) => props.onValue(event.currentTarget.value)}>
        {props.choices.map(({ value, label }) => (
          <option key={value} value={value} selected={value === props.value}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

interface CheckProps {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, hint, isChecked, onChange }: CheckProps) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint === undefined ? null : (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}
