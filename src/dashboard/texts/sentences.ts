/**
 * Sentences that the daemon says in English alone: refusals of the API and of writes, advice, findings. The page shows each in the language of the
 * reader. The English sentence is its own key, because it passes through threads, answers of the API and tables of the operator unchanged.
 */
import type { AppError, ErrorCode } from '../../system/errors.ts';
import { sentences as german, refusalsByCode } from './de/sentences.ts';
import type { Translation } from './de/translation.ts';
import { isTranslated } from './refusal.ts';
import type { Language } from './texts.ts';

/** What a page shows: the translation, or the English sentence, whose language it then has to name. */
export type Words = { text: string; lang?: 'en' | undefined };

type Catalogue = {
  find(english: string): string | undefined;
  /** What is said of a refusal with a sentence that has no translation, where the kind of the refusal says enough. */
  byCode: Readonly<Partial<Record<ErrorCode, string>>>;
};

const VALUE = /\{\d\}/;
const VALUES = /\{(\d)\}/g;
/** Characters that have a meaning in a pattern. */
const SYNTAX = /[\\^$.*+?()[\]{}|]/g;

const CATALOGUES: Record<Exclude<Language, 'en'>, Catalogue> = {
  de: { find: createSearch(german), byCode: refusalsByCode },
};

/** Maximum length of a sentence that is compared with those that have values, so that the comparison stays short. */
const MAX_SENTENCE_CHARACTERS = 1_000;

/** Returns a sentence of the daemon in a language. */
export function translate(language: Language, english: string): Words {
  if (language === 'en') return { text: english };
  const text = CATALOGUES[language].find(english);
  return text === undefined ? { text: english, lang: 'en' } : { text };
}

/** Returns why something was refused in a language. */
export function translateRefusal(language: Language, refusal: AppError): Words {
  const { message: text, code } = refusal;
  if (isTranslated(refusal)) return { text };
  const words = translate(language, text);
  const general = language === 'en' ? undefined : CATALOGUES[language].byCode[code];
  return words.lang === undefined || general === undefined ? words : { text: general };
}

function createSearch(translations: readonly Translation[]): Catalogue['find'] {
  const whole = new Map(translations);
  const withValues = translations
    .filter(([english]) => VALUE.test(english))
    .map(([english, translated]) => ({ pattern: patternOf(english), translated }));
  return (sentence) => {
    const known = whole.get(sentence);
    if (known !== undefined || sentence.length > MAX_SENTENCE_CHARACTERS) return known;
    for (const { pattern, translated } of withValues) {
      const values = pattern.exec(sentence);
      if (values) return translated.replace(VALUES, (_, number: string) => values[Number(number)] ?? '');
    }
    return undefined;
  };
}

/** Returns the pattern of a sentence. A value at its beginning in backticks is the name of a field, which has no backtick. */
function patternOf(english: string): RegExp {
  const parts = english.split(VALUES);
  const source = parts.map((part, index) =>
    index % 2 === 0 ? part.replace(SYNTAX, '\\$&') : valueAt(parts, index),
  );
  return new RegExp(`^${source.join('')}$`, 's');
}

function valueAt(parts: readonly string[], index: number): string {
  return parts[index - 1]?.endsWith('`') && parts[index + 1]?.startsWith('`') ? '([^`]+)' : '(.*)';
}
