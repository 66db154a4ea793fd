import type { Download } from '../download.ts';
import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { Import, ListImportsQuery } from '../types.ts';

export class Imports extends Resource {
  /** Delete an import. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/imports/${id}`, options);
  }

  /** Retrieve an import. */
  get(id: string, options?: CallOptions): Promise<Import> {
    return this._get(path`/v1/imports/${id}`, options);
  }

  /** Download the rows that were not imported. */
  getErrors(id: string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/imports/${id}/errors`, options);
  }

  /** List imports. */
  list(query?: ListImportsQuery, options?: CallOptions): List<Import> {
    return this._list(path`/v1/imports`, options, query);
  }
}
