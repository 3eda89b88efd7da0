/** Server-Sent Events, read from text as it comes. */

export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  /** The last id so far. */
  readonly id: string | undefined;
}

/** Reads events piece by piece: `push` takes the next text, and returns the events that are complete with it. */
export class EventReader {
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];

  push(text: string): StreamEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    const found: StreamEvent[] = [];
    for (const line of lines) {
      if (line !== '') this.#take(line);
      else if (this.#data.length > 0 || this.#event !== '') {
        found.push({ event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id });
        this.#event = '';
        this.#data = [];
      }
    }
    return found;
  }

  #take(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
  }
}
