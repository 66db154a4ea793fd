/** A row of the reply table: conditions, of which each that is given must hold, and what a reply means that meets them all. */
import type { BounceSubType, Fact, ReplyClass, Scope, Suppresses } from './meaning.ts';

/** The parts of the table, in the order in which they are read. The first row that matches decides. */
export const SECTIONS = ['facts', 'vetoes', 'providers', 'enhanced', 'basic'] as const;
export type Section = (typeof SECTIONS)[number];

/** The step that a reply answers. `dsn` is a reply that a bounce by mail quotes without saying which step it answered. */
export const REPLY_PHASES = [
  ...['connect', 'banner', 'ehlo', 'starttls', 'auth', 'mail', 'rcpt', 'data', 'body', 'dot', 'quit', 'dsn'],
] as const;
export type ReplyPhase = (typeof REPLY_PHASES)[number];

/** A provider is known by the names of its servers, or, when the server has no name, by words that only its replies have. */
export type Provider = { hosts: readonly string[]; words: readonly string[] };

type Conditions = {
  fact: Fact | undefined;
  provider: string | undefined;
  phases: readonly ReplyPhase[];
  /** Reply codes: `550`, or `5xx` for all of a class. Those of hosts and domains without mail are 521 and 556 (RFC 7504). */
  codes: readonly string[];
  /**
   * Enhanced codes: `5.1.1`, with `x` for any number: `x.1.1`, `5.7.x`. Their registry is that of RFC 5248; X.7.17 and X.7.18, for
   * addresses that have changed hands, are those of RFC 7293.
   */
  enhanced: readonly string[];
  /** Phrases, of which one must occur. */
  text: readonly string[];
  /** Phrases, of which none may occur. */
  unless: readonly string[];
  /** Domains, of which one must be named in the text, such as that of a blocklist. */
  names: readonly string[];
};

export type Row = Conditions & {
  id: string;
  section: Section;
  class: ReplyClass;
  suppresses: Suppresses;
  scope: Scope;
  subType: BounceSubType;
  advice: string;
  source: string;
};

export type ReplyRows = { rows: readonly Row[]; providers: ReadonlyMap<string, Provider> };
