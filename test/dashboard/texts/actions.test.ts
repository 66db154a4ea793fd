/** What people do, and what the checks of the installation look at, have words of their own in every language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES } from '../../../src/dashboard/pages.ts';
import { LANGUAGES, type Language, textsOf } from '../../../src/dashboard/texts/texts.ts';
import { CHECKS } from '../../../src/doctor/checks.ts';

const languages = Object.keys(LANGUAGES) as Language[];
/** Lines of the audit log that no action of a page writes under its own name: one of an earlier version, and the return from a provider. */
const OTHER_LINES = ['public/login/code code refused', 'public/login/openid/return login'];

const audited = PAGES.flatMap(({ area, path, actions = {} }) =>
  Object.entries(actions)
    .filter(([, { isAudited = true }]) => isAudited)
    .map(([name]) => `${area}${path} ${name}`),
);

for (const language of languages) {
  test(`each line of the audit log says what was done, and nothing else has words there, in ${language}`, () => {
    const { actions } = textsOf(language).audit;
    const ofPages = Object.keys(actions).filter((action) => !action.startsWith('command '));
    assert.deepEqual(ofPages.sort(), [...audited, ...OTHER_LINES].sort());
    for (const sentence of Object.values(actions)) assert.match(sentence, /^\p{Lu}.*[^.]$/u);
  });

  test(`each check of the installation has a title and a sentence, in ${language}`, () => {
    const { checkTexts } = textsOf(language).health;
    assert.deepEqual(
      Object.keys(checkTexts).sort(),
      ['installation', ...CHECKS.map(({ name }) => name)].sort(),
    );
    for (const [title, text] of Object.values(checkTexts)) {
      assert.doesNotMatch(title, /\.$/);
      assert.match(text, /\.$/);
    }
  });
}
