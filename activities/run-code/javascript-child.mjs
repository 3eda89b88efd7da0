// The process in which JavaScript of a definition runs, inside QuickJS inside WebAssembly. Its parent is javascript.ts; it may
// be killed at any moment. One script at a time, each in an engine of its own, and never in an instance of WebAssembly
// where another script was: nothing of one is left for the next.
//
// In:  {code, isTypeScript, input (JSON text), timeoutMs, memoryBytes, resultCharacters}
// Out: {result (JSON text, or absent), error: {code, message, details}, console, consoleIsCut, isSpent}. Spent: this
//      process should run no other script.
//
// What comes out of the guest is text: dumping a nested value would walk it on the host's own stack.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import baseVariant from '@jitl/quickjs-wasmfile-release-sync';
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import { INTL_PRELUDE, localized, MOST_REQUEST_CHARACTERS } from './guest-intl.mjs';

const MOST_LEVELS = 200;
const MOST_LINES = 200;
const MOST_CONSOLE_CHARACTERS = 32_000;
const MOST_LINE_CHARACTERS = 2_000;
/** Name, message and stack of an error, as JSON. */
const MOST_DESCRIBED_CHARACTERS = 20_000;
/** Well below what javascript.ts gives this process, whose own stack the guest's calls take too. */
const STACK_BYTES = 512 * 1024;
const PAGE_BYTES = 65_536;
/** What the instance begins with; less cannot be had. */
const LEAST_PAGES = 256;
const DEFAULT_MEMORY_BYTES = 64 * 1024 * 1024;
/** An instance is made once for so many runs of one script; old engines are left in it, since taking them down may fail. */
const MOST_RUNS = 30;
const MOST_KEPT = 4;
/** Texts of types that were stripped already, by the text with them. */
const MOST_STRIPPED = 50;
const FILE = 'script';
const TOO_LONG = JSON.stringify({
  ok: false,
  name: 'RangeError',
  message: `What is to be formatted has more than ${MOST_REQUEST_CHARACTERS} characters.`,
});
// A script's local time is the same on every machine.
process.env.TZ = 'UTC';

/**
 * Runs in the guest before the script, and keeps what the script might replace. `run` resolves to the result as JSON text.
 */
const PRELUDE = `(emit => {
  const { parse, stringify } = JSON;
  const { slice } = String.prototype;
  const { keys } = Object;
  const cut = (text, most) => slice.call(text, 0, most);
  // QuickJS writes what is deep in quadratic time.
  const isTooDeep = value => {
    const open = [value], levels = [1];
    while (open.length > 0) {
      const next = open.pop(), level = levels.pop();
      if (typeof next !== 'object' || next === null) continue;
      if (level > ${MOST_LEVELS}) return true;
      for (const key of keys(next)) {
        const member = next[key];
        if (typeof member !== 'object' || member === null) continue;
        open.push(member);
        levels.push(level + 1);
      }
    }
    return false;
  };
  const shown = value => {
    if (typeof value === 'string') return value;
    try {
      if (value instanceof Error) return value.name + ': ' + value.message;
      const text = typeof value === 'object' && !isTooDeep(value) ? stringify(value) : undefined;
      return text === undefined ? String(value) : text;
    } catch {
      return '[unprintable]';
    }
  };
  let lines = 0;
  let characters = 0;
  const line = level => (...values) => {
    if (lines > ${MOST_LINES} || characters > ${MOST_CONSOLE_CHARACTERS}) return;
    let text = '';
    for (let i = 0; i < values.length && text.length < ${MOST_LINE_CHARACTERS}; i++) text += (i === 0 ? '' : ' ') + shown(values[i]);
    text = cut(text, ${MOST_LINE_CHARACTERS});
    lines++;
    characters += text.length;
    emit(level, lines > ${MOST_LINES} || characters > ${MOST_CONSOLE_CHARACTERS} ? undefined : text);
  };
  globalThis.console = { log: line('log'), info: line('info'), warn: line('warn'), error: line('error'), debug: line('debug') };
  return {
    // A number instead of a text: the result is too deep to be written.
    run: async (main, input) => {
      const value = await main(parse(input));
      return isTooDeep(value) ? 0 : stringify(value);
    },
    describe: thrown => {
      const isError = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
      let name = 'Error', message, stack = '', code;
      try {
        message = isError ? String(thrown.message) : shown(thrown);
        if (isError) name = String(thrown.name ?? 'Error');
        if (isError && typeof thrown.stack === 'string') stack = thrown.stack;
        if (isError && typeof thrown.code === 'string') code = cut(thrown.code, 100);
        else if (isError && typeof thrown.code === 'number') code = thrown.code;
      } catch {
        message = 'What was thrown cannot be shown.';
      }
      return stringify({ name: cut(name, 100), message: cut(message, 1000), stack: cut(stack, 2000), isError, code });
    },
  };
})`;

const wasmModule = await WebAssembly.compile(
  readFileSync(createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')),
);
const stripped = new Map();
let stripper;

/** What has no script yet is for any; making one takes longer than most scripts do. */
let spare = makeInstance(DEFAULT_MEMORY_BYTES).then(makeGuest);
/** By the script that ran there: it may have it again. */
const kept = new Map();

/** Its memory has a maximum that nothing in it can pass; QuickJS's own limit counts no sizes under WebAssembly. */
async function makeInstance(memoryBytes) {
  const maximum = Math.max(LEAST_PAGES, Math.ceil(memoryBytes / PAGE_BYTES));
  const memory = new WebAssembly.Memory({ initial: LEAST_PAGES, maximum });
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(baseVariant, { wasmModule, wasmMemory: memory }));
  return { quickjs, memory, maximum, memoryBytes, runs: 0 };
}

/** An engine in an instance, with its prelude. */
function makeGuest(instance) {
  const { quickjs, memory, maximum } = instance;
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(STACK_BYTES);
  const context = runtime.newContext();
  const lines = [];
  const state = { isCut: false, isLate: false };
  const emit = context.newFunction('emit', (level, text) => {
    // The script may have replaced what the prelude cuts with.
    if (lines.length >= MOST_LINES || !isShort(context, text, MOST_LINE_CHARACTERS)) state.isCut = true;
    else lines.push({ level: context.getString(level), text: context.getString(text) });
  });
  const localize = context.newFunction('localize', (request) =>
    context.newString(
      isShort(context, request, MOST_REQUEST_CHARACTERS) ? localized(context.getString(request)) : TOO_LONG,
    ),
  );
  const intl = context.evalCode(INTL_PRELUDE, 'prelude.js').unwrap();
  context.callFunction(intl, context.undefined, localize).unwrap();
  const make = context.evalCode(PRELUDE, 'prelude.js').unwrap();
  const prelude = context.callFunction(make, context.undefined, emit).unwrap();
  return {
    instance,
    isFull: () => memory.buffer.byteLength > (maximum - 16) * PAGE_BYTES,
    context,
    runtime,
    lines,
    state,
    run: context.getProp(prelude, 'run'),
    describe: context.getProp(prelude, 'describe'),
  };
}

/** Whether it is a text of so many characters at most: then it can be copied out. */
function isShort(context, handle, most) {
  return context.typeof(handle) === 'string' && context.getNumber(context.getProp(handle, 'length')) <= most;
}

class Failure extends Error {
  constructor(code, message, details, isSpent = false) {
    super(message);
    this.code = code;
    this.details = details;
    this.isSpent = isSpent;
  }
}

async function scriptOf({ code, isTypeScript }) {
  if (!isTypeScript) return code;
  const known = stripped.get(code);
  if (known !== undefined) return known;
  stripper ??= await import('@swc/wasm-typescript');
  const script = strip(code);
  if (stripped.size >= MOST_STRIPPED) stripped.delete(stripped.keys().next().value);
  stripped.set(code, script);
  return script;
}

/** Types become blanks, so that places in errors stay true; enums and such are written out. */
function strip(code) {
  for (const mode of ['strip-only', 'transform']) {
    try {
      return stripper.transformSync(code, { mode, module: true, filename: `${FILE}.ts` }).code;
    } catch (error) {
      if (mode === 'strip-only' && error?.code === 'UnsupportedSyntax') continue;
      if (typeof error?.startLine !== 'number')
        throw new Failure(
          'script_invalid',
          'The code is no TypeScript that can be read: it nests too deeply.',
          {},
          true,
        );
      const at = `line ${error.startLine}, column ${error.startColumn + 1}`;
      throw new Failure('script_invalid', `The code is no TypeScript: ${error.message.slice(0, 300)} (${at}).`);
    }
  }
}

function evaluate(guest, script, job) {
  const { context } = guest;
  const namespace = settled(guest, guarded(guest, context.evalCode(script, `${FILE}.js`, { type: 'module' }), true));
  const main = context.getProp(namespace, 'default');
  if (context.typeof(main) !== 'function')
    throw new Failure(
      'script_invalid',
      'The code has no function as its default export. Write: export default function (input) { … }',
    );
  const input = context.newString(job.input);
  const text = settled(guest, guarded(guest, context.callFunction(guest.run, context.undefined, main, input)));
  if (context.typeof(text) === 'undefined') return undefined;
  if (context.typeof(text) === 'number')
    throw new Failure(
      'result_too_deep',
      `The result nests deeper than ${MOST_LEVELS} levels, or refers to itself. Return something flatter.`,
      { limit: MOST_LEVELS },
    );
  const characters = context.getNumber(context.getProp(text, 'length'));
  if (characters > job.resultCharacters)
    throw new Failure(
      'result_too_large',
      `The result has ${characters} characters as JSON; at most ${job.resultCharacters} fit. Return less.`,
      { characters, limit: job.resultCharacters },
    );
  return context.getString(text);
}

/** The value that a call gave, or the failure that it threw. */
function guarded(guest, result, isLoading = false) {
  if (!result.error) return result.value;
  throw failureOf(guest, result.error, isLoading);
}

/** What a promise resolves to; there are no timers, so what is not settled when no job is left never will be. */
function settled(guest, handle) {
  const { context, runtime } = guest;
  const jobs = runtime.executePendingJobs(-1);
  if (jobs.error) throw failureOf(guest, jobs.error);
  const state = context.getPromiseState(handle);
  if (state.type === 'fulfilled') return state.value;
  if (state.type === 'rejected') throw failureOf(guest, state.error);
  if (guest.state.isLate) throw late();
  throw new Failure(
    'script_error',
    'The code awaits something that never comes: there are no timers and no network here.',
    { name: 'Error' },
  );
}

// The parent knows the limits, and has the words.
const late = () => new Failure('script_timeout', '');
const outOfMemory = () => new Failure('script_out_of_memory', '');

function failureOf(guest, thrown, isLoading = false) {
  const { context, describe, state } = guest;
  if (state.isLate) return late();
  const described = context.callFunction(describe, context.undefined, thrown);
  if (state.isLate) return late();
  if (described.error) return outOfMemory();
  const { name, message, stack, isError, code } = readDescribed(context, described.value);
  const isEngines = isError && name === 'InternalError';
  // QuickJS throws null where there is no room for an error.
  if ((isEngines && message === 'out of memory') || (message === 'null' && guest.isFull())) return outOfMemory();
  if (isLoading && name === 'SyntaxError') {
    const place = /:(\d+)(?::(\d+))?/.exec(stack);
    const at = place === null ? '' : ` (line ${place[1]}${place[2] === undefined ? '' : `, column ${place[2]}`})`;
    return new Failure('script_invalid', `The code is no JavaScript: ${message}${at}.`);
  }
  const own = stack.split('\n').filter((line) => line !== '' && !line.includes('prelude.js'));
  const isCoded = typeof code === 'string' || typeof code === 'number';
  const details = {
    name,
    message,
    ...(isCoded ? { code } : {}),
    ...(own.length === 0 ? {} : { stack: own.join('\n') }),
  };
  return new Failure('script_error', isError ? `${name}: ${message}` : `The code threw ${message}`, details);
}

/** What the prelude says of what was thrown; a script that has replaced what it says that with is told as unknown. */
function readDescribed(context, handle) {
  const unknown = { name: 'Error', message: 'What was thrown cannot be shown.', stack: '', isError: false };
  if (!isShort(context, handle, MOST_DESCRIBED_CHARACTERS)) return unknown;
  const told = JSON.parse(context.getString(handle));
  const isTold = ['name', 'message', 'stack'].every((member) => typeof told?.[member] === 'string');
  return isTold ? told : unknown;
}

async function answer(job, guest) {
  const { lines, state, runtime } = guest;
  const out = { console: lines };
  try {
    const script = await scriptOf(job);
    const deadline = performance.now() + job.timeoutMs;
    runtime.setInterruptHandler(() => {
      state.isLate ||= performance.now() > deadline;
      return state.isLate;
    });
    out.result = evaluate(guest, script, job);
  } catch (error) {
    const { code, message, details, isSpent } = error instanceof Failure ? error : fatal(guest, error);
    out.error = { code, message, details };
    out.isSpent = isSpent;
  }
  return { ...out, consoleIsCut: state.isCut };
}

async function guestFor({ code, memoryBytes }) {
  const own = kept.get(code);
  kept.delete(code);
  if (own?.instance.memoryBytes === memoryBytes) return own;
  return memoryBytes === DEFAULT_MEMORY_BYTES ? spare : makeGuest(await makeInstance(memoryBytes));
}

/** For the next run of the same script, and of others, while nobody waits. */
async function prepare({ code }, guest, wasFine) {
  if (guest === (await spare)) spare = makeInstance(DEFAULT_MEMORY_BYTES).then(makeGuest);
  const { instance } = guest;
  instance.runs++;
  const hasGrown = instance.memory.buffer.byteLength > LEAST_PAGES * PAGE_BYTES;
  if (!wasFine || hasGrown || instance.runs >= MOST_RUNS) return;
  kept.set(code, makeGuest(instance));
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
}

/** WebAssembly itself gave up. */
function fatal(guest, error) {
  if (guest.state.isLate) return late();
  if (guest.isFull()) return outOfMemory();
  if (error instanceof RangeError)
    return new Failure('script_error', 'RangeError: stack overflow', { name: 'RangeError', message: 'stack overflow' });
  return new Failure('script_crashed', '', {}, true);
}

process.on('message', async (job) => {
  const guest = await guestFor(job);
  const told = await answer(job, guest);
  process.send(told);
  await prepare(job, guest, told.error === undefined);
});
process.on('disconnect', () => process.exit());
await spare;
process.send('ready');
