/** A map that forgets: what is set becomes the latest entry, and beyond `most` entries the oldest goes. */
export class BoundedMap<Name, Value> extends Map<Name, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(name: Name, value: Value): this {
    this.delete(name);
    super.set(name, value);
    if (this.size > this.#most) this.delete(this.keys().next().value as Name);
    return this;
  }
}
