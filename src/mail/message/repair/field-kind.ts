/** Says which grammar the value of a header field has, because text is encoded and folded at other places in each. */

/**
 * `text` is free text (RFC 5322 section 2.2.1), which every unknown field counts as. `addresses` have display names and comments (section
 * 3.4). `parameters` have values that RFC 2231 can encode. `structured` is any other grammar, which has no place for other text than ASCII.
 */
export type FieldKind = 'text' | 'addresses' | 'parameters' | 'structured';

/** Fields of addresses, and fields whose values have the same words: a phrase before a text in angle brackets, and comments. */
const ADDRESSES: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc'],
  ...['resent-from', 'resent-sender', 'resent-reply-to', 'resent-to', 'resent-cc', 'resent-bcc'],
  // Receipts (RFC 8098 section 2.1) and mailing lists, whose id has a phrase before it (RFC 2919 section 3), have the same grammar.
  ...['disposition-notification-to', 'return-receipt-to', 'errors-to', 'mail-followup-to', 'mail-reply-to'],
  'list-id',
]);
const PARAMETERS: ReadonlySet<string> = new Set(['content-type', 'content-disposition']);
const STRUCTURED: ReadonlySet<string> = new Set([
  ...['date', 'resent-date', 'message-id', 'resent-message-id', 'in-reply-to', 'references', 'content-id'],
  ...['received', 'return-path', 'received-spf', 'authentication-results', 'dkim-signature', 'autocrypt'],
  ...['mime-version', 'content-transfer-encoding', 'content-location', 'content-base', 'content-language'],
  ...[
    'content-md5',
    'content-features',
    'content-class',
    'auto-submitted',
    'precedence',
    'importance',
    'priority',
  ],
  ...['feedback-id', 'original-message-id', 'require-recipient-valid-since', 'tls-required', 'bimi-selector'],
]);
/** Beginnings of the names of structured fields: RFC 2369, RFC 8617 and RFC 9477. */
const STRUCTURED_FAMILIES = ['list-', 'arc-', 'cfbl-'] as const;

/** Returns the grammar of a field by its name, in any case. */
export function fieldKind(name: string): FieldKind {
  const key = name.toLowerCase();
  if (ADDRESSES.has(key)) return 'addresses';
  if (PARAMETERS.has(key)) return 'parameters';
  return STRUCTURED.has(key) || STRUCTURED_FAMILIES.some((family) => key.startsWith(family))
    ? 'structured'
    : 'text';
}
