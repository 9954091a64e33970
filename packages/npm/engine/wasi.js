// The functions of WASI that the program calls: standard streams, the clock and random numbers (preview 1).
const ESUCCESS = 0;
const ENOSYS = 52;

/** Standard streams of a program: bytes to read, bytes that were written, and the text of standard error. */
export class Streams {
  input = new Uint8Array(0);
  output = [];
  errors = "";
  memory;

  /** The imports of a program that uses these streams. */
  imports() {
    const own = {
      fd_read: (fd, vectors, count, done) => this.#each(vectors, count, done, (bytes) => this.#read(bytes)),
      fd_write: (fd, vectors, count, done) => this.#each(vectors, count, done, (bytes) => this.#write(fd, bytes)),
      clock_time_get: (clock, precision, time) => {
        const now = clock === 0 ? BigInt(Date.now()) * 1_000_000n : BigInt(Math.round(performance.now() * 1e6));
        this.#view().setBigUint64(time, now, true);
        return ESUCCESS;
      },
      random_get: (start, length) => {
        for (let at = 0; at < length; at += 65536) {
          crypto.getRandomValues(new Uint8Array(this.memory.buffer, start + at, Math.min(65536, length - at)));
        }
        return ESUCCESS;
      },
      environ_sizes_get: (count, size) => {
        this.#view().setUint32(count, 0, true);
        this.#view().setUint32(size, 0, true);
        return ESUCCESS;
      },
      environ_get: () => ESUCCESS,
      proc_exit: (code) => {
        throw new Error(`the program ended with code ${code}: ${this.errors}`);
      },
    };
    return { wasi_snapshot_preview1: new Proxy(own, { get: (functions, name) => functions[name] ?? (() => ENOSYS) }) };
  }

  #view() {
    return new DataView(this.memory.buffer);
  }

  // Calls `transfer` with the bytes of each vector, until one is not transferred completely.
  #each(vectors, count, done, transfer) {
    let total = 0;
    for (let at = vectors; count > 0; at += 8, count -= 1) {
      const length = this.#view().getUint32(at + 4, true);
      const moved = transfer(new Uint8Array(this.memory.buffer, this.#view().getUint32(at, true), length));
      total += moved;
      if (moved < length) break;
    }
    this.#view().setUint32(done, total, true);
    return ESUCCESS;
  }

  #read(bytes) {
    const length = Math.min(bytes.length, this.input.length);
    bytes.set(this.input.subarray(0, length));
    this.input = this.input.subarray(length);
    return length;
  }

  #write(fd, bytes) {
    if (fd === 1) this.output.push(bytes.slice());
    else this.errors += new TextDecoder().decode(bytes);
    return bytes.length;
  }
}
