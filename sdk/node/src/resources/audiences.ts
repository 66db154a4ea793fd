import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { Audience, CreateAudienceBody, ListAudiencesQuery, UpdateAudienceBody } from '../types.ts';

export class Audiences extends Resource {
  /** Create an audience. */
  create(body: CreateAudienceBody, options?: CallOptions): Promise<Audience> {
    return this._send('POST', path`/v1/audiences`, options, body);
  }

  /** Delete an audience. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/audiences/${id}`, options);
  }

  /** Retrieve an audience. */
  get(id: string, options?: CallOptions): Promise<Audience> {
    return this._get(path`/v1/audiences/${id}`, options);
  }

  /** List audiences. */
  list(query?: ListAudiencesQuery, options?: CallOptions): List<Audience> {
    return this._list(path`/v1/audiences`, options, query);
  }

  /** Update an audience. */
  update(id: string, body: UpdateAudienceBody, options?: CallOptions): Promise<Audience> {
    return this._send('PATCH', path`/v1/audiences/${id}`, options, body);
  }
}
