/** Transforms of objects, and the fallback for missing values. */
import { isObject, setOwn } from '../../json/json.ts';
import { chargeArray } from '../evaluation.ts';
import { memberNames, readMember } from '../member-access.ts';
import { type TransformDeclarations, wrongType } from './transform.ts';

const MAX_ARGUMENTS = 100;

export const OBJECTS: TransformDeclarations = {
  keys: {
    gives: 'The names of the members of an object.',
    apply: (value, _args, evaluation) => {
      const names = memberNames(value);
      chargeArray(evaluation, names.length);
      return names;
    },
  },
  values: {
    gives: 'The values of the members of an object; for an array, its elements.',
    apply: (value, _args, evaluation) => {
      if (Array.isArray(value)) return value;
      const names = memberNames(value);
      chargeArray(evaluation, names.length);
      return names.map((name) => readMember(value, name));
    },
  },
  entries: {
    gives: 'The members of an object as pairs [name, value].',
    apply: (value, _args, evaluation) => {
      const names = memberNames(value);
      chargeArray(evaluation, names.length);
      return names.map((name) => [name, readMember(value, name)]);
    },
  },
  merge: {
    takes: '(…more)',
    gives: 'One object with the members of all objects; later ones win. Other values add nothing.',
    arity: [0, MAX_ARGUMENTS],
    apply: (value, args, evaluation) => {
      const merged: { [key: string]: unknown } = {};
      for (const source of [value, ...args]) {
        const names = memberNames(source);
        chargeArray(evaluation, names.length);
        for (const name of names) setOwn(merged, name, readMember(source, name));
      }
      return merged;
    },
  },
  pick: {
    takes: '(…names), or (array of names)',
    gives: 'The object with only these of its members; for an array, each element so.',
    arity: [1, MAX_ARGUMENTS],
    apply: (value, args, evaluation) => {
      const names = args.flat();
      if (!names.every((name) => typeof name === 'string')) {
        throw wrongType(evaluation, 'pick cannot take this name', 'texts, the names of members');
      }
      const subjects: readonly unknown[] = Array.isArray(value) ? value : [value];
      chargeArray(evaluation, names.length * subjects.length);
      const picked = subjects.map((subject) => pick(subject, names));
      return Array.isArray(value) ? picked : picked[0];
    },
  },
  default: {
    takes: '(fallback)',
    gives: "The value, or the fallback if the value is undefined or null; ?: also replaces '', 0 and false.",
    arity: [1, 1],
    apply: (value, [fallback]) => (value === undefined || value === null || Number.isNaN(value) ? fallback : value),
  },
};

function pick(subject: unknown, names: readonly string[]): { [key: string]: unknown } {
  const picked: { [key: string]: unknown } = {};
  if (!isObject(subject)) return picked;
  for (const name of names) {
    const member = readMember(subject, name);
    if (member !== undefined) setOwn(picked, name, member);
  }
  return picked;
}
