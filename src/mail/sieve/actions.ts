/** The actions that a script decides to take on a message, as plain data that can cross threads. */

/** Properties of all actions. */
type ActionBase = {
  /** Line of the script on which the action stands, counted from 1; 0 for the implicit keep. */
  line: number;
  /** Name of the included script in which that line is; undefined for the script itself. */
  script: string | undefined;
  /** The header, with its empty line, that replaces that of the message; undefined when the script did not edit it. */
  header: Uint8Array | undefined;
};

/** A mailbox to file into, and how. */
export type Target = {
  /** Name of the mailbox, with `/` between its levels. */
  mailbox: string;
  /** Id of the mailbox (RFC 9042), which is preferred to the name where it exists. */
  mailboxId: string | undefined;
  /** Special use (RFC 8579) such as `\Junk`: the mailbox with it is preferred to the name. */
  specialUse: string | undefined;
  /** True when the mailbox is created if it does not exist (RFC 5490). */
  createsMailbox: boolean;
  /** Flags and keywords of the message. */
  flags: readonly string[];
};

/** Stores the message in the INBOX. It is implicit when the script took no action that replaces it (RFC 5228 section 2.10.2). */
type KeepAction = ActionBase & { kind: 'keep'; isImplicit: boolean; flags: readonly string[] };

type FileintoAction = ActionBase & { kind: 'fileinto' } & Target;

/** Sends the message to an address, which is `local@domain`. */
type RedirectAction = ActionBase & { kind: 'redirect'; address: string };

/** Refuses the message (RFC 5429). */
type RejectAction = ActionBase & {
  kind: 'reject';
  reason: string;
  /** True for `ereject`, which prefers a refusal in the SMTP session to any other one. */
  prefersProtocol: boolean;
};

/** Answers the sender, unless the answer has been sent within `seconds` (RFC 5230). */
type VacationAction = ActionBase & {
  kind: 'vacation';
  /** Identifies the answer, in 64 hexadecimal digits: a sender gets the same answer once within `seconds`. */
  handle: string;
  /** Time within which a sender gets the answer once. */
  seconds: number;
  /** Other addresses of the owner, as the script names them. */
  addresses: readonly string[];
  subject: string | undefined;
  /** Mailbox of the From field; undefined for that of the owner. */
  from: string | undefined;
  /** Text of the answer, or with `isMime` its MIME entity with header and body. */
  reason: string;
  isMime: boolean;
  /** Mailbox that gets a copy of the answer (RFC 8580). */
  copy: Target | undefined;
};

/** Sends a notification by mail (RFC 5435, RFC 5436). */
type NotifyAction = ActionBase & {
  kind: 'notify';
  /** Recipients of the To and the Cc field, each `local@domain`. */
  to: readonly string[];
  cc: readonly string[];
  /** Mailbox of the From field, as the script gave it. */
  from: string | undefined;
  importance: 1 | 2 | 3;
  /** Subject of the notification; undefined for that of the message. */
  subject: string | undefined;
  /** Text of the notification; undefined for the default one. */
  body: string | undefined;
  /** Other header fields, which are safe to write. */
  fields: readonly { name: string; value: string }[];
  copy: Target | undefined;
};

export type Action =
  | KeepAction
  | FileintoAction
  | RedirectAction
  | RejectAction
  | VacationAction
  | NotifyAction;
