/**
 * The back-off rules in the form in which replies are compared with them. All phrases share one tree of words (outcome/replies/phrases.ts),
 * so that no pattern and no reply can make a comparison slow.
 */
import type { Report } from '../outcome/outcome.ts';
import { codePatternsOf, enhancedPatternsOf } from '../outcome/replies/code-patterns.ts';
import type { ReplyClass } from '../outcome/replies/meaning.ts';
import { PhraseIndex } from '../outcome/replies/phrases.ts';
import { isWithin, splitReply } from '../outcome/replies/words.ts';
import type { Rule } from './rule.ts';

/** A refusal that rules are compared with. */
export type Refusal = {
  report: Pick<Report, 'phase' | 'smtpCode' | 'enhancedCode' | 'text' | 'fact' | 'mx'>;
  /** The meaning of the reply by the reply table. */
  class: ReplyClass;
  /** Name of the provider of the site; null for none. */
  provider: string | null;
  /** Names that mean nothing in the text, such as the domain of the recipient, in lower case. */
  ownNames: readonly string[];
};

/** Steps of an attempt that no server answers: what they report is in our own words. */
const OWN_PHASES: ReadonlySet<Report['phase']> = new Set(['dns', 'local', 'simulated', 'dsn']);

export class RuleTable {
  readonly rules: readonly Rule[];
  readonly #phrases: PhraseIndex;

  constructor(rules: readonly Rule[]) {
    this.rules = rules;
    this.#phrases = new PhraseIndex(rules.flatMap(({ text, unless }) => [...text, ...unless]));
  }

  /** Returns the rules that a refusal meets. Only replies of servers meet any. */
  match({ report, provider, ownNames, ...refusal }: Refusal): Rule[] {
    const { phase, smtpCode, enhancedCode, text, fact, mx } = report;
    if (fact !== undefined || smtpCode === null || OWN_PHASES.has(phase)) return [];
    const host = mx?.toLowerCase();
    const { words, hosts } = splitReply(text, host === undefined ? ownNames : [...ownNames, host]);
    const phrases = this.#phrases.find(words);
    const codes = codePatternsOf(smtpCode);
    const enhanced = enhancedPatternsOf(enhancedCode);
    const isNamed = (name: string) => hosts.some((one) => isWithin(one, name));
    return this.rules.filter(
      (rule) =>
        isAny(rule.providers, provider === null ? [] : [provider]) &&
        isAny(rule.classes, [refusal.class]) &&
        isAny(rule.codes, codes) &&
        isAny(rule.enhanced, enhanced) &&
        (rule.text.length === 0 || rule.text.some((phrase) => phrases.has(phrase))) &&
        (rule.names.length === 0 || rule.names.some(isNamed)) &&
        !rule.unless.some((phrase) => phrases.has(phrase)),
    );
  }
}

/** Returns true when there is no condition, or one of its items holds. */
function isAny(condition: readonly string[], found: readonly string[]): boolean {
  return condition.length === 0 || found.some((one) => condition.includes(one));
}
