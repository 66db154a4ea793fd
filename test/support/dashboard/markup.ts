/** Finds what is wrong with the HTML of a page: html-validate has its rules, and a page is at most 100 kB. */
import { type ConfigData, HtmlValidate, type ResolvedConfig, StaticConfigLoader } from 'html-validate';
import type { Shown } from '../browser.ts';

/** Maximum size of a page without the message or the source that it shows. */
const MAX_PAGE_BYTES = 100_000;

/** Resolves the rules once: the loader of the package does it for each page, which takes as long as the page itself. */
class OneConfig extends StaticConfigLoader {
  readonly #resolved: Promise<ResolvedConfig>;

  constructor(config: ConfigData) {
    super(config);
    this.#resolved = Promise.resolve(super.getConfigFor(''));
  }

  override getConfigFor(): Promise<ResolvedConfig> {
    return this.#resolved;
  }
}

const rules = new OneConfig({
  extends: ['html-validate:recommended'],
  rules: {
    // Preact closes elements without content, and the element of the document type is ours.
    'void-style': ['error', { style: 'selfclosing' }],
    'doctype-style': 'off',
    // The button that was pressed names its action after the hidden field, and boxes of a choice share a name.
    'form-dup-name': 'off',
    // A title has the name of what its page shows.
    'long-title': 'off',
  },
});
const validator = new HtmlValidate(rules);

/** Returns true for a page of ours: neither a file nor foreign HTML in a frame. */
export function isPage({ headers }: Pick<Shown, 'headers'>): boolean {
  const policy = String(headers['content-security-policy']);
  return String(headers['content-type']).startsWith('text/html') && !policy.startsWith('sandbox');
}

/** Returns the faults of a page; none for a file, and for foreign HTML. */
export async function findMarkupFaults(
  path: string,
  answer: Shown,
  maxBytes = MAX_PAGE_BYTES,
): Promise<string[]> {
  if (answer.status >= 500) return [`${path}: ${answer.status}`];
  if (!isPage(answer)) return [];
  const { results } = await validator.validateString(answer.html);
  const faults = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, selector }) => `${path}: ${ruleId}: ${message} (${selector})`),
  );
  const bytes = Buffer.byteLength(answer.html);
  return bytes > maxBytes ? [...faults, `${path}: ${bytes} bytes`] : faults;
}
