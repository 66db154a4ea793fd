/** A store on another host, which runs `postrider standby serve` (`standby/server/`). Its requests are described there. */
import type { System } from '../system/system.ts';
import { hashBody, partsOfBody, sizeOfBody } from './body.ts';
import {
  isObjectName,
  type ObjectBody,
  type ObjectStore,
  requireName,
  requirePrefix,
  StoreError,
} from './object-store.ts';
import {
  createServerRequests,
  type ServerOptions,
  type ServerRequest,
  type ServerRequests,
  type SmallAnswer,
} from './server-requests.ts';

type HostOptions = ServerOptions & {
  /** URL of the server, without a path. */
  url: string;
  /** The bearer token, in the characters of `TOKEN`. */
  token: string;
};

/** Matches what HTTP can carry as a bearer token (RFC 6750 section 2.1). */
export const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
/** Maximum size of a list: 1,000 names in JSON. */
const MAX_LIST_BYTES = 1024 * 1024;

export class HostStore implements ObjectStore {
  readonly #server: URL;
  readonly #authorization: string;
  readonly #requests: ServerRequests;

  constructor(system: Pick<System, 'clock' | 'dns'>, { url, token, ...options }: HostOptions) {
    this.#server = new URL(url);
    this.#authorization = `Bearer ${token}`;
    this.#requests = createServerRequests(system, this.#server, options);
  }

  async put(name: string, body: ObjectBody): Promise<void> {
    const answer = await this.#requests.ask(await this.#upload(name, body, {}));
    if (answer.status !== 204) throw this.#refusal(answer);
  }

  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    const answer = await this.#requests.ask(await this.#upload(name, { bytes }, { 'if-none-match': '*' }));
    if (answer.status === 412) return false;
    if (answer.status !== 204) throw this.#refusal(answer);
    return true;
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await this.#requests.fetchObject(this.#request('GET', this.#urlOf(name)));
    if (!('status' in found)) return found;
    if (found.status === 404) return undefined;
    throw this.#refusal(found);
  }

  async list(prefix: string, after = ''): Promise<string[]> {
    requirePrefix(prefix);
    const query = new URLSearchParams({ prefix, after });
    const answer = await this.#requests.ask(this.#request('GET', `/objects?${query}`), MAX_LIST_BYTES);
    if (answer.status !== 200) throw this.#refusal(answer);
    return this.#readNames(answer.text, { prefix, after });
  }

  async remove(name: string): Promise<void> {
    const answer = await this.#requests.ask(this.#request('DELETE', this.#urlOf(name)));
    if (answer.status !== 204) throw this.#refusal(answer);
  }

  close(): Promise<void> {
    return this.#requests.close();
  }

  async #upload(name: string, body: ObjectBody, headers: Record<string, string>): Promise<ServerRequest> {
    const url = this.#urlOf(name);
    const size = sizeOfBody(body);
    const [sha256] = await hashBody(body, ['sha256']);
    const request = this.#request('PUT', url, {
      ...headers,
      'content-length': String(size),
      // The server stores nothing else than the bytes with this hash (RFC 9530 section 2).
      'content-digest': `sha-256=:${sha256?.toString('base64')}:`,
    });
    return { ...request, body: partsOfBody(body) };
  }

  #request(
    method: ServerRequest['method'],
    path: string,
    headers: Record<string, string> = {},
  ): ServerRequest {
    return {
      method,
      url: new URL(path, this.#server).href,
      headers: { ...headers, authorization: this.#authorization },
    };
  }

  #urlOf(name: string): string {
    requireName(name);
    return `/objects/${name}`;
  }

  /** Whoever reads page after page would never come to an end of names that are not in order. */
  #readNames(text: string, { prefix, after }: { prefix: string; after: string }): string[] {
    try {
      const { names } = JSON.parse(text) as { names: unknown };
      const isPage = (found: unknown): found is string[] =>
        Array.isArray(found) &&
        found.every(
          (name, at) =>
            typeof name === 'string' &&
            isObjectName(name) &&
            name.startsWith(prefix) &&
            name > (at === 0 ? after : found[at - 1]),
        );
      if (isPage(names)) return names;
    } catch {
      // The sentence below says it.
    }
    throw new StoreError('refused', `${this.#server.host} is no server of "postrider standby serve"`);
  }

  #refusal({ status }: SmallAnswer): StoreError {
    const { host } = this.#server;
    switch (status) {
      case 401:
        return new StoreError('refused', `${host} does not know the token`);
      case 507:
        return new StoreError('refused', `the disk of ${host} is full, or below its reserve`);
      case 500:
      case 503:
        return new StoreError('unreachable', `${host} cannot use its folder now; its log says why`);
      default:
        return new StoreError(
          'refused',
          `${host} answered with status ${status}: is it "postrider standby serve"?`,
        );
    }
  }
}
