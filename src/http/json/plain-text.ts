/**
 * Pattern of one-line text for people. It excludes control characters (C0, DEL) and lone surrogates. The error message
 * is in findings.ts.
 */
export const PLAIN_TEXT = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$';
