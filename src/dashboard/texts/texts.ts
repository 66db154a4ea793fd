/**
 * The texts of the dashboard, in every language, by their area. A text with values is a function. What the daemon says in
 * English, such as refusals of the API, is translated by `sentences.ts`.
 */

import { de } from './de.ts';
import { en } from './en.ts';

/** What a redirect says on the page that it leads to. */
export type Said = keyof typeof en.said;

/** The texts of one language: every other language has the same ones as English. */
export type Texts = typeof en;

const CATALOGUES = { en, de } satisfies Record<string, Texts>;

export type Language = keyof typeof CATALOGUES;

/** Languages with their own names. */
export const LANGUAGES: Record<Language, string> = { en: 'English', de: 'Deutsch' };

/** Returns the texts of a language. */
export function textsOf(language: Language): Texts {
  return CATALOGUES[language];
}

/** Returns true for a language that the dashboard has. */
export function isLanguage(text: string): text is Language {
  return Object.hasOwn(CATALOGUES, text);
}

/** Returns true for the name of something that a page can say. */
export function isSaid(text: string): text is Said {
  return Object.hasOwn(en.said, text);
}
