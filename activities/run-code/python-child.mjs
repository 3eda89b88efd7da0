// The child process that runs Python of definitions: Pyodide in Deno, whose only permission is to read Pyodide's own
// folder (python.ts). The sandbox is Deno; Pyodide alone is not one. It runs one script and ends.
//
// deno run … python-child.mjs FOLDER snapshot      writes the memory of a loaded Pyodide to standard output
// deno run … python-child.mjs FOLDER run LENGTH    reads that memory (LENGTH bytes), writes a line, reads a line with
//                                                  {code, input (JSON text), memoryBytes, resultCharacters},
//                                                  writes a line with the answer
const [folder, mode, length] = Deno.args;
const MAX_LEVELS = 200;
const MAX_LINES = 200;
const MAX_CONSOLE_CHARACTERS = 32_000;
const MAX_LINE_CHARACTERS = 2_000;
const PAGE_BYTES = 65_536;
const STEP_BYTES = 65_536;

/** Part of the snapshot, so that it costs nothing at the start. */
const PRELUDE = `
import asyncio, inspect, json, linecache, os, sys, traceback

# Scripts must not see the path of this file on the host.
os.environ.pop('_', None)

ZONES = (
    "This Python has no time zone data. Use a fixed offset, datetime.timezone(datetime.timedelta(hours=1)), "
    "or JavaScript, whose toLocaleString and Intl.DateTimeFormat take {timeZone: 'Europe/Berlin'}."
)

def too_deep(value, most_levels):
    # Without recursion: deep values would crash the interpreter in json.
    waiting = [(value, 1)]
    while waiting:
        value, level = waiting.pop()
        if isinstance(value, dict):
            value = value.values()
        elif not isinstance(value, (list, tuple)):
            continue
        if level > most_levels:
            return True
        waiting.extend((member, level + 1) for member in value if isinstance(member, (dict, list, tuple)))
    return False

async def signalbox_run(code, text, most, most_levels):
    def error(code, name, message, stack=''):
        details = {'name': name[:100], 'message': message[:1000]}
        if stack:
            details['stack'] = stack[-2000:]
        told = message if code == 'script_invalid' else name + ': ' + message
        return json.dumps({'error': {'code': code, 'message': told[:1200], 'details': details}})

    try:
        names = {'__name__': 'script', '__builtins__': __builtins__}
        linecache.cache['script.py'] = (len(code), None, code.splitlines(True), 'script.py')
        try:
            module = compile(code, 'script.py', 'exec', dont_inherit=True)
        except SyntaxError as broken:
            message = f'The code is not valid Python: {broken.msg} (line {broken.lineno}).'
            return error('script_invalid', 'SyntaxError', message)
        exec(module, names)
        main = names.get('main')
        if not callable(main):
            return error('script_invalid', 'NameError', 'The code defines no function main. Write: def main(input): …')
        value = main(json.loads(text))
        if inspect.isawaitable(value):
            value = await value
    except MemoryError:
        return json.dumps({'error': {'code': 'script_out_of_memory', 'message': ''}})
    except BaseException as thrown:
        frames = [frame for frame in traceback.extract_tb(thrown.__traceback__) if frame.filename == 'script.py']
        if type(thrown).__name__ == 'ZoneInfoNotFoundError':
            return error('script_error', 'ZoneInfoNotFoundError', ZONES)
        return error('script_error', type(thrown).__name__, str(thrown), ''.join(traceback.format_list(frames[-10:])))
    try:
        if too_deep(value, most_levels):
            message = f'The result nests deeper than {most_levels} levels, or contains itself. Return a flatter value.'
            details = {'limit': most_levels}
            return json.dumps({'error': {'code': 'result_too_deep', 'message': message, 'details': details}})
        result = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except MemoryError:
        return json.dumps({'error': {'code': 'script_out_of_memory', 'message': ''}})
    except BaseException as thrown:
        return error('script_error', type(thrown).__name__, 'The result is not JSON: ' + str(thrown))
    if len(result) > most:
        message = f'The result has {len(result)} characters as JSON; the limit is {most}. Return less.'
        details = {'characters': len(result), 'limit': most}
        return json.dumps({'error': {'code': 'result_too_large', 'message': message, 'details': details}})
    return json.dumps({'result': result})
`;

const reader = Deno.stdin.readable.getReader({ mode: 'byob' });

async function readExactly(bytes) {
  let into = new Uint8Array(bytes);
  let at = 0;
  while (at < bytes) {
    const { value, done } = await reader.read(new Uint8Array(into.buffer, at, bytes - at));
    into = new Uint8Array(value.buffer);
    if (done) Deno.exit(0);
    at += value.byteLength;
  }
  return into;
}

async function readLine() {
  const chunks = [];
  for (;;) {
    const { value, done } = await reader.read(new Uint8Array(STEP_BYTES));
    if (done) Deno.exit(0);
    chunks.push(value);
    if (value.at(-1) === 10) return new TextDecoder().decode(await new Blob(chunks).arrayBuffer());
  }
}

async function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += await Deno.stdout.write(bytes.subarray(at));
}

const writeLine = (value) => write(new TextEncoder().encode(`${JSON.stringify(value)}\n`));

const lines = [];
let characters = 0;
let consoleIsCut = false;
const capture = (level) => ({
  batched: (given) => {
    const text = given.slice(0, MAX_LINE_CHARACTERS);
    consoleIsCut ||= lines.length >= MAX_LINES || characters + text.length > MAX_CONSOLE_CHARACTERS;
    if (consoleIsCut) return;
    characters += text.length;
    lines.push({ level, text });
  },
});

/** Limits the further growth of WebAssembly memory; Python raises MemoryError beyond it. */
function limitMemory(bytes) {
  const { grow } = WebAssembly.Memory.prototype;
  let left = Math.ceil(bytes / PAGE_BYTES);
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (pages > left) throw new RangeError('The memory is at its limit.');
    left -= pages;
    return grow.call(this, pages);
  };
}

async function answer(what) {
  await writeLine({ ...what, console: lines, consoleIsCut });
  Deno.exit(0);
}

/** An error after which Pyodide is unusable. */
function fatal(error) {
  const message = String(error?.message ?? error).slice(0, 300);
  if (/memory/i.test(message)) return { error: { code: 'script_out_of_memory', message: '' } };
  const name = String(error?.name ?? 'Error').slice(0, 100);
  return { error: { code: 'script_error', message: `${name}: ${message}`, details: { name, message } } };
}

const { loadPyodide } = await import(`${folder}/pyodide.mjs`);
const quiet = { stdout: () => undefined, stderr: () => undefined };
const options = { indexURL: `${folder}/`, jsglobals: Object.create(null), ...quiet };
// Silences Pyodide's messages about fatal errors.
console.error = () => undefined;
console.log = () => undefined;
console.warn = () => undefined;

if (mode === 'snapshot') {
  const pyodide = await loadPyodide({ ...options, _makeSnapshot: true });
  pyodide.runPython(PRELUDE);
  await write(pyodide.makeMemorySnapshot());
} else {
  const pyodide = await loadPyodide({ ...options, _loadSnapshot: await readExactly(Number(length)) });
  const run = pyodide.globals.get('signalbox_run');
  pyodide.setStdout(capture('log'));
  pyodide.setStderr(capture('error'));
  await writeLine('ready');
  const { code, input, memoryBytes, resultCharacters } = JSON.parse(await readLine());
  limitMemory(memoryBytes);
  // After a fatal error nothing that was awaited in Python settles.
  pyodide._api.on_fatal = (error) => answer(fatal(error));
  const result = run(code, input, resultCharacters, MAX_LEVELS);
  await answer(await result.then(JSON.parse, fatal));
}
