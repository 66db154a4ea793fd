/**
 * The interface to the feature that receives mail. Mail for a domain that this installation receives is handed over in memory
 * instead of going through a connection to itself; `main` connects the two.
 */
import type { MessageRow } from '../db/tables.ts';

/**
 * The origin of a message: a tenant, this installation itself, which writes reports, or a client whose mail was received here and is
 * forwarded. `blobId` names the bytes as they were received.
 */
export type LocalOrigin =
  | { kind: 'tenant' }
  | { kind: 'installation' }
  | { kind: 'forwarded'; blobId: NonNullable<MessageRow['blobId']> };

/** A message as a remote server would get it. */
export type LocalMessage = {
  origin: LocalOrigin;
  /** Address of the return path; an empty string is the null reverse-path. */
  sender: string;
  /** Addresses in the form of an envelope, at most as many as one transaction may have. */
  recipients: readonly string[];
  /**
   * Parameters about notifications (mail/smtp/dsn-parameters.ts), for the message and for each recipient in their order. None asks for a report
   * of the delivery, which the sender of local mail gets from the queue.
   */
  dsn: { message: string | null; recipients: readonly (string | null)[] };
  /** True when the message must not leave without verified TLS (RFC 8689). */
  requireTls: boolean;
  /** True when addresses or header fields are UTF-8 (RFC 6531). */
  utf8: boolean;
  /** Number of bytes that `bytes` yields. */
  sizeBytes: number;
  /** True when the message has a byte above 127 (RFC 6152). */
  isEightBit: boolean;
  /** Yields the bytes of the message, with CRLF line ends and without dot-stuffing. */
  bytes(): AsyncIterable<Uint8Array>;
};

/**
 * The answer for one recipient, as an SMTP server gives it. `rcpt` is an answer about the recipient, and `dot` one about the
 * message; an answer that accepts is of the phase `dot`. `status` is an enhanced status code (RFC 3463).
 */
export type LocalAnswer = { phase: 'rcpt' | 'dot'; code: number; status: string; text: string };

/**
 * Receives a message. Resolves to the answer for each recipient, in their order. What is accepted is on disk by then. A refusal
 * is an answer: a rejection means an internal error, and the mail is tried again.
 */
export type LocalReceiver = (message: LocalMessage) => Promise<readonly LocalAnswer[]>;
