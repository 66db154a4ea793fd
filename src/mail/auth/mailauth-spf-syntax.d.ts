/** Types of the syntax checks of mailauth's SPF, which has none of its own. */
declare module 'mailauth/lib/spf/syntax.js' {
  /** Returns a description of the first syntax error in the terms of a record, or `false`. */
  export function validateTerms(terms: string[]): string | false;
}
