/** The iterations of a container as cells: choosing one narrows the whole screen to it. */
import { cellsOf, type Frame, type Iteration } from './scope.ts';

interface StripProps {
  /** The name of the container. */
  readonly name: string;
  readonly isLoop: boolean;
  readonly strip: readonly Iteration[];
  readonly chosen: Frame | null | undefined;
  readonly onChoose: (frame: Frame | undefined) => void;
}

export function Strip({ name, isLoop, strip, chosen, onChoose }: StripProps) {
  const word = isLoop ? 'tick' : 'item';
  const cells = cellsOf(strip);
  const at = chosen === undefined || chosen === null ? -1 : strip.findIndex(({ frame }) => frame.id === chosen.id);
  const failed = strip.filter(({ worst }) => worst === 'failed').length;
  const go = (to: number): void => {
    const frame = strip[to]?.frame;
    if (frame !== undefined) onChoose(frame);
  };
  const pickCell = (from: number, to: number): void => {
    if (at >= from && at <= to) {
      onChoose(undefined);
      return;
    }
    const bad = strip.findIndex(({ worst }, n) => n >= from && n <= to && worst === 'failed');
    go(bad === -1 ? from : bad);
  };
  const moves: { readonly [key: string]: () => void } = {
    ArrowRight: () => go(at + 1),
    ArrowLeft: () => (at <= 0 ? onChoose(undefined) : go(at - 1)),
    Home: () => go(0),
    End: () => go(strip.length - 1),
  };
  const told = at === -1 ? `all ${strip.length}` : `${word} ${numberOf(strip[at]!)}, ${strip[at]!.worst}`;
  return (
    <div class="strip">
      <div
        class={`cells${strip.length <= 6 ? ' wide' : ''}`}
        role="slider"
        tabIndex={-1}
        aria-label={`The ${word}s of ${name}`}
        aria-valuemin={-1}
        aria-valuemax={strip.length - 1}
        aria-valuenow={at}
        aria-valuetext={told}
        onKeyDown={(event) => {
          const move = moves[event.key];
          if (move === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          move();
        }}
      >
        {cells.map(({ from, to, failed: bad, status }) => {
          const share = bad / (to - from + 1);
          const isOn = at >= from && at <= to;
          const outcome = bad === 0 ? status : from === to ? 'failed' : `${bad} of ${to - from + 1} failed`;
          const span = from === to ? `${numberOf(strip[from]!)}` : `${numberOf(strip[from]!)}–${numberOf(strip[to]!)}`;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the slider around the cells listens to the keys.
            // biome-ignore lint/a11y/noStaticElementInteractions: the slider around the cells is the control.
            <span
              key={from}
              class={`cell ${status}${isOn ? ' on' : ''}`}
              title={`${word} ${span}: ${outcome}`}
              data-from={from}
              onClick={() => pickCell(from, to)}
            >
              {bad > 0 && share < 1 ? <i style={{ height: `${Math.max(25, share * 100)}%` }} /> : null}
            </span>
          );
        })}
      </div>
      <div class="pick">
        {at === -1 ? (
          <span>{chosen === null ? 'no such iteration' : `all ${strip.length}`}</span>
        ) : (
          <>
            <Step label={`Previous ${word}`} isOff={at === 0} onClick={() => go(at - 1)}>
              ‹
            </Step>
            <span>
              {word} {numberOf(strip[at]!)} of {strip.length}
            </span>
            <Step label={`Next ${word}`} isOff={at === strip.length - 1} onClick={() => go(at + 1)}>
              ›
            </Step>
          </>
        )}
        {chosen === undefined ? null : (
          <Step label={`All ${word}s`} onClick={() => onChoose(undefined)}>
            all
          </Step>
        )}
        {failed === 0 ? null : (
          <Step
            label={`Next ${word} that failed`}
            isBad
            onClick={() => {
              const next = strip.findIndex(({ worst }, n) => n > at && worst === 'failed');
              go(next === -1 ? strip.findIndex(({ worst }) => worst === 'failed') : next);
            }}
          >
            {failed} failed
          </Step>
        )}
      </div>
    </div>
  );
}

const numberOf = ({ frame }: Iteration): number => frame.n ?? 0;

interface StepProps {
  readonly label: string;
  readonly children: string | readonly (string | number)[];
  readonly isOff?: boolean;
  readonly isBad?: boolean;
  readonly onClick: () => void;
}

/** The graph is one stop of the Tab key: `[` and `]` do the same. */
const Step = ({ label, children, isOff = false, isBad = false, onClick }: StepProps) => (
  <button
    type="button"
    tabIndex={-1}
    class={isBad ? 'bad' : ''}
    title={label}
    aria-label={isBad ? `${Array.isArray(children) ? children.join('') : children}: ${label.toLowerCase()}` : label}
    disabled={isOff}
    onClick={onClick}
  >
    {children}
  </button>
);
