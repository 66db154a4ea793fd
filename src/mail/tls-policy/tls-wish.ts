/** The wish of a sender about TLS on the way of a message (RFC 8689), as messages are stored with it. */

export const TLS_WISH = {
  /** The policies of the recipients' domains decide. */
  none: 0,
  /** REQUIRETLS: the message goes only over verified TLS, to servers that take this requirement over. */
  required: 1,
  /** `TLS-Required: No`: policies about TLS do not hold the message up. */
  optional: 2,
} as const;

type TlsWish = (typeof TLS_WISH)[keyof typeof TLS_WISH];

/** Name of the header field, in lower case. */
export const TLS_REQUIRED_FIELD = 'tls-required';

/** Returns true for the only value that the header field `TLS-Required` has (RFC 8689 section 3). */
export function isTlsOptional(value: string | undefined): boolean {
  return value?.trim().toLowerCase() === 'no';
}

/** Returns the wish of a message. The header field does not count beside REQUIRETLS (RFC 8689 section 4.1). */
export function tlsWishOf(requireTls: boolean, headerField: string | undefined): TlsWish {
  if (requireTls) return TLS_WISH.required;
  return isTlsOptional(headerField) ? TLS_WISH.optional : TLS_WISH.none;
}
