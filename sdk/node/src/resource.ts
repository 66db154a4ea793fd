import { encodeFile, encodeJson, type FileContent } from './attachments.ts';
import type { Download } from './download.ts';
import type { CallOptions, SendOptions } from './options.ts';
import { List } from './pages.ts';
import type { Path, Query, Request, Transport } from './transport.ts';

/** Result of a send. */
export type Keyed = {
  /** Key with which the same call may be repeated, and sends nothing again. */
  idempotencyKey: string;
};

/** What all resources have: the ways to ask. */
export abstract class Resource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sends a request of any kind. */
  protected _request<T>(request: Request): Promise<T> {
    return this.#transport.request(request) as Promise<T>;
  }

  protected _get<T>(path: Path, options?: CallOptions, query?: Query): Promise<T> {
    return this._request({ method: 'GET', path, query, options, answer: 'json' });
  }

  protected _list<T>(path: Path, options?: CallOptions, query?: Query): List<T> {
    return new List<T>(
      (page) => this._request({ method: 'GET', path, query: page, options, answer: 'page' }),
      query,
    );
  }

  protected _stream(path: Path, options?: CallOptions, query?: Query): Promise<Download> {
    return this._request({ method: 'GET', path, query, options, answer: 'stream' });
  }

  /** Sends JSON, or no body when it is undefined. */
  protected _send<T>(
    method: 'POST' | 'PUT' | 'PATCH',
    path: Path,
    options?: CallOptions,
    body?: object,
    query?: Query,
  ): Promise<T> {
    const encode = body === undefined || body === null ? undefined : () => encodeJson(body);
    return this._request({ method, path, query, options, body: encode, answer: 'json' });
  }

  /** Sends JSON, or no body, with an idempotency key: it is repeated like a GET, and takes effect once. */
  protected _sendOnce<T>(path: Path, options?: SendOptions, body?: object): Promise<T & Keyed> {
    const encode = body === undefined || body === null ? undefined : () => encodeJson(body);
    return this._request({ method: 'POST', path, options, body: encode, isKeyed: true, answer: 'json' });
  }

  /** Sends a file of comma-separated values. */
  protected _upload<T>(path: Path, options?: CallOptions, file: FileContent = '', query?: Query): Promise<T> {
    const body = () => encodeFile(file);
    return this._request({
      method: 'POST',
      path,
      query,
      options,
      body,
      contentType: 'text/csv',
      answer: 'json',
    });
  }

  protected _delete(path: Path, options?: CallOptions): Promise<void> {
    return this._request({ method: 'DELETE', path, options, answer: 'none' });
  }
}
