/** The constructs that patterns of schedules use. */
import { parseCron } from '../../src/definition/document/cron.ts';
import { offsetAt } from '../../src/definition/document/zone-clock.ts';

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'];
const HOUR = 3_600_000;

/** `*`, `5`, `1-5`, `1-5/2`, `SUN`, `sun`, `7` for Sunday. */
function formOf(field: string, part: string): string {
  const [span = '', step] = part.split('/');
  const ends = span.split('-').map((end) => {
    if (/^[A-Z]+$/.test(end)) return 'NAME';
    if (/^[a-z]+$/.test(end)) return 'name';
    if (field === 'day of week' && (end === '7' || end === '0')) return end;
    return end === '*' ? end : 'n';
  });
  return ends.join('-') + (step === undefined ? '' : '/n');
}

export function* ofCron(given: {
  readonly cron: string;
  readonly from?: string;
  readonly tz?: string;
}): Iterable<string> {
  const { cron, from, tz = 'UTC' } = given;
  const parsed = parseCron(cron);
  if ('problem' in parsed) {
    yield `refused: ${parsed.problem.replace(/[:.].*/, '').replaceAll(/"[^"]*"|@\w+/g, '…')}`;
    return;
  }
  if (cron.trim() !== cron) yield 'blanks about it';
  if (/\s\s/.test(cron.trim())) yield 'blanks in a row';
  if (cron.includes('\t')) yield 'tabs';
  if (cron.includes('@')) yield `nickname ${/[A-Z]/.test(cron) ? 'with capitals' : cron.trim()}`;
  else
    for (const [index, written] of cron.trim().split(/\s+/).entries()) {
      const field = FIELDS[index] ?? '';
      const parts = written.split(',');
      if (parts.length > 1) yield `${field}: list`;
      for (const part of parts) yield `${field}: ${formOf(field, part)}`;
    }
  if (parsed.calendars.length > 1) yield 'either day';
  if (from === undefined) return;
  const start = Date.parse(from);
  if (start % 60_000 !== 0) yield 'from within a minute';
  yield tz === 'UTC' ? 'UTC' : 'a zone';
  const [before, after] = [offsetAt(tz, start - 2 * HOUR), offsetAt(tz, start + 24 * HOUR)];
  if (before !== after) yield `the clock goes ${after > before ? 'forward' : 'back'} near the begin`;
}
