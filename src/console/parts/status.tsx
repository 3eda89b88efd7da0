import { StatusMark } from './icons.tsx';

const WORDS: { readonly [status: string]: string } = { rolling_back: 'rolling back' };

/** A status as people read it. */
export const statusText = (status: string): string => WORDS[status] ?? status;

export const EnabledBadge = ({ enabled }: { readonly enabled: boolean }) => (
  <span class={enabled ? 'badge completed' : 'badge'}>{enabled ? 'enabled' : 'disabled'}</span>
);

/** The status of a run or a visit: icon, word and colour. */
export const StatusBadge = ({ status }: { readonly status: string }) => (
  <span class={`badge ${status}`}>
    <StatusMark status={status} />
    {statusText(status)}
  </span>
);
