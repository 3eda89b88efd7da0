// What people from outside read first: licence, rules, changes, and what runs on a pull request.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(path, 'utf8');
const { version, license, engines } = JSON.parse(read('package.json')) as {
  version: string;
  license: string;
  engines: { node: string };
};
const filesOf = (ending: RegExp): string[] =>
  readdirSync('.github', { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join('.github', name));

describe('what is for people outside', () => {
  it('has the licence that the package names', () => {
    expect(read('LICENSE').split('\n')[0]).toBe(`${license} License`);
  });

  it('links to files and headings that exist', () => {
    const broken = filesOf(/\.md$/).flatMap((file) =>
      [...read(file).matchAll(/\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)/g)]
        .filter(([, path, heading]) => {
          const target = join(dirname(file), path!);
          if (!existsSync(target)) return true;
          const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, text]) =>
            text!.toLowerCase().replaceAll(' ', '-'),
          );
          return heading !== undefined && !headings.includes(heading);
        })
        .map(([link]) => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('lists the changes of each version whose runs continue, the current one first', () => {
    const versions = [...read('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, name]) => name);
    const recorded = readdirSync('test/histories').filter((name) => /^\d/.test(name));
    expect(versions).toEqual(recorded.sort().reverse());
    expect(versions[0]).toBe(version);
  });

  it('runs what .ci/run runs, with actions pinned by their commits, on the least Node', () => {
    const { jobs } = parse(read('.github/workflows/ci.yaml')) as {
      jobs: { test: { container: { image: string }; steps: { uses?: string; run?: string }[] } };
    };
    const { container, steps } = jobs.test;
    expect(steps.flatMap(({ run = [] }) => run)).toEqual(['.ci/run']);
    expect(steps.flatMap(({ uses = [] }) => uses).filter((used) => !/@[0-9a-f]{40}$/.test(used))).toEqual([]);
    const node = read('.nvmrc').trim();
    expect(engines.node).toMatch(new RegExp(`^>=${node}\\.`));
    expect(container.image).toMatch(new RegExp(`^node:${node}-`));
  });

  it('has issue forms whose fields have labels', () => {
    for (const file of filesOf(/ISSUE_TEMPLATE\/(?!config).*\.yml$/)) {
      const { name, body } = parse(read(file)) as { name: string; body: { type: string; attributes: object }[] };
      expect(name, file).toBeTruthy();
      for (const { type, attributes } of body)
        expect(attributes, file).toHaveProperty(type === 'markdown' ? 'value' : 'label');
    }
  });
});
