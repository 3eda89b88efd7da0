import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useHasRole } from '../data/session.ts';
import type { Role } from '../data/types.ts';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (() => void) | undefined;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet' | 'link';
  readonly type?: 'button' | 'submit';
  /** Who lacks the role sees the button disabled, with the role in its description. */
  readonly needs?: Role | undefined;
  readonly isDisabled?: boolean;
  /** Why it is disabled. */
  readonly disabledReason?: string | undefined;
  /** Its action is running. */
  readonly isBusy?: boolean;
  /** Its accessible name, if its content is an icon. */
  readonly label?: string | undefined;
  readonly class?: string;
  /** Keys that do the same, for the description: `a`. */
  readonly keys?: string | undefined;
}

/** A button. A disabled one keeps the focus, so that its reason can be read. */
export function Button(props: ButtonProps) {
  const { children, onClick, kind = 'plain', type = 'button', needs = 'viewer', label, keys } = props;
  const hasRole = useHasRole(needs);
  const id = useId();
  const lacks = props.needs !== undefined && !hasRole;
  const reason = lacks ? `Needs the role ${needs}.` : props.isDisabled === true ? props.disabledReason : undefined;
  const isInactive = lacks || props.isDisabled === true || props.isBusy === true;
  return (
    <>
      <button
        type={type}
        class={`button ${kind} ${props.class ?? ''}`}
        aria-disabled={isInactive ? 'true' : undefined}
        aria-busy={props.isBusy === true ? 'true' : undefined}
        aria-label={label}
        aria-keyshortcuts={keys}
        title={reason ?? label}
        aria-describedby={reason === undefined ? undefined : id}
        onClick={(event) => {
          if (isInactive) event.preventDefault();
          else onClick?.();
        }}
      >
        {children}
      </button>
      {reason === undefined ? null : (
        <span id={id} class="hidden">
          {reason}
        </span>
      )}
    </>
  );
}
