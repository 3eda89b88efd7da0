// Intl for scripts. QuickJS has no Intl, and its `toLocaleString` ignores its arguments. Node formats outside of the
// engine and exchanges texts with it. The defaults are the time zone UTC and the language en-US, on every machine.

/** The methods that a script may call, and their numbers of arguments. */
const KINDS = {
  DateTimeFormat: { format: 1, formatToParts: 1, formatRange: 2, resolvedOptions: 0 },
  NumberFormat: { format: 1, formatToParts: 1, formatRange: 2, resolvedOptions: 0 },
  Collator: { compare: 2, resolvedOptions: 0 },
  PluralRules: { select: 1, resolvedOptions: 0 },
  RelativeTimeFormat: { format: 2, formatToParts: 2, resolvedOptions: 0 },
  ListFormat: { format: 1, formatToParts: 1, resolvedOptions: 0 },
  DisplayNames: { of: 1, resolvedOptions: 0 },
};
const DATE_METHODS = ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'];
/** The cache of formatters: creating one takes longer than using it. */
const MAX_KEPT = 50;
export const MAX_REQUEST_CHARACTERS = 100_000;

/** Runs in the guest; `call` exchanges JSON texts with the host. */
export const INTL_PRELUDE = `(call => {
  const { parse, stringify } = JSON;
  const { getTime } = Date.prototype;
  const { isArray, from } = Array;
  const { defineProperty, entries, keys } = Object;
  const compareUnits = String.prototype.localeCompare;
  const errors = { RangeError, TypeError };
  const told = value => {
    if (value instanceof Date) return ['number', String(getTime.call(value))];
    if (typeof value === 'object' && value !== null) return ['json', stringify(from(value))];
    return [typeof value, value === 0 && 1 / value < 0 ? '-0' : String(value)];
  };
  const ask = (kind, method, locales, options, args) => {
    const request = stringify({ kind, method, locales, options, args: args.map(told) });
    const { ok, value, name, message } = parse(call(request));
    if (ok) return value;
    throw new (errors[name] ?? Error)(message);
  };
  const put = (target, name, value) => defineProperty(target, name, { value, writable: true, configurable: true });
  const Intl = {};
  for (const [kind, methods] of entries(${JSON.stringify(KINDS)})) {
    const make = function (locales, options) {
      if (new.target === undefined) return new make(locales, options);
      const [where, how] = parse(stringify([locales ?? null, options ?? null]));
      ask(kind, 'resolvedOptions', where, how, []);
      for (const method of keys(methods))
        put(this, method, (...args) => ask(kind, method, where, how, args.slice(0, methods[method])));
    };
    put(make, 'name', kind);
    const supported = locales => ask(kind, 'supportedLocalesOf', null, null, [isArray(locales) ? locales : [locales]]);
    put(make, 'supportedLocalesOf', supported);
    put(Intl, kind, make);
  }
  put(globalThis, 'Intl', Intl);
  for (const method of ${JSON.stringify(DATE_METHODS)})
    put(Date.prototype, method, function (locales, options) {
      return ask('Date', method, locales ?? null, options ?? null, [getTime.call(this)]);
    });
  for (const { prototype } of [Number, BigInt])
    put(prototype, 'toLocaleString', function (locales, options) {
      return ask('NumberFormat', 'format', locales ?? null, options ?? null, [prototype.valueOf.call(this)]);
    });
  // Without a language it compares code units, because sorting calls it often.
  put(String.prototype, 'localeCompare', function (other, locales, options) {
    if (locales === undefined && options === undefined) return compareUnits.call(this, other);
    return ask('Collator', 'compare', locales ?? null, options ?? null, [String(this), String(other)]);
  });
})`;

const kept = new Map();

/** Answers one request of the guest. Its content is untrusted. */
export function localized(request) {
  try {
    const { kind, method, locales, options, args } = JSON.parse(request);
    const value = asked(kind, method, locales ?? 'en-US', options ?? {}, args.map(read));
    return JSON.stringify({ ok: true, value });
  } catch (error) {
    return JSON.stringify({ ok: false, name: String(error?.name), message: String(error?.message).slice(0, 1_000) });
  }
}

function asked(kind, method, locales, options, args) {
  if (kind === 'Date' && DATE_METHODS.includes(method))
    return new Date(args[0])[method](locales, { timeZone: 'UTC', ...options });
  if (!Object.hasOwn(KINDS, kind)) throw new TypeError('Intl has no such member here.');
  if (method === 'supportedLocalesOf') return Intl[kind].supportedLocalesOf(args[0]);
  if (!Object.hasOwn(KINDS[kind], method)) throw new TypeError(`Intl.${kind} has no such method here.`);
  return formatOf(kind, locales, options)[method](...args);
}

function formatOf(kind, locales, options) {
  const key = JSON.stringify([kind, locales, options]);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = new Intl[kind](locales, kind === 'DateTimeFormat' ? { timeZone: 'UTC', ...options } : options);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value);
  kept.set(key, made);
  return made;
}

/** Decodes an argument of the prelude: a type and a text. */
function read([type, text]) {
  if (type === 'number') return Number(text);
  if (type === 'bigint') return BigInt(text);
  if (type === 'boolean') return text === 'true';
  if (type === 'json') return JSON.parse(text);
  return type === 'undefined' ? undefined : text;
}
