import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { Approval, ListApprovalsQuery } from '../types.ts';

export class Approvals extends Resource {
  /** Retrieve an approval. */
  get(id: string, options?: CallOptions): Promise<Approval> {
    return this._get(path`/v1/approvals/${id}`, options);
  }

  /** List approvals. */
  list(query?: ListApprovalsQuery, options?: CallOptions): List<Approval> {
    return this._list(path`/v1/approvals`, options, query);
  }
}
