/**
 * What a schema asks of text for people, in one line: neither control characters (C0, DEL) nor lone surrogates. findings.ts
 * says it in words.
 */
export const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$';
