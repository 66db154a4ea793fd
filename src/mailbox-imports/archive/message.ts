/** A message in an archive: a maildir, or files in mbox format. Readers yield such messages, and writers take them. */

/** Flags that have no name of their own in archives are keywords, such as `$Forwarded`. */
export type ArchivedMessage = {
  /** Decoded name of the folder, whose levels are separated by `/`. */
  folder: string;
  /** Identifies the message in its folder, as long as nobody changes the archive: it is the same whenever the archive is read. */
  key: string;
  /** Flags in the spelling of IMAP (RFC 9051 section 2.3.2), system flags with their backslash. */
  flags: readonly string[];
  /** Time at which the message was received, in Unix milliseconds. */
  receivedAt: number;
  /** The bytes with CRLF line ends. Readers need them to be read, once, before the next message is asked for. */
  content: AsyncIterable<Buffer>;
};

/** Size of the pieces in which archives are read and written, in bytes. */
export const PIECE_BYTES = 64 * 1024;
