// The child process that runs JavaScript of definitions, in QuickJS in WebAssembly. Its parent is javascript.ts, which
// may kill it at any time. It runs one script at a time, each in a new engine, and never in a WebAssembly instance that
// ran another script, so that nothing of one script is left for the next.
//
// In:  {code, isTypeScript, input (JSON text), timeoutMs, memoryBytes, resultCharacters}
// Out: {result (JSON text, or absent), error: {code, message, details}, console, consoleIsCut, isSpent}. isSpent: this
//      process should not run another script.
//
// Values leave the guest as text, because copying a nested value would recurse on the host's stack.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import baseVariant from '@jitl/quickjs-wasmfile-release-sync';
import { newQuickJSWASMModuleFromVariant, newVariant } from 'quickjs-emscripten-core';
import { INTL_PRELUDE, localized, MAX_REQUEST_CHARACTERS } from './guest-intl.mjs';

const MAX_LEVELS = 200;
const MAX_LINES = 200;
const MAX_CONSOLE_CHARACTERS = 32_000;
const MAX_LINE_CHARACTERS = 2_000;
/** Name, message and stack of an error, as JSON. */
const MAX_DESCRIBED_CHARACTERS = 20_000;
/** Well below this process's own stack (javascript.ts), which calls of the guest use too. */
const STACK_BYTES = 512 * 1024;
const PAGE_BYTES = 65_536;
/** The initial memory of an instance, which is also its minimum. */
const MIN_PAGES = 256;
const DEFAULT_MEMORY_BYTES = 64 * 1024 * 1024;
/** Runs of one script per instance. Old engines stay in it, since disposing of them may fail. */
const MAX_RUNS = 30;
const MAX_KEPT = 4;
/** Size of the cache of scripts whose types were stripped. */
const MAX_STRIPPED = 50;
const FILE = 'script';
const TOO_LONG = JSON.stringify({
  ok: false,
  name: 'RangeError',
  message: `The value to format has more than ${MAX_REQUEST_CHARACTERS} characters.`,
});
// Scripts have the same local time on every machine.
process.env.TZ = 'UTC';

/**
 * Runs in the guest before the script, and captures the built-ins that the script might replace. `run` resolves to the
 * result as JSON text.
 */
const PRELUDE = `(emit => {
  const { parse, stringify } = JSON;
  const { slice } = String.prototype;
  const { keys } = Object;
  const cut = (text, most) => slice.call(text, 0, most);
  // QuickJS serializes deep values in quadratic time.
  const isTooDeep = value => {
    const open = [value], levels = [1];
    while (open.length > 0) {
      const next = open.pop(), level = levels.pop();
      if (typeof next !== 'object' || next === null) continue;
      if (level > ${MAX_LEVELS}) return true;
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
    if (lines > ${MAX_LINES} || characters > ${MAX_CONSOLE_CHARACTERS}) return;
    let text = '';
    for (let i = 0; i < values.length && text.length < ${MAX_LINE_CHARACTERS}; i++)
      text += (i === 0 ? '' : ' ') + shown(values[i]);
    text = cut(text, ${MAX_LINE_CHARACTERS});
    lines++;
    characters += text.length;
    emit(level, lines > ${MAX_LINES} || characters > ${MAX_CONSOLE_CHARACTERS} ? undefined : text);
  };
  globalThis.console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = line(level);
  return {
    // A number instead of a text means that the result is too deep.
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
        message = 'a value that cannot be shown';
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

/** A guest without a script, prepared ahead because creating one takes longer than most scripts. */
let spare = makeInstance(DEFAULT_MEMORY_BYTES).then(makeGuest);
/** Guests by the script that ran in their instance. */
const kept = new Map();

/** The memory has a hard maximum, because QuickJS's own limit does not count sizes under WebAssembly. */
async function makeInstance(memoryBytes) {
  const maximum = Math.max(MIN_PAGES, Math.ceil(memoryBytes / PAGE_BYTES));
  const memory = new WebAssembly.Memory({ initial: MIN_PAGES, maximum });
  const instance = { memory, memoryBytes, runs: 0, isFull: false };
  // The engine asks for less when it is refused: the memory is full if its last request was.
  memory.grow = (pages) => {
    instance.isFull = true;
    const before = WebAssembly.Memory.prototype.grow.call(memory, pages);
    instance.isFull = false;
    return before;
  };
  const variant = newVariant(baseVariant, { wasmModule, wasmMemory: memory });
  return Object.assign(instance, { quickjs: await newQuickJSWASMModuleFromVariant(variant) });
}

/** Creates an engine with the prelude in an instance. */
function makeGuest(instance) {
  const { quickjs } = instance;
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(STACK_BYTES);
  const context = runtime.newContext();
  const lines = [];
  const state = { isCut: false, isLate: false };
  const emit = context.newFunction('emit', (level, text) => {
    // The script may have replaced the functions that truncate in the prelude.
    if (lines.length >= MAX_LINES || !isShort(context, text, MAX_LINE_CHARACTERS)) state.isCut = true;
    else lines.push({ level: context.getString(level), text: context.getString(text) });
  });
  const localize = context.newFunction('localize', (request) =>
    context.newString(
      isShort(context, request, MAX_REQUEST_CHARACTERS) ? localized(context.getString(request)) : TOO_LONG,
    ),
  );
  const intl = context.evalCode(INTL_PRELUDE, 'prelude.js').unwrap();
  context.callFunction(intl, context.undefined, localize).unwrap();
  const make = context.evalCode(PRELUDE, 'prelude.js').unwrap();
  const prelude = context.callFunction(make, context.undefined, emit).unwrap();
  return {
    instance,
    context,
    runtime,
    lines,
    state,
    run: context.getProp(prelude, 'run'),
    describe: context.getProp(prelude, 'describe'),
  };
}

/** Whether the handle is a text that is short enough to be copied out. */
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
  if (stripped.size >= MAX_STRIPPED) stripped.delete(stripped.keys().next().value);
  stripped.set(code, script);
  return script;
}

/** Types become blanks, which keeps positions in errors; enums and similar syntax are transformed. */
function strip(code) {
  for (const mode of ['strip-only', 'transform']) {
    try {
      return stripper.transformSync(code, { mode, module: true, filename: `${FILE}.ts` }).code;
    } catch (error) {
      if (mode === 'strip-only' && error?.code === 'UnsupportedSyntax') continue;
      if (typeof error?.startLine !== 'number')
        throw new Failure('script_invalid', 'The code cannot be parsed as TypeScript: it nests too deeply.', {}, true);
      const at = `line ${error.startLine}, column ${error.startColumn + 1}`;
      throw new Failure('script_invalid', `The code is not valid TypeScript: ${error.message.slice(0, 300)} (${at}).`);
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
      'The default export of the code is not a function. Write: export default function (input) { … }',
    );
  const input = context.newString(job.input);
  const text = settled(guest, guarded(guest, context.callFunction(guest.run, context.undefined, main, input)));
  if (context.typeof(text) === 'undefined') return undefined;
  if (context.typeof(text) === 'number')
    throw new Failure(
      'result_too_deep',
      `The result nests deeper than ${MAX_LEVELS} levels, or contains itself. Return a flatter value.`,
      { limit: MAX_LEVELS },
    );
  const characters = context.getNumber(context.getProp(text, 'length'));
  if (characters > job.resultCharacters)
    throw new Failure(
      'result_too_large',
      `The result has ${characters} characters as JSON; the limit is ${job.resultCharacters}. Return less.`,
      { characters, limit: job.resultCharacters },
    );
  return context.getString(text);
}

/** The value of a call. @throws Failure */
function guarded(guest, result, isLoading = false) {
  if (!result.error) return result.value;
  throw failureOf(guest, result.error, isLoading);
}

/** The value of a promise. Without timers, a promise that is pending when no job is left never settles. */
function settled(guest, handle) {
  const { context, runtime } = guest;
  const jobs = runtime.executePendingJobs(-1);
  if (jobs.error) throw failureOf(guest, jobs.error);
  // What was interrupted may be work that the result does not wait for.
  if (guest.state.isLate) throw late();
  const state = context.getPromiseState(handle);
  if (state.type === 'fulfilled') return state.value;
  if (state.type === 'rejected') throw failureOf(guest, state.error);
  // QuickJS drops a job that it has no memory for.
  if (guest.instance.isFull) throw outOfMemory();
  throw new Failure(
    'script_error',
    'The code awaits a promise that never settles: scripts have no timers and no network.',
    { name: 'Error' },
  );
}

// The parent adds the messages, since it knows the limits.
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
  // QuickJS throws null if there is no memory for an error.
  if ((isEngines && message === 'out of memory') || (message === 'null' && guest.instance.isFull)) return outOfMemory();
  if (isLoading && name === 'SyntaxError') {
    const place = /:(\d+)(?::(\d+))?/.exec(stack);
    const at = place === null ? '' : ` (line ${place[1]}${place[2] === undefined ? '' : `, column ${place[2]}`})`;
    return new Failure('script_invalid', `The code is not valid JavaScript: ${message}${at}.`);
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

/** The prelude's description of a thrown value; unknown if the script has tampered with it. */
function readDescribed(context, handle) {
  const unknown = { name: 'Error', message: 'a value that cannot be shown', stack: '', isError: false };
  if (!isShort(context, handle, MAX_DESCRIBED_CHARACTERS)) return unknown;
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

/** Prepares engines for the next run, after the answer was sent. */
async function prepare({ code }, guest, wasFine) {
  if (guest === (await spare)) spare = makeInstance(DEFAULT_MEMORY_BYTES).then(makeGuest);
  const { instance } = guest;
  instance.runs++;
  const hasGrown = instance.memory.buffer.byteLength > MIN_PAGES * PAGE_BYTES;
  if (!wasFine || hasGrown || instance.isFull || instance.runs >= MAX_RUNS) return;
  kept.set(code, makeGuest(instance));
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value);
}

/** An error of WebAssembly itself. */
function fatal(guest, error) {
  if (guest.state.isLate) return late();
  if (guest.instance.isFull) return outOfMemory();
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
