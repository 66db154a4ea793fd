/** Computes where a tracked link leads, at the time when somebody follows it. */
import { renderTemplate, type VariableValue } from '../../templates/render.ts';

/** A tracked link of one email. */
type Link = {
  /** The address as it was stored. */
  url: string;
  /** Values for its placeholders; null when it has none, because they were filled in before. */
  values: Readonly<Record<string, VariableValue>> | null;
};

/** Maximum length of a `Location`, about what browsers and proxies accept. */
const MAX_LOCATION_CHARACTERS = 8_192;

/**
 * Returns the address that a browser would compute from the link that was replaced (URL standard), or undefined when the values of
 * the reader make no web address of the same host.
 */
export function locationOf({ url, values }: Link): string | undefined {
  const location = URL.parse(values ? fill(url, values) : url);
  // Without values, the host is that which was checked when the email was accepted.
  const original = values ? URL.parse(fill(url, {})) : location;
  if (!location || !original || !/^https?:$/.test(location.protocol)) return undefined;
  if (location.host !== original.host || location.username !== '' || location.password !== '')
    return undefined;
  return location.href.length > MAX_LOCATION_CHARACTERS ? undefined : location.href;
}

function fill(url: string, values: NonNullable<Link['values']>): string {
  return renderTemplate(url, values, { form: 'url', isMarketing: true }).text;
}
