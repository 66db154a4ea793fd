import type { Download } from '../download.ts';
import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { Export, ListExportsQuery } from '../types.ts';

export class Exports extends Resource {
  /** Delete an export. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/exports/${id}`, options);
  }

  /** Retrieve an export. */
  get(id: string, options?: CallOptions): Promise<Export> {
    return this._get(path`/v1/exports/${id}`, options);
  }

  /** Download the file of an export. */
  getFile(id: string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/exports/${id}/file`, options);
  }

  /** List exports. */
  list(query?: ListExportsQuery, options?: CallOptions): List<Export> {
    return this._list(path`/v1/exports`, options, query);
  }
}
