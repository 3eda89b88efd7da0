/** Icons, drawn by lines of 16 × 16. They are never the only sign of a state. */

const ICON_PATHS = {
  check: 'M2.5 8.5l3.5 3.5 7.5-8',
  cross: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  chevron: 'M6 3.5l5 4.5-5 4.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5l3.5 3.5',
  warning: 'M8 2L14.5 13.5h-13zM8 6.5v3M8 11.5v.2',
  external: 'M6 3H3v10h10v-3M9 2.5h4.5V7M13 3L7.5 8.5',
  download: 'M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10',
  person: 'M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm-5.5 6c.5-3 3-4 5.5-4s5 1 5.5 4',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
} as const;

const KIND_PATHS: { readonly [kind: string]: string } = {
  trigger: 'M4 2l9 6-9 6z',
  condition: 'M8 1.5L14.5 8 8 14.5 1.5 8z',
  switch: 'M8 1.5L14.5 8 8 14.5 1.5 8z',
  loop: 'M13 8a5 5 0 1 1-1.8-3.8M13 1.5v3.2H9.8',
  forEach: 'M2 3h12M2 8h12M2 13h12',
  parallel: 'M3 2v12M8 2v12M13 2v12',
  race: 'M3 15V2h10l-2.5 3.5L13 9H3',
  set: 'M3 13l1-4 7.5-7.5 3 3L7 12z',
  mapping: 'M3 13l1-4 7.5-7.5 3 3L7 12z',
  sleep: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zm0 2.5V8l2.5 2',
  approval: ICON_PATHS.person,
  user_input: 'M2 4h12v8H2zM5 8h4',
  http: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c-4 4-4 8 0 12 4-4 4-8 0-12',
  action: 'M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z',
  llm: 'M8 1.5l1.6 4.9 4.9 1.6-4.9 1.6L8 14.5 6.4 9.6 1.5 8l4.9-1.6z',
  agent: 'M8 1.5l1.6 4.9 4.9 1.6-4.9 1.6L8 14.5 6.4 9.6 1.5 8l4.9-1.6z',
  finish: ICON_PATHS.check,
  fail: ICON_PATHS.cross,
  send_message: 'M2 3.5h12v9H2zM2 4l6 5 6-5',
  run_code: 'M5 4L1.5 8 5 12M11 4l3.5 4L11 12',
  bash: 'M3 4l4 4-4 4M8.5 12H13',
};
const DEFAULT_KIND_PATH = 'M3 3h10v10H3z';

const STATUS_PATHS: { readonly [status: string]: string } = {
  completed: ICON_PATHS.check,
  failed: ICON_PATHS.cross,
  aborted: ICON_PATHS.cross,
  running: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  rolling_back: 'M3 8a5 5 0 1 0 1.8-3.8M3 1.5v3.2h3.2',
  waiting: 'M5 3v10M11 3v10',
  cancelled: 'M3 8h10',
  skipped: 'M3 4l5 4-5 4M9 4l5 4-5 4',
  pending: 'M8 7.5v1',
};

type IconName = keyof typeof ICON_PATHS;

interface SvgIconProps {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly width: number;
}

const SvgIcon = ({ path, name, size, width }: SvgIconProps) => (
  <svg
    class={name}
    viewBox="0 0 16 16"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    stroke-width={width}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d={path} />
  </svg>
);

export const Icon = ({ name, size = 15 }: { readonly name: IconName; readonly size?: number }) => (
  <SvgIcon path={ICON_PATHS[name]} name="icon" size={size} width={1.6} />
);

/** The icon of a step kind. */
export const KindIcon = ({ kind, size = 15 }: { readonly kind: string; readonly size?: number }) => (
  <SvgIcon path={KIND_PATHS[kind] ?? DEFAULT_KIND_PATH} name="icon" size={size} width={1.6} />
);

/** The icon of a status of runs and visits, in its colour. */
export const StatusIcon = ({ status, size = 13 }: { readonly status: string; readonly size?: number }) => (
  <SvgIcon path={STATUS_PATHS[status] ?? ''} name={`mark ${status}`} size={size} width={2.4} />
);

export const Logo = () => (
  <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <rect x="2" y="2" width="16" height="16" rx="4" fill="var(--accent)" />
    <circle cx="7" cy="10" r="2.2" fill="var(--on-accent)" />
    <path d="M9.5 10h3l2.5-3M12.5 10l2.5 3" stroke="var(--on-accent)" stroke-width="1.6" fill="none" />
  </svg>
);
