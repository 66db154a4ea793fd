/** Connections of requests that must not be made twice, in a runtime that would repeat them. */

type HttpClient = { close(): void };
type Runtime = { Deno?: { createHttpClient?(options: { poolMaxIdlePerHost: number }): HttpClient } };

/**
 * Deno makes a request again when its kept connection dies, whatever the method is and whether the server has read it. A client that keeps no
 * connection prevents that. Other runtimes do not repeat such requests.
 */
export class UnkeptConnections {
  #client: HttpClient | undefined;

  /** Returns the options of `fetch` that give a request a connection of its own where that is needed. */
  init(): RequestInit {
    this.#client ??= (globalThis as Runtime).Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0 });
    return this.#client === undefined ? {} : ({ client: this.#client } as RequestInit);
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}
