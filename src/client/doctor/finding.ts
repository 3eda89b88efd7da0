/** What `signalbox doctor` found out about one thing. */
export interface Finding {
  /** `ok`; `note`: unusual, and intended; `warning`: works, but slower or less safe; `blocks`: runs cannot work. */
  readonly level: 'ok' | 'note' | 'warning' | 'blocks';
  /** What was looked at, such as `timers`. */
  readonly check: Check;
  readonly text: string;
  /** Lines to set or to run, exactly as they stand. */
  readonly lines?: readonly string[];
}

const CHECKS = [
  'connection',
  'certificates',
  'server',
  'namespace',
  'retention',
  'search attributes',
  'timers',
  'lists',
  'clock',
  'worker',
  'versions',
  'large payloads',
  'data folder',
] as const;

export type Check = (typeof CHECKS)[number];

/** Adds what was found. */
export type AddFinding = (check: Check, level: Finding['level'], text: string, lines?: readonly string[]) => void;
