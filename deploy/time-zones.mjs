// Writes src/definition/document/zone-names.ts: the names of time zones that the pinned Temporal server knows. Without
// a zone database on its machine the server has the one of the Go with which it was built, so that is where the names
// come from. Run it with Go on the PATH after a change of the Go version in deploy/temporal/go.mod.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WIDTH = 118;
/** A placeholder of tzdata for machines without a zone. */
const NO_ZONE = 'Factory';

const pinned = /^go (\d+\.\d+)/m.exec(readFileSync(new URL('./temporal/go.mod', import.meta.url), 'utf8'))?.[1];
const go = (name) => execFileSync('go', ['env', name], { encoding: 'utf8' }).trim();
const version = go('GOVERSION');
if (!version.startsWith(`go${pinned}.`)) throw new Error(`go.mod pins Go ${pinned}, and this is ${version}.`);
const folder = join(go('GOROOT'), 'lib', 'time');
const tzdata = /^DATA=(\w+)$/m.exec(readFileSync(join(folder, 'update.bash'), 'utf8'))[1];
const names = namesIn(readFileSync(join(folder, 'zoneinfo.zip'))).filter((name) => name !== NO_ZONE);

const lines = [''];
for (const name of names.sort()) {
  const longer = `${lines.at(-1)} ${name}`.trim();
  if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
  else lines.push(name);
}
writeFileSync(
  new URL('../src/definition/document/zone-names.ts', import.meta.url),
  `// Written by deploy/time-zones.mjs: the zones and links of tzdata ${tzdata}, from Go ${pinned}.
export const TZDATA_VERSION = '${tzdata}';

export const ZONE_NAMES: readonly string[] = \`
${lines.join('\n')}
\`
  .trim()
  .split(/\\s+/);
`,
);

/** The names of the files in a zip archive, from its central directory. */
function namesIn(zip) {
  const found = [];
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    found.push(zip.toString('utf8', at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
  }
  return found.filter((name) => !name.endsWith('/'));
}
