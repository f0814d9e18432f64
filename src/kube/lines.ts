/** Cuts a stream of bytes into lines. */

const NEWLINE = 10;

/** Collects bytes and gives back the lines that are complete. */
export class LineSplitter {
  readonly #bytesMax: number;
  readonly #decoder = new TextDecoder();
  #rest: Uint8Array[] = [];
  #restBytes = 0;

  /** `bytesMax` bounds a single line. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of the line that has begun but not ended. */
  get pendingBytes(): number {
    return this.#restBytes;
  }

  /** Adds bytes; returns the complete, non-empty lines. Throws RangeError for a line too long. */
  push(bytes: Uint8Array): string[] {
    const end = bytes.lastIndexOf(NEWLINE);
    if (end < 0) {
      this.#keep(bytes);
      return [];
    }
    const whole = this.#restBytes === 0 ? bytes.subarray(0, end) : this.#joined(bytes, end);
    this.#rest = [];
    this.#restBytes = 0;
    if (end + 1 < bytes.length) this.#keep(bytes.subarray(end + 1));
    return this.#decoder
      .decode(whole)
      .split('\n')
      .filter((line) => line !== '');
  }

  #joined(bytes: Uint8Array, end: number): Uint8Array {
    const whole = new Uint8Array(this.#restBytes + end);
    let at = 0;
    for (const part of this.#rest) {
      whole.set(part, at);
      at += part.length;
    }
    whole.set(bytes.subarray(0, end), at);
    return whole;
  }

  #keep(bytes: Uint8Array): void {
    this.#restBytes += bytes.length;
    if (this.#restBytes > this.#bytesMax) {
      throw new RangeError(`a line is longer than ${this.#bytesMax} bytes`);
    }
    this.#rest.push(bytes);
  }
}
