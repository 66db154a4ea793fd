/** Types of the reader of Received fields of mailauth, which has none of its own. */
declare module 'mailauth/lib/parse-received.js' {
  type Clause = { value?: string; comment?: string };
  /** Returns the clauses of a Received field by name, or `false` for another text. */
  export function parseReceived(field: string | Buffer): { from?: Clause } | false;
  /** Returns the address that the server has seen, never one that the client has claimed; `false` when there is none. */
  export function getClientAddress(from: Clause): string | false;
}
