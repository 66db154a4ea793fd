import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { CreateTopicBody, ListTopicsQuery, Topic, UpdateTopicBody } from '../types.ts';

export class Topics extends Resource {
  /** Create a topic. */
  create(body: CreateTopicBody, options?: CallOptions): Promise<Topic> {
    return this._send('POST', path`/v1/topics`, options, body);
  }

  /** Delete a topic. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/topics/${id}`, options);
  }

  /** Retrieve a topic. */
  get(id: string, options?: CallOptions): Promise<Topic> {
    return this._get(path`/v1/topics/${id}`, options);
  }

  /** List topics. */
  list(query?: ListTopicsQuery, options?: CallOptions): List<Topic> {
    return this._list(path`/v1/topics`, options, query);
  }

  /** Update a topic. */
  update(id: string, body: UpdateTopicBody, options?: CallOptions): Promise<Topic> {
    return this._send('PATCH', path`/v1/topics/${id}`, options, body);
  }
}
