import type { Download } from '../download.ts';
import type { CallOptions, SendOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { type Keyed, Resource } from '../resource.ts';
import { path, type Transport } from '../transport.ts';
import type {
  AppPassword,
  CreateAppPasswordBody,
  CreatedAppPassword,
  CreatedMailbox,
  CreateMailboxBody,
  CreateMailboxDraftBody,
  CreateMailboxImportBody,
  EndedSessions,
  EndMailboxSessionsBody,
  ListAppPasswordsQuery,
  ListMailboxesQuery,
  ListMailboxImportsQuery,
  ListMailboxMessagesQuery,
  ListMailboxThreadsQuery,
  Mailbox,
  MailboxFolders,
  MailboxImport,
  MailboxMessage,
  MailboxMessageSummary,
  MailboxSessions,
  MailboxThread,
  MailboxThreadSummary,
  MailSettings,
  RecoveryAddress,
  UpdateMailboxBody,
  UpdateMailboxMessageBody,
} from '../types.ts';

export class MailboxesAppPasswords extends Resource {
  /** Create an app password. */
  create(mailboxId: string, body: CreateAppPasswordBody, options?: CallOptions): Promise<CreatedAppPassword> {
    return this._send('POST', path`/v1/mailboxes/${mailboxId}/app-passwords`, options, body);
  }

  /** Revoke an app password. */
  delete(mailboxId: string, id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/mailboxes/${mailboxId}/app-passwords/${id}`, options);
  }

  /** Retrieve an app password. */
  get(mailboxId: string, id: string, options?: CallOptions): Promise<AppPassword> {
    return this._get(path`/v1/mailboxes/${mailboxId}/app-passwords/${id}`, options);
  }

  /** List app passwords. */
  list(mailboxId: string, query?: ListAppPasswordsQuery, options?: CallOptions): List<AppPassword> {
    return this._list(path`/v1/mailboxes/${mailboxId}/app-passwords`, options, query);
  }
}

export class MailboxesImports extends Resource {
  /** Create a mailbox import. */
  create(mailboxId: string, body: CreateMailboxImportBody, options?: CallOptions): Promise<MailboxImport> {
    return this._send('POST', path`/v1/mailboxes/${mailboxId}/imports`, options, body);
  }

  /** Delete a mailbox import. */
  delete(mailboxId: string, id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/mailboxes/${mailboxId}/imports/${id}`, options);
  }

  /** Retrieve a mailbox import. */
  get(mailboxId: string, id: string, options?: CallOptions): Promise<MailboxImport> {
    return this._get(path`/v1/mailboxes/${mailboxId}/imports/${id}`, options);
  }

  /** Download the messages that were not imported. */
  getErrors(mailboxId: string, id: string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/mailboxes/${mailboxId}/imports/${id}/errors`, options);
  }

  /** List mailbox imports. */
  list(mailboxId: string, query?: ListMailboxImportsQuery, options?: CallOptions): List<MailboxImport> {
    return this._list(path`/v1/mailboxes/${mailboxId}/imports`, options, query);
  }
}

export class MailboxesDrafts extends Resource {
  /** Write a draft in a mailbox. */
  create(
    mailboxId: string,
    body: CreateMailboxDraftBody,
    options?: SendOptions,
  ): Promise<MailboxMessageSummary & Keyed> {
    return this._sendOnce(path`/v1/mailboxes/${mailboxId}/drafts`, options, body);
  }

  /** Send a draft of a mailbox. */
  send(mailboxId: string, id: string, options?: SendOptions): Promise<MailboxMessageSummary & Keyed> {
    return this._sendOnce(path`/v1/mailboxes/${mailboxId}/drafts/${id}/send`, options);
  }
}

export class MailboxesFolders extends Resource {
  /** List the folders of a mailbox. */
  list(mailboxId: string, options?: CallOptions): Promise<MailboxFolders> {
    return this._get(path`/v1/mailboxes/${mailboxId}/folders`, options);
  }
}

export class MailboxesMessages extends Resource {
  /** Retrieve a message of a mailbox. */
  get(mailboxId: string, id: string, options?: CallOptions): Promise<MailboxMessage> {
    return this._get(path`/v1/mailboxes/${mailboxId}/messages/${id}`, options);
  }

  /** Download an attachment of a message of a mailbox. */
  getAttachment(mailboxId: string, id: string, number: number, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/mailboxes/${mailboxId}/messages/${id}/attachments/${number}`, options);
  }

  /** Download a message of a mailbox. */
  getRaw(mailboxId: string, id: string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/mailboxes/${mailboxId}/messages/${id}/raw`, options);
  }

  /** List the messages of a mailbox. */
  list(
    mailboxId: string,
    query?: ListMailboxMessagesQuery,
    options?: CallOptions,
  ): List<MailboxMessageSummary> {
    return this._list(path`/v1/mailboxes/${mailboxId}/messages`, options, query);
  }

  /** Mark or move a message of a mailbox. */
  update(
    mailboxId: string,
    id: string,
    body: UpdateMailboxMessageBody,
    options?: CallOptions,
  ): Promise<MailboxMessageSummary> {
    return this._send('PATCH', path`/v1/mailboxes/${mailboxId}/messages/${id}`, options, body);
  }
}

export class MailboxesThreads extends Resource {
  /** Retrieve a thread of a mailbox. */
  get(mailboxId: string, id: string, options?: CallOptions): Promise<MailboxThread> {
    return this._get(path`/v1/mailboxes/${mailboxId}/threads/${id}`, options);
  }

  /** List the threads of a mailbox. */
  list(
    mailboxId: string,
    query?: ListMailboxThreadsQuery,
    options?: CallOptions,
  ): List<MailboxThreadSummary> {
    return this._list(path`/v1/mailboxes/${mailboxId}/threads`, options, query);
  }
}

export class Mailboxes extends Resource {
  readonly appPasswords: MailboxesAppPasswords;
  readonly drafts: MailboxesDrafts;
  readonly folders: MailboxesFolders;
  readonly imports: MailboxesImports;
  readonly messages: MailboxesMessages;
  readonly threads: MailboxesThreads;

  constructor(transport: Transport) {
    super(transport);
    this.appPasswords = new MailboxesAppPasswords(transport);
    this.drafts = new MailboxesDrafts(transport);
    this.folders = new MailboxesFolders(transport);
    this.imports = new MailboxesImports(transport);
    this.messages = new MailboxesMessages(transport);
    this.threads = new MailboxesThreads(transport);
  }

  /** Create a mailbox. */
  create(body: CreateMailboxBody, options?: CallOptions): Promise<CreatedMailbox> {
    return this._send('POST', path`/v1/mailboxes`, options, body);
  }

  /** Delete a mailbox. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/mailboxes/${id}`, options);
  }

  /** Remove the recovery address of a mailbox. */
  deleteRecoveryAddress(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/mailboxes/${id}/recovery-address`, options);
  }

  /** End sessions of a mailbox. */
  endSessions(id: string, body: EndMailboxSessionsBody, options?: CallOptions): Promise<EndedSessions> {
    return this._send('POST', path`/v1/mailboxes/${id}/sessions/end`, options, body);
  }

  /** Retrieve a mailbox. */
  get(id: string, options?: CallOptions): Promise<Mailbox> {
    return this._get(path`/v1/mailboxes/${id}`, options);
  }

  /** Retrieve the recovery address of a mailbox. */
  getRecoveryAddress(id: string, options?: CallOptions): Promise<RecoveryAddress> {
    return this._get(path`/v1/mailboxes/${id}/recovery-address`, options);
  }

  /** Retrieve the settings for mail programs. */
  getSettings(id: string, options?: CallOptions): Promise<MailSettings> {
    return this._get(path`/v1/mailboxes/${id}/settings`, options);
  }

  /** List mailboxes. */
  list(query?: ListMailboxesQuery, options?: CallOptions): List<Mailbox> {
    return this._list(path`/v1/mailboxes`, options, query);
  }

  /** List the sessions of a mailbox. */
  listSessions(id: string, options?: CallOptions): Promise<MailboxSessions> {
    return this._get(path`/v1/mailboxes/${id}/sessions`, options);
  }

  /** Update a mailbox. */
  update(id: string, body: UpdateMailboxBody, options?: CallOptions): Promise<Mailbox> {
    return this._send('PATCH', path`/v1/mailboxes/${id}`, options, body);
  }
}
