import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type {
  ApiKey,
  CreateApiKeyBody,
  CreatedApiKey,
  ListApiKeysQuery,
  UpdateApiKeyBody,
} from '../types.ts';

export class ApiKeys extends Resource {
  /** Create an API key. */
  create(body: CreateApiKeyBody, options?: CallOptions): Promise<CreatedApiKey> {
    return this._send('POST', path`/v1/api-keys`, options, body);
  }

  /** Revoke an API key. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/api-keys/${id}`, options);
  }

  /** Retrieve an API key. */
  get(id: string, options?: CallOptions): Promise<ApiKey> {
    return this._get(path`/v1/api-keys/${id}`, options);
  }

  /** List API keys. */
  list(query?: ListApiKeysQuery, options?: CallOptions): List<ApiKey> {
    return this._list(path`/v1/api-keys`, options, query);
  }

  /** Change an API key. */
  update(id: string, body: UpdateApiKeyBody, options?: CallOptions): Promise<ApiKey> {
    return this._send('PATCH', path`/v1/api-keys/${id}`, options, body);
  }
}
