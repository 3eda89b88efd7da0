// What a command asks a person, on a real terminal: `script` makes one.
import { spawn, spawnSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/cli/start/project-root.ts';

let server: Server;
let asked: string[] = [];
beforeAll(async () => {
  server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    req.on('end', () => {
      asked.push(`${req.method} ${req.url} ${body}`.trim());
      res.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
});
beforeEach(() => {
  asked = [];
});

/** What the terminal shows when a person types `keys` as an answer to the first question. */
function typed(command: string, keys: string): Promise<string> {
  const cli = `'${process.execPath}' --import ./test/support/typescript.mjs src/cli/main.ts`;
  const program = `${cli} ${command}; echo exit $?`;
  const env = { ...process.env, SIGNALBOX_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const child = spawn('script', ['-qec', program, '/dev/null'], { cwd: projectRoot(), env });
  return new Promise((resolve, reject) => {
    let shown = '';
    let isAnswered = false;
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      if (isAnswered || !/Value of a\/b: |\[y\/N\] /.test(shown)) return;
      isAnswered = true;
      child.stdin.write(keys);
    });
    child.once('error', reject).once('close', () => resolve(shown));
  });
}

describe.skipIf(spawnSync('script', ['--version']).status !== 0)('on a terminal', () => {
  it('the value of a secret is not shown while it is typed', async () => {
    const shown = await typed('secrets set a/b', 'typed-value\r');
    expect(asked).toEqual(['PUT /api/secrets/a%2Fb {"value":"typed-value"}']);
    expect(shown).toContain('a/b is stored.');
    expect(shown).not.toContain('typed-value');
  });

  it.each(['\u0003', '\u0004', 'n\r', '\r'])('nothing is deleted if the answer is %j', async (keys) => {
    expect(await typed('secrets delete a/b', keys)).toMatch(/Nothing was changed\.\s+exit 10/);
    expect(asked).toEqual([]);
  });

  it('what a person agrees to is deleted', async () => {
    expect(await typed('secrets delete a/b', 'y\r')).toMatch(/a\/b is deleted\.\s+exit 0/);
    expect(asked).toEqual(['DELETE /api/secrets/a%2Fb']);
  });
});
