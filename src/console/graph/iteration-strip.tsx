/** The iterations of a container as cells: choosing one narrows the screen to it. */
import { cellsOf, type Frame, type Iteration } from './scope.ts';

interface IterationStripProps {
  /** The name of the container. */
  readonly name: string;
  readonly isLoop: boolean;
  readonly strip: readonly Iteration[];
  readonly chosen: Frame | null | undefined;
  readonly onChoose: (frame: Frame | undefined) => void;
}

export function IterationStrip({ name, isLoop, strip, chosen, onChoose }: IterationStripProps) {
  const word = isLoop ? 'tick' : 'item';
  const cells = cellsOf(strip);
  const at = chosen === undefined || chosen === null ? -1 : strip.findIndex(({ frame }) => frame.id === chosen.id);
  const failed = strip.filter(({ worstStatus }) => worstStatus === 'failed').length;
  const goToIteration = (to: number): void => {
    const frame = strip[to]?.frame;
    if (frame !== undefined) onChoose(frame);
  };
  const pickCell = (from: number, to: number): void => {
    if (at >= from && at <= to) {
      onChoose(undefined);
      return;
    }
    const bad = strip.findIndex(({ worstStatus }, n) => n >= from && n <= to && worstStatus === 'failed');
    goToIteration(bad === -1 ? from : bad);
  };
  const keyActions: { readonly [key: string]: () => void } = {
    ArrowRight: () => goToIteration(at + 1),
    ArrowLeft: () => (at <= 0 ? onChoose(undefined) : goToIteration(at - 1)),
    Home: () => goToIteration(0),
    End: () => goToIteration(strip.length - 1),
  };
  const valueText =
    at === -1 ? `all ${strip.length}` : `${word} ${iterationNumber(strip[at]!)}, ${strip[at]!.worstStatus}`;
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
        aria-valuetext={valueText}
        onKeyDown={(event) => {
          const move = keyActions[event.key];
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
          const span =
            from === to
              ? `${iterationNumber(strip[from]!)}`
              : `${iterationNumber(strip[from]!)}–${iterationNumber(strip[to]!)}`;
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
            <StripButton label={`Previous ${word}`} isOff={at === 0} onClick={() => goToIteration(at - 1)}>
              ‹
            </StripButton>
            <span>
              {word} {iterationNumber(strip[at]!)} of {strip.length}
            </span>
            <StripButton label={`Next ${word}`} isOff={at === strip.length - 1} onClick={() => goToIteration(at + 1)}>
              ›
            </StripButton>
          </>
        )}
        {chosen === undefined ? null : (
          <StripButton label={`All ${word}s`} onClick={() => onChoose(undefined)}>
            all
          </StripButton>
        )}
        {failed === 0 ? null : (
          <StripButton
            label={`Next ${word} that failed`}
            isBad
            onClick={() => {
              const next = strip.findIndex(({ worstStatus }, n) => n > at && worstStatus === 'failed');
              goToIteration(next === -1 ? strip.findIndex(({ worstStatus }) => worstStatus === 'failed') : next);
            }}
          >
            {failed} failed
          </StripButton>
        )}
      </div>
    </div>
  );
}

const iterationNumber = ({ frame }: Iteration): number => frame.n ?? 0;

interface StripButtonProps {
  readonly label: string;
  readonly children: string | readonly (string | number)[];
  readonly isOff?: boolean;
  readonly isBad?: boolean;
  readonly onClick: () => void;
}

/** The graph is one stop of the Tab key: `[` and `]` do the same. */
const StripButton = ({ label, children, isOff = false, isBad = false, onClick }: StripButtonProps) => (
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
