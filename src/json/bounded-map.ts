/** A map of limited size: what is set becomes the latest entry, and beyond `maxSize` entries the oldest is removed. */
export class BoundedMap<Name, Value> extends Map<Name, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  override set(name: Name, value: Value): this {
    this.delete(name);
    super.set(name, value);
    if (this.size > this.#maxSize) this.delete(this.keys().next().value as Name);
    return this;
  }
}
