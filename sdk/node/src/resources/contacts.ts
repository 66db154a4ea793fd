import type { FileContent } from '../attachments.ts';
import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type {
  Contact,
  ContactImportPreview,
  CreateContactBody,
  CreateContactQuery,
  Export,
  ExportContactsBody,
  Import,
  ImportContactsQuery,
  ListContactsQuery,
  PreviewWaitingImportBody,
  StartImportBody,
  UpdateContactBody,
} from '../types.ts';

export class Contacts extends Resource {
  /** Create a contact. */
  create(
    audienceId: string,
    body: CreateContactBody,
    query?: CreateContactQuery,
    options?: CallOptions,
  ): Promise<Contact> {
    return this._send('POST', path`/v1/audiences/${audienceId}/contacts`, options, body, query);
  }

  /** Delete a contact. */
  delete(audienceId: string, id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/audiences/${audienceId}/contacts/${id}`, options);
  }

  /** Export contacts to a CSV file. */
  exportCsv(audienceId: string, body?: ExportContactsBody, options?: CallOptions): Promise<Export> {
    return this._send('POST', path`/v1/audiences/${audienceId}/contacts/exports`, options, body);
  }

  /** Retrieve a contact. */
  get(audienceId: string, id: string, options?: CallOptions): Promise<Contact> {
    return this._get(path`/v1/audiences/${audienceId}/contacts/${id}`, options);
  }

  /** Import contacts from a CSV file. */
  importCsv(
    audienceId: string,
    file: FileContent,
    query?: ImportContactsQuery,
    options?: CallOptions,
  ): Promise<ContactImportPreview> {
    return this._upload(path`/v1/audiences/${audienceId}/contacts/imports`, options, file, query);
  }

  /** List contacts. */
  list(audienceId: string, query?: ListContactsQuery, options?: CallOptions): List<Contact> {
    return this._list(path`/v1/audiences/${audienceId}/contacts`, options, query);
  }

  /** Preview an import that waits. */
  previewImport(
    audienceId: string,
    id: string,
    body?: PreviewWaitingImportBody,
    options?: CallOptions,
  ): Promise<ContactImportPreview> {
    return this._send(
      'POST',
      path`/v1/audiences/${audienceId}/contacts/imports/${id}/preview`,
      options,
      body,
    );
  }

  /** Start an import that waits. */
  startImport(
    audienceId: string,
    id: string,
    body?: StartImportBody,
    options?: CallOptions,
  ): Promise<Import> {
    return this._send('POST', path`/v1/audiences/${audienceId}/contacts/imports/${id}/start`, options, body);
  }

  /** Update a contact. */
  update(audienceId: string, id: string, body: UpdateContactBody, options?: CallOptions): Promise<Contact> {
    return this._send('PATCH', path`/v1/audiences/${audienceId}/contacts/${id}`, options, body);
  }
}
