import type { FileContent } from '../attachments.ts';
import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type {
  CreateSuppressionBody,
  CreateSuppressionsAnswer,
  CreateSuppressionsBody,
  DeleteSuppressionsAnswer,
  DeleteSuppressionsBody,
  Export,
  ExportSuppressionsBody,
  ImportSuppressionsQuery,
  ListSuppressionsQuery,
  Suppression,
  SuppressionImportPreview,
} from '../types.ts';

export class Suppressions extends Resource {
  /** Suppress an address. */
  create(body: CreateSuppressionBody, options?: CallOptions): Promise<Suppression> {
    return this._send('POST', path`/v1/suppressions`, options, body);
  }

  /** Suppress up to 100 addresses. */
  createBatch(body: CreateSuppressionsBody, options?: CallOptions): Promise<CreateSuppressionsAnswer> {
    return this._send('POST', path`/v1/suppressions/batch`, options, body);
  }

  /** Delete a suppression. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/suppressions/${id}`, options);
  }

  /** Remove up to 100 addresses from the list. */
  deleteBatch(body: DeleteSuppressionsBody, options?: CallOptions): Promise<DeleteSuppressionsAnswer> {
    return this._send('POST', path`/v1/suppressions/batch/delete`, options, body);
  }

  /** Export suppressions to a CSV file. */
  exportCsv(body?: ExportSuppressionsBody, options?: CallOptions): Promise<Export> {
    return this._send('POST', path`/v1/suppressions/exports`, options, body);
  }

  /** Retrieve a suppression. */
  get(id: string, options?: CallOptions): Promise<Suppression> {
    return this._get(path`/v1/suppressions/${id}`, options);
  }

  /** Import suppressions from a CSV file. */
  importCsv(
    file: FileContent,
    query?: ImportSuppressionsQuery,
    options?: CallOptions,
  ): Promise<SuppressionImportPreview> {
    return this._upload(path`/v1/suppressions/imports`, options, file, query);
  }

  /** List suppressions. */
  list(query?: ListSuppressionsQuery, options?: CallOptions): List<Suppression> {
    return this._list(path`/v1/suppressions`, options, query);
  }
}
