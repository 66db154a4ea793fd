import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { ListRequestsQuery, LoggedRequest } from '../types.ts';

export class RequestLog extends Resource {
  /** List requests. */
  list(query?: ListRequestsQuery, options?: CallOptions): List<LoggedRequest> {
    return this._list(path`/v1/request-log`, options, query);
  }
}
