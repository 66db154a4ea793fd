/** The kinds of findings of a check of an email, and the collection of what it has found. A hostile document finds the same thing many times. */

type Severity = 'error' | 'warning' | 'notice';

type Kind = { severity: Severity; message: string; source?: string };

const GMAIL_RULES = 'https://support.google.com/a/answer/81126';

/**
 * Everything that can be found. `error`: readers or receivers get something broken. `warning`: some of them do, or filters may
 * mistake the email for spam. `notice`: it can be better.
 */
export const KINDS = {
  html_clipped: {
    severity: 'warning',
    message: 'The HTML has more than 102 KB: Gmail shows its beginning and hides the rest behind a link',
  },
  html_too_complex: {
    severity: 'error',
    message: 'The HTML could not be read in time; mail programs may have the same trouble',
  },
  message_large: {
    severity: 'warning',
    message: 'The message has more than 10 MB, which many servers refuse; link to large files instead',
  },
  text_missing: {
    severity: 'warning',
    message: 'There is no text part: some readers see nothing, and filters count it against the email',
  },
  image_only: {
    severity: 'warning',
    message: 'The HTML has images and hardly any text: readers who block images see nothing',
  },
  language_missing: {
    severity: 'notice',
    message: 'The `html` element has no `lang`, from which screen readers choose their pronunciation',
  },
  image_without_alt: {
    severity: 'warning',
    message: 'Images have no `alt` text; use `alt=""` for those that only decorate',
  },
  image_empty: { severity: 'error', message: 'Images have no address' },
  image_relative: {
    severity: 'error',
    message: 'Images have relative addresses, which lead nowhere in a mail program',
  },
  image_insecure: { severity: 'warning', message: 'Images have http addresses; use https' },
  unsupported_element: { severity: 'warning', message: 'Elements are not supported everywhere' },
  unsupported_css: { severity: 'notice', message: 'CSS is not supported everywhere' },
  unsupported_image: { severity: 'warning', message: 'Images of this kind are not supported everywhere' },
  link_empty: { severity: 'error', message: 'Links have no address' },
  link_relative: { severity: 'error', message: 'Links are relative, and lead nowhere in a mail program' },
  link_malformed: { severity: 'error', message: 'Links are no valid addresses' },
  link_scheme: { severity: 'error', message: 'Links have a scheme that mail programs do not open' },
  link_unreachable: { severity: 'error', message: 'Links lead to a host that readers cannot reach' },
  link_http: { severity: 'warning', message: 'Links have http addresses; use https' },
  link_address_literal: {
    severity: 'warning',
    message: 'Links lead to an IP address instead of a host name, as those of phishing do',
  },
  link_credentials: { severity: 'warning', message: 'Links contain a user name or a password' },
  link_shortened: {
    severity: 'warning',
    message: 'Links lead to a shortener, whose host shares the reputation of everybody who uses it',
  },
  link_misleading: {
    severity: 'warning',
    message: 'The text of a link names another host than the one that it leads to, as in phishing',
  },
  link_long: {
    severity: 'notice',
    message: 'Links have more than 2,048 characters, which some programs cut off',
  },
  link_without_text: {
    severity: 'notice',
    message: 'Links have no text that a screen reader could read out',
  },
  unsubscribe_missing: {
    severity: 'error',
    message: 'Marketing mail has no link to unsubscribe in its body: add `{{{unsubscribe_url}}}`',
    source: GMAIL_RULES,
  },
  list_unsubscribe_missing: {
    severity: 'error',
    message: 'Marketing mail has no `List-Unsubscribe`',
    source: GMAIL_RULES,
  },
  list_unsubscribe_post_missing: {
    severity: 'warning',
    message: 'Marketing mail has no `List-Unsubscribe-Post`, which one-click unsubscribing needs (RFC 8058)',
    source: GMAIL_RULES,
  },
  placeholder_left: { severity: 'error', message: 'Placeholders were not filled in' },
  variable_empty: {
    severity: 'warning',
    message: 'Variables had neither a value nor a fallback, and are empty',
  },
  subject_missing: { severity: 'error', message: 'There is no subject' },
  subject_long: {
    severity: 'notice',
    message: 'The subject has more than 100 characters; lists of emails show about 60',
  },
  subject_capitals: { severity: 'warning', message: 'The subject is in capital letters, as spam often is' },
  subject_punctuation: {
    severity: 'warning',
    message: 'The subject repeats exclamation marks, question marks or signs of money, as spam often does',
  },
  subject_false_reply: {
    severity: 'warning',
    message: 'The subject begins like a reply or a forwarded email, but the email is neither',
  },
  from_no_reply: {
    severity: 'notice',
    message: 'The sender is a no-reply address, which readers cannot answer',
  },
  from_name_address: {
    severity: 'warning',
    message: 'The name of the sender contains an address, as in phishing',
  },
  message_id_missing: { severity: 'warning', message: 'There is no `Message-ID`', source: GMAIL_RULES },
  dkim_missing: {
    severity: 'notice',
    message: 'The message has no DKIM signature; mail of the sandbox domain never has one',
    source: GMAIL_RULES,
  },
  priority_high: { severity: 'notice', message: 'The email claims to be urgent, as spam often does' },
} as const satisfies Record<string, Kind>;

export type Code = keyof typeof KINDS;

/** Where something was found: the line of the HTML, or null for a header field or the text, and a part of what stands there. */
export type Place = { line: number | null; text: string };

export type Finding = {
  code: Code;
  severity: Severity;
  message: string;
  /** Page that explains it; null when there is none. */
  source: string | null;
  count: number;
  /** The first places. */
  places: Place[];
};

/** A text about the element or the property that was found, which replaces the general message of a code. */
export type Particular = { message: string; source: string | null };

/** Maximum number of places of a finding, and length of their texts. */
const MAX_PLACES = 5;
export const MAX_PLACE_CHARACTERS = 200;
const ORDER: readonly Severity[] = ['error', 'warning', 'notice'];

export class Findings {
  readonly #found = new Map<string, Finding>();

  /** Adds a finding, or counts it once more. */
  add(code: Code, place?: Place, particular?: Particular): void {
    const { severity, message, source }: Kind = KINDS[code];
    const words = particular ?? { message, source: source ?? null };
    const key = `${code} ${words.message}`;
    const known = this.#found.get(key) ?? { code, severity, ...words, count: 0, places: [] };
    this.#found.set(key, known);
    known.count++;
    if (place && known.places.length < MAX_PLACES)
      known.places.push({ ...place, text: place.text.slice(0, MAX_PLACE_CHARACTERS) });
  }

  /** Returns all findings, errors first, otherwise in the order in which they were found. */
  list(): Finding[] {
    return ORDER.flatMap((severity) => [...this.#found.values()].filter((one) => one.severity === severity));
  }
}
