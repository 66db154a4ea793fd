import { encodeEmails, type Streamed } from '../attachments.ts';
import type { Download } from '../download.ts';
import type { CallOptions, SendOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { type Keyed, Resource } from '../resource.ts';
import { type Path, path } from '../transport.ts';
import type {
  Approval,
  ApproveEmailBody,
  CheckEmailQuery,
  DeclineEmailBody,
  Email,
  EmailAttempts,
  EmailCheck,
  EmailSummary,
  GetRawEmailQuery,
  ListEmailsQuery,
  RescheduleEmailBody,
  SearchEmailSubjectsAnswer,
  SearchEmailSubjectsQuery,
  SendBatchBody,
  SendEmailBody,
  SentBatch,
  SentEmail,
} from '../types.ts';

export class Emails extends Resource {
  /** Approve an email. */
  approve(id: string, body: ApproveEmailBody, options?: CallOptions): Promise<Approval> {
    return this._send('POST', path`/v1/emails/${id}/approve`, options, body);
  }

  /** Cancel an email. */
  cancel(id: string, options?: CallOptions): Promise<Email> {
    return this._send('POST', path`/v1/emails/${id}/cancel`, options);
  }

  /** Check an email. */
  check(id: string, query?: CheckEmailQuery, options?: CallOptions): Promise<EmailCheck> {
    return this._get(path`/v1/emails/${id}/check`, options, query);
  }

  /** Decline an email. */
  decline(id: string, body: DeclineEmailBody, options?: CallOptions): Promise<Approval> {
    return this._send('POST', path`/v1/emails/${id}/decline`, options, body);
  }

  /** Retrieve an email. */
  get(id: string, options?: CallOptions): Promise<Email> {
    return this._get(path`/v1/emails/${id}`, options);
  }

  /** Download an attachment of an email. */
  getAttachment(id: string, number: number | string, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/emails/${id}/attachments/${number}`, options);
  }

  /** List the delivery attempts of an email. */
  getAttempts(id: string, options?: CallOptions): Promise<EmailAttempts> {
    return this._get(path`/v1/emails/${id}/attempts`, options);
  }

  /** Download an email. */
  getRaw(id: string, query?: GetRawEmailQuery, options?: CallOptions): Promise<Download> {
    return this._stream(path`/v1/emails/${id}/raw`, options, query);
  }

  /** List emails. */
  list(query?: ListEmailsQuery, options?: CallOptions): List<EmailSummary> {
    return this._list(path`/v1/emails`, options, query);
  }

  /** Reschedule an email. */
  reschedule(id: string, body: RescheduleEmailBody, options?: CallOptions): Promise<Email> {
    return this._send('PATCH', path`/v1/emails/${id}`, options, body);
  }

  /** Search subjects. */
  searchSubjects(
    query?: SearchEmailSubjectsQuery,
    options?: CallOptions,
  ): Promise<SearchEmailSubjectsAnswer> {
    return this._get(path`/v1/emails/subjects`, options, query);
  }

  /**
   * Send an email.
   *
   * It is sent once, however often it is repeated: the result and the error have the idempotency key.
   */
  send(body: SendEmailBody, options?: SendOptions): Promise<SentEmail & Keyed> {
    const encode = () => encodeEmails([body], ([email]) => email);
    return this.#sendOnce(path`/v1/emails`, encode, options);
  }

  /**
   * Send up to 100 emails.
   *
   * Each email has a result of its own, in the same order: one that is refused does not keep the others.
   */
  sendBatch(body: SendBatchBody, options?: SendOptions): Promise<SentBatch & Keyed> {
    const encode = () => encodeEmails(body.emails, (emails) => ({ ...body, emails }));
    return this.#sendOnce(path`/v1/emails/batch`, encode, options);
  }

  #sendOnce<T>(
    path: Path,
    body: () => Promise<string | Streamed>,
    options: SendOptions | undefined,
  ): Promise<T> {
    return this._request({ method: 'POST', path, body, options, isKeyed: true, answer: 'json' });
  }
}
