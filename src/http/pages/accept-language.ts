/** Reads the header with which a browser says which languages its reader prefers (RFC 9110 section 12.5.4). */

/** Maximum number of languages that are read of a request. A browser sends a few. */
const MAX_LANGUAGES = 20;

/** Returns the language with the highest weight among those that `isKnown`; undefined when there is none. */
export function preferredLanguage<Language extends string>(
  acceptLanguage: string,
  isKnown: (name: string) => name is Language,
): Language | undefined {
  const wanted = acceptLanguage.split(',', MAX_LANGUAGES).flatMap((range) => {
    const [tag = '', ...parameters] = range.toLowerCase().split(';');
    const language = tag.trim().split('-')[0] ?? '';
    const quality = parameters.find((parameter) => parameter.trim().startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.trim().slice('q='.length));
    return isKnown(language) && weight > 0 ? [{ language, weight }] : [];
  });
  return wanted.sort((one, other) => other.weight - one.weight)[0]?.language;
}
