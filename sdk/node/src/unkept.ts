/** Connections of requests that must not be made twice, in runtimes that would repeat them. */

type HttpClient = { close(): void };
type Runtime = {
  Bun?: unknown;
  Deno?: { createHttpClient?(options: { poolMaxIdlePerHost: number }): HttpClient };
};

/**
 * Deno, and Bun before 1.4, make a request again when its kept connection dies, whatever the method is and whether the server has read it. A
 * connection that is not kept prevents that. Other runtimes do not repeat such requests.
 */
export class UnkeptConnections {
  #client: HttpClient | undefined;

  /** Returns the options of `fetch` that give a request a connection of its own where that is needed. */
  init(): RequestInit {
    const { Bun, Deno } = globalThis as Runtime;
    if (Bun !== undefined) return { keepalive: false };
    this.#client ??= Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 });
    return this.#client === undefined ? {} : ({ client: this.#client } as RequestInit);
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}
