/** Reads deploy/Dockerfile and .dockerignore, and plays the steps in folders, where no container engine is. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, posix } from 'node:path';

export interface Step {
  /** In capitals. */
  readonly word: string;
  /** What follows it, with lines joined. */
  readonly rest: string;
}

export interface Stage {
  readonly from: string;
  readonly name: string;
  readonly steps: readonly Step[];
}

/** The stages of a Dockerfile. What stands before the first (ARG) is left out. */
export function stagesOf(text: string): Stage[] {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: { from: string; name: string; steps: Step[] }[] = [];
  for (const line of lines) {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (word === '') throw new Error(`This is no step: ${line}`);
    if (word === 'FROM') {
      const [from = '', , name] = rest.split(/\s+/);
      stages.push({ from, name: name ?? String(stages.length), steps: [] });
    } else stages.at(-1)?.steps.push({ word, rest });
  }
  return stages;
}

/** The variables of all ENV steps of a stage. */
export function environmentOf(stage: Stage): { [name: string]: string } {
  return Object.fromEntries(
    stage.steps
      .filter(({ word }) => word === 'ENV')
      .flatMap(({ rest }) => rest.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), afterEquals(pair)])),
  );
}

const afterEquals = (pair: string): string => pair.slice(pair.indexOf('=') + 1);

/** The JSON array of the last step with this word. */
export function listOf(stage: Stage, word: string): string[] {
  const step = stage.steps.findLast((one) => one.word === word);
  return step === undefined ? [] : (JSON.parse(step.rest.slice(step.rest.indexOf('['))) as string[]);
}

/** Whether .dockerignore keeps the path (relative, with `/`) from the build. The last pattern that matches counts. */
export function ignores(dockerignore: string): (path: string) => boolean {
  const patterns = dockerignore
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const isKept = line.startsWith('!');
      const glob = (isKept ? line.slice(1) : line)
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replace(/\*\*\/|\*/g, (star) => (star === '*' ? '[^/]*' : '(?:.*/)?'));
      return { isKept, matches: new RegExp(`^${glob}(?:/|$)`) };
    });
  return (path) => {
    const last = patterns.findLast(({ matches }) => matches.test(path));
    return last !== undefined && !last.isKept;
  };
}

export interface Played {
  /** The folder that stands for `/` of the last stage. */
  readonly root: string;
  readonly stage: Stage;
  /** RUN steps of the last stage, which change the system and are not played. */
  readonly notPlayed: readonly string[];
}

/**
 * Plays COPY, WORKDIR and RUN of all stages below `folder`: `/` of a stage is a folder there. RUN steps of the last
 * stage install system packages and are left out. @throws Error with the output of a step that fails
 */
export async function play(project: string, folder: string): Promise<Played> {
  const stages = stagesOf(readFileSync(join(project, 'deploy/Dockerfile'), 'utf8'));
  const isIgnored = ignores(readFileSync(join(project, '.dockerignore'), 'utf8'));
  const notPlayed: string[] = [];
  for (const stage of stages) {
    const root = join(folder, stage.name);
    let workdir = '/';
    for (const { word, rest } of stage.steps) {
      if (word === 'WORKDIR') {
        workdir = rest;
        mkdirSync(join(root, workdir), { recursive: true });
      } else if (word === 'COPY') copy(rest, { project, folder, isIgnored, to: (path) => inside(root, workdir, path) });
      else if (word === 'RUN' && stage === stages.at(-1)) notPlayed.push(rest);
      else if (word === 'RUN') await shell(rest, join(root, workdir));
    }
  }
  const stage = stages.at(-1)!;
  return { root: join(folder, stage.name), stage, notPlayed };
}

const inside = (root: string, workdir: string, path: string): string => join(root, posix.resolve(workdir, path));

interface Places {
  readonly project: string;
  readonly folder: string;
  readonly isIgnored: (path: string) => boolean;
  readonly to: (path: string) => string;
}

function copy(rest: string, { project, folder, isIgnored, to }: Places): void {
  const words = rest.split(/\s+/);
  const from = words[0]!.startsWith('--from=') ? words.shift()!.slice('--from='.length) : undefined;
  const target = words.pop()!;
  for (const source of words) {
    const path = from === undefined ? join(project, source) : join(folder, from, source);
    if (!existsSync(path)) throw new Error(`COPY ${rest}: ${source} does not exist.`);
    const isFolder = statSync(path).isDirectory();
    const place = isFolder || !target.endsWith('/') ? to(target) : join(to(target), basename(source));
    if (from !== undefined) cpSync(path, place, { recursive: true, verbatimSymlinks: true });
    else if (!isFolder) cpSync(path, place);
    else copyContext(project, posix.normalize(source), place, isIgnored);
  }
}

/** File by file, since a folder that is left out may hold one that is not. */
function copyContext(project: string, folder: string, place: string, isIgnored: Places['isIgnored']): void {
  for (const entry of readdirSync(join(project, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name);
    // Nothing that is kept is in these, and they are large.
    if (path === 'node_modules' || path === '.git') {
      if (!isIgnored(path)) throw new Error(`${path} is not in .dockerignore.`);
    } else if (entry.isDirectory()) copyContext(project, path, join(place, entry.name), isIgnored);
    else if (!isIgnored(path)) cpSync(join(project, path), join(place, entry.name));
  }
}

/** As a container has it: none of the variables with which `npm` runs a test. */
function shell(command: string, cwd: string): Promise<void> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_(lifecycle|package|command)|NODE_ENV|VITEST)/.test(name)),
  );
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        output += part.toString();
      });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`RUN ${command} ended with ${code}:\n${output.slice(-4_000)}`)),
    );
  });
}
