// The figures of what users get, as a table and as a chart.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const shown = (value) =>
  value === undefined ? '–' : value >= 100 ? Math.round(value).toString() : value.toPrecision(3);

function markdown({ contenders, works }) {
  const names = contenders.map(({ name }) => name);
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [
    line(['work', ...names]),
    line(['---', ...names.map(() => '---:')]),
    ...works.map(({ name, unit, values }) => line([`${name}, ${unit}`, ...names.map((one) => shown(values[one]))])),
    '',
    ...contenders.map(({ name, settings }) => `- ${name}: ${settings}.`),
  ].join('\n');
}

/** The table for a terminal, with the settings below it. */
export function figuresTable(figures) {
  return markdown(figures);
}

const COLOURS = ['#1f6feb', '#0a7f5a', '#9a6700', '#bc4c00', '#8250df', '#57606a'];
const [WIDTH, BAR, GAP, LEFT, HEAD] = [880, 16, 30, 250, 30];

/** Bars for each work, each work on a scale of its own. */
function svg({ contenders, works }) {
  let y = HEAD;
  const parts = [];
  for (const { name, unit, isRate, values } of works) {
    const most = Math.max(...Object.values(values));
    const title = `${name} (${unit}, ${isRate ? 'more' : 'less'} is better)`;
    parts.push(`<text x="0" y="${y}" class="work">${escaped(title)}</text>`);
    y += 10;
    contenders.forEach((contender, n) => {
      const value = values[contender.name];
      if (value === undefined) return;
      const width = Math.max(1, ((WIDTH - LEFT - 80) * value) / most).toFixed(1);
      const fill = COLOURS[n % COLOURS.length];
      parts.push(
        `<text x="${LEFT - 8}" y="${y + 12}" text-anchor="end">${escaped(contender.name)}</text>`,
        `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR - 3}" fill="${fill}"/>`,
        `<text x="${LEFT + Number(width) + 6}" y="${y + 12}">${shown(value)}</text>`,
      );
      y += BAR;
    });
    y += GAP;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img">`,
    '<title>What users get, in one run on one machine</title>',
    '<style>text{font:12px system-ui,sans-serif;fill:#24292f}.work{font-weight:600}</style>',
    `<rect width="${WIDTH}" height="${y}" fill="#fff"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const escaped = (text) => text.replace(/[&<>]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[one]);

/** Writes figures.json, figures.md and figures.svg into the folder. */
export function writeChart(figures, folder) {
  const [cpu] = cpus();
  const machine = { cores: cpus().length, model: cpu?.model ?? 'unknown', node: process.version };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'figures.json'), `${JSON.stringify({ machine, ...figures }, null, 2)}\n`);
  writeFileSync(join(folder, 'figures.md'), `${markdown(figures)}\n`);
  writeFileSync(join(folder, 'figures.svg'), svg(figures));
}
