import { StatusIcon } from './icons.tsx';

const STATUS_TEXTS: { readonly [status: string]: string } = { rolling_back: 'rolling back' };

/** A status as people read it. */
export const statusText = (status: string): string => STATUS_TEXTS[status] ?? status;

export const EnabledBadge = ({ enabled }: { readonly enabled: boolean }) => (
  <span class={enabled ? 'badge completed' : 'badge'}>{enabled ? 'enabled' : 'disabled'}</span>
);

/** The status of a run or a visit: icon, word and colour. */
export const StatusBadge = ({ status }: { readonly status: string }) => (
  <span class={`badge ${status}`}>
    <StatusIcon status={status} />
    {statusText(status)}
  </span>
);
